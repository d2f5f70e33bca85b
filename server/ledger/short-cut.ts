/**
 * Short cut for answers and receipts; falls back on `answer.ts`, `receipt.ts` and `apply.ts`. It serves one-segment messages that are accepted at
 * once, reported once, and in this process's memory (`Recent`): two statements, each its own transaction, that read nothing back. If one row of a
 * batch differs from memory, nothing is written and all take the general way; both may run again for the same answer or receipt without effect.
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
import { countInMemory } from '../message/move-counts.ts'
import { addCounts } from '../usage/delta-sql.ts'
import type { Reasons } from '../message/taxonomy.ts'

/** Pairs accepted answers with messages in memory; the others take the general way. */
export function recallAnswers(
  answers: Answer[],
  recent: Recent,
  wantsSent: (accountId: string) => boolean,
): { plain: PlainAnswer[]; rest: Answer[] } {
  const plain: PlainAnswer[] = []
  const rest: Answer[] = []
  const ids = answers.map(({ linkId, carrierMessageId }) => `${linkId} ${carrierMessageId}`)
  const times = new Map<string, number>()
  for (const id of ids) times.set(id, (times.get(id) ?? 0) + 1)
  for (const [i, answer] of answers.entries()) {
    const submitted = recent.takeSubmitted(answer.messageId, answer.try)
    // The id of a resent message may have been attributed to an earlier try (`takeBackIds`).
    const isKnown = submitted?.row.possibleDuplicate === false && !wantsSent(answer.accountId)
    // An id that a carrier gives twice belongs to the later message: the general way keeps their order.
    if (isKnown && isPlainAnswer(answer) && times.get(ids[i] ?? '') === 1) plain.push({ answer, ...submitted })
    else rest.push(answer)
  }
  return { plain, rest }
}

function isPlainAnswer({ state, segments, move, carrierMessageId, isLate }: Answer): boolean {
  return state === 'accepted' && segments === 1 && move?.to === 'sent' && carrierMessageId !== null && isLate !== true
}

export interface PlainAnswer extends Submitted {
  answer: Answer
}

/**
 * Writes plain answers; returns whether receipts had come before them, or null if a message was not as submitted, because another process declared
 * this one dead.
 */
export async function writePlainAnswers(
  db: Db,
  plain: PlainAnswer[],
  recent: Recent,
): Promise<{ hasEarly: boolean } | null> {
  const now = readNow()
  for (const { row, answer } of plain) {
    row.status = 'sent'
    row.sequence++
    row.updatedAt = row.sentAt = now
    row.providerMessageId = spelledId(answer)
  }
  const isQueued = plain.some(({ isDirect }) => !isDirect)
  const rows: typeof queuedAnswerRows = isQueued ? queuedAnswerRows : answerRows
  const result = await ifRemembered(
    db.query<{ hasEarly: boolean }>({
      ...(isQueued ? queuedAnswersStatement : answersStatement)(dayOf(plain.map(({ answer }) => answer.messageId))),
      values: [
        ...rows.encode(plain, {
          message_id: ({ answer }) => answer.messageId,
          carrier_message_id: ({ answer }) => answer.carrierMessageId,
          raw_id: ({ answer }) => answer.rawMessageId ?? null,
          account_id: ({ answer }) => answer.accountId,
          link_id: ({ answer }) => answer.linkId,
          node_id: ({ answer, isDirect }) => (isDirect ? null : answer.nodeId),
          try: ({ answer }) => answer.try,
        }),
        now,
        countInMemory(plain.map(({ row }) => row)),
      ],
    }),
  )
  if (!result) return null
  for (const { row, answer } of plain) recent.rememberSent(answer.linkId, answer.carrierMessageId ?? '', row)
  return { hasEarly: result.rows[0]?.hasEarly === true }
}

const notRemembered = 'messages are as remembered'

/** The result of a statement with `wholeOf`; null if a message differed. */
const ifRemembered = <T>(written: Promise<T>): Promise<T | null> =>
  written.catch((error: unknown) => {
    if (error instanceof Error && error.message.includes(notRemembered)) return null
    throw error
  })

/** The CTE `whole`: if a row of `all` has not moved, the cast fails, and the statement changes nothing. */
const wholeOf = (all: string): string => `whole as materialized (
    select case when count(*) = (select count(*) from ${all}) then true else (count(*) || ' ${notRemembered}')::boolean end as holds
    from moved
  )`
const isWhole = '(select holds from whole)'

const spelledId = ({ rawMessageId, carrierMessageId }: Answer): string | null => rawMessageId ?? carrierMessageId

export interface PlainReceipt {
  receipt: ReceiptIn
  row: MessageRow
}

