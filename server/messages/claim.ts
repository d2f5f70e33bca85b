/** Claim: from the queue to intents, in batches a lane; and everything else that the queue's rows wait for. */
import { inTransaction, type Db, type Tx } from '../db/db.ts'
import type { Outbox, Posting, Subscriptions } from '../events.ts'
import { isUnreadable } from '../sealing/texts.ts'
import type { Handover } from './handover.ts'
import { recordMoves, type Moved } from './ledger.ts'
import { claimStatement, isStopped } from './claim-sql.ts'
import { messageColumns, type MessageRow, type MessageType, type Status } from './message.ts'
import type { QuietHours } from './quiet-hours.ts'
import { holdQuiet } from './quiet-hours-hold.ts'
import type { Recent } from './recent.ts'
import { mayBeTaken, staysTwice } from './repeat-sql.ts'
import { repriceStrays } from './reprice.ts'
import { tallied, talliedColumns } from './tallies/delta-sql.ts'
import { rejectUnreadable } from './unreadable.ts'
import { isDefaultValidity, validityDefault } from './validity.ts'

export interface QueueContext {
  db: Db
  outbox: Outbox
  subscriptions: Subscriptions
}

/** A lane with something in it, or the part of one that waits for a carrier (`carrierId`) and a sender or campaign with a pace of its own. */
export interface Lane {
  /** Under which its rows are in the queue. */
  id: string
  /** The lane that it is, or is a part of. */
  laneId: string
  accountId: string
  type: MessageType
  carrierId: string | null
  sender: string | null
  campaignId: string | null
  /** The lowest id in it. */
  head: string
}

/**
 * Lanes that have rows, are not paused and whose account is not suspended, the oldest message first within a type. One probe of the
 * queue's key for each that has rows, however many there are.
 */
export async function findLanes(db: Db): Promise<Lane[]> {
  const { rows } = await db.query<Lane>({
    name: 'find-lanes',
    text: `
      with recursive waiting as (
        (select lane_id, message_id from queue order by lane_id, message_id limit 1)
        union all
        select next.lane_id, next.message_id
        from waiting w
        cross join lateral (
          select lane_id, message_id from queue where lane_id > w.lane_id order by lane_id, message_id limit 1
        ) next
      )
      select w.lane_id as id, l.id as "laneId", l.account_id as "accountId", l.type, b.carrier_id as "carrierId",
        nullif(b.sender, '') as sender, b.campaign_id as "campaignId", w.message_id as head
      from waiting w
      left join backlogs b on b.id = w.lane_id
      join lanes l on l.id = coalesce(b.lane_id, w.lane_id)
      join accounts a on a.id = l.account_id and a.status = 'active'
      left join campaigns c on c.account_id = l.account_id and c.id = b.campaign_id
      where not l.is_paused
        and (c.id is null or not ${isStopped('c')})
      order by w.message_id`,
  })
  return rows
}

const segmentsMax = 1_000_000

/** A link that takes messages, and how many segments; without a number any. One a carrier. */
export interface Room {
  id: string
  carrierId: string
  segments?: number
}

/** What a claim took. `claimed` counts queue rows, also those that were not to be sent any more, or stay. */
interface Claim {
  handovers: Handover[]
  claimed: number
  /** Rows that stay where they are. */
  stayed: number
  /** Of the last row; and of the last before which none stays. */
  lastId: string | null
  clearId: string | null
}

/** What a row of a claim has besides its message. */
type Claimed = Pick<Handover, 'linkId' | 'pending' | 'isDirect'> & Omit<Claim, 'handovers'>

/**
 * Claims up to `limit` messages of a lane above the id `after` for this node's links, as far as they have room: their queue rows go, their
 * intents come, in one transaction with the checks that must hold now: not expired, not opted out, still queued, this node not fenced.
 * What fails a check gets its final state here. What its carrier has no room for stays, or, where `sorts`, goes out of the way into the
 * part of the lane that waits for that carrier; so does what waits for a sender or campaign with a pace. What has to wait for the end of quiet
 * hours leaves the queue till then. Returns after the commit: bytes may be written.
 */
