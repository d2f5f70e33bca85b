/** Finds the senders that a message may use: an account may have tens of thousands, and a message needs few of them. */
import { fieldsOf } from '../ground/db/array.ts'
import type { Queryable } from '../ground/db/db.ts'
import type { Sender } from './sender.ts'

/** A sender, and the request that found it: a number, a pool, or neither, for the default. */
export interface CandidateRow extends Sender {
  accountId: string
  from: string | null
  poolId: string | null
}

const columns = (
  s: string,
): string => `${s}.account_id as "accountId", ${s}.id, ${s}.carrier_id as "carrierId", ${s}.number, ${s}.kind,
  ${s}.country, ${s}.capabilities, ${s}.is_default as "isDefault"`

/** Senders with the numbers, at all carriers, each oldest first. By the unique index on the number. */
export async function findNamed(
  db: Queryable,
  named: readonly { accountId: string; number: string }[],
): Promise<CandidateRow[]> {
  if (named.length === 0) return []
  const { rows } = await db.query<CandidateRow>(
    `select ${columns('s')}, s.number as "from", null as "poolId"
     from unnest($1::uuid[], $2::text[]) as k (account_id, number)
     join senders s on s.account_id = k.account_id and s.number = k.number
     order by s.id`,
    fieldsOf(named, 'accountId', 'number'),
  )
  return rows
}

/**
 * Members of pools, oldest first, and senders with the same numbers. By primary key, and by the unique index on the number; `offset 0`
 * keeps this plan whatever size the planner expects of pools.
 */
export async function findPooled(
  db: Queryable,
  pools: readonly { accountId: string; id: string }[],
): Promise<CandidateRow[]> {
  if (pools.length === 0) return []
  const { rows } = await db.query<CandidateRow>(
    `select distinct on (k.n, s.id) ${columns('s')}, null as "from", k.id as "poolId"
     from unnest($1::uuid[], $2::uuid[]) with ordinality as k (account_id, id, n)
     join sender_pool_members m on m.account_id = k.account_id and m.pool_id = k.id
     cross join lateral (select number from senders where account_id = m.account_id and id = m.sender_id offset 0) o
     cross join lateral (
       select account_id, id, carrier_id, number, kind, country, capabilities, is_default
       from senders
       where number = o.number and account_id = m.account_id
       offset 0
     ) s
     order by k.n, s.id`,
    fieldsOf(pools, 'accountId', 'id'),
  )
  return rows
}

/**
 * The defaults of accounts, and their substitutes, oldest first. Use for a recipient depends on kind, country and capabilities alone, so
 * the oldest of each sort is enough. By senders_default, and by senders_alike once for each sort of an account; senders with the same
 * numbers by their index.
 */
export async function findDefaultChoices(db: Queryable, accountIds: readonly string[]): Promise<CandidateRow[]> {
  if (accountIds.length === 0) return []
  const { rows } = await db.query<CandidateRow>(
    `with recursive defaults as materialized (
       select account_id, number from senders where account_id = any ($1::uuid[]) and is_default
     ), sorts as (
       select f.*
       from defaults d
       cross join lateral (
         select s.account_id, s.number, s.kind, coalesce(s.country, '') as country, s.capabilities
         from senders s
         where s.account_id = d.account_id
         order by s.kind, coalesce(s.country, ''), s.capabilities, s.id
         limit 1
       ) f
       union all
       select f.*
       from sorts o
       cross join lateral (
         select s.account_id, s.number, s.kind, coalesce(s.country, '') as country, s.capabilities
         from senders s
         where s.account_id = o.account_id
           and (s.kind, coalesce(s.country, ''), s.capabilities) > (o.kind, o.country, o.capabilities)
         order by s.kind, coalesce(s.country, ''), s.capabilities, s.id
         limit 1
       ) f
     ), chosen as (
       select account_id, number from defaults
       union
       select account_id, number from sorts
     )
     select ${columns('s')}, null as "from", null as "poolId"
     from chosen c
     join senders s on s.number = c.number and s.account_id = c.account_id
     order by s.id`,
    [accountIds],
  )
  return rows
}
