/**
 * The choice of carriers for a message: a pure function of the rules, the carriers and the message. The first enabled rule that matches
 * wins; a rule without carriers refuses what it matches. What no rule matches takes the default route: every carrier, best first.
 */
import type { MessageType } from '../message/message.ts'
import type { Money } from '../ground/base/money.ts'
import { noRates, type RateOf } from '../rates/rate.ts'
import { rankByWeight } from '../senders/weight.ts'

/** What a rule asks of a message: every member must hold; of a list one item must; null or an empty list always holds. */
export interface RouteMatch {
  accountId: string | null
  campaignId: string | null
  type: MessageType | null
  /** ISO 3166-1 alpha-2, of the recipient. */
  countries: readonly string[]
  /** First digits of the recipient, calling code included. */
  prefixes: readonly string[]
  senders: readonly string[]
}

/** A carrier of a rule: with a weight it shares the rule's messages, without one (null) it comes after those, in order. */
export interface RouteCarrier {
  carrierId: string
  weight: number | null
  /** Of a segment, in millionths of the currency's unit; null: what the carrier's rate card says. */
  cost: number | null
}

/** A rule, in its place. */
export interface Rule extends RouteMatch {
  id: string
  enabled: boolean
  carriers: readonly RouteCarrier[]
  /** The most a message may cost, in the unit of `cost`; carriers at which it would cost more, or nobody knows what, are passed over. */
  maxCost: number | null
  /** Of its money; null: it has none. */
  currency: string | null
}

/** What routing knows of a carrier. Best first is by priority (lower is better), then by age (id). */
export interface RoutableCarrier {
  id: string
  enabled: boolean
  priority: number
}

/** A message, as far as its route depends on it. */
export interface RoutableMessage {
  /** Spreads messages over weights: the same id always takes the same carrier. */
  id: string
  accountId: string
  campaignId: string | null
  type: MessageType
  /** Digits of the recipient, and their country (null: a code of no country). */
  to: string
  country: string | null
  sender: string | null
  /** Carriers at which the account has this sender, and can use it for the recipient; null: the sender is the carrier's default, and any will do. */
  senderCarrierIds: readonly string[] | null
  segments: number
}

/** The route of a message. */
export interface RouteChoice {
  /** The rule that took it; null: the default route. */
  ruleId: string | null
  /** Carriers in the order in which they are tried, each once. Empty: refused. Enabled ones only, unless `isHeld`. */
  chain: readonly string[]
  /** None of the chain's carriers is enabled: the message waits for one of them. */
  isHeld: boolean
  /** What a segment costs at each of the chain, null where it is not known; absent: at none. */
  prices?: readonly (Money | null)[]
}

/** Why a rule did not match. */
export type RuleMiss =
  | 'disabled'
  | 'account'
  | 'campaign'
  | 'type'
  | 'country'
  | 'prefix'
  | 'sender'
  /** None of its carriers has the sender. */
  | 'sender_carrier'
  /** At each of its carriers that has the sender it would cost too much, or what it costs is not known. */
  | 'max_cost'

/** What became of one rule: null for the reason it did not match where it did. Of several that match, the first was taken. */
export interface RuleTrace {
  ruleId: string
  miss: RuleMiss | null
  isTaken: boolean
}

/** Chooses the route of a message and says of every rule why. For many messages over the same rules: `compileRoutes`. */
export function chooseRoute(
  rules: readonly Rule[],
  carriers: readonly RoutableCarrier[],
  message: RoutableMessage,
  rateOf: RateOf = noRates,
): RouteChoice & { trace: RuleTrace[] } {
  const misses = rules.map((rule) => missOf(rule, message, rateOf))
  const taken = misses.indexOf(null)
  const rule = rules[taken]
  const trace = rules.map(({ id }, i) => ({ ruleId: id, miss: misses[i] ?? null, isTaken: i === taken }))
  const known = new Map(carriers.map((carrier) => [carrier.id, carrier]))
  return {
    ...(rule ? followRule(rule, known, message, rateOf) : followDefault(bestFirst(carriers), message, rateOf)),
    trace,
  }
}

/**
 * Compiles rules for many messages; the answer is `chooseRoute`'s. Each rule lies under its most telling condition, so that a message
 * meets only rules that may concern it: 10,000 rules cost about as much as ten.
 */
export function compileRoutes(
  rules: readonly Rule[],
  carriers: readonly RoutableCarrier[],
  rateOf: RateOf = noRates,
): (message: RoutableMessage) => RouteChoice {
  const known = new Map(carriers.map((carrier) => [carrier.id, carrier]))
  const defaults = bestFirst(carriers)
  const shelves = new Map<string, Placed[]>()
  const prefixLengths = new Set<number>()
  rules.forEach((rule, place) => {
    if (!rule.enabled) return
    for (const key of keysOf(rule)) {
      const shelf = shelves.get(key)
      if (shelf) shelf.push({ rule, place })
      else shelves.set(key, [{ rule, place }])
      if (key.startsWith('prefix ')) prefixLengths.add(key.length - 'prefix '.length)
    }
  })
  const lengths = [...prefixLengths]
  if (shelves.size === 0) return (message) => followDefault(defaults, message, rateOf)

  return (message) => {
    let best: Placed | undefined
    const search = (key: string, hasPrefix = false): void => {
      for (const placed of shelves.get(key) ?? []) {
        if (best && placed.place >= best.place) return
        if (missOf(placed.rule, message, rateOf, hasPrefix) === null) best = placed
      }
    }
    search('any')
    search(`account ${message.accountId}`)
    search(`type ${message.type}`)
    if (message.campaignId !== null) search(`campaign ${message.campaignId}`)
    if (message.sender !== null) search(`sender ${message.sender}`)
    if (message.country !== null) search(`country ${message.country}`)
    for (const length of lengths) search(`prefix ${message.to.slice(0, length)}`, true)
    return best ? followRule(best.rule, known, message, rateOf) : followDefault(defaults, message, rateOf)
  }
}

