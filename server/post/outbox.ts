/** The outbox table: claims and releases of posts, each a batch in one statement (their ends: `ended.ts`). */
import { columns } from '../ground/db/array.ts'
import { times, uuids, type Encoded } from '../ground/db/binary-array.ts'
import { spanOf, within } from '../ground/db/span.ts'
import type { Db } from '../ground/db/db.ts'
import type { DuePost } from '../events/events.ts'
import { firstIdSql } from '../ground/base/ids.ts'
import { eventColumns, readPayloads, type StoredEvent } from './payload.ts'

export type OutboxKey = Pick<DuePost, 'endpointId' | 'dueAt' | 'eventId'>

export interface Claim {
  endpointId: string
  limit: number
  /** No row due before this is free: skips dead rows of ended posts. */
  from: Date | null
}

/** The oldest row of each endpoint. A loose scan of the primary key: one probe for each endpoint, however many rows it has. */
const heads = `recursive head as (
        (select endpoint_id, due_at from outbox order by endpoint_id, due_at limit 1)
        union all
        select next.endpoint_id, next.due_at
        from head
        cross join lateral (
          select o.endpoint_id, o.due_at
          from outbox o
          where o.endpoint_id > head.endpoint_id
          order by o.endpoint_id, o.due_at
          limit 1
        ) next
      )`

/** SQL for the time of the next post. */
export const postsDue = `with ${heads} select min(due_at) from head`

/** Endpoints whose oldest row is due. Locks nothing. */
export async function findDueEndpoints(db: Db): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>({
    name: 'find-due-endpoints',
    text: `with ${heads} select endpoint_id as id from head where due_at <= now()`,
  })
  return rows.map(({ id }) => id)
}

export interface Claimed {
  /** Leased to the node; payload null: the event has expired. */
  rows: (DuePost & { payload: string | null })[]
  /** Rows by endpoint that wait for an earlier post of their message, and were postponed. */
  held: Map<string, number>
}

/**
 * Leases free due rows, a bounded number for each endpoint, oldest first. Locks the rows it takes and skips those that another node is taking; each
 * endpoint is one range of the primary key. A row of an ordered endpoint whose message has an earlier one (outbox_message) is postponed until that
 * one's retry, so that claims do not find it each time: at another moment than a redelivery of its event, which may have failed together with the
 * earlier one. Rows queued when their endpoint was disabled are dropped in their turn, and hold up no later rows unless they are being posted. A row
 * with an expired event has a null payload.
 */
export async function claimPosts(db: Db, nodeId: string, leaseSeconds: number, claims: Claim[]): Promise<Claimed> {
  const { rows: met } = await db.query<ClaimedRow>({
    name: 'claim-posts',
    text: `
      with due as materialized (
        select free.row_at, free.endpoint_id, free.due_at, free.event_id,
          case when free.message_id is not null then (
            select earlier.due_at
            from outbox earlier
            where earlier.endpoint_id = free.endpoint_id
              and earlier.message_id = free.message_id
              and (earlier.sequence, earlier.event_id) < (free.sequence, free.event_id)
              and not exists (
                select from webhooks w
                where w.account_id = free.account_id
                  and w.id = free.endpoint_id
                  and (earlier.leased_until is null or earlier.leased_until < now())
                  and earlier.event_id < ${firstIdSql('w.posts_since')}
              )
            order by earlier.sequence, earlier.event_id
            limit 1
          ) end as after
        from unnest($1::uuid[], $2::int[], $3::timestamptz[]) as c (endpoint_id, count, since)
        cross join lateral (
          select o.ctid as row_at, o.endpoint_id, o.due_at, o.event_id, o.account_id, o.message_id, o.sequence
          from outbox o
          where o.endpoint_id = c.endpoint_id
            and o.due_at >= coalesce(c.since, '-infinity')
            and o.due_at <= now()
            and (o.leased_until is null or o.leased_until < now())
          order by o.due_at, o.event_id
          limit c.count
          for update skip locked
        ) free
      ), held as (
        update outbox o
        set due_at = (
          select t.at + case when exists (
            select from outbox same where same.endpoint_id = o.endpoint_id and same.due_at = t.at and same.event_id = o.event_id
          ) then interval '1 millisecond' else interval '0' end
          from (
            select greatest(date_trunc('milliseconds', now()) + interval '250 milliseconds', due.after) as at
            from due
            where due.endpoint_id = o.endpoint_id and due.due_at = o.due_at and due.event_id = o.event_id
          ) t)
        where ctid = any (array(select row_at from due where after is not null))
        returning endpoint_id
      ), leased as (
        update outbox
        set leased_by = $4::uuid, leased_until = now() + make_interval(secs => $5)
        where ctid = any (array(select row_at from due where after is null))
        returning endpoint_id, due_at, event_id, account_id, try, url, target_id
      )
      select l.endpoint_id as "endpointId", l.due_at as "dueAt", l.event_id as "eventId", l.account_id as "accountId", l.try,
        l.url, l.target_id as "targetId"
      from (
        select * from leased
        union all
        select endpoint_id, null, null, null, null, null, null from held
      ) l
      order by l.due_at, l.event_id`,
    values: [
      claims.map((claim) => claim.endpointId),
      claims.map((claim) => claim.limit),
      claims.map((claim) => claim.from),
      nodeId,
      leaseSeconds,
    ],
  })
  const held = new Map<string, number>()
  for (const row of met) if (row.eventId === null) held.set(row.endpointId, (held.get(row.endpointId) ?? 0) + 1)
  const rows = met.flatMap((row) => (row.eventId === null ? [] : [{ ...row, eventId: row.eventId }]))
  const events = await readEvents(db, rows)
  return {
    held,
    rows: rows.map(({ targetId, ...row }) => ({
      ...row,
      messageId: events.get(row.eventId)?.messageId ?? null,
      ...(targetId && { targetId }),
      payload: events.get(row.eventId)?.payload ?? null,
    })),
  }
}

