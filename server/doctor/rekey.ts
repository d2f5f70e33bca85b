/**
 * Follows a change of `message_id_form`: rewrites the stored ids of a link's responses and receipts, and matches waiting receipts. It
 * compares the settings with the form of the rows, so that no change is missed after any crash.
 *
 * Rows in the old form keep coming until the link has drained and is bound again, so there are several passes.
 */
import type { Posting, Recording } from '../events/events.ts'
import { normaliseId, responseIdKey, type IdForm } from '@heliogram/smpp'
import { inTransaction, type Db, type Tx } from '../ground/db/db.ts'
import { recordMoves } from '../message/moved.ts'
import { rekeyIds, rematchReceipts, type ReceiptPlace } from '../ledger/rekey.ts'
import { defaultReasons, type Reasons } from '../message/taxonomy.ts'

export type RekeyContext = Recording & { reasons?: Reasons }

/** Seconds after a change. Links drain for up to 30 s and settings arrive within 2 s, so after a minute all rows have the new form. */
const passesAtSeconds = [5, 60] as const
// Small pieces: a long transaction would block the ledger's writer.
const idsMax = 5000
const receiptsMax = 500
// Renewed with every piece: if a process dies, another continues.
const leaseSeconds = 30

interface Pass {
  linkId: string
  form: IdForm
  /** As PostgreSQL writes it: a Date would cut its microseconds. */
  startedAt: string
}

/** One turn: finds changed forms and runs the due passes. Safe in several processes. */
export async function followIdForms(
  context: RekeyContext,
  passesAt: readonly number[] = passesAtSeconds,
  pieces = { ids: idsMax, receipts: receiptsMax },
): Promise<void> {
  await noteChanges(context.db)
  for (;;) {
    const pass = await takeDue(context.db, passesAt)
    if (!pass) return
    if (await passOver(context, pass, pieces)) await endPass(context.db, pass, passesAt)
  }
}

/** Schedules passes over a carrier's links, as after a change. Returns the number of links. */
export async function requestRematch(tx: Tx, carrierId: string): Promise<number> {
  const { rowCount } = await tx.query(
    `insert into link_id_forms as f (link_id, form)
     select l.id, coalesce(l.settings ->> 'message_id_form', c.settings ->> 'message_id_form')
     from links l
     join carriers c on c.id = l.carrier_id
     where l.carrier_id = $1
       and coalesce(l.settings ->> 'message_id_form', c.settings ->> 'message_id_form') is not null
     on conflict (link_id) do update
       set form = excluded.form, changed_at = now(), passed_at = null, settled_at = null, leased_until = null, rekeyed = 0, matched = 0`,
    [carrierId],
  )
  return rowCount ?? 0
}

const changedForms = `
     select w.id, w.form
     from (
       select l.id, coalesce(l.settings ->> 'message_id_form', c.settings ->> 'message_id_form') as form
       from links l
       join carriers c on c.id = l.carrier_id
     ) w
     where w.form is not null
       and not exists (select 1 from link_id_forms k where k.link_id = w.id and k.form = w.form)`

/** Now, if a form has changed; else the time of the next pass. */
export const formsDue = `
  select least(
    (select now() where exists (${changedForms})),
    (select min(case when f.passed_at is null then f.changed_at else f.changed_at + make_interval(secs => s.secs) end)
     from link_id_forms f
     cross join unnest(array[${passesAtSeconds.join()}]::float8[]) as s (secs)
     where f.settled_at is null
       and (f.passed_at is null or f.passed_at < f.changed_at + make_interval(secs => s.secs))))`

/** Records new links, and those whose form differs from that of their rows. Writes only changes; links are few. */
async function noteChanges(db: Db): Promise<void> {
  await db.query(
    `insert into link_id_forms as f (link_id, form)
     ${changedForms}
     on conflict (link_id) do update
       set form = excluded.form, changed_at = now(), passed_at = null, settled_at = null, leased_until = null, rekeyed = 0, matched = 0
       where f.form <> excluded.form`,
  )
}

/** Leases the most overdue pass, or returns null. Reads all of a handful of rows. */
async function takeDue(db: Db, passesAt: readonly number[]): Promise<Pass | null> {
  const { rows } = await db.query<Pass>(
    `update link_id_forms f
     set leased_until = now() + make_interval(secs => $2)
     where f.link_id = (
       select d.link_id
       from link_id_forms d
       where d.settled_at is null
         and (d.leased_until is null or d.leased_until < now())
         and (d.passed_at is null
           or exists (
             select 1
             from unnest($1::float8[]) as s (secs)
             where d.passed_at < d.changed_at + make_interval(secs => s.secs)
               and now() >= d.changed_at + make_interval(secs => s.secs)))
       order by d.changed_at
       limit 1
       for update skip locked)
     returning f.link_id as "linkId", f.form, now()::text as "startedAt"`,
    [passesAt, leaseSeconds],
  )
  return rows[0] ?? null
}

/** Handles a link's ids, then its unmatched receipts; false if the form changed meanwhile. */
async function passOver(
  { db, outbox, subscriptions, reasons = defaultReasons }: RekeyContext,
  { linkId, form }: Pass,
  pieces: { ids: number; receipts: number },
): Promise<boolean> {
  let id: string | null = ''
  while (id !== null) {
    const after: string = id
    const piece = await inTransaction(db, async (tx) => {
      const done = await rekeyIds(tx, linkId, (rawId) => responseIdKey(rawId, form), after, pieces.ids)
      return { ...done, isCurrent: await renew(tx, linkId, form, { rekeyed: done.count, matched: 0 }) }
    })
    if (!piece.isCurrent) return false
    id = piece.next
  }
  let place: ReceiptPlace | null = null
  do {
    const after: ReceiptPlace | null = place
    let postings: Posting[] = []
    const piece = await inTransaction(db, async (tx) => {
      const done = await rematchReceipts(
        tx,
        linkId,
        reasons,
        (rawId) => normaliseId(rawId, form),
        after,
        pieces.receipts,
      )
      if (done.moved.length > 0) postings = await recordMoves(tx, done.moved, { outbox, subscriptions })
      return { ...done, isCurrent: await renew(tx, linkId, form, { rekeyed: 0, matched: done.count }) }
    })
    outbox.offer(postings)
    if (!piece.isCurrent) return false
    place = piece.next
  } while (place !== null)
  return true
}

/** Renews the lease and adds the counts; false if the form changed. Holds the row until the commit: one pass at a time. */
async function renew(
  tx: Tx,
  linkId: string,
  form: IdForm,
  { rekeyed, matched }: { rekeyed: number; matched: number },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update link_id_forms
     set leased_until = now() + make_interval(secs => $3), rekeyed = rekeyed + $4, matched = matched + $5
     where link_id = $1 and form = $2`,
    [linkId, form, leaseSeconds, rekeyed, matched],
  )
  return rowCount === 1
}

/** The rows are settled if this pass began after the last of the times. */
async function endPass(db: Db, { linkId, form, startedAt }: Pass, passesAt: readonly number[]): Promise<void> {
  await db.query(
    `update link_id_forms
     set passed_at = $3::timestamptz, leased_until = null,
       settled_at = case when $3::timestamptz >= changed_at + make_interval(secs => $4) then now() end
     where link_id = $1 and form = $2 and changed_at <= $3::timestamptz`,
    [linkId, form, startedAt, Math.max(0, ...passesAt)],
  )
}
