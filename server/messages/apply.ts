/**
 * What receipts of known segments do to their messages. The first final word of a segment counts; a message of several moves when the
 * last of its segments is final.
 */
import type { Tx } from '../db/db.ts'
import { dayOf, perDay } from '../db/partitions.ts'
import type { Moved } from './ledger.ts'
import { messageColumns, type MessageRow, type Status } from './message.ts'
import { codeOfReceipt } from './taxonomy.ts'

/** A receipt of a known segment. */
export interface MatchedReceipt {
  accountId: string
  messageId: string
  segment: number
  segments: number
  state: string
  stat: string
  err: string | null
}

/** The state a message gets from a final receipt; null where the receipt is not final (enroute, accepted, unknown, …). */
export function statusOfReceipt(state: string): Extract<Status, 'delivered' | 'undelivered' | 'rejected'> | null {
  switch (state) {
    case 'delivered':
      return 'delivered'
    case 'expired':
    case 'deleted':
    case 'undeliverable':
      return 'undelivered'
    case 'rejected':
      return 'rejected'
    default:
      return null
  }
}

/** Applies receipts that are in the inbox to their messages, in the caller's transaction; returns the messages that moved. */
export async function applyReceipts(tx: Tx, receipts: MatchedReceipt[]): Promise<Moved[]> {
  const finals = receipts.filter((receipt) => statusOfReceipt(receipt.state) !== null)
  const single = firstPerMessage(finals.filter((receipt) => receipt.segments === 1))
  const parts = receipts.filter((receipt) => receipt.segments > 1)
  const moved = single.length > 0 ? await applySingle(tx, single) : []
  if (parts.length > 0) moved.push(...(await applyParts(tx, parts)))
  return moved
}

/** One batch may hold two final words for a message: the first one counts. */
function firstPerMessage(receipts: MatchedReceipt[]): MatchedReceipt[] {
  const seen = new Set<string>()
  return receipts.filter((receipt) => !seen.has(receipt.messageId) && seen.add(receipt.messageId))
}

async function applySingle(tx: Tx, receipts: MatchedReceipt[]): Promise<Moved[]> {
  const outcomes = receipts.map((receipt) => ({ ...receipt, to: statusOfReceipt(receipt.state) ?? 'undelivered' }))
  const ids = receipts.map((receipt) => receipt.messageId).sort()
  const { rows } = await tx.query<MessageRow>({
    ...applyStatement(dayOf(ids)),
    values: [
      outcomes.map((o) => o.accountId),
      outcomes.map((o) => o.messageId),
      outcomes.map((o) => o.to),
      outcomes.map((o) => (o.to === 'delivered' ? null : codeOfReceipt(o.state, o.err))),
      outcomes.map((o) => o.stat),
      outcomes.map((o) => o.err),
      outcomes.map((o) => (o.to === 'delivered' ? 1 : 0)),
    ],
  })
  return rows.map((row) => ({ row, from: 'sent' }))
}

/**
 * Receipts of messages of several segments: each is written to its submission; a message moves when the last of its segments is
 * final: delivered when all were, else with the first failure and the number of segments that arrived.
 */
export async function applyParts(tx: Tx, parts: MatchedReceipt[]): Promise<Moved[]> {
  const ids = parts.map((part) => part.messageId).sort()
  await tx.query({
    ...partStatement(dayOf(ids)),
    values: [
      parts.map((part) => part.accountId),
      parts.map((part) => part.messageId),
      parts.map((part) => part.segment),
      parts.map((part) => part.state),
      parts.map((part) => part.stat),
      parts.map((part) => part.err),
      parts.map((part) => statusOfReceipt(part.state) !== null),
    ],
  })
  const { rows } = await tx.query<{
    accountId: string
    messageId: string
    segments: number
    final: number
    delivered: number
    state: string | null
    stat: string | null
    err: string | null
  }>({
    ...countStatement(dayOf(ids)),
    values: [[...new Set(ids)], parts.map((part) => part.accountId)],
  })
  const whole = rows.filter((row) => row.final >= row.segments)
  if (whole.length === 0) return []
  const moved = await tx.query<MessageRow>({
    ...applyStatement(dayOf(ids)),
    values: [
      whole.map((row) => row.accountId),
      whole.map((row) => row.messageId),
      whole.map((row) =>
        row.delivered >= row.segments ? 'delivered' : (statusOfReceipt(row.state ?? '') ?? 'undelivered'),
      ),
      whole.map((row) => (row.delivered >= row.segments ? null : codeOfReceipt(row.state ?? '', row.err))),
      whole.map((row) => row.stat ?? 'DELIVRD'),
      whole.map((row) => row.err),
      whole.map((row) => row.delivered),
    ],
  })
  return moved.rows.map((row) => ({ row, from: 'sent' }))
}