export async function claimMessages(
  context: QueueContext & { recent: Recent },
  nodeId: string,
  rooms: readonly Room[],
  lane: string,
  after: string,
  limit: number,
  options: {
    laneId?: string
    /** Where messages of the lane may have to wait for the end of quiet hours. */
    quiet?: { hours: QuietHours; accountId: string; type: MessageType } | null
    sender?: string | null
    campaignId?: string | null
    sorts?: boolean
    upCarriers?: readonly string[]
    /** The suffix of the partitions of one day: nothing older is taken. By default of any day. */
    day?: string
    /** From which id on messages may stand for themselves (`Hand.directFrom`). By default none. */
    directFrom?: string
  } = {},
): Promise<Claim> {
  const { db, outbox } = context
  const {
    laneId = lane,
    quiet = null,
    sender,
    campaignId = null,
    sorts = true,
    upCarriers = rooms.map((room) => room.carrierId),
    day = '',
    directFrom = 'ffffffff-ffff-ffff-ffff-ffffffffffff',
  } = options
  let postings: Posting[] = []
  const { rows, seen } = await inTransaction(db, async (tx) => {
    const look = quiet && (await holdQuiet(tx, quiet.hours, { ...quiet, id: lane, laneId }, after, limit))
    if (look?.open.length === 0)
      return { rows: [], seen: { claimed: look.held, stayed: 0, lastId: look.lastId, clearId: look.lastId } }
    const result = await tx.query<MessageRow & Claimed>({
      ...claimStatement(day),
      values: [
        nodeId,
        lane,
        after,
        limit,
        rooms.map((room) => room.id),
        rooms.map((room) => room.carrierId),
        rooms.map((room) => room.segments ?? segmentsMax),
        laneId,
        sender ?? '',
        sorts,
        upCarriers,
        campaignId,
        look && look.open,
        directFrom,
      ],
    })
    const moved = result.rows.filter((row) => row.id !== null)
    await repriceStrays(tx, moved)
    const ended = moved.filter((row) => row.status !== 'sending' && row.status !== 'queued')
    postings = await recordMoves(
      tx,
      [...ended.map((row): Moved => ({ row, from: 'queued' })), ...(await rejectUnreadable(tx, nodeId, moved))],
      context,
    )
    const { claimed = 0, stayed = 0, lastId = null, clearId = null } = result.rows[0] ?? {}
    return {
      rows: moved.filter((row) => !isUnreadable(row)),
      seen: { claimed: claimed + (look?.held ?? 0), stayed, lastId, clearId },
    }
  })
  outbox.offer(postings)
  for (const {
    linkId: _link,
    isDirect,
    pending: _pending,
    claimed: _claimed,
    stayed: _stayed,
    lastId: _last,
    clearId: _clear,
    ...row
  } of rows)
    // The history of a message that is sent again is in its submissions: it takes the general way.
    if (row.status === 'sending' && row.segments === 1 && !row.possibleDuplicate) context.recent.remember(row, isDirect)
  const handovers = rows
    .filter((row) => row.status === 'sending')
    .map((row): Handover => ({
      accountId: row.accountId,
      id: row.id,
      type: row.type,
      theirNumber: row.theirNumber,
      ourNumber: row.ourNumber,
      campaignId: row.campaignId,
      body: row.body ?? '',
      encoding: row.encoding,
      segments: row.segments,
      pending: row.pending,
      try: row.attempts,
      expiresAt: row.expiresAt,
      linkId: row.linkId,
      isDirect: row.isDirect,
    }))
  return { handovers, ...seen }
}

/** Moves what is due (scheduled messages, retries) to the queue. Returns how many; call again while it is `limit`. */
export async function queueDue(db: Db, limit = 1000): Promise<number> {
  const { rowCount } = await db.query({ name: 'queue-due', text: dueSql, values: [limit] })
  return rowCount ?? 0
}

/** Ends messages whose validity passed while they waited. Returns how many; call again while it is `limit`. */
export async function expireMessages(context: QueueContext, limit = 500): Promise<number> {
  // To plan the statement, over every day, takes longer than all else that a service does which has nothing to do.
  const { rows } = await context.db.query<{ isDue: boolean }>({
    name: 'is-message-expired',
    text: 'select exists (select from queue where expires_at <= now()) as "isDue"',
  })
  return rows[0]?.isDue ? endMessages(context, expireSql, [limit]) : 0
}

