/**
 * The short way of most messages through the ledger: one segment, taken at once, reported once, and remembered by this process
 * (`Recent`). Two statements, each its own transaction, that read nothing back. Whatever they do not find as it is remembered is left to
 * the general way (`answer.ts`, `receipt.ts`); both may run again for the same answer or receipt and change nothing then.
 */
import { columns } from '../../db/array.ts'
import { uuids } from '../../db/binary-array.ts'
import { now as readNow } from '../../db/clock.ts'
import type { Db } from '../../db/db.ts'
import { dayOf, perDay } from '../../db/partitions.ts'
import {
  callbackEndpointId,
  postLeaseSeconds,
  recording,
  renderEvent,
  type Outbox,
  type Posting,
} from '../../events.ts'
import { newId } from '../../ids.ts'
import type { Answer } from './answer.ts'
import { endingOf, setsOfEnding, statusOfReceipt } from './apply.ts'
import { knownIds } from './carrier-ids-sql.ts'
import { messageEventData, type MessageRow } from '../message.ts'
import type { ReceiptIn } from './receipt.ts'
import { endIntents } from '../queue/intents-sql.ts'
import type { Recent, Submitted } from './recent.ts'
import { tallied, talliedColumns } from '../tallies/delta-sql.ts'
import type { Reasons } from '../taxonomy.ts'

/** An answer that only says "taken", of a message of one segment. */
export function isPlainAnswer({ state, segments, move, carrierMessageId, isLate }: Answer): boolean {
  return state === 'accepted' && segments === 1 && move?.to === 'sent' && carrierMessageId !== null && isLate !== true
}

/** A plain answer with the message as it was submitted. */
export interface PlainAnswer extends Submitted {
  answer: Answer
}

/**
 * Writes plain answers; says whether receipts had come before them, and whether all messages were as they were submitted: where one was not,
 * because another process has taken this one for dead, the answers are to be written the general way, too.
 */
export async function writePlainAnswers(
  db: Db,
  plain: PlainAnswer[],
  recent: Recent,
): Promise<{ hasEarly: boolean; isWhole: boolean }> {
  // A carrier that gives one id twice in a moment means the later message, which is written after the other.
  const last = new Map(plain.map((one) => [`${one.answer.linkId} ${one.answer.carrierMessageId}`, one]))
  const later = new Set(last.values())
  const before = last.size < plain.length ? plain.filter((one) => !later.has(one)) : []
  const earlier = before.length > 0 ? await writePlainAnswers(db, before, recent) : { hasEarly: false, isWhole: true }
  const now = readNow()
  const writing = [...later]
  const answers = writing.map(({ answer }) => answer)
  const isQueued = writing.some(({ isDirect }) => !isDirect)
  const { rows: results } = await db.query<{ moved: number; hasEarly: boolean }>({
    ...(isQueued ? queuedAnswersStatement : answersStatement)(dayOf(answers.map((answer) => answer.messageId))),
    values: [
      ...columns([
        uuids(answers.map((answer) => answer.accountId)),
        uuids(answers.map((answer) => answer.messageId)),
        uuids(answers.map((answer) => answer.linkId)),
        answers.map((answer) => answer.carrierMessageId),
        answers.map((answer) => answer.rawMessageId ?? null),
      ]),
      now,
      ...(isQueued
        ? columns([
            uuids(writing.map(({ answer, isDirect }) => (isDirect ? null : answer.nodeId))),
            answers.map((answer) => answer.try),
          ])
        : []),
    ],
  })
  const [result = { moved: 0, hasEarly: false }] = results
  // Where one did not move, nothing of the batch is surely as remembered.
  if (result.moved === answers.length)
    for (const { row, answer } of writing) {
      row.status = 'sent'
      row.sequence++
      row.updatedAt = row.sentAt = now
      row.providerMessageId = spelledId(answer)
      recent.rememberSent(answer.linkId, answer.carrierMessageId ?? '', row)
    }
  return {
    hasEarly: earlier.hasEarly || result.hasEarly,
    isWhole: earlier.isWhole && result.moved === answers.length,
  }
}

