/** Writes the outcomes of segments in batches: deletes intents, inserts submissions and carrier ids, and moves messages. */
import { columns } from '../ground/db/array.ts'
import { dayOf, perDay } from '../ground/db/partitions.ts'
import type { Db, Tx } from '../ground/db/db.ts'
import { knownIds } from './carrier-ids-sql.ts'
import { chainOrder, isInChain, ourSenders } from '../queue/chain-sql.ts'
import { messageColumns, type MessageRow, type Status } from '../message/message.ts'
import { endIntents } from '../queue/intents-sql.ts'
import type { Moved } from '../message/moved.ts'
import { mayBeTaken, staysTwice } from '../message/repeat-sql.ts'
import { toBePriced } from '../message/reprice.ts'
import { matchedColumns, type MatchedReceipt } from './apply.ts'
import { countMoves } from '../usage/delta-sql.ts'
import type { MessageErrorCode } from '../message/taxonomy.ts'

/** The end of one try of one segment. `released`: no byte was written. */
export interface Answer {
  /** The node whose intent this ends: this one, or a dead one that is being settled. */
  nodeId: string
  accountId: string
  messageId: string
  segment: number
  /** Segments of the whole message. */
  segments: number
  try: number
  linkId: string
  state: 'accepted' | 'refused' | 'unknown' | 'released'
  /** The carrier's id in the form for matching receipts; null if it gave none. */
  carrierMessageId: string | null
  /** The id as the carrier wrote it, if that differs; else null or absent. */
  rawMessageId?: string | null
  commandStatus: number | null
  /** Time of the write, or of the intent if nothing was written. */
  intentAt: Date
  /** The move of the message, on the answer that ends the try of its last segment; null before. */
  move: Move | null
  /** It came after the try had ended as unknown. */
  isLate?: boolean
}

/** `queued` with a delay is a retry. */
export interface Move {
  to: 'sent' | 'rejected' | 'unconfirmed' | 'queued'
  /**
   * Set if the carrier refused, and has no segment of the message: it returns to the queue for the next carrier of its chain, or moves as `to` says
   * if there is none. `drop`: never this carrier again; `rotate`: after the others. `stay`: this carrier has a segment, so the others go nowhere
   * else.
   */
  carrier?: 'drop' | 'rotate' | 'stay' | null
  /** `queued` only: the link would cut the message into this many segments, and wrote none. Absent: the count is unchanged. */
  segments?: number
  /** `queued` only: no segment was written in this try, so it does not count as an attempt. */
  isUnwritten?: boolean
  retryAfterMs: number | null
  errorCode: MessageErrorCode | null
  errorRaw: string | null
}

/**
 * Writes answers in one statement. Returns the messages that moved and need an event (`sent` only if subscribed), and whether receipts had come
 * before these answers (`matchEarly`). Messages that a late answer or receipt already moved stay unchanged.
 */
export async function writeAnswers(
  tx: Db | Tx,
  answers: Answer[],
  wantsSent: (accountId: string) => boolean,
): Promise<{ moved: Moved[]; hasEarly: boolean }> {
  const again = findIdAgain(answers)
  if (again > 0) {
    const before = await writeAnswers(tx, answers.slice(0, again), wantsSent)
    const rest = await writeAnswers(tx, answers.slice(again), wantsSent)
    return { moved: [...before.moved, ...rest.moved], hasEarly: before.hasEarly || rest.hasEarly }
  }
  const column = <T>(pick: (answer: Answer) => T): T[] => answers.map(pick)
  const ids = column((a) => a.messageId).sort()
  const { rows } = await tx.query<MessageRow & { from: Status; hasEarly: boolean }>({
    ...answerStatement(dayOf(ids)),
    values: [
      ...columns([
        column((a) => a.nodeId),
        column((a) => a.accountId),
        column((a) => a.messageId),
        column((a) => a.segment),
        column((a) => a.segments),
        column((a) => a.try),
        column((a) => a.linkId),
        column((a) => a.state),
        column((a) => a.carrierMessageId),
        column((a) => a.commandStatus),
        column((a) => a.intentAt),
        column((a) => a.move?.to ?? null),
        column((a) => a.move?.retryAfterMs ?? null),
        column((a) => a.move?.errorCode ?? null),
        column((a) => a.move?.errorRaw ?? null),
        column((a) => wantsSent(a.accountId)),
        column((a) => a.move?.carrier ?? null),
        column((a) => a.rawMessageId ?? null),
        column((a) => a.move?.segments ?? null),
        column((a) => a.move?.isUnwritten === true),
      ]),
    ],
  })
  const moved = rows.flatMap(({ from, ...row }) => (row.id === null ? [] : [{ row, from }]))
  return { moved, hasEarly: rows[0]?.hasEarly ?? false }
}