/** Ends messages with a statement that answers them with the status that they had; returns how many. */
export async function endMessages(context: QueueContext, text: string, values: unknown[]): Promise<number> {
  const { postings, count } = await inTransaction(context.db, async (tx: Tx) => {
    const { rows } = await tx.query<MessageRow & { from: Status }>(text, values)
    const moved: Moved[] = rows.map(({ from, ...row }) => ({ row, from }))
    return { postings: await recordMoves(tx, moved, context), count: rows.length }
  })
  context.outbox.offer(postings)
  return count
}

// Locks the due rows in the order of their time (index delayed_due_at), skipping those of other nodes. What is due because it expires in
// quiet hours keeps its hold: it is the reason of its end.
const dueSql = `
  with due as (
    delete from delayed
    where ctid = any (array(
      select ctid from delayed
      where due_at <= now()
      order by due_at
      limit $1
      for update skip locked))
    returning account_id, message_id, lane_id, segments, expires_at
  ), moved as (
    update messages m
    set status = 'queued', previous_status = m.status, queued_at = case when m.status = 'scheduled' then now() else m.queued_at end, updated_at = now(),
      hold_reason = case when m.hold_until > now() and d.expires_at <= now() then m.hold_reason end,
      hold_until = case when m.hold_until > now() and d.expires_at <= now() then m.hold_until end
    from due d
    where m.account_id = d.account_id and m.id = d.message_id
      and (m.status = 'scheduled' or (m.status = 'queued' and m.hold_reason = 'quiet_hours'))
    returning ${talliedColumns('m')}
  ), ${tallied('moved')}
  insert into queue (lane_id, message_id, account_id, segments, expires_at)
  select lane_id, message_id, account_id, segments, expires_at from due
  on conflict do nothing`

const prolonged = `date_trunc('milliseconds', now()) + ${validityDefault}`

// Locks expired queue rows (index queue_expires_at) that no claim holds, and their messages. What waits in line while a broadcast of its
// campaign is paused gets another default validity, where nobody asked for one: a pause passes over nobody. Broadcasts by broadcasts_campaign.
const expireSql = `
  with due as materialized (
    select ctid as row_at, account_id, message_id from queue
    where expires_at <= now()
    order by expires_at
    limit $1
    for update skip locked
  ), judged as materialized (
    select d.*, ${mayBeTaken('m')} as may_be_taken,
      c.id is not null and ${isDefaultValidity('m')}
        and exists (
          select 1 from broadcasts b
          where b.account_id = c.account_id and b.campaign_id = c.id and b.status = 'paused'
        ) as is_paused
    from due d
    join messages m on m.account_id = d.account_id and m.id = d.message_id
    left join campaigns c on c.account_id = m.account_id and c.id = m.campaign_id
      and c.status = 'paused' and not m.is_confirmation
  ), paused as (
    update queue
    set expires_at = ${prolonged}
    where ctid = any (array(select row_at from judged where is_paused))
  ), prolonged as (
    update messages m
    set expires_at = ${prolonged}, updated_at = now()
    from judged g
    where m.account_id = g.account_id and m.id = g.message_id and m.status = 'queued' and g.is_paused
  ), gone as (
    delete from queue
    where ctid = any (array(select row_at from due except select row_at from judged where is_paused))
  ), moved as (
    update messages m
    set status = case when g.may_be_taken then 'unconfirmed' else 'expired' end,
      previous_status = m.status,
      sequence = m.sequence + 1,
      updated_at = now(),
      completed_at = case when not g.may_be_taken then now() end,
      error_code = case when g.may_be_taken then 'outcome_unknown' when m.hold_reason = 'quiet_hours' then 'quiet_hours'
        else 'expired_in_queue' end,
      error_stage = 'queue',
      error_raw = null,
      hold_reason = null,
      hold_until = null,
      possible_duplicate = ${staysTwice('m')}
    from judged g
    where m.account_id = g.account_id and m.id = g.message_id and m.status = 'queued' and not g.is_paused
    returning ${messageColumns('m')}
  ), outcome as (
    insert into outcomes (account_id, status, message_id, error_code)
    select "accountId", status, id, "errorCode" from moved
    on conflict do nothing
  ), ${tallied('moved')}
  select moved.*, 'queued' as "from" from moved`
