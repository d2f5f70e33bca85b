/** The receipt doctor: whether unmatched receipts would match if ids were read in another form. Reads only. */
import { normaliseId, responseIdKey, type IdForm } from '@heliogram/smpp'
import { columns, fieldsOf } from '../ground/db/array.ts'
import { nowMs } from '../ground/db/clock.ts'
import type { Db } from '../ground/db/db.ts'
import { listUnmatched, type ReceiptPlace, type UnmatchedReceipt } from '../ledger/rekey.ts'

/** Descriptions compare receipt to submit response. Between two equal counts, the first wins. */
export const idForms = {
  raw: 'the same',
  dec: 'decimal ids read as numbers',
  hex: 'hexadecimal ids read as numbers',
  'hex-to-dec': 'hex→decimal',
  'dec-to-hex': 'decimal→hex',
} as const satisfies Record<IdForm, string>

const forms = Object.keys(idForms) as IdForm[]

/** The newest unmatched receipts: enough to identify a form, and less than a second's work. */
export const examinedMax = 10_000
const countMax = 1_000_000
const pieceMax = 1000
const sampleMax = 100

export interface DoctoredLink {
  id: string
  form: IdForm
  /** The form is the link's own, not the carrier's. */
  isOwnForm: boolean
  /** One receipt covers all parts of a long message. */
  isOneReceipt: boolean
  /** Set at the link, not at its carrier. */
  isOwnReceipt: boolean
  changedAt: Date | null
  passedAt: Date | null
  settledAt: Date | null
  rekeyed: number
  matched: number
  /** Receipts that never matched before they were deleted, in total. */
  forgotten: number
}

export interface Example {
  rawId: string
  messageId: string
  carrierMessageId: string
}

export interface FormCount {
  form: IdForm
  wouldMatch: number
  example: Example | null
}

export interface Diagnosis {
  /** Unmatched receipts in these hours, up to a million. */
  unmatched: number
  /** The number of newest ones that were examined. */
  examined: number
  /** Matches of the examined ones, by form. */
  forms: FormCount[]
  /** Of a sample of the carrier's ids: how many messages have their receipt. */
  sampled: number
  settled: number
}

/** A carrier's links with their form and the progress of its last change. */
export async function listDoctored(db: Db, carrierId: string): Promise<DoctoredLink[]> {
  const { rows } = await db.query<DoctoredLink>(
    `select l.id, coalesce(l.settings ->> 'message_id_form', c.settings ->> 'message_id_form') as form,
       l.settings ? 'message_id_form' as "isOwnForm",
       coalesce(l.settings -> 'one_receipt', c.settings -> 'one_receipt', 'false')::boolean as "isOneReceipt",
       l.settings ? 'one_receipt' as "isOwnReceipt", f.changed_at as "changedAt", f.passed_at as "passedAt",
       f.settled_at as "settledAt", coalesce(f.rekeyed, 0) as rekeyed, coalesce(f.matched, 0) as matched,
       coalesce(g.count, 0) as forgotten
     from links l
     join carriers c on c.id = l.carrier_id
     left join link_id_forms f on f.link_id = l.id
     left join forgotten_receipts g on g.link_id = l.id
     where l.carrier_id = $1
       and coalesce(l.settings ->> 'message_id_form', c.settings ->> 'message_id_form') is not null
     order by l.position, l.id`,
    [carrierId],
  )
  return rows
}

export async function diagnose(db: Db, link: DoctoredLink, hours: number): Promise<Diagnosis> {
  const [unmatched, style, sample] = await Promise.all([
    countUnmatched(db, link.id, hours),
    readStyle(db, link.id),
    countSettled(db, link.id),
  ])
  const since = nowMs() - hours * 3_600_000
  const counts = new Map(forms.map((form): [IdForm, FormCount] => [form, { form, wouldMatch: 0, example: null }]))
  let examined = 0
  let place: ReceiptPlace | null = null
  while (examined < examinedMax) {
    const page: UnmatchedReceipt[] = await listUnmatched(db, [link.id], place, pieceMax)
    const receipts = page.filter(({ at }) => at.getTime() >= since)
    examined += receipts.length
    for (const { form, wouldMatch, example } of await countMatches(db, link, receipts, style)) {
      const count = counts.get(form)
      if (!count) continue
      count.wouldMatch += wouldMatch
      count.example ??= example
    }
    if (receipts.length < pieceMax) break
    place = page.at(-1) ?? null
  }
  return { unmatched, examined, forms: [...counts.values()], ...sample }
}

export async function findCandidates(
  db: Db,
  link: DoctoredLink,
  receipts: UnmatchedReceipt[],
): Promise<Map<UnmatchedReceipt, (Example & { form: IdForm })[]>> {
  const matches = await probe(db, link, receipts, await readStyle(db, link.id))
  const byReceipt = new Map<UnmatchedReceipt, (Example & { form: IdForm })[]>()
  for (const { n, ...candidate } of matches) {
    const receipt = receipts[n - 1]
    if (receipt) byReceipt.set(receipt, [...(byReceipt.get(receipt) ?? []), { ...candidate, rawId: receipt.rawId }])
  }
  return byReceipt
}

/** The form with the most matches, if it beats the current one; null otherwise. */
export function bestForm({ forms: counts }: Diagnosis, current: IdForm): FormCount | null {
  const now = counts.find(({ form }) => form === current)?.wouldMatch ?? 0
  const best = counts.reduce<FormCount | null>(
    (a, b) => (b.form !== current && b.wouldMatch > (a?.wouldMatch ?? 0) ? b : a),
    null,
  )
  return best && best.wouldMatch > now ? best : null
}

