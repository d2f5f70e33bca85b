/** What guards say of messages that are about to be accepted. Pure: what is used up and what was released is read before (`check.ts`). */
import type { LimitWindow, GuardRefusal, Stop } from '../message/draft.ts'
import type { GuardKind } from '../accounts/guard-settings.ts'
import type { Money } from '../ground/base/money.ts'
import { countryOf } from '../ground/numbers/number.ts'
import type { GuardRules } from './guards.ts'
import { dayAt, hourAt, type Span } from '../ground/base/day.ts'

/** What the guards of its account ask of a message. */
export interface Ask {
  /** The message may not go to its country at all. */
  country: LimitWindow | null
  /** The same text must not have gone a moment ago. */
  repeat: { window: LimitWindow; hash: string; seconds: number } | null
  /** What it uses up, in the order in which it is told of them. */
  needs: { window: LimitWindow; amount: number }[]
}

/** A message as guards see it. */
export interface Asker {
  accountId: string
  theirNumber: string
  segments: number
  /** Estimated cost in millionths of the currency's unit; null: not known. */
  cost: Money | null
  /** The text with whom it is from and to, hashed; called only where repetitions are refused. */
  hash: () => Buffer
  /** It goes to no phone and costs nothing: limits do not count it. */
  isTest: boolean
}

// The prefix of a number: what fraud by numbers in a row has in common.
const suffixDigits = 4

/** All of a number but what numbers in a row differ in. */
export const prefixOf = (number: string): string => number.slice(0, -suffixDigits)

/** Stands for the country of numbers that are of none. */
export const noCountry = '?'

/** What the rules ask of a message. */
export function askOf(rules: GuardRules, message: Asker, at: Date): Ask {
  const { accountId, theirNumber, cost } = message
  const window = (kind: GuardKind, key: string, span: Span, limit: number | null): LimitWindow => ({
    ...span,
    accountId,
    kind,
    key,
    action: 'block',
    limit,
  })
  const needs: Ask['needs'] = []
  const country = rules.countries || rules.countryLimits.size > 0 ? (countryOf(theirNumber) ?? noCountry) : ''
  const ofCountry = rules.countryLimits.get(country)
  const isCounted = !message.isTest
  const [day, hour] = [dayAt(rules.timezone, at), hourAt(at)]
  if (ofCountry && isCounted)
    needs.push({
      window: { ...window('country_limit', country, hour, ofCountry.perHour), action: ofCountry.action },
      amount: 1,
    })
  if (rules.perPrefixPerHour !== null && isCounted)
    needs.push({
      window: window('velocity', prefixOf(theirNumber), hour, rules.perPrefixPerHour),
      amount: 1,
    })
  if (rules.dailySegments !== null && isCounted)
    needs.push({ window: window('daily_segments', '', day, rules.dailySegments), amount: message.segments })
  if (rules.spend && isCounted && cost?.currency === rules.spend.currency)
    needs.push({ window: window('spend', cost.currency, day, rules.spend.limit), amount: cost.amount })
  return {
    country: rules.countries && !rules.countries.has(country) ? window('allowed_countries', country, day, null) : null,
    repeat:
      rules.dedupeSeconds > 0
        ? {
            window: window('duplicate', '', hour, null),
            hash: message.hash().toString('hex'),
            seconds: rules.dedupeSeconds,
          }
        : null,
    needs,
  }
}

/** A name of a window, the same in every process. */
export const nameOf = ({
  accountId,
  kind,
  key,
  startsAt,
}: Pick<LimitWindow, 'accountId' | 'kind' | 'key' | 'startsAt'>): string =>
  `${accountId} ${kind} ${key} ${startsAt.getTime()}`

/** What was released of a window's stops. */
export interface Relief {
  raisedBy: number
  /** Nothing stops until then. */
  until: Date | null
}

/** What is known of the windows that some messages ask for, by their names. */
export interface Known {
  used: ReadonlyMap<string, number>
  relief: ReadonlyMap<string, Relief>
  /** The message that had a text before, by the place of the asking one. */
  earlier: ReadonlyMap<number, string>
  at: Date
}

/** What the guards say. */
export interface Judgement {
  stops: (Stop | null)[]
  /** Windows over a limit that does not stop. */
  alerts: Map<string, LimitWindow>
  /** Places of messages that repeat one of the same list, with its place. */
  repeats: Map<number, number>
}

const refusals = {
  daily_segments: 'spend_limit_reached',
  spend: 'spend_limit_reached',
  country_limit: 'country_limit_reached',
  velocity: 'fraud_suspected',
  allowed_countries: 'destination_not_allowed',
  duplicate: 'duplicate_message',
} as const satisfies Record<GuardKind, GuardRefusal>

/**
 * Judges messages in their order; null: none of theirs. What goes uses its windows up for those behind it. Where `isInOrder`, what comes
 * behind one that has to wait for a window waits too: a broadcast goes on at that place.
 */
export function judge(
  asks: readonly (Ask | null)[],
  { used, relief, earlier, at }: Known,
  isInOrder: boolean,
): Judgement {
  const now = new Map(used)
  const leaders = new Map<string, number>()
  const judgement: Judgement = { stops: [], alerts: new Map(), repeats: new Map() }
  const isLifted = (window: LimitWindow): boolean => (relief.get(nameOf(window))?.until ?? at) > at
  const limitOf = (window: LimitWindow): number => (window.limit ?? 0) + (relief.get(nameOf(window))?.raisedBy ?? 0)
  let halt: Stop | null = null
  const judgeOne = (ask: Ask, i: number): Stop | null => {
    if (halt) return halt
    if (ask.country && !isLifted(ask.country)) return stopOf(ask.country)
    const leader = ask.repeat ? leaders.get(ask.repeat.hash) : undefined
    if (ask.repeat && (earlier.has(i) || leader !== undefined) && !isLifted(ask.repeat.window)) {
      if (leader !== undefined) judgement.repeats.set(i, leader)
      return { ...stopOf(ask.repeat.window), earlierId: earlier.get(i) ?? null }
    }
    for (const { window, amount } of ask.needs) {
      if ((now.get(nameOf(window)) ?? 0) + amount <= limitOf(window) || isLifted(window)) continue
      if (window.action === 'alert') judgement.alerts.set(nameOf(window), window)
      else {
        const stop = { ...stopOf(window), limit: limitOf(window) }
        if (isInOrder) halt = stop
        return stop
      }
    }
    for (const { window, amount } of ask.needs) now.set(nameOf(window), (now.get(nameOf(window)) ?? 0) + amount)
    if (ask.repeat) leaders.set(ask.repeat.hash, i)
    return null
  }
  asks.forEach((ask, i) => judgement.stops.push(ask && judgeOne(ask, i)))
  return judgement
}

const stopOf = (window: LimitWindow): Stop => ({
  refusal: refusals[window.kind],
  window,
  limit: window.limit,
  guardId: null,
  earlierId: null,
})
