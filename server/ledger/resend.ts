/**
 * Resends messages with an unknown outcome: by the policy `resend` after a while, or on request. The carrier may then have them twice, which each
 * shows (`possible_duplicate`). Nothing is resent after its validity.
 */
import type { Recording } from '../events/events.ts'
import { inTransaction, type Tx } from '../ground/db/db.ts'
import { columns, fieldsOf } from '../ground/db/array.ts'
import { placeOf } from '../ground/db/span.ts'
import { adoptTries } from './adopt.ts'
import { isPoison } from './crash.ts'
import { partsOfLane } from '../queue/lanes.ts'
import { recordMoves, type Moved } from '../message/moved.ts'
import { messageColumns, type MessageRow } from '../message/message.ts'
import { lockTries, resendAfterSeconds } from './without-id.ts'
import { hasText } from '../message/redact.ts'
import { countMoves } from '../usage/delta-sql.ts'
import { defaultReasons, type Reasons } from '../message/taxonomy.ts'

type ResendContext = Recording & { reasons?: Reasons }

// Any constant: we take no other advisory lock of one number below 2^32.
const lockKey = 0x756e6b6e

/**
 * Periodic work on unknown outcomes: adopts by receipts, then resends what is due. One process at a time, in pieces of `limit` tries; returns the
 * larger count of the two, call again while it is `limit`.
 */
export async function resolveUnknown(context: ResendContext, limit = 200): Promise<number> {
  const { reasons = defaultReasons } = context
  // Separate transactions: both lock tries before messages.
  const adopted = await alone(context, (tx) => adoptTries(tx, reasons, limit))
  const resent = await alone(context, async (tx) => ({ moved: [], looked: await resendDue(tx, limit) }))
  return Math.max(adopted, resent)
}

/** Runs one of the two unless another process is running either; returns the number of tries checked. */
async function alone(
  context: ResendContext,
  work: (tx: Tx) => Promise<{ moved: Moved[]; looked: number }>,
): Promise<number> {
  const { postings, looked } = await inTransaction(context.db, async (tx) => {
    const { rows } = await tx.query<{ isMine: boolean }>('select pg_try_advisory_xact_lock($1) as "isMine"', [lockKey])
    if (rows[0]?.isMine !== true) return { postings: [], looked: 0 }
    const { moved, looked } = await work(tx)
    return { postings: await recordMoves(tx, moved, context), looked }
  })
  context.outbox.offer(postings)
  return looked
}

interface Due {
  accountId: string
  messageId: string
  verdict: 'resend' | 'park' | 'wait' | 'hold'
}

/**
 * Messages whose wait for a receipt is over for all tries, each once: by the index on that time, and by key. A message waits on if its carrier has no
 * link up, since its receipts could not come, or if a segment is in flight. A message in hand in too many crashes is parked; an expired one is held
 * for good.
 */
async function resendDue(tx: Tx, limit: number): Promise<number> {
  const { rows: due } = await tx.query<Key>({
    name: 'find-due-resends',
    text: `
      select t.account_id as "accountId", t.message_id as "messageId"
      from nameless_tries t
      where t.resend_at <= now()
        and not exists (
          select from nameless_tries o
          where o.account_id = t.account_id
            and o.message_id = t.message_id
            and (o.resend_at > now() or (o.resend_at is not null and (o.segment, o.try) < (t.segment, t.try))))
      order by t.resend_at
      limit $1`,
    values: [limit],
  })
  if (due.length === 0) return 0
  const { day, isThere } = placeOfKeys(due)
  const { rows } = await tx.query<Due>(
    `
      select k.account_id as "accountId", k.message_id as "messageId",
        case
          when m.status = 'sending' then 'wait'
          when m.status <> 'unconfirmed' or m.error_code is distinct from 'outcome_unknown' or m.expires_at <= now() then 'hold'
          when ${isPoison('m')} then 'park'
          when exists (
            select 1
            from links l
            join link_states s on s.link_id = l.id
            where l.carrier_id = m.carrier_id and s.state in ('bound', 'throttled') and s.leased_until > now()) then 'resend'
          else 'wait'
        end as verdict
      from ${keys}
      join messages${day} m on m.account_id = k.account_id and m.id = k.message_id ${isThere('m.id')}`,
    keysOf(due),
  )
  if (rows.length === 0) return 0
  await lockTries(tx, rows)
  const of = (verdict: Due['verdict']): Due[] => rows.filter((row) => row.verdict === verdict)
  await postpone(tx, of('wait'))
  await park(tx, of('park'))
  await requeue(tx, of('resend'))
  await hold(tx, [...of('resend'), ...of('park'), ...of('hold')])
  return rows.length
}