export interface Style {
  /** In characters, without 0x. */
  widths: readonly number[]
  hasCapitals: boolean
  hasPrefix: boolean
}

export function styleOf(ids: readonly string[]): Style {
  const digits = ids.map((id) => id.replace(/^0x/i, ''))
  return {
    widths: [...new Set(digits.map((one) => one.length))],
    hasCapitals: digits.some((one) => /[A-F]/.test(one)),
    hasPrefix: ids.some((id) => /^0x/i.test(id)),
  }
}

/** The stored keys (in `current`) of a receipt's id read in `form`: carriers may add zeros, capitals or 0x, which only numeric forms remove. */
export function keysUnder(rawId: string, form: IdForm, current: IdForm, style: Style): string[] {
  const key = normaliseId(rawId, form)
  const padded = [key, ...style.widths.map((width) => key.padStart(width, '0'))]
  const cased = style.hasCapitals ? padded.flatMap((one) => [one, one.toUpperCase()]) : padded
  const spellings = style.hasPrefix ? cased.flatMap((one) => [one, `0x${one}`]) : cased
  const keys = new Set([responseIdKey(key, current)])
  for (const spelling of spellings)
    if (spelling !== key && responseIdKey(spelling, form) === key) keys.add(responseIdKey(spelling, current))
  return [...keys]
}

async function countMatches(
  db: Db,
  link: DoctoredLink,
  receipts: UnmatchedReceipt[],
  style: Style,
): Promise<FormCount[]> {
  const matches = await probe(db, link, receipts, style)
  return forms.map((form) => {
    const own = matches.filter((match) => match.form === form)
    const [first] = own
    const rawId = receipts[(first?.n ?? 0) - 1]?.rawId
    return {
      form,
      wouldMatch: new Set(own.map(({ n }) => n)).size,
      example: first && rawId !== undefined ? { ...first, rawId } : null,
    }
  })
}

interface Match {
  /** Number of the receipt, from 1. */
  n: number
  form: IdForm
  messageId: string
  carrierMessageId: string
}

/**
 * Looks up every receipt in every form, among messages without a receipt: numbers are close together, and a chance hit would mostly have
 * one. By the primary keys of carrier_ids and messages, one by one: `limit 1` keeps the planner from joining whole tables.
 */
async function probe(db: Db, link: DoctoredLink, receipts: UnmatchedReceipt[], style: Style): Promise<Match[]> {
  // Most forms share their keys, so each is looked up once.
  const probes = receipts.map(({ rawId }) => {
    const byKey = new Map<string, IdForm[]>()
    for (const form of forms)
      for (const key of keysUnder(rawId, form, link.form, style)) byKey.set(key, [...(byKey.get(key) ?? []), form])
    return byKey
  })
  const keys = probes.flatMap((byKey, i) =>
    [...byKey.keys()].map((key) => ({ n: i + 1, key, at: receipts[i]?.at ?? null })),
  )
  if (keys.length === 0) return []
  const { rows } = await db.query<Omit<Match, 'form'> & { key: string }>(
    `select p.n, p.key, c.message_id as "messageId", coalesce(c.raw_id, c.carrier_message_id) as "carrierMessageId"
     from unnest($2::int[], $3::text[], $4::timestamptz[]) as p (n, key, at)
     cross join lateral (
       select raw_id, carrier_message_id, account_id, message_id
       from carrier_ids
       where link_id = $1 and carrier_message_id = p.key and at < p.at + interval '1 hour'
       limit 1
     ) c
     cross join lateral (
       select status from messages where account_id = c.account_id and id = c.message_id limit 1
     ) m
     where m.status in ('sending', 'sent', 'unconfirmed')
     order by p.n`,
    [link.id, ...columns(fieldsOf(keys, 'n', 'key', 'at'))],
  )
  // Two spellings of a number count once for a form.
  const found = new Map<string, Match>()
  for (const { n, key, ...match } of rows)
    for (const form of probes[n - 1]?.get(key) ?? [])
      found.set(`${n} ${form} ${match.messageId} ${match.carrierMessageId}`, { n, form, ...match })
  return [...found.values()]
}

/** By receipts_unmatched_at alone. */
async function countUnmatched(db: Db, linkId: string, hours: number): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)
     from (
       select 1
       from receipts
       where link_id = $1
         and message_id is null
         and received_at >= now() - make_interval(secs => $2 * 3600.0)
       limit $3
     ) u`,
    [linkId, hours, countMax],
  )
  return rows[0]?.count ?? 0
}

/** Samples ids from both ends of the primary key, as the carrier wrote them. */
async function readStyle(db: Db, linkId: string): Promise<Style> {
  const { rows } = await db.query<{ id: string }>(`select coalesce(raw_id, carrier_message_id) as id ${sample}`, [
    linkId,
    sampleMax,
  ])
  return styleOf(rows.map(({ id }) => id))
}

/** Whether messages get receipts with the current form, in the same sample. */
async function countSettled(db: Db, linkId: string): Promise<{ sampled: number; settled: number }> {
  const { rows } = await db.query<{ sampled: number; settled: number }>(
    `select count(*) as sampled, count(*) filter (where m.receipt_stat is not null) as settled
     ${sample}
     cross join lateral (
       select receipt_stat from messages where account_id = s.account_id and id = s.message_id limit 1
     ) m`,
    [linkId, sampleMax],
  )
  return rows[0] ?? { sampled: 0, settled: 0 }
}

const sample = `
     from (
       (select raw_id, carrier_message_id, account_id, message_id
        from carrier_ids where link_id = $1 order by carrier_message_id limit $2)
       union
       (select raw_id, carrier_message_id, account_id, message_id
        from carrier_ids where link_id = $1 order by carrier_message_id desc limit $2)
     ) s`
