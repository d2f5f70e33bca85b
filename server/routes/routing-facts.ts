/** Routing's data from the database besides rules: senders and campaigns. */
import { fieldsOf } from '../ground/db/array.ts'
import type { Db, Queryable } from '../ground/db/db.ts'
import type { MessageType } from '../message/message.ts'
import type { RouteRequest } from '../message/routing.ts'
import { findAffinities, findPools } from '../senders/pool-store.ts'
import { findDefaultChoices, findNamed, findPooled, type CandidateRow } from '../senders/candidates.ts'
import { indexSenders, type AccountSenders, type Pool } from '../senders/sender.ts'

/** Facts of this age may be used: messages accepted a moment earlier used them too. */
export const factsMsMax = 2000

interface CampaignFact {
  id: string
  type: MessageType | null
  sender: string | null
  poolId: string | null
}

export interface RoutingFacts {
  /** By `campaignKeyOf`. */
  campaigns: ReadonlyMap<string, CampaignFact | null>
  /** Senders by `candidatesKeyOf`: those with the requested number, those of the pool, or the default and its substitutes. */
  candidates: ReadonlyMap<string, AccountSenders>
  /** By `poolKeyOf`. */
  pools: ReadonlyMap<string, Pool>
  /** Sender by `acquaintanceKey` of `pool-store.ts`. */
  affinities: ReadonlyMap<string, string>
}

/** The requested sender or pool, of the message or its campaign. */
interface Wish {
  from: string | null
  poolId: string | null
}

/** The message overrides its campaign, and a sender overrides a pool. */
export function wishOf({ from, poolId }: RouteRequest, campaign: CampaignFact | null | undefined): Wish {
  if (from !== null) return { from, poolId: null }
  const pool = poolId ?? campaign?.poolId ?? null
  return { from: pool === null ? (campaign?.sender ?? null) : null, poolId: pool }
}

export const hasCampaign = ({ campaignId, campaignKey }: RouteRequest): boolean =>
  campaignId !== null || campaignKey !== null

export const campaignKeyOf = ({ accountId, campaignId, campaignKey }: RouteRequest): string =>
  `${accountId} ${campaignId ?? ''} ${campaignKey ?? ''}`

export const candidatesKeyOf = (accountId: string, { from, poolId }: Wish): string =>
  `${accountId} ${poolId ?? ''} ${from ?? ''}`

export const poolKeyOf = (accountId: string, poolId: string): string => `${accountId} ${poolId}`

/** Recent facts of one process. */
export class FactTable {
  readonly #db: Queryable
  readonly #campaigns = new Kept<CampaignFact | null>()
  readonly #candidates = new Kept<AccountSenders>()
  // Facts read before this are read again; by account while facts that old could be used.
  #since = -Infinity
  readonly #sinceOf = new Map<string, number>()

  constructor(db: Queryable) {
    this.#db = db
  }

