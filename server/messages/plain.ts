/**
 * The short way of most messages through the ledger: one segment, taken at once, reported once, and remembered by this process
 * (`Recent`). Two statements, each its own transaction, that read nothing back. Whatever they do not find as it is remembered is left to
 * the general way (`answer.ts`, `receipt.ts`); both may run again for the same answer or receipt and change nothing then.
 */
import { columns } from '../db/array.ts'
import type { Db } from '../db/db.ts'
import { dayOf, perDay } from '../db/partitions.ts'
import { callbackEndpointId, postLeaseSeconds, recording, renderEvent, type Outbox, type Posting } from '../events.ts'
import { newId } from '../ids.ts'
import type { Answer } from './answer.ts'
import { endingOf, setsOfEnding, statusOfReceipt } from './apply.ts'
import { messageEventData, type MessageRow } from './message.ts'
import type { ReceiptIn } from './receipt.ts'
import type { Recent, Submitted } from './recent.ts'
import { tallied, talliedColumns } from './tallies/delta-sql.ts'
import type { Reasons } from './taxonomy.ts'

/** An answer that only says "taken", of a message of one segment. */
export function isPlainAnswer({ state, segments, move, carrierMessageId, isLate }: Answer): boolean {
  return state === 'accepted' && segments === 1 && move?.to === 'sent' && carrierMessageId !== null && isLate !== true
}

/** A plain answer with the message as it was submitted. */
export interface PlainAnswer extends Submitted {
  answer: Answer
}