/** The id as the carrier wrote it. */
const spelledId = ({ rawMessageId, carrierMessageId }: Answer): string | null => rawMessageId ?? carrierMessageId

/** A deciding receipt of a message that is remembered. */
export interface PlainReceipt {
  receipt: ReceiptIn
  row: MessageRow
}

/** Pairs receipts with the messages that are remembered; the others, and repetitions, stay for the general way. */
export function recall(receipts: ReceiptIn[], recent: Recent): { plain: PlainReceipt[]; rest: ReceiptIn[] } {
  const plain: PlainReceipt[] = []
  const rest: ReceiptIn[] = []
  for (const receipt of receipts) {
    const row = statusOfReceipt(receipt.state) === null ? undefined : recent.takeSent(receipt.linkId, receipt.matchId)
    if (row) plain.push({ receipt, row })
    else rest.push(receipt)
  }
  return { plain, rest }
}

/**
 * Ends messages by their receipts, records the events and their due posts. Returns the posts, and the receipts whose messages are not as
 * remembered: nothing was written for those.
 */
export async function writePlainReceipts(
  db: Db,
  plain: PlainReceipt[],
  outbox: Outbox,
  reasons: Reasons,
): Promise<{ postings: Posting[]; rest: ReceiptIn[] }> {
  const now = readNow()
  const ends = plain.map(({ receipt, row }) => endOf(row, receipt, now, reasons))
  const eventIds = ends.map(() => newId())
  const hasFailures = ends.some((end) => end.row.status !== 'delivered')
  const statement = hasFailures ? failuresStatement : receiptsStatement
  const { rows: due } = await db.query<{ n: number; endpointId: string | null }>({
    ...statement(dayOf([...ends.map((end) => end.row.id), ...eventIds])),
    values: [
      ...columns([
        uuids(ends.map((end) => end.row.accountId)),
        uuids(ends.map((end) => end.row.id)),
        ends.map((end) => end.row.sequence),
        ends.map((end) => end.row.status),
        ends.map((end) => end.row.receiptStat),
        ends.map((end) => end.row.receiptErr),
        uuids(eventIds),
        ends.map((end) => end.type),
        uuids(ends.map(({ row }) => row.callbackUrl && callbackEndpointId(row.accountId, row.callbackUrl))),
        ends.map((end) => end.row.callbackUrl),
      ]),
      now,
      outbox.nodeId,
      postLeaseSeconds,
      ...(hasFailures ? columns([ends.map((end) => end.row.errorCode), ends.map((end) => end.row.errorRaw)]) : []),
    ],
  })
  const postings: Posting[] = []
  const isMoved = new Uint8Array(plain.length)
  for (const { n, endpointId } of due) {
    isMoved[n - 1] = 1
    const end = ends[n - 1]
    const eventId = eventIds[n - 1]
    if (!end || !eventId || !endpointId || !outbox.nodeId) continue
    const { row, type } = end
    const { accountId, id: messageId, callbackUrl: url } = row
    // The message has ended: it stays as it is.
    const payload = (): string =>
      renderEvent(eventId, { type, sequence: row.sequence, data: messageEventData(row, 'sent') }, now)
    postings.push({ endpointId, accountId, eventId, messageId, dueAt: now, try: 1, url, payload })
  }
  return { postings, rest: plain.flatMap(({ receipt }, i) => (isMoved[i] ? [] : [receipt])) }
}

interface End {
  row: MessageRow
  type: 'message.delivered' | 'message.failed'
}

