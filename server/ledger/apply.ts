/**
 * Applies receipts of known segments to their messages. The first final receipt of a segment counts; a message moves when its last segment is final.
 */
import { columns } from '../ground/db/array.ts'
import type { Tx } from '../ground/db/db.ts'
import { dayOf, perDay } from '../ground/db/partitions.ts'
import type { Moved } from '../message/moved.ts'
import { messageColumns, type MessageRow, type Status } from '../message/message.ts'
import { staysTwice } from '../message/repeat-sql.ts'
import { countMoves } from '../usage/delta-sql.ts'
import type { Reasons } from '../message/taxonomy.ts'

/** A receipt of a known segment; `segments` is counted by `segmentsOf`. */
export interface MatchedReceipt {
  /** The link of the receipt: its carrier's table has the meanings. */
  linkId: string
  accountId: string
  messageId: string
  segment: number
  segments: number
  state: string
  stat: string
  err: string | null
}

/** Select list for `MatchedReceipt`, from a receipt and the carrier id that matched it. */
export const matchedColumns = (
  r: string,
  id: string,
): string => `${r}.link_id as "linkId", ${r}.account_id as "accountId",
  ${r}.message_id as "messageId", ${r}.segment,
  case when ${r}.parts in (0, ${id}.segments) then 1 else ${id}.segments end as segments, ${r}.state, ${r}.stat, ${r}.err`

/** Segments of a message for a receipt: one that covers all of them (`ReceiptIn.parts`) decides it as a single one. */
export const segmentsOf = (parts: number | null | undefined, segments: number): number =>
  parts === 0 || parts === segments ? 1 : segments

/** The message status of a final receipt; null if the receipt is not final (enroute, accepted, unknown, …). */
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

/** Columns that the deciding receipt sets, without times and counts. */
export type Ending = Pick<MessageRow, 'status' | 'errorCode' | 'errorStage' | 'errorRaw' | 'receiptStat' | 'receiptErr'>

/** The result of a deciding receipt, by its carrier's table. */
export function endingOf(
  { linkId, state, stat, err }: Pick<MatchedReceipt, 'linkId' | 'state' | 'stat' | 'err'>,
  reasons: Reasons,
): Ending {
  const status = statusOfReceipt(state) ?? 'undelivered'
  if (status === 'delivered')
    return { status, errorCode: null, errorStage: null, errorRaw: null, receiptStat: stat, receiptErr: err }
  return {
    status,
    errorCode: reasons.ofReceipt(linkId, { state, stat, err }).code,
    errorStage: 'receipt',
    errorRaw: err === null ? stat : `${stat} err:${err}`,
    receiptStat: stat,
    receiptErr: err,
  }
}

/** Set clause for `endingOf` on a message `m`, from the row under the alias; `delivered`: delivered segments of a failed message. */
export const setsOfEnding = (r: string, at = 'now()', delivered = '0'): string => `status = ${r}.to_status,
      previous_status = m.status,
      sequence = m.sequence + 1,
      updated_at = ${at},
      sent_at = coalesce(m.sent_at, ${at}),
      completed_at = ${at},
      error_code = ${r}.error_code,
      error_stage = case when ${r}.error_code is not null then 'receipt' end,
      error_raw = ${r}.error_raw,
      receipt_stat = ${r}.stat,
      receipt_err = ${r}.err,
      segments_delivered = case ${r}.to_status when 'delivered' then m.segments else ${delivered} end`

/** Applies receipts in the inbox to their messages, in the caller's transaction; returns the messages that moved. */
export async function applyReceipts(tx: Tx, receipts: MatchedReceipt[], reasons: Reasons): Promise<Moved[]> {
  const finals = receipts.filter((receipt) => statusOfReceipt(receipt.state) !== null)
  const single = firstPerMessage(finals.filter((receipt) => receipt.segments === 1))
  const parts = receipts.filter((receipt) => receipt.segments > 1)
  const ends = single.map((receipt): End => ({ ...receipt, ...endingOf(receipt, reasons), delivered: 0 }))
  const moved = ends.length > 0 ? await applyEnds(tx, ends) : []
  if (parts.length > 0) moved.push(...(await applyParts(tx, parts, reasons)))
  return moved
}

/** A batch may hold two final receipts of a message: the first counts. */
function firstPerMessage(receipts: MatchedReceipt[]): MatchedReceipt[] {
  const seen = new Set<string>()
  return receipts.filter((receipt) => !seen.has(receipt.messageId) && seen.add(receipt.messageId))
}

interface End extends Ending {
  accountId: string
  messageId: string
  /** Delivered segments, if not all were. */
  delivered: number
}

