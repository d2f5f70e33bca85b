/** Judges messages that are about to be accepted. Pure: usage and releases are read before (`check.ts`). */
import type { LimitWindow, GuardRefusal, Stop } from '../message/draft.ts'
import type { GuardKind } from '../accounts/account-settings.ts'
import type { Money } from '../ground/base/money.ts'
import { countryOf } from '../ground/numbers/number.ts'
import type { GuardRules } from './guards.ts'
import { dayAt, hourAt, type Span } from '../ground/base/day.ts'

export interface Ask {
  /** The country is not allowed. */
  country: LimitWindow | null
  /** The text must not repeat a recent one. */
  repeat: { window: LimitWindow; hash: string; seconds: number } | null
  /** Amounts it uses up, in the order in which limits are checked. */
  needs: { window: LimitWindow; amount: number }[]
}

export interface Asker {
  accountId: string
  theirNumber: string
  segments: number
  /** Estimated cost in millionths of the currency's unit; null: unknown. */
  cost: Money | null
  /** Hash of sender, recipient and text; called only if repetitions are refused. */
  hash: () => Buffer
  /** It reaches no phone and costs nothing: limits do not count it. */
  isTest: boolean
}

// Fraud by consecutive numbers shares all digits but these.
const suffixDigits = 4

/** A number without the digits in which consecutive numbers differ. */
export const prefixOf = (number: string): string => number.slice(0, -suffixDigits)

/** The country of numbers that belong to no country. */
export const noCountry = '?'

/** The guards that apply to a message. */
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

/** The name of a window, the same in every process. */
export const nameOf = ({
  accountId,
  kind,
  key,
  startsAt,
}: Pick<LimitWindow, 'accountId' | 'kind' | 'key' | 'startsAt'>): string =>
  `${accountId} ${kind} ${key} ${startsAt.getTime()}`

export interface Relief {
  raisedBy: number
  /** No stop until this time. */
  until: Date | null
}

/** State of the windows that these messages use, by name. */
export interface Known {
  used: ReadonlyMap<string, number>
  relief: ReadonlyMap<string, Relief>
  /** The earlier message with the same text, by place in the list. */
  earlier: ReadonlyMap<number, string>
  at: Date
}

export interface Judgement {
  stops: (Stop | null)[]
  /** Windows over a limit that only alerts. */
  alerts: Map<string, LimitWindow>
  /** Places of messages that repeat one of the same list, with the place of that one. */
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
 * Judges messages in order; null: no guard stops it. A message that passes uses its windows up for the next ones. With `isInOrder`, all messages
 * behind one that waits for a window wait too: a broadcast continues from that place.
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