type Key = Pick<Due, 'accountId' | 'messageId'>
const keysOf = (rows: readonly Key[]): (string | Buffer)[] => columns(fieldsOf(rows, 'accountId', 'messageId'))
const keys = 'unnest($1::uuid[], $2::uuid[]) as k (account_id, message_id)'
const placeOfKeys = (rows: readonly Key[]): ReturnType<typeof placeOf> =>
  placeOf(rows.map(({ messageId }) => messageId))
function unconfirmed(rows: readonly Key[]): string {
  const { day, isThere } = placeOfKeys(rows)
  return `${keys}
        join messages${day} m on m.account_id = k.account_id and m.id = k.message_id ${isThere('m.id')} and m.status = 'unconfirmed'`
}

// A frozen carrier leaves many thousands of tries: this keeps each of them from being checked every few seconds.
const postponedSecondsMax = 300

/** By half the time that it has waited. By primary key prefix of nameless_tries. */
async function postpone(tx: Tx, rows: readonly Key[]): Promise<void> {
  if (rows.length === 0) return
  await tx.query(
    `update nameless_tries t
     set resend_at = now() + least(greatest((now() - noted_at) / 2, make_interval(secs => $3)), make_interval(secs => $4))
     from ${keys}
     where t.account_id = k.account_id and t.message_id = k.message_id and t.resend_at is not null`,
    [...keysOf(rows), resendAfterSeconds, postponedSecondsMax],
  )
}

/** As `postpone`, forever. */
async function hold(tx: Tx, rows: readonly Key[]): Promise<void> {
  if (rows.length === 0) return
  await tx.query(
    `update nameless_tries t
     set resend_at = null
     from ${keys}
     where t.account_id = k.account_id and t.message_id = k.message_id and t.resend_at is not null`,
    keysOf(rows),
  )
}

/** By primary key of messages. */
async function park(tx: Tx, rows: readonly Key[]): Promise<void> {
  if (rows.length === 0) return
  const { day, isThere } = placeOfKeys(rows)
  await tx.query(
    `update messages${day} m
     set hold_reason = 'parked', updated_at = now()
     from ${keys}
     where m.account_id = k.account_id and m.id = k.message_id ${isThere('m.id')} and m.status = 'unconfirmed'`,
    keysOf(rows),
  )
}

/**
 * Deletes rows of unconfirmed messages in queue and delayed that a cancel left because a claim held them: the row of a requeued message must not be
 * one that a concurrent claim is about to delete, having seen it as not queued. The row of a queued message stays: it came in the transaction that
 * queued it, so no snapshot shows it beside an unconfirmed message. Waits for such a claim. A claim that began before the cancel puts its rows
 * elsewhere: into another part of the lane, or into delayed, from where they may return to the lane; the next claim of those has seen the cancel.
 */
async function leaveLines(tx: Tx, rows: readonly Key[]): Promise<void> {
  await leaveQueue(tx, rows)
  await leaveDelayed(tx, rows)
  await leaveQueue(tx, rows)
}

/** By primary key. */
async function leaveDelayed(tx: Tx, rows: readonly Key[]): Promise<void> {
  await tx.query({
    text: `
      delete from delayed
      where ctid = any (array(
        select d.ctid
        from ${unconfirmed(rows)}
        cross join lateral (
          select ctid from delayed where account_id = k.account_id and message_id = k.message_id for update) d))`,
    values: keysOf(rows),
  })
}

