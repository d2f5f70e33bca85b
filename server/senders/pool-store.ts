/** The rows of sender pools, and of affinities between people and senders. */
import { fieldsOf } from '../ground/db/array.ts'
import type { Queryable, Tx } from '../ground/db/db.ts'
import { showId } from '../ground/base/ids.ts'
import type { Acquaintance } from '../message/routing.ts'
import { wayOf, type Position } from '../ground/http/page.ts'
import type { Pool } from './sender.ts'

export interface PoolRow extends Pool {
  accountId: string
  name: string
  createdAt: Date
  updatedAt: Date
}

const selectPools = `
  select p.account_id as "accountId", p.id, p.name, p.strategy, coalesce(m.members, '[]') as members, p.created_at as "createdAt",
    p.updated_at as "updatedAt"
  from sender_pools p
  left join lateral (
    select json_agg(json_build_object('senderId', sender_id, 'weight', weight) order by sender_id) as members
    from sender_pool_members
    where account_id = p.account_id and pool_id = p.id
  ) m on true`

/** In the order of `buildPage`. By primary key. */
export async function pagePools(
  db: Queryable,
  accountId: string,
  limit: number,
  position: Position | null,
): Promise<PoolRow[]> {
  const { beyond, order } = wayOf(position)
  const { rows } = await db.query<PoolRow>(
    `${selectPools}
     where p.account_id = $1
       and ($2::uuid is null or p.id ${beyond} $2)
     order by p.id ${order}
     limit $3`,
    [accountId, position?.id ?? null, limit + 1],
  )
  return rows
}

/** By primary key. */
export async function findPool(db: Queryable, accountId: string, id: string): Promise<PoolRow | null> {
  const [pool] = await findPools(db, [{ accountId, id }])
  return pool ?? null
}

/** Locks the pool, because the whole row is written back. By primary key. */
export async function lockPool(tx: Tx, accountId: string, id: string): Promise<PoolRow | null> {
  await tx.query('select 1 from sender_pools where account_id = $1 and id = $2 for no key update', [accountId, id])
  return findPool(tx, accountId, id)
}

/** By primary key. */
export async function findPools(db: Queryable, keys: readonly { accountId: string; id: string }[]): Promise<PoolRow[]> {
  if (keys.length === 0) return []
  const { rows } = await db.query<PoolRow>(
    `${selectPools} join unnest($1::uuid[], $2::uuid[]) as k (account_id, id) on p.account_id = k.account_id and p.id = k.id`,
    fieldsOf(keys, 'accountId', 'id'),
  )
  return rows
}

/** Inserts or replaces a pool with its members. Locks its row, by primary key. @throws a unique violation (23505) if the account has the name. */
export async function savePool(
  tx: Tx,
  pool: Pick<PoolRow, 'accountId' | 'id' | 'name' | 'strategy' | 'members'>,
): Promise<void> {
  const { accountId, id, members } = pool
  await tx.query(
    `insert into sender_pools (account_id, id, name, strategy)
     values ($1, $2, $3, $4)
     on conflict (account_id, id) do update
       set name = excluded.name, strategy = excluded.strategy, updated_at = now()`,
    [accountId, id, pool.name, pool.strategy],
  )
  await tx.query('delete from sender_pool_members where account_id = $1 and pool_id = $2', [accountId, id])
  // Locks the senders: one deleted meanwhile is left out, as if it had been deleted after.
  await tx.query(
    `insert into sender_pool_members (account_id, pool_id, sender_id, weight)
     select $1, $2, m.sender_id, m.weight
     from unnest($3::uuid[], $4::int[]) as m (sender_id, weight)
     join senders s on s.account_id = $1 and s.id = m.sender_id
     for key share of s`,
    [accountId, id, ...fieldsOf(members, 'senderId', 'weight')],
  )
}

/**
 * Locks a pool before its deletion, by primary key, and returns an open campaign that uses it, or has an open broadcast that does; null:
 * none. By the partial indexes campaigns_pool and broadcasts_open. Assigning a pool to a campaign locks it too.
 */
export async function findUseOfPool(tx: Tx, accountId: string, id: string): Promise<string | null> {
  await tx.query('select 1 from sender_pools where account_id = $1 and id = $2 for update', [accountId, id])
  const { rows } = await tx.query<{ id: string }>(
    `select id
     from campaigns
     where account_id = $1
       and pool_id = $2
       and status not in ('archived', 'canceled')
     union all
     select campaign_id
     from broadcasts
     where account_id = $1
       and status in ('awaiting_approval', 'scheduled', 'sending', 'paused')
       and body ->> 'sender_pool' = $3
     limit 1`,
    [accountId, id, showId('pol', id)],
  )
  return rows[0]?.id ?? null
}

/** Closed campaigns lose the pool. By primary key. */
export async function deletePool(tx: Tx, accountId: string, id: string): Promise<boolean> {
  const { rowCount } = await tx.query('delete from sender_pools where account_id = $1 and id = $2', [accountId, id])
  return rowCount === 1
}

/** Days for which a person keeps a sender after the last message from it. */
export const affinityDays = 90

/** By `acquaintanceKey`. By primary key. */
export async function findAffinities(db: Queryable, people: readonly Acquaintance[]): Promise<Map<string, string>> {
  if (people.length === 0) return new Map()
  const { rows } = await db.query<Acquaintance & { senderId: string }>(
    `select a.account_id as "accountId", a.pool_id as "poolId", a.their_number as "theirNumber", a.sender_id as "senderId"
     from unnest($1::uuid[], $2::uuid[], $3::text[]) as k (account_id, pool_id, their_number)
     join sender_affinity a
       on a.account_id = k.account_id
       and a.pool_id = k.pool_id
       and a.their_number = k.their_number
     where a.expires_at > now()`,
    fieldsOf(people, 'accountId', 'poolId', 'theirNumber'),
  )
  return new Map(rows.map((row) => [acquaintanceKey(row), row.senderId]))
}

export const acquaintanceKey = ({ accountId, poolId, theirNumber }: Acquaintance): string =>
  `${accountId} ${poolId} ${theirNumber}`

/**
 * Remembers the sender of each recipient. By primary key; skips rows renewed within the last day, so that a busy recipient costs one write
 * a day. Rows are in the order of their key, so that statements cannot deadlock.
 */
export async function rememberAffinities(
  db: Queryable,
  people: readonly (Acquaintance & { senderId: string })[],
): Promise<void> {
  if (people.length === 0) return
  await db.query(
    `insert into sender_affinity as a (account_id, pool_id, their_number, sender_id, expires_at)
     select distinct on (k.account_id, k.pool_id, k.their_number) k.account_id, k.pool_id, k.their_number, k.sender_id,
       now() + make_interval(days => $5)
     from unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[]) as k (account_id, pool_id, their_number, sender_id)
     join sender_pools p on p.account_id = k.account_id and p.id = k.pool_id and p.strategy = 'sticky'
     order by k.account_id, k.pool_id, k.their_number
     on conflict (account_id, pool_id, their_number) do update
       set sender_id = excluded.sender_id, expires_at = excluded.expires_at
       where a.sender_id <> excluded.sender_id or a.expires_at < excluded.expires_at - interval '1 day'`,
    [...fieldsOf(people, 'accountId', 'poolId', 'theirNumber', 'senderId'), affinityDays],
  )
}

/** Deletes up to `limit` expired rows and returns their number. By sender_affinity_expires_at. */
export async function forgetAffinities(db: Queryable, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `delete from sender_affinity
     where ctid = any (array(select ctid from sender_affinity where expires_at < now() limit $1))`,
    [limit],
  )
  return rowCount ?? 0
}
