/** Finds overlaps of rules, because only their order decides and nothing else shows it. */
import type { Rule } from './route.ts'

/** An earlier rule that takes all (`shadowed`) or some (`overlapped`) of a rule's messages. */
export interface Overlap {
  code: 'shadowed' | 'overlapped'
  /** The earlier rule. */
  ruleId: string
}

/** Enough to see what is wrong. */
const overlapsMax = 10

/**
 * The earlier rules that take messages from the rule at `place`, in order, up to the first that takes all. A specific rule before a general
 * one is intended, and no overlap.
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

/** Whether both may match one message: a country and a prefix count as meeting. */
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

/** Whether the outer match holds for every message of the inner one. */
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

/** Whether neither the sender's carrier nor the cost makes the earlier rule pass on a message of the later one. */
function servesAll(earlier: Rule, later: Rule): boolean {
  if (earlier.carriers.length === 0) return true
  if (earlier.maxCost !== null || later.carriers.length === 0) return false
  return later.carriers.every(({ carrierId }) => earlier.carriers.some((carrier) => carrier.carrierId === carrierId))
}