async function applyEnds(tx: Tx, ends: End[]): Promise<Moved[]> {
  const { rows } = await tx.query<MessageRow>({
    ...applyStatement(dayOf(ends.map((end) => end.messageId))),
    values: columns([
      ends.map((end) => end.accountId),
      ends.map((end) => end.messageId),
      ends.map((end) => end.status),
      ends.map((end) => end.errorCode),
      ends.map((end) => end.errorRaw),
      ends.map((end) => end.receiptStat),
      ends.map((end) => end.receiptErr),
      ends.map((end) => end.delivered),
    ]),
  })
  return rows.map((row) => ({ row, from: row.previousStatus ?? 'sent' }))
}

/**
 * Receipts of messages with several segments are written to their submissions. A message moves when its last segment is final: delivered if all were,
 * else with the first failure and the number of delivered segments.
 */
export async function applyParts(tx: Tx, parts: MatchedReceipt[], reasons: Reasons): Promise<Moved[]> {
  const ids = parts.map((part) => part.messageId)
  await tx.query({
    ...partStatement(dayOf(ids)),
    values: columns([
      parts.map((part) => part.accountId),
      parts.map((part) => part.messageId),
      parts.map((part) => part.segment),
      parts.map((part) => part.state),
      parts.map((part) => part.stat),
      parts.map((part) => part.err),
      parts.map((part) => statusOfReceipt(part.state) !== null),
    ]),
  })
  const { rows } = await tx.query<Counted>({
    ...countStatement(dayOf(ids)),
    values: [[...new Set(ids)], parts.map((part) => part.accountId)],
  })
  const ends = rows
    .filter((row) => row.final >= row.segments)
    .map((row): End => ({ ...row, ...endOfParts(row, reasons) }))
  return ends.length > 0 ? applyEnds(tx, ends) : []
}

/** A message with its segments' receipts added up, and the first failure. */
interface Counted {
  accountId: string
  messageId: string
  segments: number
  final: number
  delivered: number
  linkId: string | null
  state: string | null
  stat: string | null
  err: string | null
}

function endOfParts({ linkId, state, stat, err }: Counted, reasons: Reasons): Ending {
  const isWhole = linkId === null || state === null || stat === null
  const words = isWhole ? { linkId: '', state: 'delivered', stat: 'DELIVRD', err: null } : { linkId, state, stat, err }
  return endingOf(words, reasons)
}

// Locks the messages by primary key.
const applyStatement = perDay(
  'apply-receipts',
  (day) => `
  with r as materialized (
    select *
    from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::int[])
      as r (account_id, message_id, to_status, error_code, error_raw, stat, err, delivered)
  ), moved as (
    update messages${day} m
    set ${setsOfEnding('r', 'now()', 'r.delivered')},
      possible_duplicate = ${staysTwice('m', day)}
    from r
    where m.account_id = r.account_id
      and m.id = r.message_id
      and (m.status in ('sending', 'sent', 'unconfirmed') or (m.status = 'queued' and m.possible_duplicate))
    returning ${messageColumns('m')}
  ), outcome as (
    insert into outcomes${day} (account_id, status, message_id, error_code)
    select "accountId", status, id, "errorCode" from moved where status <> 'delivered'
    on conflict do nothing
  ), ${countMoves('moved')}
  select * from moved`,
)

// The accepted try of each segment, by primary key; a final state is never overwritten. First locks the accepted tries of all segments, by primary
// key, so that two processes with receipts of one message count one after the other: otherwise neither would see the last. The message is not locked,
// because each process may have moved a message with an answer whose receipts the other has.
const partStatement = perDay(
  'apply-part-receipts',
  (day) => `
  with r as materialized (
    select distinct on (account_id, message_id, segment) *
    from unnest($1::uuid[], $2::uuid[], $3::int[], $4::text[], $5::text[], $6::text[], $7::boolean[])
      with ordinality as r (account_id, message_id, segment, state, stat, err, is_final, n)
    order by account_id, message_id, segment, is_final desc, n
  ), locked as materialized (
    select s.message_id
    from (select distinct account_id, message_id from r) m
    join submissions${day} s on s.account_id = m.account_id and s.message_id = m.message_id and s.state = 'accepted'
    order by s.message_id, s.segment, s.try
    for no key update of s
  )
  update submissions${day} s
  set receipt_state = r.state, receipt_stat = r.stat, receipt_err = r.err, receipt_at = now()
  from r
  where r.message_id in (select message_id from locked)
    and s.account_id = r.account_id
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
    (array_agg(s.link_id order by s.segment)
      filter (where s.receipt_state in ('expired', 'deleted', 'undeliverable', 'rejected')))[1] as "linkId",
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