/** By primary key, in each part of its lane that may hold a message. */
async function leaveQueue(tx: Tx, rows: readonly Key[]): Promise<void> {
  await tx.query({
    text: `
      delete from queue
      where ctid = any (array(
        select q.ctid
        from ${unconfirmed(rows)}
        join lanes l on l.account_id = m.account_id and l.type = m.type
        ${partsOfLane('m.our_number', 'm.campaign_id')}
        cross join lateral (
          select ctid from queue
          where lane_id = part.lane_id and message_id = k.message_id and account_id = k.account_id
          for update) q))`,
    values: keysOf(rows),
  })
}

/**
 * Queues messages again if they are still unknown and valid, and their campaign was not canceled (broadcasts_campaign), since claims skip those. A
 * second caller finds them queued. They stay with their carrier, which may have some segments. Locks the messages by primary key; their unknown tries
 * open again for the claim, except those being answered now.
 */
async function requeue(tx: Tx, rows: readonly Key[]): Promise<MessageRow[]> {
  if (rows.length === 0) return []
  await leaveLines(tx, rows)
  const { day, isThere } = placeOfKeys(rows)
  const { rows: moved } = await tx.query<MessageRow>({
    text: `
      with moved as (
        update messages${day} m
        set status = 'queued',
          previous_status = m.status,
          sequence = m.sequence + 1,
          updated_at = now(),
          queued_at = now(),
          node_id = null,
          chain = case when m.carrier_id is null then m.chain else array[m.carrier_id] end,
          possible_duplicate = true,
          hold_reason = null,
          hold_until = null,
          error_code = null,
          error_stage = null,
          error_raw = null
        from ${keys}
        where m.account_id = k.account_id
          and m.id = k.message_id
          ${isThere('m.id')}
          and m.status = 'unconfirmed'
          and m.error_code = 'outcome_unknown'
          and m.expires_at > now()
          and ${hasText('m')}
          and not exists (
            select 1 from broadcasts b where b.account_id = m.account_id and b.campaign_id = m.campaign_id and b.status = 'canceled')
        returning ${messageColumns('m')}
      ), repeated as (
        update submissions${day} s
        set is_repeated = true
        from (
          select s.account_id, s.message_id, s.segment, s.try
          from moved
          join submissions${day} s on s.account_id = moved."accountId" and s.message_id = moved.id ${isThere('s.message_id')} and s.state = 'unknown'
          for update of s skip locked
        ) u
        where s.account_id = u.account_id and s.message_id = u.message_id ${isThere('s.message_id')} and s.segment = u.segment and s.try = u.try
      ), queued as (
        insert into queue (lane_id, message_id, account_id, segments, expires_at)
        select l.id, moved.id, l.account_id, moved.segments, moved."expiresAt"
        from moved
        join lanes l on l.account_id = moved."accountId" and l.type = moved.type and l.run_id is null
        on conflict do nothing
      ), ${countMoves('moved')}
      select * from moved`,
    values: keysOf(rows),
  })
  return moved
}

export interface Actor {
  kind: 'key' | 'token'
  id: string
  requestId: string
}

/**
 * Resends a message with an unknown outcome, even if its policy holds it or it is parked, and records the requester: the last one, if it was canceled
 * before it went. Null if the outcome is not unknown (any more), or its validity is over, or its campaign was canceled; of two concurrent callers one
 * gets null.
 */
export async function resendMessage(
  tx: Tx,
  accountId: string,
  messageId: string,
  actor: Actor,
): Promise<MessageRow | null> {
  const key = { accountId, messageId }
  await lockTries(tx, [key])
  const [row] = await requeue(tx, [key])
  if (!row) return null
  await hold(tx, [key])
  await tx.query(
    `insert into resends (account_id, message_id, tries, actor_kind, actor_id, request_id)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (account_id, message_id, tries) do update
       set actor_kind = excluded.actor_kind, actor_id = excluded.actor_id, request_id = excluded.request_id, at = excluded.at`,
    [accountId, messageId, row.attempts, actor.kind, actor.id, actor.requestId],
  )
  return row
}
