/**
 * Short cut of answers and receipts; falls back on `answer.ts`, `receipt.ts` and `apply.ts`. It serves messages of one segment that are
 * accepted at once, reported once, and remembered by this process (`Recent`): two statements, each its own transaction, that read nothing
 * back. A row that is not as remembered takes the general way; both may run again for the same answer or receipt and change nothing then.
 */
import { now as readNow } from '../ground/db/clock.ts'
import type { Db } from '../ground/db/db.ts'
import { dayOf, perDay } from '../ground/db/partitions.ts'
import { everyPlace, rowParameters, type RowParameters } from '../ground/db/rows.ts'
import {
  callbackEndpointId,
  postLeaseSeconds,
  recording,
  renderEvent,
  type Outbox,
  type Posting,
} from '../events/events.ts'
import { newId } from '../ground/base/ids.ts'
import type { Answer } from './answer.ts'
import { endingOf, setsOfEnding, statusOfReceipt } from './apply.ts'
import { knownIds } from './carrier-ids-sql.ts'
import type { MessageRow } from '../message/message.ts'
import { messageEventData } from '../message/show.ts'
import type { ReceiptIn } from './receipt.ts'
import { endIntents } from '../queue/intents-sql.ts'
import type { Recent, Submitted } from '../message/recent.ts'
import { countMoves, countedColumns } from '../usage/delta-sql.ts'
import type { Reasons } from '../message/taxonomy.ts'

/** Pairs answers that a carrier accepted with the messages that are remembered; the others take the general way. */
export function recallAnswers(
  answers: Answer[],
  recent: Recent,
  wantsSent: (accountId: string) => boolean,
): { plain: PlainAnswer[]; rest: Answer[] } {
  const plain: PlainAnswer[] = []
  const rest: Answer[] = []
  for (const answer of answers) {
    const submitted = recent.takeSubmitted(answer.messageId, answer.try)
    // The id of a message that is sent again may have been taken for an earlier try's (`takeBackIds`).
    const isKnown = submitted?.row.possibleDuplicate === false && !wantsSent(answer.accountId)
    if (isKnown && isPlainAnswer(answer)) plain.push({ answer, ...submitted })
    else rest.push(answer)
  }
  return { plain, rest }
}

