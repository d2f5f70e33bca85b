/** Holding what is in line when its turn comes in quiet hours, and letting it go when those are changed. */
import { now } from '../db/clock.ts'
import type { Db, Tx } from '../db/db.ts'
import { dayOf, perDay } from '../db/partitions.ts'
import type { MessageType } from './message.ts'
import type { QuietHours } from './quiet-hours.ts'
import { isDefaultValidity, validityDefault } from './validity.ts'

/** A lane, or a part of one. */
interface QuietLane {
  /** Under which its rows are in the queue. */
  id: string
  laneId: string
  accountId: string
  type: MessageType
}

/** What came of a look at the next messages of a lane. */
export interface QuietLook {
  /** Those that may be claimed. */
  open: string[]
  held: number
  lastId: string | null
}

interface Looked {
  id: string
  campaignId: string | null
  theirNumber: string
  timezone: string | null
  isExempt: boolean
}

/**
 * Locks the next messages of a lane, as the claim that follows in the same transaction does, and moves those that are in quiet hours out of
 * it, to be due when those end, or when they expire. Answers to replies, and what the claim will end, are left to it.
 */
export async function holdQuiet(
  tx: Tx,
  quietHours: QuietHours,
  lane: QuietLane,
  after: string,
  limit: number,
): Promise<QuietLook> {
  const { accountId, type } = lane
  const { rows: inLine } = await tx.query<{ id: string }>({
    name: 'lock-in-line',
    text: lockSql,
    values: [lane.id, after, limit],
  })
  if (inLine.length === 0) return { open: [], held: 0, lastId: null }
  const ids = inLine.map(({ id }) => id)
  const day = dayOf(ids)
  const { rows } = await tx.query<Looked>({ ...lookStatement(day), values: [accountId, ids] })
  const open: string[] = []
  const held: { id: string; until: Date }[] = []
  const at = now()
  for (const { id, isExempt, ...message } of rows) {
    const until = isExempt ? null : quietHours.opensAt({ accountId, type, ...message }, at)
    if (until) held.push({ id, until })
    else open.push(id)
  }
  if (held.length > 0)
    await tx.query({
      ...holdStatement(day),
      values: [lane.id, lane.laneId, held.map(({ id }) => id), held.map(({ until }) => until)],
    })
  return { open, held: held.length, lastId: ids.at(-1) ?? null }
}

/**
 * Puts back into line what is held by words that were changed since; the claim judges it anew. Returns how many; call again while it is `limit`. Where
 * nothing was changed, it is not planned: that takes every day there is.
 */
export async function releaseHeld(db: Db, limit = 1000): Promise<number> {
  const { rows } = await db.query<{ isAny: boolean }>({
    name: 'is-any-held',
    text: `${changedSql} select exists (select from ${heldByChanged}) as "isAny"`,
  })
  if (!rows[0]?.isAny) return 0
  const { rowCount } = await db.query(releaseSql, [limit])
  return rowCount ?? 0
}

// By the queue's key; locks the queue rows, skipping those of other claims.
const lockSql = `
  select message_id as id
  from queue
  where lane_id = $1
    and message_id > $2
  order by message_id
  limit $3
  for update skip locked`

// By the keys of messages and contacts.
const lookStatement = perDay(
  'look-for-quiet',
  (day) => `
  select m.id, m.campaign_id as "campaignId", m.their_number as "theirNumber", ct.timezone,
    m.is_confirmation or m.status <> 'queued' or m.expires_at <= now() as "isExempt"
  from messages${day} m
  left join contacts ct on ct.account_id = m.account_id and ct.campaign_id = m.campaign_id and ct.id = m.contact_id
  where m.account_id = $1
    and m.id = any ($2::uuid[])
  order by m.id`,
)

// By primary keys; the queue rows are locked already. A message that was canceled meanwhile goes with its queue row. A validity that nobody
// asked for begins when the quiet hours end, as at accept, and again with the next ones: with most windows it would be over before.
const holdStatement = perDay(
  'hold-quiet',
  (day) => `
  with quiet as materialized (
    select q.*, k.until
    from unnest($3::uuid[], $4::timestamptz[]) as k (message_id, until)
    cross join lateral (
      select ctid as row_at, account_id, message_id, segments
      from queue
      where lane_id = $1 and message_id = k.message_id
      offset 0
    ) q
  ), gone as (
    delete from queue where ctid = any (array(select row_at from quiet))
  ), held as (
    update messages${day} m
    set hold_reason = 'quiet_hours', hold_until = q.until, updated_at = now(),
      expires_at = case
        when ${isDefaultValidity('m')} then q.until + ${validityDefault}
        else m.expires_at
      end
    from quiet q
    where m.account_id = q.account_id
      and m.id = q.message_id
      and m.status = 'queued'
    returning m.id, m.expires_at
  )
  insert into delayed (account_id, message_id, lane_id, segments, due_at, expires_at, held_at)
  select q.account_id, q.message_id, $2, q.segments, least(q.until, h.expires_at), h.expires_at, now()
  from quiet q
  join held h on h.id = q.message_id
  on conflict do nothing`,
)

// Nothing is held for more than three days. Ten seconds are more than any process needs to learn of a change; what is judged again in that time
// without need is only put back. Delayed rows by delayed_held, messages by their key.
const changedSql = `
  with changed as (
    select id as account_id, null::uuid as campaign_id, quiet_hours_changed_at as at
    from accounts
    where quiet_hours_changed_at > now() - interval '4 days'
    union all
    select account_id, id, quiet_hours_changed_at
    from campaigns
    where quiet_hours_changed_at > now() - interval '4 days'
  )`
const heldByChanged =
  "changed c join delayed w on w.account_id = c.account_id and w.held_at < c.at + interval '10 seconds'"
const releaseSql = `${changedSql}
  update delayed d
  set due_at = now(), held_at = null
  where d.ctid = any (array(
    select w.ctid
    from ${heldByChanged}
    join messages m on m.account_id = w.account_id and m.id = w.message_id
      and (c.campaign_id is null or m.campaign_id = c.campaign_id)
    limit $1
    for update of w skip locked))`