/** Changes the message as its receipt does: who took it out of `Recent` is the only one that has it. */
function endOf(row: MessageRow, receipt: ReceiptIn, now: Date, reasons: Reasons): End {
  Object.assign(row, endingOf(receipt, reasons))
  const isDelivered = row.status === 'delivered'
  row.sequence++
  row.updatedAt = row.completedAt = now
  row.segmentsDelivered = isDelivered ? row.segments : 0
  return { type: isDelivered ? 'message.delivered' : 'message.failed', row }
}

// Locks the messages by primary key; carrier ids are reused by carriers. Intents, which only messages have that came through the queue, end
// by primary key. The last column is an index probe an answer (receipts_unmatched).
const answersOf = (day: string, isQueued: boolean): string => `
  with a as materialized (
    select * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[]${isQueued ? ', $7::uuid[], $8::int[]' : ''})
      as a (account_id, message_id, link_id, carrier_message_id, raw_id${isQueued ? ', node_id, try' : ''})
  ), ${
    isQueued
      ? `ended as (
    ${endIntents('1')}
  ), `
      : ''
  }${knownIds('select link_id, carrier_message_id, raw_id, account_id, message_id, 1, 1 from a')}, moved as (
    update messages${day} m
    set status = 'sent',
      previous_status = m.status,
      sequence = m.sequence + 1,
      updated_at = $6,
      sent_at = $6,
      provider_message_id = coalesce(a.raw_id, a.carrier_message_id),
      error_code = null,
      error_stage = null,
      error_raw = null
    from a
    where m.account_id = a.account_id
      and m.id = a.message_id
      and m.status = 'sending'
      and m.attempts = ${isQueued ? 'a.try' : '1'}
    returning ${talliedColumns('m')}
  ), ${tallied('moved')}
  select (select count(*)::int from moved) as moved,
    exists (
      select 1
      from a
      join receipts r on r.link_id = a.link_id and r.match_id = a.carrier_message_id and r.message_id is null) as "hasEarly"`

const answersStatement = perDay('write-plain-answers', (day) => answersOf(day, false))
const queuedAnswersStatement = perDay('write-plain-answers-queued', (day) => answersOf(day, true))

// Locks the messages by primary key. A message that is not as remembered (another sequence) is not touched and not answered. One row
// comes back for each post that is due, and one for each message that moved and has none.
const receiptsOf = (day: string, hasFailures: boolean): string => `
  with r as materialized (
    select *${hasFailures ? '' : ', null::text as error_code, null::text as error_raw'}
    from unnest($1::uuid[], $2::uuid[], $3::int[], $4::text[], $5::text[], $6::text[], $7::uuid[], $8::text[], $9::uuid[], $10::text[]${
      hasFailures ? ', $14::text[], $15::text[]' : ''
    })
      with ordinality as r (account_id, message_id, sequence, to_status, stat, err, event_id, type, endpoint_id, url${
        hasFailures ? ', error_code, error_raw' : ''
      }, n)
  ), moved as materialized (
    update messages${day} m
    set ${setsOfEnding('r', '$11')}
    from r
    where m.account_id = r.account_id
      and m.id = r.message_id
      and m.sequence = r.sequence - 1
      and m.status = 'sent'
    returning r.n, r.account_id, r.message_id, r.sequence, r.to_status, r.error_code, r.event_id, r.type, r.endpoint_id, r.url,
      null::text as payload, 'sent' as previous_status, ${talliedColumns('m', 'message_type')}
  ), ${tallied('moved', 'message_type')}, ${
    hasFailures
      ? `outcome as (
    insert into outcomes${day} (account_id, status, message_id, error_code)
    select account_id, to_status, message_id, error_code from moved where to_status <> 'delivered'
    on conflict do nothing
  ), `
      : ''
  }${recording('moved', day, ['$11', '$12', '$13'])}
  select n::int, case when not is_ordered then target_id end as "endpointId" from due`

const receiptsStatement = perDay('write-plain-receipts', (day) => receiptsOf(day, false))
const failuresStatement = perDay('write-plain-failures', (day) => receiptsOf(day, true))