/** Pairs receipts with messages in memory; the others, repetitions, and those that opt a person out go the general way. */
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

/** Ends messages by their receipts, records events and due posts. Returns the posts, or null if a message differs from memory. */
export async function writePlainReceipts(
  db: Db,
  plain: PlainReceipt[],
  outbox: Outbox,
  reasons: Reasons,
): Promise<Posting[] | null> {
  const now = readNow()
  const ends = plain.map(({ receipt, row }) => endOf(row, receipt, now, reasons))
  const eventIds = ends.map(() => newId())
  const endpointIds = ends.map(({ row }) => row.callbackUrl && callbackEndpointId(row.accountId, row.callbackUrl))
  const hasFailures = ends.some((end) => end.row.status !== 'delivered')
  const rows: typeof failureRows = hasFailures ? failureRows : receiptRows
  const result = await ifRemembered(
    db.query<{ places: number[] | null; endpointId: string }>({
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
        countInMemory(ends.map(({ row }) => row)),
      ],
    }),
  )
  if (!result) return null
  const postings: Posting[] = []
  if (!outbox.nodeId) return postings
  for (const { places, endpointId } of result.rows)
    for (const n of places ?? everyPlace(ends)) {
      const end = ends[n - 1]
      const eventId = eventIds[n - 1]
      if (!end || !eventId) continue
      const { row, type } = end
      const { accountId, id: messageId, callbackUrl: url } = row
      // The message has ended and no longer changes.
      const payload = (): string =>
        renderEvent(eventId, { type, sequence: row.sequence, data: messageEventData(row, 'sent') }, now)
      postings.push({ endpointId, accountId, eventId, messageId, dueAt: now, try: 1, url, payload })
    }
  return postings
}

interface End {
  row: MessageRow
  type: 'message.delivered' | 'message.failed'
}

/** Applies the receipt to the message in memory: the caller took it out of `Recent`, so no other code has it. */
function endOf(row: MessageRow, receipt: ReceiptIn, now: Date, reasons: Reasons): End {
  Object.assign(row, endingOf(receipt, reasons))
  const isDelivered = row.status === 'delivered'
  row.sequence++
  row.updatedAt = row.completedAt = now
  row.segmentsDelivered = isDelivered ? row.segments : 0
  return { type: isDelivered ? 'message.delivered' : 'message.failed', row }
}

// Locks the messages by primary key; carriers reuse ids. Intents, which only queued messages have, end by primary key. The last column is an index
// probe for each answer (receipts_unmatched).
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
    returning 1
  ), ${wholeOf('a')}, ${addCounts(`$${count + 2}`, 'queued', isWhole)}
  select exists (
    select 1
    from a
    join receipts r on r.link_id = a.link_id and r.match_id = a.carrier_message_id and r.message_id is null) as "hasEarly"`

const answerOwn = { message_id: 'uuid', carrier_message_id: 'text', raw_id: 'text' }
const answerCommon = { account_id: 'uuid', link_id: 'uuid' }
const answerRows = rowParameters(answerOwn, answerCommon)
const queuedAnswerRows = rowParameters({ ...answerOwn, node_id: 'uuid' }, { ...answerCommon, try: 'int' })
const answersStatement = perDay('write-plain-answers', (day) => answersOf(day, false, answerRows))
const queuedAnswersStatement = perDay('write-plain-answers-queued', (day) => answersOf(day, true, queuedAnswerRows))

// Locks the messages by primary key. A message that differs from memory has another sequence. Returns the places of messages by the endpoint that
// gets their post; null: all places.
const receiptsOf = (day: string, hasFailures: boolean, { select, count }: RowParameters<string>): string => `
  with r as materialized (
    select *, null::text as payload, 'sent' as previous_status${hasFailures ? '' : ', null::text as error_code, null::text as error_raw'}
    from (${select}) r
  ), moved as (
    update messages${day} m
    set ${setsOfEnding('r', `$${count + 1}`)}
    from r
    where m.account_id = r.account_id
      and m.id = r.message_id
      and m.sequence = r.sequence - 1
      and m.status = 'sent'
    returning 1
  ), ${wholeOf('r')}, ${addCounts(`$${count + 4}`, 'sent', isWhole)}, ${
    hasFailures
      ? `outcome as (
    insert into outcomes${day} (account_id, status, message_id, error_code)
    select account_id, to_status, message_id, error_code from r where to_status <> 'delivered'
    on conflict do nothing
  ), `
      : ''
  }${recording('r', day, [`$${count + 1}`, `$${count + 2}`, `$${count + 3}`])}
  select case when count(*) < (select count(*) from r) then array_agg(n::int) end as places, target_id as "endpointId"
  from due
  where target_id is not null
    and not is_ordered
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