/** Place of the first answer with an id that this batch already gave to another message: those before it are written first. -1: none. */
function findIdAgain(answers: readonly Answer[]): number {
  const given = new Map<string, string>()
  return answers.findIndex(({ state, linkId, carrierMessageId, messageId }) => {
    if (state !== 'accepted' || carrierMessageId === null) return false
    const id = `${linkId} ${carrierMessageId}`
    const other = given.get(id)
    given.set(id, messageId)
    return other !== undefined && other !== messageId
  })
}

/** Takes the early receipts of these answers out of the orphans; apply them in the same transaction. */
export async function matchEarly(tx: Tx, answers: Answer[]): Promise<MatchedReceipt[]> {
  const { rows } = await tx.query<MatchedReceipt>({
    name: 'match-early-receipts',
    text: earlySql,
    values: [
      answers.map((a) => a.linkId),
      answers.map((a) => (a.state === 'accepted' ? a.carrierMessageId : null)),
      answers.map((a) => a.accountId),
      answers.map((a) => a.messageId),
      answers.map((a) => a.segment),
      answers.map((a) => a.segments),
      answers.map((a) => a.intentAt),
    ],
  })
  return rows
}

// Messages that moved; a message with a new segment count is subtracted with the old count and added with the new.
const changed = `(
        select m."accountId", m."createdAt", m."campaignId", m."broadcastId", m."isConfirmation", m.type, m."isTest", m.country, m."carrierId", v.segments,
          v."previousStatus", v.status, m."errorCode", m."sentAt", m.cost, m."costCurrency", m."costCarrierId"
        from moved m
        cross join lateral (
          select m.segments, m."previousStatus", m.status where m.counted is null
          union all
          select m.counted_before, m."previousStatus", null where m.counted is not null
          union all
          select m.segments, null, m.status where m.counted is not null
        ) v
      ) changed`

