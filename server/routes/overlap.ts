/** What an earlier rule takes from a later one: told to the operator, because order alone decides and nothing else shows it. */
import type { Rule } from './route.ts'

/** An earlier rule that takes all (`shadowed`) or some (`overlapped`) of a rule's messages. */
export interface Overlap {
  code: 'shadowed' | 'overlapped'
  /** The earlier rule. */
  ruleId: string
}

/** Overlaps that are told of one rule: enough to see what is wrong. */
const overlapsMax = 10

/**
 * The earlier rules that take messages from the rule at `place`, in order, up to the first that takes all of them. A more special rule
 * before a more general one is how rules are meant to be written, and is no overlap.
 */
export function findOverlaps(rules: readonly Rule[], place: number): Overlap[] {
  const rule = rules[place]
  if (!rule?.enabled) return []
  const found: Overlap[] = []
  for (const earlier of rules.slice(0, place)) {
    if (!earlier.enabled || !meets(earlier, rule)) continue
    if (contains(earlier, rule) && servesAll(earlier, rule)) return [...found, { code: 'shadowed', ruleId: earlier.id }]
    if (!contains(rule, earlier) && found.length < overlapsMax - 1)
      found.push({ code: 'overlapped', ruleId: earlier.id })
  }
  return found
}

/** Whether both can match one message, as far as can be told: a country and a prefix are taken to meet. */
function meets(a: Rule, b: Rule): boolean {
  return (
    meetsOne(a.accountId, b.accountId) &&
    meetsOne(a.campaignId, b.campaignId) &&
    meetsOne(a.type, b.type) &&
    meetsAny(a.countries, b.countries, (x, y) => x === y) &&
    meetsAny(a.senders, b.senders, (x, y) => x === y) &&
    meetsAny(a.prefixes, b.prefixes, (x, y) => x.startsWith(y) || y.startsWith(x))
  )
}

const meetsOne = (a: string | null, b: string | null): boolean => a === null || b === null || a === b

const meetsAny = (a: readonly string[], b: readonly string[], fits: (x: string, y: string) => boolean): boolean =>
  a.length === 0 || b.length === 0 || a.some((x) => b.some((y) => fits(x, y)))

/** Whether every message that the inner rule's match lets through passes the outer one's. */
function contains(outer: Rule, inner: Rule): boolean {
  return (
    (outer.accountId === null || outer.accountId === inner.accountId) &&
    (outer.campaignId === null || outer.campaignId === inner.campaignId) &&
    (outer.type === null || outer.type === inner.type) &&
    containsAll(outer.countries, inner.countries, (x, y) => x === y) &&
    containsAll(outer.senders, inner.senders, (x, y) => x === y) &&
    containsAll(outer.prefixes, inner.prefixes, (x, y) => y.startsWith(x))
  )
}

const containsAll = (
  outer: readonly string[],
  inner: readonly string[],
  fits: (x: string, y: string) => boolean,
): boolean => outer.length === 0 || (inner.length > 0 && inner.every((y) => outer.some((x) => fits(x, y))))

/** Whether the earlier rule never passes a message of the later one on, for want of the sender's carrier or for its cost. */
function servesAll(earlier: Rule, later: Rule): boolean {
  if (earlier.carriers.length === 0) return true
  if (earlier.maxCost !== null || later.carriers.length === 0) return false
  return later.carriers.every(({ carrierId }) => earlier.carriers.some((carrier) => carrier.carrierId === carrierId))
}
