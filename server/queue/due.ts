/** Handles delayed messages that are due or expired. */
import type { Recording } from '../events/events.ts'
import type { Db } from '../ground/db/db.ts'
import { findDueSpan, placeOf, within, type Span } from '../ground/db/span.ts'
import { endMessages } from './claim.ts'
import { messageColumns } from '../message/message.ts'
import { mayBeTaken, staysTwice } from '../message/repeat-sql.ts'
import { countMoves, countedColumns } from '../usage/delta-sql.ts'
import { isDefaultValidity, validityDefault } from '../message/validity.ts'

/**
 * Queues what is due (scheduled messages, retries), in equal shares by lane if there is more than `limit`: half a million messages
 * scheduled for nine o'clock must not delay other accounts' messages, or retried codes. Returns the number, `limit` if there are more; call
 * again while it is `limit`.
 */
export async function queueDue(db: Db, limit = 1000): Promise<number> {
  const due = await findDueSpan(db, 'delayed', limit)
  if (!due) return 0
  const shares = due.count < limit ? null : await shareDue(db, limit)
  if (!shares) return (await db.query(dueSql(due), [limit])).rowCount ?? 0
  const { laneIds, share, ...span } = shares
  const { rowCount } = await db.query(dueSql(span, rowsOfLanes), [share, laneIds])
  return rowCount ? Math.max(rowCount, limit) : 0
}

interface Shares extends Span {
  /** Lanes with due messages, longest due first. */
  laneIds: string[]
  share: number
}

/** Shares by lane; null: nothing is due. One probe of the index delayed_lane for each lane that has rows. */
async function shareDue(db: Db, limit: number): Promise<Shares | null> {
  const { rows } = await db.query<{ [Key in keyof Shares]: Shares[Key] | null }>({
    name: 'share-due',
    text: `
      with recursive waiting as (
        (select lane_id, due_at from delayed order by lane_id, due_at limit 1)
        union all
        select next.lane_id, next.due_at
        from waiting w
        cross join lateral (
          select lane_id, due_at from delayed where lane_id > w.lane_id order by lane_id, due_at limit 1
        ) next
      ), lines as materialized (
        select lane_id from waiting where due_at <= now() order by due_at limit $1
      ), shares as materialized (
        select greatest(1, $1::int / greatest(1, count(*)))::int as share from lines
      )
      select array_agg(distinct lines.lane_id) as "laneIds", min(d.message_id::text) as first, max(d.message_id::text) as last,
        (select share from shares) as share
      from lines
      cross join lateral (
        select message_id from delayed
        where lane_id = lines.lane_id and due_at <= now()
        order by due_at
        limit (select share from shares)
      ) d`,
    values: [limit],
  })
  const { laneIds = null, share = null, first = null, last = null } = rows[0] ?? {}
  return laneIds && share !== null && first !== null && last !== null ? { laneIds, share, first, last } : null
}

/** Ends messages that expired in the queue. Returns their number; call again while it is `limit`. */
export async function expireMessages(context: Recording, limit = 500): Promise<number> {
  const span = await findDueSpan(context.db, 'queue', limit)
  return span ? endMessages(context, expireSql(within(span)), [limit]) : 0
}

// The first $1 in the order of their time (index delayed_due_at).
const rowsInOrder = (days: string): string => `
      select ctid from delayed
      where due_at <= now()
        and message_id ${days}
      order by due_at
      limit $1
      for update skip locked`

// The first $1 of each of the lanes $2 (index delayed_lane).
const rowsOfLanes = (days: string): string => `
      select d.ctid
      from unnest($2::uuid[]) as l (lane_id)
      cross join lateral (
        select ctid from delayed
        where lane_id = l.lane_id
          and due_at <= now()
          and message_id ${days}
        order by due_at
        limit $1
        for update skip locked
      ) d`

// Locks the due rows, skipping those of other nodes. Messages that expire in quiet hours keep their hold as the reason of their end.
const dueSql = (span: Span, rows = rowsInOrder, { day, isThere } = placeOf([span.first, span.last])): string => `
  with due as (
    delete from delayed
    where ctid = any (array(${rows(within(span))}))
    returning account_id, message_id, lane_id, segments, expires_at
  ), moved as (
    update messages${day} m
    set status = 'queued', previous_status = m.status, queued_at = case when m.status = 'scheduled' then now() else m.queued_at end, updated_at = now(),
      hold_reason = case when m.hold_until > now() and d.expires_at <= now() then m.hold_reason end,
      hold_until = case when m.hold_until > now() and d.expires_at <= now() then m.hold_until end
    from due d
    where m.account_id = d.account_id and m.id = d.message_id ${isThere('m.id')}
      and (m.status = 'scheduled' or (m.status = 'queued' and m.hold_reason = 'quiet_hours'))
    returning ${countedColumns('m')}
  ), ${countMoves('moved')}
  insert into queue (lane_id, message_id, account_id, segments, expires_at)
  select lane_id, message_id, account_id, segments, expires_at from due
  on conflict do nothing`

const prolonged = `date_trunc('milliseconds', now()) + ${validityDefault}`

// Locks expired queue rows (index queue_expires_at) that no claim holds, and their messages. If a broadcast of its campaign is paused, a
// queued message with a default validity gets a new one: a pause must not expire it. Broadcasts by broadcasts_campaign.
const expireSql = (days: string): string => `
  with due as materialized (
    select ctid as row_at, account_id, message_id from queue
    where expires_at <= now()
      and message_id ${days}
    order by expires_at
    limit $1
    for update skip locked
  ), judged as materialized (
    select d.*, ${mayBeTaken('m', '', days)} as may_be_taken,
      c.id is not null and ${isDefaultValidity('m')}
        and exists (
          select 1 from broadcasts b
          where b.account_id = c.account_id and b.campaign_id = c.id and b.status = 'paused'
        ) as is_paused
    from due d
    join messages m on m.account_id = d.account_id and m.id = d.message_id and m.id ${days}
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
    where m.account_id = g.account_id and m.id = g.message_id and m.id ${days} and m.status = 'queued' and g.is_paused
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
      error_raw = case when not g.may_be_taken and m.hold_reason is distinct from 'quiet_hours' then m.error_raw end,
      hold_reason = null,
      hold_until = null,
      possible_duplicate = ${staysTwice('m', '', days)}
    from judged g
    where m.account_id = g.account_id and m.id = g.message_id and m.id ${days} and m.status = 'queued' and not g.is_paused
    returning ${messageColumns('m')}
  ), outcome as (
    insert into outcomes (account_id, status, message_id, error_code)
    select "accountId", status, id, "errorCode" from moved
    on conflict do nothing
  ), ${countMoves('moved')}
  select moved.*, 'queued' as "from" from moved`