/** An acceptance of a message of one segment. */
function isPlainAnswer({ state, segments, move, carrierMessageId, isLate }: Answer): boolean {
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
  const rows: typeof queuedAnswerRows = isQueued ? queuedAnswerRows : answerRows
  const { rows: results } = await db.query<{ moved: number; hasEarly: boolean }>({
    ...(isQueued ? queuedAnswersStatement : answersStatement)(dayOf(answers.map((answer) => answer.messageId))),
    values: [
      ...rows.encode(writing, {
        message_id: ({ answer }) => answer.messageId,
        carrier_message_id: ({ answer }) => answer.carrierMessageId,
        raw_id: ({ answer }) => answer.rawMessageId ?? null,
        account_id: ({ answer }) => answer.accountId,
        link_id: ({ answer }) => answer.linkId,
        node_id: ({ answer, isDirect }) => (isDirect ? null : answer.nodeId),
        try: ({ answer }) => answer.try,
      }),
      now,
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

/**
 * Pairs receipts with the messages that are remembered; the others, repetitions, and those that opt somebody out stay for the general way.
 */
export function recallReceipts(
  receipts: ReceiptIn[],
  recent: Recent,
  reasons: Reasons,
): { plain: PlainReceipt[]; rest: ReceiptIn[] } {
  const plain: PlainReceipt[] = []
  const rest: ReceiptIn[] = []
  for (const receipt of receipts) {
    const status = statusOfReceipt(receipt.state)
    const isOptOut =
      status !== null &&
      status !== 'delivered' &&
      reasons.ofReceipt(receipt.linkId, receipt).code === 'recipient_opted_out'
    const row = status === null || isOptOut ? undefined : recent.takeSent(receipt.linkId, receipt.matchId)
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
  const endpointIds = ends.map(({ row }) => row.callbackUrl && callbackEndpointId(row.accountId, row.callbackUrl))
  const hasFailures = ends.some((end) => end.row.status !== 'delivered')
  const rows: typeof failureRows = hasFailures ? failureRows : receiptRows
  const { rows: due } = await db.query<{ places: number[] | null; endpointId: string | null }>({
    ...(hasFailures ? failuresStatement : receiptsStatement)(dayOf([...ends.map((end) => end.row.id), ...eventIds])),
    values: [
      ...rows.encode(ends, {
        message_id: ({ row }) => row.id,
        event_id: (_, i) => eventIds[i] ?? null,
        account_id: ({ row }) => row.accountId,
        sequence: ({ row }) => row.sequence,
        to_status: ({ row }) => row.status,
        stat: ({ row }) => row.receiptStat,
        err: ({ row }) => row.receiptErr,
        type: ({ type }) => type,
        endpoint_id: (_, i) => endpointIds[i] ?? null,
        url: ({ row }) => row.callbackUrl,
        error_code: ({ row }) => row.errorCode,
        error_raw: ({ row }) => row.errorRaw,
      }),
      now,
      outbox.nodeId,
      postLeaseSeconds,
    ],
  })
  const postings: Posting[] = []
  const isMoved = new Uint8Array(plain.length)
  for (const { places, endpointId } of due)
    for (const n of places ?? everyPlace(ends)) {
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
const answersOf = (day: string, isQueued: boolean, { select, count }: RowParameters<string>): string => `
  with a as materialized (
    ${select}
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
      updated_at = $${count + 1},
      sent_at = $${count + 1},
      provider_message_id = coalesce(a.raw_id, a.carrier_message_id),
      error_code = null,
      error_stage = null,
      error_raw = null
    from a
    where m.account_id = a.account_id
      and m.id = a.message_id
      and m.status = 'sending'
      and m.attempts = ${isQueued ? 'a.try' : '1'}
    returning ${countedColumns('m')}
  ), ${countMoves('moved', { from: "'sending'", to: "'sent'" })}
  select (select count(*)::int from moved) as moved,
    exists (
      select 1
      from a
      join receipts r on r.link_id = a.link_id and r.match_id = a.carrier_message_id and r.message_id is null) as "hasEarly"`

const answerOwn = { message_id: 'uuid', carrier_message_id: 'text', raw_id: 'text' }
const answerCommon = { account_id: 'uuid', link_id: 'uuid' }
const answerRows = rowParameters(answerOwn, answerCommon)
const queuedAnswerRows = rowParameters({ ...answerOwn, node_id: 'uuid' }, { ...answerCommon, try: 'int' })
const answersStatement = perDay('write-plain-answers', (day) => answersOf(day, false, answerRows))
const queuedAnswersStatement = perDay('write-plain-answers-queued', (day) => answersOf(day, true, queuedAnswerRows))

// Locks the messages by primary key. A message that is not as remembered (another sequence) is not touched and not answered. What comes back
// are the places of messages that moved, by the endpoint to which a post of them is to be handed over; null: all places. Where there is no such
// post, they may come more than once.
const receiptsOf = (day: string, hasFailures: boolean, { select, count }: RowParameters<string>): string => `
  with r as materialized (
    ${hasFailures ? select : `select *, null::text as error_code, null::text as error_raw from (${select}) r`}
  ), moved as materialized (
    update messages${day} m
    set ${setsOfEnding('r', `$${count + 1}`)}
    from r
    where m.account_id = r.account_id
      and m.id = r.message_id
      and m.sequence = r.sequence - 1
      and m.status = 'sent'
    returning r.n, r.account_id, r.message_id, r.sequence, r.to_status, r.error_code, r.event_id, r.type, r.endpoint_id, r.url,
      null::text as payload, 'sent' as previous_status, ${countedColumns('m', 'message_type')}
  ), ${countMoves('moved', { type: 'message_type', from: "'sent'" })}, ${
    hasFailures
      ? `outcome as (
    insert into outcomes${day} (account_id, status, message_id, error_code)
    select account_id, to_status, message_id, error_code from moved where to_status <> 'delivered'
    on conflict do nothing
  ), `
      : ''
  }${recording('moved', day, [`$${count + 1}`, `$${count + 2}`, `$${count + 3}`])}
  select case when target_id is null or count(*) < (select count(*) from r) then array_agg(n::int) end as places, target_id as "endpointId"
  from (select n, case when not is_ordered then target_id end as target_id from due) d
  group by target_id`

const receiptOwn = { message_id: 'uuid', event_id: 'uuid' }
const receiptCommon = {
  account_id: 'uuid',
  sequence: 'int',
  to_status: 'text',
  stat: 'text',
  err: 'text',
  type: 'text',
  endpoint_id: 'uuid',
  url: 'text',
}
const receiptRows = rowParameters(receiptOwn, receiptCommon)
const failureRows = rowParameters(receiptOwn, { ...receiptCommon, error_code: 'text', error_raw: 'text' })
const receiptsStatement = perDay('write-plain-receipts', (day) => receiptsOf(day, false, receiptRows))
const failuresStatement = perDay('write-plain-failures', (day) => receiptsOf(day, true, failureRows))
