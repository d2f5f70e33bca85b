/**
 * This process's part of a pace of a sender, an account, a campaign or a lane: recorded and decided by one process at a time, like a link's pace (see
 * leases.ts). A part is released at a clean stop, or when its process is fenced.
 */
import { inTransaction, type Db, type Tx } from '../ground/db/db.ts'
import { isPaced } from '../queue/claim-sql.ts'
import { capacityOf } from './pace.ts'
import { nextGrant, type Grant } from './shares.ts'

export interface LimitRow {
  accountId: string
  kind: 'account' | 'lane' | 'sender' | 'campaign'
  /** The type of a lane, the number of a sender, the id of a campaign; '' for an account. */
  name: string
  /** Segments a second, over all processes. */
  pace: number
  /** The carrier of a sender's messages; null: any. */
  carrierId: string | null
}

/** This process's part of a pace, and its fair part in units. */
export interface Wish {
  row: LimitRow
  target: number
  grant: Grant
}

// One constant for all installations: an arbitrary number.
const lockId = 7_422_571_002

/**
 * A mark that changes with every change of paces: an updated row has its transaction's number, and a row without a pace is missing. By the partial
 * indexes of `listLimits`: an account may have tens of thousands of numbers, each with a pace.
 */
export async function markLimits(db: Db): Promise<string> {
  const { rows } = await db.query<{ mark: string }>({
    name: 'mark-limits',
    text: `
      select string_agg(count || ' ' || xids, ' ' order by kind) as mark
      from (
        select 1 as kind, count(*) as count, coalesce(sum(xmin::text::bigint), 0) as xids from accounts where pace is not null
        union all
        select 2, count(*), coalesce(sum(xmin::text::bigint), 0) from lanes where pace is not null and run_id is null
        union all
        select 3, count(*), coalesce(sum(c.xmin::text::bigint), 0) from campaigns c where ${isPaced('c')}
        union all
        select 4, count(*), coalesce(sum(xmin::text::bigint), 0) from senders where pace is not null
      ) t`,
  })
  return rows[0]?.mark ?? ''
}

/** By partial indexes. */
export async function listLimits(db: Db): Promise<LimitRow[]> {
  const { rows } = await db.query<LimitRow>({
    name: 'list-limits',
    text: `
      select id as "accountId", 'account' as kind, '' as name, pace::float8 as pace, null::uuid as "carrierId"
      from accounts
      where pace is not null
      union all
      select account_id, 'lane', type, pace::float8, null
      from lanes
      where pace is not null and run_id is null
      union all
      select account_id, 'campaign', id::text, pace::float8, null
      from campaigns c
      where ${isPaced('c')}
      union all
      select account_id, 'sender', number, pace::float8, carrier_id
      from senders
      where pace is not null`,
  })
  return rows
}

/** Decides this process's parts, in the order of the wishes. Null: it is fenced. */
export function decideGrants(db: Db, nodeId: string, wishes: readonly Wish[], now: number): Promise<Grant[] | null> {
  return inTransaction(db, async (tx) => {
    await tx.query(`set local idle_in_transaction_session_timeout = '2s'; select pg_advisory_xact_lock(${lockId})`)
    const { rowCount } = await tx.query({
      name: 'grant-node',
      text: `select 1 from nodes where id = $1 and fenced_at is null for share`,
      values: [nodeId],
    })
    if (rowCount === 0) return null
    const taken = await readTaken(tx, nodeId, wishes)
    const grants = wishes.map(({ row, target, grant }, i) =>
      nextGrant(grant, target, capacityOf(row.pace), taken[i] ?? 0, now),
    )
    await write(tx, nodeId, wishes, grants)
    return grants
  })
}

const keysOf = (wishes: readonly Wish[]): string[][] => [
  wishes.map(({ row }) => row.accountId),
  wishes.map(({ row }) => row.kind),
  wishes.map(({ row }) => row.name),
]

/** Units of the other processes, in the order of the wishes; by primary key. A fenced process's units are free. */
async function readTaken(tx: Tx, nodeId: string, wishes: readonly Wish[]): Promise<number[]> {
  const { rows } = await tx.query<{ units: number }>({
    name: 'grants-of-others',
    text: `
      select coalesce(sum(g.units) filter (where n.fenced_at is null), 0)::int as units
      from unnest($2::uuid[], $3::text[], $4::text[]) with ordinality as t (account_id, kind, name, n)
      left join pace_grants g on g.account_id = t.account_id and g.kind = t.kind and g.name = t.name and g.node_id <> $1
      left join nodes n on n.id = g.node_id
      group by t.n
      order by t.n`,
    values: [nodeId, ...keysOf(wishes)],
  })
  return rows.map(({ units }) => units)
}

/**
 * Writes this process's parts, each by primary key; a part of zero deletes the row, or each campaign that ever had a pace would leave one. An account
 * deleted meanwhile fails the whole write, and the next turn knows.
 */
async function write(tx: Tx, nodeId: string, wishes: readonly Wish[], grants: readonly Grant[]): Promise<void> {
  await tx.query({
    name: 'write-grants',
    text: `
      with t as (
        select * from unnest($2::uuid[], $3::text[], $4::text[], $5::int[]) as t (account_id, kind, name, units)
      ), given_back as (
        delete from pace_grants g
        using t
        where g.account_id = t.account_id
          and g.kind = t.kind
          and g.name = t.name
          and g.node_id = $1
          and t.units = 0
      )
      insert into pace_grants (node_id, account_id, kind, name, units)
      select $1, account_id, kind, name, units
      from t
      where units > 0
      on conflict (account_id, kind, name, node_id) do update set units = excluded.units`,
    values: [nodeId, ...keysOf(wishes), grants.map(({ written }) => written)],
  })
}

/** Releases everything at a clean stop. By the index on the node. */
export async function releaseGrants(db: Db, nodeId: string): Promise<void> {
  await db.query(`delete from pace_grants where node_id = $1`, [nodeId])
}