  /** Invalidates earlier facts of one account, or of all. */
  outdate(accountId?: string): void {
    const now = performance.now()
    if (accountId === undefined) this.#since = now
    else {
      for (const [id, since] of this.#sinceOf) if (now - since > factsMsMax) this.#sinceOf.delete(id)
      this.#sinceOf.set(accountId, now)
    }
  }

  /**
   * Facts for some messages. Reads those older than `since` (in monotonic milliseconds), and always pools and their affinities, which are
   * never cached.
   */
  async read(requests: readonly RouteRequest[], since: number): Promise<RoutingFacts> {
    const isFresh = ({ accountId }: RouteRequest, readAt: number): boolean =>
      readAt >= Math.max(since, this.#since, this.#sinceOf.get(accountId) ?? -Infinity)
    const campaigns = await this.#campaigns.read(requests.filter(hasCampaign), campaignKeyOf, isFresh, (missing) =>
      readCampaigns(this.#db, missing),
    )
    const asked = requests.map((request) => ({ ...request, ...wishOf(request, campaigns.get(campaignKeyOf(request))) }))
    const pooled = asked.flatMap(({ accountId, poolId, to }) =>
      poolId === null ? [] : [{ accountId, poolId, theirNumber: to }],
    )
    const [candidates, pools, affinities] = await Promise.all([
      this.#candidates.read(
        asked,
        (one) => candidatesKeyOf(one.accountId, one),
        isFresh,
        (missing) => readCandidates(this.#db, missing),
      ),
      readPools(this.#db, pooled),
      findAffinities(this.#db, pooled),
    ])
    return { campaigns, candidates, pools, affinities }
  }
}

/** Reads all facts without the cache. */
export function readFacts(db: Db, requests: readonly RouteRequest[]): Promise<RoutingFacts> {
  return new FactTable(db).read(requests, -Infinity)
}

/** Recent facts of one kind by key, oldest first: additions remove those too old to use. */
class Kept<T> {
  readonly #byKey = new Map<string, { value: T; readAt: number }>()

  /** Returns values for requests; reads those that are stale. */
  async read<R>(
    requests: readonly R[],
    keyOf: (request: R) => string,
    isFresh: (request: R, readAt: number) => boolean,
    readMissing: (requests: readonly R[]) => Promise<ReadonlyMap<string, T>>,
  ): Promise<ReadonlyMap<string, T>> {
    const found = new Map<string, T>()
    const missing = new Map<string, R>()
    for (const request of requests) {
      const key = keyOf(request)
      if (found.has(key) || missing.has(key)) continue
      const kept = this.#byKey.get(key)
      if (kept && isFresh(request, kept.readAt)) found.set(key, kept.value)
      else missing.set(key, request)
    }
    if (missing.size === 0) return found
    const readAt = performance.now()
    const read = await readMissing([...missing.values()])
    for (const [key, one] of this.#byKey) {
      if (readAt - one.readAt <= factsMsMax) break
      this.#byKey.delete(key)
    }
    for (const [key, value] of read) {
      found.set(key, value)
      // Of two concurrent reads, the later request wins: it may include a change that was already confirmed.
      if ((this.#byKey.get(key)?.readAt ?? -Infinity) > readAt) continue
      this.#byKey.delete(key)
      this.#byKey.set(key, { value, readAt })
    }
    return found
  }
}

async function readPools(
  db: Queryable,
  pooled: readonly { accountId: string; poolId: string }[],
): Promise<Map<string, Pool>> {
  const keys = new Map(pooled.map(({ accountId, poolId }) => [poolKeyOf(accountId, poolId), { accountId, id: poolId }]))
  const pools = await findPools(db, [...keys.values()])
  return new Map(pools.map((pool) => [poolKeyOf(pool.accountId, pool.id), pool]))
}

/** The candidates of each message only, however many senders its account has. */
async function readCandidates(
  db: Queryable,
  asked: readonly (Wish & { accountId: string })[],
): Promise<Map<string, AccountSenders>> {
  const rows = await Promise.all([
    findPooled(
      db,
      asked.flatMap(({ accountId, poolId }) => (poolId === null ? [] : [{ accountId, id: poolId }])),
    ),
    findNamed(
      db,
      asked.flatMap(({ accountId, from }) => (from === null ? [] : [{ accountId, number: from }])),
    ),
    findDefaultChoices(
      db,
      asked.flatMap(({ accountId, from, poolId }) => (from === null && poolId === null ? [accountId] : [])),
    ),
  ])
  const byKey = Map.groupBy<string, CandidateRow>(rows.flat(), (row) => candidatesKeyOf(row.accountId, row))
  return new Map(
    asked.map((one) => {
      const key = candidatesKeyOf(one.accountId, one)
      return [key, indexSenders(byKey.get(key) ?? [])]
    }),
  )
}

/** Campaigns by id or key; both have an index. */
async function readCampaigns(
  db: Queryable,
  requests: readonly RouteRequest[],
): Promise<Map<string, CampaignFact | null>> {
  const { rows } = await db.query<CampaignFact & { n: number }>(
    `select k.n::int as n, c.id, c.type, c.sender, c.pool_id as "poolId"
     from unnest($1::uuid[], $2::uuid[], $3::text[]) with ordinality as k (account_id, id, key, n)
     join lateral (
       select id, type, sender, pool_id from campaigns where account_id = k.account_id and id = k.id
       union all
       select id, type, sender, pool_id from campaigns where account_id = k.account_id and key = k.key
       limit 1
     ) c on true`,
    fieldsOf(requests, 'accountId', 'campaignId', 'campaignKey'),
  )
  const found = new Map(rows.map(({ n, ...campaign }) => [n, campaign]))
  return new Map(requests.map((request, i) => [campaignKeyOf(request), found.get(i + 1) ?? null]))
}