/** The columns that a deciding receipt sets, from the row under the alias (to_status, error_code, stat, err). */
export const setsOfReceipt = (r: string): string => `status = ${r}.to_status,
      sequence = m.sequence + 1,
      updated_at = now(),
      sent_at = coalesce(m.sent_at, now()),
      completed_at = now(),
      error_code = ${r}.error_code,
      error_stage = case when ${r}.error_code is not null then 'receipt' end,
      error_raw = case when ${r}.error_code is not null then ${r}.stat || coalesce(' err:' || ${r}.err, '') end,
      receipt_stat = ${r}.stat,
      receipt_err = ${r}.err`

// Locks the messages by primary key.
const applyStatement = perDay(
  'apply-receipts',
  (day) => `
  with r as materialized (
    select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::int[])
      as r (account_id, message_id, to_status, error_code, stat, err, delivered)
  ), moved as (
    update messages${day} m
    set ${setsOfReceipt('r')},
      segments_delivered = case when r.to_status = 'delivered' then m.segments else r.delivered end
    from r
    where m.account_id = r.account_id
      and m.id = r.message_id
      and m.status in ('sending', 'sent', 'unconfirmed')
    returning ${messageColumns('m')}
  ), outcome as (
    insert into outcomes${day} (account_id, status, message_id, error_code)
    select "accountId", status, id, "errorCode" from moved where status <> 'delivered'
    on conflict do nothing
  )
  select * from moved`,
)

// The accepted try of each segment, by primary key; a final word is never overwritten.
const partStatement = perDay(
  'apply-part-receipts',
  (day) => `
  update submissions${day} s
  set receipt_state = r.state, receipt_stat = r.stat, receipt_err = r.err, receipt_at = now()
  from (
    select distinct on (account_id, message_id, segment) *
    from unnest($1::uuid[], $2::uuid[], $3::int[], $4::text[], $5::text[], $6::text[], $7::boolean[])
      with ordinality as r (account_id, message_id, segment, state, stat, err, is_final, n)
    order by account_id, message_id, segment, is_final desc, n
  ) r
  where s.account_id = r.account_id
    and s.message_id = r.message_id
    and s.segment = r.segment
    and s.state in ('accepted', 'unknown')
    and (s.receipt_state is null
      or s.receipt_state not in ('delivered', 'expired', 'deleted', 'undeliverable', 'rejected'))`,
)

const countStatement = perDay(
  'count-part-receipts',
  (day) => `
  select s.account_id as "accountId", s.message_id as "messageId", m.segments,
    count(distinct s.segment) filter (
      where s.receipt_state in ('delivered', 'expired', 'deleted', 'undeliverable', 'rejected'))::int as final,
    count(distinct s.segment) filter (where s.receipt_state = 'delivered')::int as delivered,
    (array_agg(s.receipt_state order by s.segment)
      filter (where s.receipt_state in ('expired', 'deleted', 'undeliverable', 'rejected')))[1] as state,
    (array_agg(s.receipt_stat order by s.segment)
      filter (where s.receipt_state in ('expired', 'deleted', 'undeliverable', 'rejected')))[1] as stat,
    (array_agg(s.receipt_err order by s.segment)
      filter (where s.receipt_state in ('expired', 'deleted', 'undeliverable', 'rejected')))[1] as err
  from submissions${day} s
  join messages${day} m on m.account_id = s.account_id and m.id = s.message_id
  where s.message_id = any ($1::uuid[])
    and s.account_id = any ($2::uuid[])
    and s.state in ('accepted', 'unknown')
  group by s.account_id, s.message_id, m.segments`,
)
