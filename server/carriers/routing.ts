/** Routing for a process: the rules compiled, senders at hand, and from a request to its sender and chain. */
import type { Db, Queryable } from '../db/db.ts'
import type { MessageType } from '../messages/message.ts'
import { countryOf } from '../messages/number.ts'
import type { Acquaintance, PlannedRoute, RouteRequest, Routing } from '../messages/routing.ts'
import { Refresher } from '../refresher.ts'
import { acquaintanceKey, findAffinities, findPools, rememberAffinities, type PoolRow } from './pool-store.ts'
import { listRoutes, readVersion, ruleOf } from './route-store.ts'
import { compileRoutes, type RoutableMessage, type RouteChoice } from './route.ts'
import { readRates } from './rate-store.ts'
import { compileRates, noRates, type RateOf } from './rate.ts'
import { sendersOf } from './sender-store.ts'
import { chooseSender, faultOf, indexSenders, type AccountSenders, type SenderChoice } from './sender.ts'

/** What was decided for a message, step by step; `message` is what the rules saw. */
export interface RoutePlan extends PlannedRoute {
  sender: SenderChoice
  message: RoutableMessage
  choice: RouteChoice
}

/** What a plan needs of the database besides the rules. */
export interface RoutingFacts {
  senders: Pick<ReadonlyMap<string, AccountSenders>, 'get'>
  campaigns: Pick<ReadonlyMap<string, CampaignFact>, 'get'>
  pools: ReadonlyMap<string, PoolRow>
  /** Sender by `acquaintanceKey`. */
  affinities: ReadonlyMap<string, string>
}

/** Where messages of test keys go. */
export interface TestMode {
  /** Makes its carrier where there is none. */
  prepare(): Promise<void>
}

interface CampaignFact {
  id: string
  type: MessageType | null
  sender: string | null
  poolId: string | null
}

// Between a change and its effect in every process.
const refreshMs = 1000
// Senders and campaigns as they were so long ago still serve: what was accepted a moment earlier goes out with them too.
const factsMsMax = 2000
// Campaigns that are remembered; more are read again.
const campaignsMax = 10_000

/**
 * The rules and carriers of the installation, compiled, and the senders of the accounts that were last seen. Reads the version of the
 * rules every second and the rules when it has changed; what it last read serves while the database is away.
 */
export class RoutingTable implements Routing {
  readonly #db: Db
  readonly #testMode: TestMode | null
  readonly #senders = new Map<string, { senders: AccountSenders; readAt: number }>()
  readonly #campaigns = new Map<string, { campaign: CampaignFact; readAt: number }>()
  #choose: (message: RoutableMessage) => RouteChoice = compileRoutes([], [])
  #testCarrierId: string | null = null
  #hasTestCarrier = false
  #seen = ''
  #rateOf: RateOf = noRates
  #seenRates = ''
  // What was read earlier is read again; of one account by its id, for as long as that could serve.
  #factsSince = -Infinity
  readonly #factsSinceOf = new Map<string, number>()
  readonly #refresher = new Refresher(() => this.#read(), refreshMs)

  /** Without a test mode messages of test keys are refused. */
  constructor(db: Db, testMode: TestMode | null = null) {
    this.#db = db
    this.#testMode = testMode
  }

  /** The route of a message whose sender and campaign are known. A microsecond or two. */
  choose(message: RoutableMessage): RouteChoice {
    return this.#choose(message)
  }

