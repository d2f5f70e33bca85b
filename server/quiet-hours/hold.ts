/** Holds messages whose turn comes in quiet hours, and releases them when these change. */
import { now } from '../ground/db/clock.ts'
import { fieldsOf } from '../ground/db/array.ts'
import type { Db, Tx } from '../ground/db/db.ts'
import { dayOf, perDay } from '../ground/db/partitions.ts'
import type { MessageType } from '../message/message.ts'
import type { QuietHours } from './quiet-hours.ts'
import { isDefaultValidity, validityDefault } from '../message/validity.ts'

/** A lane, or a part of one. */
interface QuietLane {
  /** The lane id of its queue rows. */
  id: string
  laneId: string
  accountId: string
  type: MessageType
}

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
 * Locks the next messages of a lane, as the claim that follows in the same transaction does. Delays those in quiet hours until these end,
 * or until they expire. Leaves answers to replies, and messages that the claim will end.
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
      values: [lane.id, lane.laneId, ...fieldsOf(held, 'id', 'until')],
    })
  return { open, held: held.length, lastId: ids.at(-1) ?? null }
}

const hasChanged = `c.quiet_hours_changed_at > now() - interval '4 days'`

/** Now, if quiet hours have changed lately. */
export const hoursDue = `
  select now() where exists (select from accounts c where ${hasChanged}) or exists (select from campaigns c where ${hasChanged})`

/**
 * Queues messages again whose quiet hours have changed since; the claim checks them again. Returns their number; call again while it is
 * `limit` or more.
 */
export async function releaseHeld(db: Db, limit = 1000): Promise<number> {
  const { rowCount } = await db.query({ name: 'release-held', text: releaseSql, values: [limit] })
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

// By primary keys; the queue rows are locked already. A canceled message goes with its queue row. A default validity begins when the quiet
// hours end, as at accept, and again with the next ones: most windows are longer than it.
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
    returning m.id, m.expires_at, m.campaign_id
  )
  insert into delayed (account_id, message_id, lane_id, segments, due_at, expires_at, held_at, campaign_id)
  select q.account_id, q.message_id, $2, q.segments, least(q.until, h.expires_at), h.expires_at, now(), h.campaign_id
  from quiet q
  join held h on h.id = q.message_id
  on conflict do nothing`,
)

// A hold lasts at most three days. Ten seconds are longer than any process needs to learn of a change; messages held in that time are
// released without need and checked again. Starts at the change (`limit` ensures progress), by delayed_held and delayed_held_campaign:
// reads only what is held of the campaign. Skips locked rows.
const releaseSql = `
  update delayed
  set due_at = now(), held_at = null, campaign_id = null
  where ctid = any (
    array(
      select w.ctid
      from accounts c
      cross join lateral (
        select ctid from delayed
        where account_id = c.id and held_at < c.quiet_hours_changed_at + interval '10 seconds'
        limit $1
        for update skip locked
      ) w
      where ${hasChanged}
      limit $1
    ) || array(
      select w.ctid
      from campaigns c
      cross join lateral (
        select ctid from delayed
        where account_id = c.account_id and campaign_id = c.id and held_at < c.quiet_hours_changed_at + interval '10 seconds'
        limit $1
        for update skip locked
      ) w
      where ${hasChanged}
      limit $1
    ))`
