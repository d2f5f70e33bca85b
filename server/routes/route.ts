/**
 * Chooses carriers for a message: a pure function of rules, carriers and message. The first enabled rule that matches wins; a rule without
 * carriers refuses. Without a match, the default route applies: every carrier, best first.
 */
import type { MessageType } from '../message/message.ts'
import type { Money } from '../ground/base/money.ts'
import { noRates, type RateOf } from '../rates/rate.ts'
import { rankByWeight } from '../senders/weight.ts'

/** All members must hold, one item of each list; null or an empty list always holds. */
export interface RouteMatch {
  accountId: string | null
  campaignId: string | null
  type: MessageType | null
  /** ISO 3166-1 alpha-2, of the recipient. */
  countries: readonly string[]
  /** First digits of the recipient, with calling code. */
  prefixes: readonly string[]
  senders: readonly string[]
}

/** Carriers with a weight share the rule's messages; those without (null) follow in order. */
export interface RouteCarrier {
  carrierId: string
  weight: number | null
  /** Per segment, in millionths of the currency's unit; null: the rate card decides. */
  cost: number | null
}

export interface Rule extends RouteMatch {
  id: string
  enabled: boolean
  carriers: readonly RouteCarrier[]
  /** The most a message may cost, in the unit of `cost`; carriers that cost more, or an unknown amount, are passed over. */
  maxCost: number | null
  /** Of its amounts; null: it has none. */
  currency: string | null
}

/** Best first is by priority (lower is better), then by age (id). */
export interface RoutableCarrier {
  id: string
  enabled: boolean
  priority: number
}

export interface RoutableMessage {
  /** Spreads messages over weights: an id always gets the same carrier. */
  id: string
  accountId: string
  campaignId: string | null
  type: MessageType
  /** Digits of the recipient, and their country (null: the code belongs to no country). */
  to: string
  country: string | null
  sender: string | null
  /** Carriers at which the account can use this sender for the recipient; null: any, with the carrier's default sender. */
  senderCarrierIds: readonly string[] | null
  segments: number
}

export interface RouteChoice {
  /** Null: the default route. */
  ruleId: string | null
  /** Carriers in the order of attempts, each once. Empty: refused. Only enabled ones, unless `isHeld`. */
  chain: readonly string[]
  /** No carrier of the chain is enabled: the message waits for one. */
  isHeld: boolean
  /** Price of a segment at each carrier of the chain, null if unknown; absent: all unknown. */
  prices?: readonly (Money | null)[]
}

export type RuleMiss =
  | 'disabled'
  | 'account'
  | 'campaign'
  | 'type'
  | 'country'
  | 'prefix'
  | 'sender'
  | 'sender_carrier'
  /** Each of its carriers that has the sender costs too much, or an unknown amount. */
  | 'max_cost'

/** The reason why a rule did not match; null: it did. Of several matches, the first was taken. */
export interface RuleTrace {
  ruleId: string
  miss: RuleMiss | null
  isTaken: boolean
}

/** Chooses the route of a message and explains every rule. For many messages over the same rules: `compileRoutes`. */
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
 * Compiles rules for many messages; results equal `chooseRoute`. Rules are indexed by their most selective condition: 10,000 rules cost
 * about as much as ten.
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

/** Index keys of a rule: all values of its most selective condition. */
function keysOf(rule: Rule): string[] {
  if (rule.campaignId !== null) return [`campaign ${rule.campaignId}`]
  if (rule.senders.length > 0) return rule.senders.map((sender) => `sender ${sender}`)
  if (rule.prefixes.length > 0) return rule.prefixes.map((prefix) => `prefix ${prefix}`)
  if (rule.accountId !== null) return [`account ${rule.accountId}`]
  if (rule.countries.length > 0) return rule.countries.map((country) => `country ${country}`)
  return [rule.type === null ? 'any' : `type ${rule.type}`]
}

/** Why a rule does not match; null: it does. `hasPrefix`: a prefix is known to match. */
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

/** The price of a segment: the rule's, else the rate card's. */
const priceAt = (
  { carrierId, cost }: Pick<RouteCarrier, 'carrierId' | 'cost'>,
  rule: Rule | null,
  { to, country }: RoutableMessage,
  rateOf: RateOf,
): Money | null => (cost === null ? rateOf(carrierId, to, country) : { amount: cost, currency: rule?.currency ?? '' })

/** `prices` of a chain, if any is known. */
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
