/** Data of the database and the carriers on messages that broke a law: to read first after a failed round. */
import type { Db } from '../../server/ground/db/db.ts'
import { parseId } from '../../server/ground/base/ids.ts'
import { bothOf, type World } from './world.ts'

// The first few violations of a law say enough.
const messagesMax = 3
const sources = {
  message: `select status, previous_status, sequence, attempts, segments, type, on_unknown, possible_duplicate, their_number, provider_message_id,
      receipt_stat, hold_reason, error_code, error_raw, node_id, link_id, campaign_id, body, created_at, queued_at, sent_at, updated_at, expires_at
    from messages where id = $1`,
  submission: `select * from submissions where message_id = $1 order by segment, try`,
  nameless: 'select * from nameless_tries where message_id = $1',
  resend: 'select * from resends where message_id = $1',
  intent: 'select * from intents where message_id = $1',
  id: 'select * from carrier_ids where message_id = $1',
  receipt: 'select * from receipts where message_id = $1 order by received_at',
  stranger: `select r.* from receipts r join messages m on m.their_number = r.source where r.message_id is null and m.id = $1`,
  event: 'select id, type, created_at from events where message_id = $1 order by id',
  key: `select key, operation, created_at from idempotency_keys where resource_id = $1`,
}

/** Lines about messages in violations, by UUID or public id. */
export async function inspect(world: World, violations: readonly string[]): Promise<string[]> {
  const named = violations.flatMap(
    (violation) => violation.match(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\bmsg_\w+/g) ?? [],
  )
  const ids = [...new Set(named.flatMap((id) => (id.startsWith('msg_') ? (parseId('msg', id) ?? []) : id)))]
  const carrier = ids.length > 0 ? await bothOf(world).phones.ledger() : []
  const lines: string[] = []
  for (const id of ids.slice(0, messagesMax)) {
    lines.push(`${id}:`)
    for (const [name, text] of Object.entries(sources))
      for (const row of await read(world.db, text, id)) lines.push(`  ${name} ${JSON.stringify(row)}`)
    const [{ body } = { body: null }] = await read<{ body: string | null }>(
      world.db,
      'select body from messages where id = $1',
      id,
    )
    const tag = body?.split(' ')[0]
    for (const entry of carrier.filter(({ text }) => text.split(' ')[0] === tag))
      lines.push(`  carrier ${JSON.stringify(entry)}`)
  }
  return lines
}

async function read<Row extends object>(db: Db, text: string, id: string): Promise<Row[]> {
  return (await db.query<Row>(text, [id])).rows
}
