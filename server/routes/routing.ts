/** Routing of a process: compiled rules, cached senders, and plans from requests. */
import type { Db } from '../ground/db/db.ts'
import { countryOf } from '../ground/numbers/number.ts'
import type { Acquaintance, PlannedRoute, RouteRequest, Routing } from '../message/routing.ts'
import { Refresher } from '../ground/base/refresher.ts'
import { acquaintanceKey, rememberAffinities } from '../senders/pool-store.ts'
import { listRoutes, readVersion, ruleOf } from './store.ts'
import { compileRoutes, type RoutableMessage, type RouteChoice } from './route.ts'
import {
  campaignKeyOf,
  candidatesKeyOf,
  FactTable,
  factsMsMax,
  hasCampaign,
  poolKeyOf,
  wishOf,
  type RoutingFacts,
} from './routing-facts.ts'
import { readRates } from '../rates/store.ts'
import { compileRates, noRates, type RateOf } from '../rates/rate.ts'
import { chooseSender, faultOf, indexSenders, type SenderChoice } from '../senders/sender.ts'

/** A message's decisions, step by step; `message` is the input of the rules. */
export interface RoutePlan extends PlannedRoute {
  sender: SenderChoice
  message: RoutableMessage
  choice: RouteChoice
}

/** Where messages of test keys go. */
export interface TestMode {
  /** Creates the test carrier if there is none. */
  prepare(): Promise<void>
}

/**
 * Compiled rules and carriers, and recent senders and campaigns. Uses the last rules while the database is down.
 */
export class RoutingTable implements Routing {
  readonly #db: Db
  readonly #testMode: TestMode | null
  readonly #facts: FactTable
  #choose: (message: RoutableMessage) => RouteChoice = compileRoutes([], [])
  #testCarrierId: string | null = null
  #hasTestCarrier = false
  #seen = ''
  #rateOf: RateOf = noRates
  #seenRates = ''
  readonly #refresher = new Refresher(() => this.#read())

  /** Without a test mode, messages of test keys are refused. */
  constructor(db: Db, testMode: TestMode | null = null) {
    this.#db = db
    this.#facts = new FactTable(db)
    this.#testMode = testMode
  }

  /** The route of a message with known sender and campaign. Takes a microsecond or two. */
  choose(message: RoutableMessage): RouteChoice {
    return this.#choose(message)
  }

  /** Plans messages, in order. Reads pools, and stale senders and campaigns, for all at once. */
  async plan(requests: readonly RouteRequest[]): Promise<RoutePlan[]> {
    const now = performance.now()
    if (this.#testMode && !this.#hasTestCarrier && requests.some(({ isTest }) => isTest)) {
      await this.#testMode.prepare()
      await this.#refresher.now()
    }
    const facts = await this.#facts.read(requests, now - factsMsMax)
    const plans = requests.map((request) => this.#planOne(request, facts))
    // A refusal by cached facts is planned again with new ones: a sender or carrier may be new, or the campaign changed.
    const unsure = requests.filter((request, i) => isOfOldFacts(request, plans[i]))
    if (unsure.length === 0) return plans
    const [fresh] = await Promise.all([this.#facts.read(unsure, now), this.#refresher.now()])
    return requests.map((request, i) => {
      const plan = plans[i]
      return plan && !isOfOldFacts(request, plan) ? plan : this.#planOne(request, fresh)
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

  /** Invalidates senders and campaigns, of one account or of all; for all, also reads the rules if they or the carriers have changed. */
  async refresh(accountId?: string): Promise<void> {
    this.#facts.outdate(accountId)
    if (accountId === undefined) await this.refreshRules()
  }

  /** Reads the rules if they or the carriers have changed. */
  refreshRules(): Promise<void> {
    return this.#refresher.now()
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
}

/** Plans one message: campaign, type, country, sender, then carriers. A pure function. */
export function planRoute(
  request: RouteRequest,
  facts: RoutingFacts,
  choose: (message: RoutableMessage) => RouteChoice,
): RoutePlan {
  const { accountId, to, messageId, segments } = request
  const campaign = facts.campaigns.get(campaignKeyOf(request))
  const { from, poolId } = wishOf(request, campaign)
  const senders = facts.candidates.get(candidatesKeyOf(accountId, { from, poolId })) ?? nobody
  const pool = poolId === null ? null : (facts.pools.get(poolKeyOf(accountId, poolId)) ?? null)
  const country = countryOf(to)
  const sender = chooseSender(senders, {
    messageId,
    to,
    country,
    from,
    pool,
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

// Pools are not cached.
const isOfOldFacts = ({ poolId }: RouteRequest, plan: RoutePlan | undefined): boolean =>
  plan?.refusal != null && (plan.refusal !== 'pool_not_found' || poolId === null)

const nobody = indexSenders([])
