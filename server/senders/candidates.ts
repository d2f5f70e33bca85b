/** The senders that a message may take, by what it asks for: an account may have tens of thousands, and one message is for few of them. */
import type { Queryable } from '../ground/db/db.ts'
import type { Sender } from './sender.ts'

/** A sender, and what asked for it: a number, a pool, or neither, which asks for the default. */
export interface CandidateRow extends Sender {
  accountId: string
  from: string | null
  poolId: string | null
}

const columns = (
  s: string,
): string => `${s}.account_id as "accountId", ${s}.id, ${s}.carrier_id as "carrierId", ${s}.number, ${s}.kind,
  ${s}.country, ${s}.capabilities, ${s}.is_default as "isDefault"`

/** All senders with the numbers, at whichever carriers, each oldest first. By the unique index on the number. */
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
    [named.map(({ accountId }) => accountId), named.map(({ number }) => number)],
  )
  return rows
}

/**
 * The members of pools, oldest first, and the senders with the same numbers. Each by primary key, and by the unique index on the number, whatever
 * is thought of the size of pools (offset 0).
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
    [pools.map(({ accountId }) => accountId), pools.map(({ id }) => id)],
  )
  return rows
}

/**
 * The defaults of accounts, and what may stand for them where they cannot be used, oldest first: whether a sender can be used for a recipient, and
 * is as near as can be, depends on its kind, country and capabilities alone, so that of those that are alike the oldest is enough. By
 * senders_default, and by senders_alike once for each sort that an account has; the senders with the same numbers by theirs.
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