// Locks the moving messages (by primary key) and the ending intents. A message returns to the queue or becomes unconfirmed only while this try is
// sending it, so a second run changes nothing; a released try keeps its number. The intent cannot prove this: a late answer of the segment, written
// first, has ended it. If a process ends a try after another one declared it dead, the try is not unknown: a released one must be open to the next
// claim. Released and retried messages return to the queue even if expired; the claim or the sweep handles that. A refusal proves nothing about an
// earlier unknown try. If a carrier gives several parts one id, the last part gets it.
const answerStatement = perDay(
  'write-answers',
  (day) => `
  with a as materialized (
    select * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::int[], $6::int[], $7::uuid[], $8::text[], $9::text[],
      $10::int[], $11::timestamptz[], $12::text[], $13::int[], $14::text[], $15::text[], $16::boolean[], $17::text[],
      $18::text[], $19::int[], $20::boolean[]) with ordinality
      as a (node_id, account_id, message_id, segment, segments, try, link_id, state, carrier_message_id,
        command_status, intent_at, to_status, retry_after_ms, error_code, error_raw, wants_sent, carrier, raw_id, counted, is_unwritten, n)
  ), chained as materialized (
    select a.message_id, a.carrier,
      case a.carrier when 'rotate' then n.chain || m.carrier_id when 'stay' then array[m.carrier_id] else n.chain end as chain
    from a
    join messages${day} m on m.account_id = a.account_id and m.id = a.message_id and m.status = 'sending'
    ${ourSenders}
    left join lateral (
      select array_agg(c.id order by ${chainOrder}) as chain
      from carriers c
      where c.enabled and c.id <> m.carrier_id and ${isInChain}
    ) n on true
    where a.carrier is not null and (n.chain is not null or a.carrier = 'stay') and not ${mayBeTaken('m', day)}
  ), move as materialized (
    select a.account_id, a.message_id, a.try, a.wants_sent, a.segments, a.counted, a.is_unwritten, c.chain,
      coalesce(a.raw_id, a.carrier_message_id) as carrier_message_id,
      case when c.carrier in ('drop', 'rotate') then 'queued' when r.may_be_taken then 'unconfirmed' else a.to_status end as to_status,
      case when c.carrier in ('drop', 'rotate') then null else a.retry_after_ms end as retry_after_ms,
      case when c.carrier in ('drop', 'rotate') then null when r.may_be_taken then 'outcome_unknown' else a.error_code end as error_code,
      case when c.carrier in ('drop', 'rotate') then null else a.error_raw end as error_raw
    from a
    left join chained c on c.message_id = a.message_id
    left join lateral (
      select ${mayBeTaken('m', day)} as may_be_taken
      from messages${day} m
      where m.account_id = a.account_id and m.id = a.message_id
    ) r on a.to_status = 'rejected'
    where a.to_status is not null
  ), ended as (
    ${endIntents('a.segment')}
    returning message_id, segment
  ), ${knownIds(`select distinct on (link_id, carrier_message_id)
      link_id, carrier_message_id, raw_id, account_id, message_id, segment, segments
    from a
    where state = 'accepted' and carrier_message_id is not null
    order by link_id, carrier_message_id, n desc`)}, moved as (
    update messages${day} m
    set status = a.to_status,
      previous_status = m.status,
      sequence = m.sequence + 1,
      updated_at = now(),
      sent_at = case when a.to_status = 'sent' then now() else m.sent_at end,
      completed_at = case when a.to_status = 'rejected' then now() end,
      queued_at = case when a.to_status = 'queued' then now() else m.queued_at end,
      node_id = case when a.to_status <> 'queued' then m.node_id end,
      provider_message_id = coalesce(a.carrier_message_id, m.provider_message_id),
      error_code = a.error_code,
      error_stage = case when a.error_code is not null then 'submit' end,
      error_raw = a.error_raw,
      possible_duplicate = ${staysTwice('m', day)},
      chain = coalesce(a.chain, m.chain),
      segments = coalesce(a.counted, m.segments),
      handed_back = m.handed_back + (a.is_unwritten and a.to_status = 'queued')::int,
      cost_carrier_id = ${toBePriced('a.counted is not null', 'm.cost_carrier_id')}
    from move a
    where m.account_id = a.account_id
      and m.id = a.message_id
      and (m.status = any (case a.to_status
        when 'sent' then '{sending,unconfirmed}'::text[]
        when 'rejected' then '{sending,unconfirmed}'::text[]
        else '{sending}'::text[] end)
        or (a.to_status = 'sent' and m.status = 'queued' and m.possible_duplicate))
      and (a.to_status in ('sent', 'rejected') or m.attempts = a.try)
    returning ${messageColumns('m')}, a.wants_sent, a.retry_after_ms, a.segments as counted_before, a.counted
  ), submitted as (
    insert into submissions${day} as s (account_id, message_id, segment, try, link_id, state, carrier_message_id, command_status, intent_at)
    select account_id, message_id, segment, try, link_id, state, coalesce(raw_id, carrier_message_id), command_status, intent_at
    from a
    where state <> 'released'
      and (state <> 'unknown'
        or (message_id, segment) in (select message_id, segment from ended)
        or message_id in (select id from moved))
    on conflict (account_id, message_id, segment, try) do update
      set state = excluded.state, carrier_message_id = excluded.carrier_message_id, command_status = excluded.command_status,
        answered_at = excluded.answered_at
      where s.state = 'unknown'
  ), requeued as (
    insert into queue (lane_id, message_id, account_id, segments, expires_at)
    select l.id, m.id, m."accountId", m.segments, m."expiresAt"
    from moved m
    join lanes l on l.account_id = m."accountId" and l.type = m.type and l.run_id is null
    where m.status = 'queued' and m.retry_after_ms is null
    on conflict do nothing
  ), delayed as (
    insert into delayed (account_id, message_id, lane_id, segments, due_at, expires_at)
    select m."accountId", m.id, l.id, m.segments, now() + m.retry_after_ms * interval '1 ms', m."expiresAt"
    from moved m
    join lanes l on l.account_id = m."accountId" and l.type = m.type and l.run_id is null
    where m.status = 'queued' and m.retry_after_ms is not null
    on conflict (account_id, message_id) do nothing
  ), outcome as (
    insert into outcomes${day} (account_id, status, message_id, error_code)
    select "accountId", status, id, "errorCode"
    from moved
    where status in ('rejected', 'unconfirmed')
    on conflict do nothing
  ), ${countMoves(changed)}
  select moved.*, moved."previousStatus" as "from",
    exists (
      select 1
      from a
      cross join lateral (
        select 1 from receipts
        where link_id = a.link_id and match_id = a.carrier_message_id and message_id is null
        limit 1
      ) r
      where a.state = 'accepted') as "hasEarly"
  from (values (1)) as always (n)
  left join moved on status in ('rejected', 'unconfirmed') or (status = 'sent' and wants_sent)`,
)

// Marks unmatched receipts for these ids as matched; by the partial index receipts_unmatched (link_id, match_id). The first receipt came first. A
// receipt older than the submit belongs to an earlier message with this id; clocks may differ by an hour.
const earlySql = `
  with matched as (
    update receipts r
    set account_id = a.account_id, message_id = a.message_id, segment = a.segment
    from unnest($1::uuid[], $2::text[], $3::uuid[], $4::uuid[], $5::int[], $6::int[], $7::timestamptz[])
      as a (link_id, match_id, account_id, message_id, segment, segments, intent_at)
    where r.link_id = a.link_id and r.match_id = a.match_id and r.message_id is null
      and r.received_at > a.intent_at - interval '1 hour'
    returning r.received_at, ${matchedColumns('r', 'a')}
  )
  select * from matched order by received_at`
