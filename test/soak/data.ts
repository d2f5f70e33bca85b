/** Work on a failing world's data: contact files, erasures, texts that are not kept; and its books. */
import type { Db } from '../../server/ground/db/db.ts'
import { parseId } from '../../server/ground/base/ids.ts'
import type { Evidence } from '../conservation.ts'
import { until } from '../until.ts'
import { insist, pause } from './insist.ts'
import type { Fault, World } from './world.ts'

const uuidOf = (id: string): string => parseId('msg', id) ?? ''

export const dataFaults: Record<string, Fault> = {
  // Large enough that a process dies in the middle; without people who opt out meanwhile.
  async import(world) {
    const campaign = `crowd-${world.imports.length}`
    const created = 2000 + Math.floor(world.random() * 20_000)
    const file = { id: '', campaign, created, duplicate: Math.floor(created / 10), failed: Math.floor(created / 50) }
    world.imports.push(file)
    const lines = Array.from({ length: created }, (_, i) => `+1555${9_000_000 + i},n${i}`)
    // Mixed in, so that some repeat after a process took over another's work.
    for (let i = 0; i < file.duplicate; i++)
      lines.splice(Math.floor(world.random() * lines.length), 0, lines[i * 7] ?? '')
    for (let i = 0; i < file.failed; i++) lines.splice(Math.floor(world.random() * lines.length), 0, `12,bad${i}`)
    await insist(world, 'POST', '/v1/campaigns', { name: campaign, key: campaign }, [201, 409])
    const path = `/v1/campaigns/${campaign}/contacts/import`
    const csv = { 'content-type': 'text/csv' }
    const text = `phone_number,nick\n${lines.join('\n')}\n`
    file.id = (await insist<{ id: string }>(world, 'POST', path, text, [202], campaign, csv)).id
  },
  async erase(world) {
    const gone = await sendSome(world, {})
    await pause(world.random() * 2000)
    gone.erasure = (await insist<{ id: string }>(world, 'POST', '/v1/erasures', { number: gone.number }, [202])).id
  },
  async forget(world) {
    await sendSome(world, { retain_content: false })
  },
}

/** Some now, one in a moment, and one in an hour: to a number outside the load's (`openWorld`). */
async function sendSome(world: World, changes: { retain_content?: false }): Promise<World['gone'][number]> {
  const n = world.gone.length
  const gone: World['gone'][number] = { erasure: null, number: `1606203${1000 + n}`, ids: new Map() }
  world.gone.push(gone)
  for (const [i, seconds] of [0, 0, 0, 2, ...('retain_content' in changes ? [] : [3600])].entries()) {
    const word = `g${n}i${i}`
    const send_at = seconds > 0 && { send_at: new Date(Date.now() + seconds * 1000).toISOString() }
    const body = { to: gone.number, message: `${word} is not kept`, ...send_at, ...changes }
    gone.ids.set(word, (await insist<{ id: string }>(world, 'POST', '/v1/messages/send', body, [202], word)).id)
  }
  return gone
}

/** Waits until imports and erasures are over, and all expired texts are gone. Their due times are set to now. */
export async function settleData({ db, client, imports, gone }: World): Promise<void> {
  for (const { id, campaign } of imports)
    await until(
      `the import of ${campaign} is over`,
      async () => (await client.get<{ status: string }>(`/v1/imports/${id}`)).status.startsWith('completed'),
      120_000,
    )
  const areErased = async (): Promise<boolean> => {
    await db.query(
      `update erasures set settles_at = least(settles_at, now()), pass_at = now(), due_at = now()
       where completed_at is null and due_at > now() + interval '1 second'`,
    )
    return (await db.query('select from erasures where completed_at is null')).rows.length === 0
  }
  await until('what is to be erased is', areErased, 90_000)
  // An unconfirmed message keeps its text for as long as it may be repeated.
  const areForgotten = async (): Promise<boolean> => {
    await db.query(`update discards set check_at = now() where check_at > now() + interval '1 second'`)
    const { rows } = await db.query(
      `select from discards d join messages m on m.account_id = d.account_id and m.id = d.message_id where m.status <> 'unconfirmed'`,
    )
    return rows.length === 0
  }
  if (gone.length > 0) await until('what is not kept is gone', areForgotten, 60_000)
}

export async function checkData(
  { db, client, imports, gone }: World,
  { ledger, carrier }: Evidence,
): Promise<string[]> {
  const violations: string[] = []
  for (const { id, campaign, created, duplicate, failed } of imports) {
    const { counts } = await client.get<{ counts: object }>(`/v1/imports/${id}`)
    const total = created + duplicate + failed
    const expected = { total, processed: total, created, updated: 0, skipped: 0, duplicate, opted_out: 0, failed }
    const contacts = await countContacts(db, campaign)
    if (contacts !== created || Object.entries(expected).some(([name, n]) => Reflect.get(counts, name) !== n))
      violations.push(
        `${campaign} has ${contacts} contacts and ${JSON.stringify(counts)}, not ${JSON.stringify(expected)}`,
      )
  }
  const messages = new Map(ledger.messages.map((message) => [message.id, message]))
  const asked = new Set(gone.flatMap(({ ids }) => [...ids.values()].map(uuidOf)))
  for (const { id, direction, status } of ledger.messages.filter((one) => hasNoText(one) && !asked.has(one.id)))
    violations.push(`${direction} ${id} is ${status} and has no text, which nobody asked for`)
  const times = Map.groupBy(carrier, ({ text, status }) => (status === 'ROK' ? text.split(' ')[0] : ''))
  for (const { erasure, number, ids } of gone) {
    for (const [word, id] of ids) {
      const message = messages.get(uuidOf(id))
      const sent = times.get(word)?.length ?? 0
      const isGone = message?.text === null || (erasure === null && message?.status === 'unconfirmed')
      if (!isGone || sent > (message?.possibleDuplicate ? 2 : 1) || (message?.status === 'canceled' && sent > 0))
        violations.push(`${word} of ${id} is ${message?.status}, ${message?.text}, and ${sent} times at the carrier`)
    }
    const { rows } = await db.query('select from messages where their_number = $1', [number])
    if (erasure !== null && rows.length > 0) violations.push(`${rows.length} messages to ${number}, which was erased`)
  }
  return violations
}

const hasNoText = ({ text }: { text: string | null }): boolean => text === null

/** The evidence without messages whose texts are gone, because the laws match by text. */
export function withoutGone(evidence: Evidence, { gone }: World): Evidence {
  const words = new Set(gone.flatMap(({ ids }) => [...ids.keys()]))
  const ids = new Set(gone.flatMap((one) => [...one.ids.values()].map(uuidOf)))
  const isOfThem = ({ text }: { text: string }): boolean => words.has(text.split(' ')[0] ?? '')
  const rawIds = new Set(evidence.carrier.flatMap((entry) => (isOfThem(entry) ? (entry.messageId ?? []) : [])))
  const { ledger } = evidence
  return {
    ...evidence,
    carrier: evidence.carrier.filter((entry) => !isOfThem(entry)),
    ledger: {
      ...ledger,
      messages: ledger.messages.filter((one) => !ids.has(one.id) && !hasNoText(one)),
      receipts: ledger.receipts.filter(({ rawId }) => !rawIds.has(rawId)),
    },
  }
}

async function countContacts(db: Db, campaign: string): Promise<number> {
  const { rows } = await db.query<{ n: number }>(
    `select count(*) as n from contacts t join campaigns c on c.account_id = t.account_id and c.id = t.campaign_id where c.key = $1`,
    [campaign],
  )
  return rows[0]?.n ?? 0
}