/** Payloads of unexpired events, by id. Each by its key: the range between two retried ones may hold the whole queue. */
async function readEvents(
  db: Db,
  posts: readonly Pick<DuePost, 'accountId' | 'eventId'>[],
): Promise<Map<string, { messageId: string | null; payload: string | null }>> {
  if (posts.length === 0) return new Map()
  const ids = posts.map(({ eventId }) => eventId)
  const { rows } = await db.query<StoredEvent>(
    `select ${eventColumns('e')}
     from unnest($1::uuid[], $2::uuid[]) as k (account_id, id)
     cross join lateral (
       select account_id, id, type, message_id, sequence, payload, previous_status, created_at
       from events
       where account_id = k.account_id and id = k.id and id ${within(spanOf(ids))}
       offset 0
     ) e`,
    columns([posts.map(({ accountId }) => accountId), ids]),
  )
  const payloads = await readPayloads(db, rows)
  return new Map(rows.map(({ id, messageId }, i) => [id, { messageId, payload: payloads[i] ?? null }]))
}

type ClaimedRow = Omit<DuePost, 'targetId' | 'eventId' | 'messageId'> & {
  eventId: string | null
  targetId: string | null
}

/** Releases leased rows for any node. Locks those rows (primary key); the update stays heap-only. */
export async function releasePosts(db: Db, nodeId: string, keys: OutboxKey[]): Promise<void> {
  await db.query({
    name: 'release-posts',
    text: `
      update outbox o
      set leased_by = null, leased_until = null
      from unnest($1::uuid[], $2::timestamptz[], $3::uuid[]) as k (endpoint_id, due_at, event_id)
      where o.endpoint_id = k.endpoint_id
        and o.due_at = k.due_at
        and o.event_id = k.event_id
        and o.leased_by = $4::uuid`,
    values: [...columnsOf(keys), nodeId],
  })
}

/** Releases all leases of a dead node, so that its posts need not wait for their end. Reads the whole outbox, once a death. */
export async function releasePostsOf(db: Db, nodeId: string): Promise<void> {
  await db.query(`update outbox set leased_by = null, leased_until = null where leased_by = $1`, [nodeId])
}

/** Deletes rows that will never be posted: their endpoint was deleted or disabled, or their event has expired (primary key). */
export async function dropPosts(db: Db, keys: OutboxKey[]): Promise<void> {
  await db.query({
    name: 'drop-posts',
    text: `
      delete from outbox
      where ctid = any (array(
        select o.ctid
        from unnest($1::uuid[], $2::timestamptz[], $3::uuid[]) as k (endpoint_id, due_at, event_id)
        cross join lateral (
          select ctid from outbox where endpoint_id = k.endpoint_id and due_at = k.due_at and event_id = k.event_id offset 0
        ) o))`,
    values: columnsOf(keys),
  })
}

function columnsOf(keys: OutboxKey[]): Encoded[] {
  return [
    uuids(keys.map((key) => key.endpointId)),
    times(keys.map((key) => key.dueAt)),
    uuids(keys.map((key) => key.eventId)),
  ]
}