/** Writes plain answers; says whether receipts had come before them. */
export async function writePlainAnswers(db: Db, plain: PlainAnswer[], recent: Recent): Promise<{ hasEarly: boolean }> {
  const now = new Date()
  const answers = plain.map(({ answer }) => answer)
  // A carrier that gives one id twice in a moment means the later message.
  const byId = new Map(answers.map((answer) => [`${answer.linkId} ${answer.carrierMessageId}`, answer]))
  const known = [...byId.values()]
  const queued = plain.flatMap(({ answer, hasIntent }) => (hasIntent ? [answer] : []))
  const { rows: results } = await db.query<{ moved: number; hasEarly: boolean }>({
    ...answerStatement(dayOf(answers.map((answer) => answer.messageId))),
    values: [
      ...columns([
        answers.map((answer) => answer.accountId),
        answers.map((answer) => answer.messageId),
        answers.map(spelledId),
        known.map((answer) => answer.linkId),
        known.map((answer) => answer.carrierMessageId),
        known.map((answer) => answer.accountId),
        known.map((answer) => answer.messageId),
        queued.map((answer) => answer.nodeId),
        queued.map((answer) => answer.accountId),
        queued.map((answer) => answer.messageId),
        queued.map((answer) => answer.try),
        known.map((answer) => answer.rawMessageId ?? null),
      ]),
      now,
    ],
  })
  const [result = { moved: 0, hasEarly: false }] = results
  // Where one did not move, nothing of the batch is surely as remembered.
  if (result.moved === answers.length)
    for (const { row, answer } of plain) {
      const { linkId, carrierMessageId } = answer
      const change = { status: 'sent', updatedAt: now, sentAt: now, providerMessageId: spelledId(answer) } as const
      recent.rememberSent(linkId, carrierMessageId ?? '', { ...row, ...change, sequence: row.sequence + 1 })
    }
  return { hasEarly: result.hasEarly }
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
  const now = new Date()
  const ends = plain.map(({ receipt, row }) => endOf(row, receipt, now, reasons))
  const eventIds = ends.map(() => newId())
  const { rows: due } = await db.query<{ n: number; endpointId: string | null }>({
    ...receiptStatement(dayOf([...ends.map((end) => end.row.id), ...eventIds])),
    values: [
      ...columns([
        ends.map((end) => end.row.accountId),
        ends.map((end) => end.row.id),
        ends.map((end) => end.row.sequence),
        ends.map((end) => end.row.status),
        ends.map((end) => end.row.errorCode),
        ends.map((end) => end.row.errorRaw),
        ends.map((end) => end.row.receiptStat),
        ends.map((end) => end.row.receiptErr),
        eventIds,
        ends.map((end) => end.type),
        ends.map(({ row }) => row.callbackUrl && callbackEndpointId(row.accountId, row.callbackUrl)),
        ends.map((end) => end.row.callbackUrl),
      ]),
      now,
      outbox.nodeId,
      postLeaseSeconds,
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
    const data = messageEventData(row, 'sent')
    end.payload ??= renderEvent(eventId, { type, sequence: row.sequence, data }, now)
    const { accountId, id: messageId, callbackUrl: url } = row
    postings.push({ endpointId, accountId, eventId, messageId, dueAt: now, try: 1, url, payload: end.payload })
  }
  return { postings, rest: plain.flatMap(({ receipt }, i) => (isMoved[i] ? [] : [receipt])) }
}

interface End {
  row: MessageRow
  type: 'message.delivered' | 'message.failed'
  payload?: string
}

/** The message as its receipt leaves it. */
function endOf(row: MessageRow, receipt: ReceiptIn, now: Date, reasons: Reasons): End {
  const ending = endingOf(receipt, reasons)
  const isDelivered = ending.status === 'delivered'
  return {
    type: isDelivered ? 'message.delivered' : 'message.failed',
    row: {
      ...row,
      ...ending,
      sequence: row.sequence + 1,
      updatedAt: now,
      completedAt: now,
      segmentsDelivered: isDelivered ? row.segments : 0,
    },
  }
}

// Locks the messages by primary key. Intents end by primary key, where the message came through the queue; carrier ids are reused by carriers.
// The last column is an index probe an answer (receipts_unmatched).
const answerStatement = perDay(
  'write-plain-answers',
  (day) => `
  with a as materialized (
    select * from unnest($1::uuid[], $2::uuid[], $3::text[]) as a (account_id, message_id, carrier_message_id)
  ), ended as (
    delete from intents i
    using unnest($8::uuid[], $9::uuid[], $10::uuid[], $11::int[]) as q (node_id, account_id, message_id, try)
    where i.node_id = q.node_id and i.account_id = q.account_id and i.message_id = q.message_id and i.segment = 1 and i.try = q.try
  ), k as materialized (
    select * from unnest($4::uuid[], $5::text[], $6::uuid[], $7::uuid[], $12::text[])
      as k (link_id, carrier_message_id, account_id, message_id, raw_id)
  ), known as (
    insert into carrier_ids (link_id, carrier_message_id, raw_id, account_id, message_id, segment, segments)
    select link_id, carrier_message_id, raw_id, account_id, message_id, 1, 1 from k
    on conflict (link_id, carrier_message_id) do update
      set raw_id = excluded.raw_id, account_id = excluded.account_id, message_id = excluded.message_id, segment = 1, segments = 1, at = now()
  ), moved as (
    update messages${day} m
    set status = 'sent',
      previous_status = m.status,
      sequence = m.sequence + 1,
      updated_at = $13,
      sent_at = $13,
      provider_message_id = a.carrier_message_id,
      error_code = null,
      error_stage = null,
      error_raw = null
    from a
    where m.account_id = a.account_id
      and m.id = a.message_id
      and m.status in ('sending', 'unconfirmed')
    returning ${talliedColumns('m')}
  ), ${tallied('moved')}
  select (select count(*)::int from moved) as moved,
    exists (
      select 1
      from k
      join receipts r on r.link_id = k.link_id and r.match_id = k.carrier_message_id and r.message_id is null) as "hasEarly"`,
)

// Locks the messages by primary key. A message that is not as remembered (another sequence) is not touched and not answered. One row
// comes back for each post that is due, and one for each message that moved and has none.
const receiptStatement = perDay(
  'write-plain-receipts',
  (day) => `
  with r as materialized (
    select * from unnest($1::uuid[], $2::uuid[], $3::int[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::uuid[],
      $10::text[], $11::uuid[], $12::text[])
      with ordinality as r (account_id, message_id, sequence, to_status, error_code, error_raw, stat, err, event_id, type, endpoint_id, url, n)
  ), moved as materialized (
    update messages${day} m
    set ${setsOfEnding('r', '$13')}
    from r
    where m.account_id = r.account_id
      and m.id = r.message_id
      and m.sequence = r.sequence - 1
      and m.status = 'sent'
    returning r.n, r.account_id, r.message_id, r.sequence, r.to_status, r.error_code, r.event_id, r.type, r.endpoint_id, r.url,
      null::text as payload, 'sent' as previous_status, ${talliedColumns('m', 'message_type')}
  ), ${tallied('moved', 'message_type')}, outcome as (
    insert into outcomes${day} (account_id, status, message_id, error_code)
    select account_id, to_status, message_id, error_code from moved where to_status <> 'delivered'
    on conflict do nothing
  ), ${recording('moved', day, ['$13', '$14', '$15'])}
  select n::int, case when not is_ordered then target_id end as "endpointId" from due`,
)