  /** Plans messages, in their order. Reads pools where there are any, and senders and campaigns not read lately, for all at once. */
  async plan(requests: readonly RouteRequest[]): Promise<RoutePlan[]> {
    const now = performance.now()
    if (this.#testMode && !this.#hasTestCarrier && requests.some(({ isTest }) => isTest)) {
      await this.#testMode.prepare()
      await this.#refresher.now()
    }
    const accountIds = [...new Set(requests.map(({ accountId }) => accountId))]
    await this.#readSenders(accountIds.filter((id) => !this.#isFresh(id, this.#senders.get(id)?.readAt, now)))
    const facts = await this.#readFacts(requests, now)
    const plans = requests.map((request) => this.#planOne(request, facts))
    // What is refused by old knowledge is planned again by new: a sender or a carrier may have come since, or the campaign have another.
    const unsure = requests.filter((request, i) => isOfOldFacts(request, plans[i]))
    if (unsure.length === 0) return plans
    const [anew] = await Promise.all([
      this.#readFacts(unsure, now, 0),
      this.#readSenders([...new Set(unsure.map(({ accountId }) => accountId))]),
      this.#refresher.now(),
    ])
    return requests.map((request, i) => {
      const plan = plans[i]
      return plan && !isOfOldFacts(request, plan) ? plan : this.#planOne(request, anew)
    })
  }

  #planOne(request: RouteRequest, facts: RoutingFacts): RoutePlan {
    if (!request.isTest) return planRoute(request, facts, this.#choose)
    const chain = this.#testMode && this.#testCarrierId !== null ? [this.#testCarrierId] : []
    return planRoute(request, facts, () => ({ ruleId: null, chain, isHeld: false }))
  }

  async remember(people: readonly (Acquaintance & { senderId: string })[]): Promise<void> {
    await rememberAffinities(this.#db, people)
  }

  start(): Promise<void> {
    return this.#refresher.start()
  }

  /**
   * No sender or campaign that was read before is used any more. Where nothing but those of one account has changed, that is all; else the rules
   * are read now, if they or the carriers have changed.
   */
  async refresh(accountId?: string): Promise<void> {
    const now = performance.now()
    if (accountId !== undefined) {
      for (const [id, since] of this.#factsSinceOf) if (now - since > factsMsMax) this.#factsSinceOf.delete(id)
      this.#factsSinceOf.set(accountId, now)
      return
    }
    this.#factsSince = now
    await this.#refresher.now()
  }

  close(): Promise<void> {
    return this.#refresher.close()
  }

  async #read(): Promise<void> {
    const { version, rates, carriers } = await readVersion(this.#db)
    const seen = JSON.stringify([version, carriers])
    if (seen === this.#seen) return
    const routes = await listRoutes(this.#db)
    if (rates !== this.#seenRates) {
      this.#rateOf = compileRates(await readRates(this.#db))
      this.#seenRates = rates
    }
    this.#choose = compileRoutes(
      routes.map(ruleOf),
      carriers.filter(({ isTest }) => !isTest),
      this.#rateOf,
    )
    const test = carriers.find(({ isTest }) => isTest)
    this.#hasTestCarrier = test !== undefined
    this.#testCarrierId = test?.enabled ? test.id : null
    this.#seen = seen
  }

  #isFresh(accountId: string, readAt: number | undefined, now: number, msMax = factsMsMax): boolean {
    const since = Math.max(this.#factsSince, this.#factsSinceOf.get(accountId) ?? -Infinity)
    return readAt !== undefined && readAt >= since && now - readAt <= msMax
  }

  async #readSenders(accountIds: string[]): Promise<void> {
    if (accountIds.length === 0) return
    const readAt = performance.now()
    const read = await readSenders(this.#db, accountIds)
    for (const [id, one] of this.#senders) if (readAt - one.readAt > factsMsMax) this.#senders.delete(id)
    for (const [id, senders] of read) keepNewest(this.#senders, id, { senders, readAt })
  }

  async #readFacts(requests: readonly RouteRequest[], now: number, msMax = factsMsMax): Promise<RoutingFacts> {
    const unknown = requests.filter((one) => {
      if (!hasCampaign(one)) return false
      const known = this.#campaigns.get(campaignKeyOf(one))
      return !this.#isFresh(one.accountId, known?.readAt, now, msMax)
    })
    const read = await readCampaigns(this.#db, unknown)
    const campaigns = { get: (key: string) => read.get(key) ?? this.#campaigns.get(key)?.campaign }
    const pools = await readPools(this.#db, requests, campaigns)
    if (this.#campaigns.size + read.size > campaignsMax) this.#campaigns.clear()
    for (const [key, campaign] of read) keepNewest(this.#campaigns, key, { campaign, readAt: now })
    return { ...pools, campaigns, senders: { get: (id) => this.#senders.get(id)?.senders } }
  }
}

/** Of two that were read at once, the one that was asked for later: it may know of a change that has been answered since. */
function keepNewest<T extends { readAt: number }>(kept: Map<string, T>, key: string, read: T): void {
  if ((kept.get(key)?.readAt ?? -Infinity) <= read.readAt) kept.set(key, read)
}

const isOfOldFacts = ({ poolId }: RouteRequest, plan: RoutePlan | undefined): boolean =>
  plan?.refusal != null && (plan.refusal !== 'pool_not_found' || poolId === null)

/** Everything that plans of some messages need, read now. */
export async function readFacts(db: Queryable, requests: readonly RouteRequest[]): Promise<RoutingFacts> {
  const [senders, campaigns] = await Promise.all([
    readSenders(db, [...new Set(requests.map(({ accountId }) => accountId))]),
    readCampaigns(db, requests),
  ])
  return { ...(await readPools(db, requests, campaigns)), campaigns, senders }
}

/** Decides for one message: campaign, type, country, sender, then carriers. A pure function. */
export function planRoute(
  request: RouteRequest,
  facts: RoutingFacts,
  choose: (message: RoutableMessage) => RouteChoice,
): RoutePlan {
  const { accountId, to, messageId, segments } = request
  const campaign = facts.campaigns.get(campaignKeyOf(request))
  const poolId = poolIdOf(request, campaign)
  const pool = poolId === null ? undefined : facts.pools.get(poolKeyOf(accountId, poolId))
  const senders = facts.senders.get(accountId) ?? indexSenders([])
  const country = countryOf(to)
  const sender = chooseSender(senders, {
    messageId,
    to,
    country,
    // What the message itself says goes before what its campaign says.
    from: request.from ?? (poolId === null ? (campaign?.sender ?? null) : null),
    pool: pool ?? null,
    stickyId:
      poolId === null ? null : (facts.affinities.get(acquaintanceKey({ accountId, poolId, theirNumber: to })) ?? null),
  })
  const number = sender.sender?.number ?? null
  const message: RoutableMessage = {
    id: messageId,
    accountId,
    campaignId: campaign?.id ?? null,
    type: request.type ?? campaign?.type ?? 'transactional',
    to,
    country,
    sender: number,
    senderCarrierIds:
      number === null
        ? null
        : (senders.byNumber.get(number) ?? [])
            .filter((one) => faultOf(one, country) === null)
            .map(({ carrierId }) => carrierId),
    segments,
  }
  const refusal =
    hasCampaign(request) && !campaign
      ? 'campaign_not_found'
      : poolId !== null && !pool
        ? 'pool_not_found'
        : sender.rule === 'sender_not_found' || sender.rule === 'sender_not_allowed'
          ? sender.rule
          : null
  if (refusal) return { refusal, sender, poolId, message, choice: { ruleId: null, chain: [], isHeld: false } }
  const choice = choose(message)
  const unroutable = request.isTest ? 'test_mode_unavailable' : 'no_route_available'
  return { refusal: choice.chain.length === 0 ? unroutable : null, sender, poolId, message, choice }
}

const hasCampaign = ({ campaignId, campaignKey }: RouteRequest): boolean => campaignId !== null || campaignKey !== null

/** The pool that a message takes its sender from: what it says itself goes before what its campaign says. */
const poolIdOf = ({ poolId, from }: RouteRequest, campaign: CampaignFact | undefined): string | null =>
  poolId ?? (from === null ? (campaign?.poolId ?? null) : null)

const poolKeyOf = (accountId: string, poolId: string): string => `${accountId} ${poolId}`

const campaignKeyOf = ({ accountId, campaignId, campaignKey }: RouteRequest): string =>
  `${accountId} ${campaignId ?? ''} ${campaignKey ?? ''}`

async function readSenders(db: Queryable, accountIds: string[]): Promise<Map<string, AccountSenders>> {
  const byAccount = Map.groupBy(await sendersOf(db, accountIds), ({ accountId }) => accountId)
  return new Map(accountIds.map((id) => [id, indexSenders(byAccount.get(id) ?? [])]))
}

/** The pools that requests or their campaigns name, and whom of their recipients those know. */
async function readPools(
  db: Queryable,
  requests: readonly RouteRequest[],
  campaigns: RoutingFacts['campaigns'],
): Promise<Pick<RoutingFacts, 'pools' | 'affinities'>> {
  const asked = requests.flatMap((request) => {
    const poolId = poolIdOf(request, campaigns.get(campaignKeyOf(request)))
    return poolId === null ? [] : [{ accountId: request.accountId, poolId, theirNumber: request.to }]
  })
  if (asked.length === 0) return { pools: new Map(), affinities: new Map() }
  const keys = new Map(asked.map(({ accountId, poolId }) => [poolKeyOf(accountId, poolId), { accountId, id: poolId }]))
  const [pools, affinities] = await Promise.all([findPools(db, [...keys.values()]), findAffinities(db, asked)])
  return { pools: new Map(pools.map((pool) => [poolKeyOf(pool.accountId, pool.id), pool])), affinities }
}

/** Campaigns that requests name, by id or by key; both have an index. */
async function readCampaigns(db: Queryable, all: readonly RouteRequest[]): Promise<Map<string, CampaignFact>> {
  const requests = [...new Map(all.filter(hasCampaign).map((one) => [campaignKeyOf(one), one])).values()]
  if (requests.length === 0) return new Map()
  const { rows } = await db.query<CampaignFact & { n: number }>(
    `select k.n::int as n, c.id, c.type, c.sender, c.pool_id as "poolId"
     from unnest($1::uuid[], $2::uuid[], $3::text[]) with ordinality as k (account_id, id, key, n)
     join lateral (
       select id, type, sender, pool_id from campaigns where account_id = k.account_id and id = k.id
       union all
       select id, type, sender, pool_id from campaigns where account_id = k.account_id and key = k.key
       limit 1
     ) c on true`,
    [
      requests.map(({ accountId }) => accountId),
      requests.map(({ campaignId }) => campaignId),
      requests.map(({ campaignKey }) => campaignKey),
    ],
  )
  return new Map(
    rows.flatMap(({ n, ...campaign }) => {
      const request = requests[n - 1]
      return request ? [[campaignKeyOf(request), campaign] as const] : []
    }),
  )
}