interface Placed {
  rule: Rule
  place: number
}

/** The shelves that a rule lies on: all values of the condition that leaves the fewest messages. */
function keysOf(rule: Rule): string[] {
  if (rule.campaignId !== null) return [`campaign ${rule.campaignId}`]
  if (rule.senders.length > 0) return rule.senders.map((sender) => `sender ${sender}`)
  if (rule.prefixes.length > 0) return rule.prefixes.map((prefix) => `prefix ${prefix}`)
  if (rule.accountId !== null) return [`account ${rule.accountId}`]
  if (rule.countries.length > 0) return rule.countries.map((country) => `country ${country}`)
  return [rule.type === null ? 'any' : `type ${rule.type}`]
}

/** Why a rule does not match a message; null: it does. `hasPrefix`: one of its prefixes is known to fit. */
function missOf(rule: Rule, message: RoutableMessage, rateOf: RateOf, hasPrefix = false): RuleMiss | null {
  if (!rule.enabled) return 'disabled'
  if (rule.accountId !== null && rule.accountId !== message.accountId) return 'account'
  if (rule.campaignId !== null && rule.campaignId !== message.campaignId) return 'campaign'
  if (rule.type !== null && rule.type !== message.type) return 'type'
  if (rule.countries.length > 0 && (message.country === null || !rule.countries.includes(message.country)))
    return 'country'
  if (!hasPrefix && rule.prefixes.length > 0 && !rule.prefixes.some((prefix) => message.to.startsWith(prefix)))
    return 'prefix'
  if (rule.senders.length > 0 && (message.sender === null || !rule.senders.includes(message.sender))) return 'sender'
  // A rule that refuses needs no carrier.
  if (rule.carriers.length === 0) return null
  if (!rule.carriers.some(({ carrierId }) => hasSender(carrierId, message))) return 'sender_carrier'
  return rule.carriers.some((carrier) => isUsable(carrier, rule, message, rateOf)) ? null : 'max_cost'
}

const hasSender = (carrierId: string, { senderCarrierIds }: RoutableMessage): boolean =>
  senderCarrierIds === null || senderCarrierIds.includes(carrierId)

function isUsable(carrier: RouteCarrier, rule: Rule, message: RoutableMessage, rateOf: RateOf): boolean {
  if (!hasSender(carrier.carrierId, message)) return false
  if (rule.maxCost === null) return true
  const price = priceAt(carrier, rule, message, rateOf)
  return price !== null && price.currency === (rule.currency ?? '') && price.amount * message.segments <= rule.maxCost
}

/** What a segment costs: as the rule says, else as the carrier's card says. */
const priceAt = (
  { carrierId, cost }: Pick<RouteCarrier, 'carrierId' | 'cost'>,
  rule: Rule | null,
  { to, country }: RoutableMessage,
  rateOf: RateOf,
): Money | null => (cost === null ? rateOf(carrierId, to, country) : { amount: cost, currency: rule?.currency ?? '' })

/** `prices` of a chain, where any is known. */
function pricesOf(
  chain: readonly string[],
  rule: Rule | null,
  message: RoutableMessage,
  rateOf: RateOf,
): Pick<RouteChoice, 'prices'> {
  const costs = rule?.carriers.filter(({ cost }) => cost !== null) ?? []
  if (rateOf === noRates && costs.length === 0) return {}
  const prices = chain.map((id) =>
    priceAt(costs.find(({ carrierId }) => carrierId === id) ?? { carrierId: id, cost: null }, rule, message, rateOf),
  )
  return prices.every((price) => price === null) ? {} : { prices }
}

function followRule(
  rule: Rule,
  known: ReadonlyMap<string, RoutableCarrier>,
  message: RoutableMessage,
  rateOf: RateOf,
): RouteChoice {
  const usable = rule.carriers.filter((carrier) => isUsable(carrier, rule, message, rateOf))
  const shared = usable.filter((carrier) => carrier.weight !== null)
  const ranked = rankByWeight(shared, (carrier) => carrier.carrierId, message.id)
  const chain = [...ranked, ...usable.filter((carrier) => carrier.weight === null)].map(({ carrierId }) => carrierId)
  const choice = onlyEnabled(chain, known)
  return { ruleId: rule.id, ...choice, ...pricesOf(choice.chain, rule, message, rateOf) }
}

function followDefault(carriers: readonly RoutableCarrier[], message: RoutableMessage, rateOf: RateOf): RouteChoice {
  const usable = carriers.filter(({ id }) => hasSender(id, message))
  const enabled = usable.filter((carrier) => carrier.enabled)
  const isHeld = enabled.length === 0 && usable.length > 0
  const chain = (isHeld ? usable : enabled).map(({ id }) => id)
  return { ruleId: null, chain, isHeld, ...pricesOf(chain, null, message, rateOf) }
}

function onlyEnabled(
  chain: string[],
  known: ReadonlyMap<string, RoutableCarrier>,
): Pick<RouteChoice, 'chain' | 'isHeld'> {
  const enabled = chain.filter((id) => known.get(id)?.enabled)
  const isHeld = enabled.length === 0 && chain.length > 0
  return { chain: isHeld ? chain : enabled, isHeld }
}

const bestFirst = (carriers: readonly RoutableCarrier[]): RoutableCarrier[] =>
  carriers.toSorted((a, b) => a.priority - b.priority || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
