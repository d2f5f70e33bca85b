import { inTransaction, type Db, type Tx } from '../server/ground/db/db.ts'
import type { Status } from '../server/message/message.ts'
import { readCounterFaults } from '../server/usage/testing.ts'
import type { Phones } from './carrier.ts'
import { until } from './until.ts'

export interface LedgerMessage {
  id: string
  direction: 'outbound' | 'inbound'
  status: Status
  segments: number
  text: string
  errorCode: string | null
  onUnknown: 'hold' | 'resend' | null
  possibleDuplicate: boolean
  isParked: boolean
}

export interface LedgerSubmission {
  messageId: string
  segment: number
  try: number
  state: 'accepted' | 'refused' | 'unknown'
  carrierMessageId: string | null
  /** Its outcome was unknown at some time. */
  wasUnknown: boolean
  isAdopted: boolean
}

export interface LedgerReceipt {
  rawId: string
  state: string
  messageId: string | null
  segment: number | null
}

export interface Ledger {
  messages: LedgerMessage[]
  keys: { key: string; messageId: string }[]
  submissions: LedgerSubmission[]
  receipts: LedgerReceipt[]
  events: { id: string; type: string; messageId: string }[]
  /** Must be empty: intents, rows of queue, delayed and outbox, and pending retries. */
  leftovers: Record<string, number>
  /** Counts that differ from the messages. */
  counterFaults: string[]
}

/** Reads one snapshot: rows that move between tables during the reading would be in neither, and look like rest. */
export function readLedger(db: Db): Promise<Ledger> {
  return inTransaction(db, async (tx) => {
    await tx.query('set transaction isolation level repeatable read, read only')
    return readTables(tx)
  })
}

async function readTables(tx: Tx): Promise<Ledger> {
  const read = async <Row extends object>(text: string): Promise<Row[]> => (await tx.query<Row>(text)).rows
  const count = async (table: string): Promise<number> =>
    (await read<{ n: number }>(`select count(*) as n from ${table}`))[0]?.n ?? 0
  return {
    messages: await read(
      `select id, direction, status, segments, body as text, error_code as "errorCode",
         on_unknown as "onUnknown", possible_duplicate as "possibleDuplicate", coalesce(hold_reason = 'parked', false) as "isParked"
       from messages where not is_confirmation`,
    ),
    keys: await read(`select key, resource_id as "messageId" from idempotency_keys where operation = 'messages.send'`),
    // A carrier's report on a message of one segment may be in the message alone.
    submissions: await read(
      `select message_id as "messageId", segment, try, state, carrier_message_id as "carrierMessageId",
         state = 'unknown' or is_adopted or is_repeated as "wasUnknown", is_adopted as "isAdopted"
       from submissions
       union all
       select id, 1, attempts, 'accepted', provider_message_id, false, false from messages m
       where segments = 1 and provider_message_id is not null and not is_confirmation
         and not exists (select 1 from submissions s where s.message_id = m.id and s.state = 'accepted')`,
    ),
    receipts: await read(
      `select raw_id as "rawId", state, message_id as "messageId", segment from receipts
       union
       select provider_message_id, case receipt_stat when 'DELIVRD' then 'delivered' else receipt_stat end, id, 1
       from messages m
       where segments = 1 and receipt_stat is not null and not is_confirmation
         and not exists (
           select 1 from receipts r
           where r.message_id = m.id and r.stat = m.receipt_stat and (r.raw_id = m.provider_message_id or not m.possible_duplicate))`,
    ),
    events: await read(
      `select id, type, message_id as "messageId" from events where type like 'message.%' and message_id is not null`,
    ),
    leftovers: {
      intents: await count('intents'),
      sending: await count(`messages where status = 'sending'`),
      queue: await count('queue'),
      delayed: await count('delayed'),
      outbox: await count('outbox'),
      repeats: await count('nameless_tries where resend_at is not null'),
    },
    counterFaults: await readCounterFaults(tx),
  }
}

// Unknown outcomes are handled every second: a receipt matched then is an event, after apparent rest.
const quietMs = 2500

/**
 * Waits until nothing is in flight anywhere for a while: the carrier's PDUs are answered, the queue is empty, every post is taken. Gives up
 * without an error: the laws report better what still moves.
 */
export async function untilAtRest(db: Db, phones: Pick<Phones, 'stats'>): Promise<void> {
  let quiet = { events: -1, since: 0 }
  const isAtRest = async (): Promise<boolean> => {
    const { held, receiptsDue, receiptsAnswered, repliesTyped, repliesAnswered } = await phones.stats()
    if (held > 0 || receiptsAnswered < receiptsDue || repliesAnswered < repliesTyped) return false
    const { events, leftovers, messages } = await readLedger(db)
    const isMoving = messages.some((message) => ['queued', 'sending', 'sent'].includes(message.status))
    const isQuiet = !isMoving && Object.values(leftovers).every((rows) => rows === 0)
    if (!isQuiet || events.length !== quiet.events) quiet = { events: events.length, since: performance.now() }
    return isQuiet && performance.now() - quiet.since > quietMs
  }
  // A post whose commit was not confirmed is free when its lease of a minute ends.
  await until('all is at rest', isAtRest, 80_000).catch(() => {})
}
