/** Settings of guards: how much may be used before sending stops. All are off by default. */
import { Type, type Static } from 'typebox'
import { canonical } from '../ground/base/canonical.ts'
import type { FieldError } from '../ground/base/errors.ts'
import { Nullable } from '../ground/http/http.ts'
import { isCountry } from '../ground/numbers/number.ts'
import { isTimezone } from '../ground/base/timezone.ts'

const off = 'null: no limit.'
const country = Type.String({ pattern: '^[A-Z]{2}$', description: 'ISO 3166-1 alpha-2.', examples: ['GB'] })
const countMax = 1_000_000_000_000

const AllowedCountries = Type.Array(Type.String({ pattern: '^(\\*|[A-Z]{2})$', examples: ['GB'] }), {
  minItems: 1,
  maxItems: 300,
  uniqueItems: true,
  description: 'ISO 3166-1 alpha-2 of the allowed countries; `*`: all.',
})
const CountryLimits = Type.Array(
  Type.Object(
    {
      country,
      per_hour: Type.Integer({ minimum: 0, maximum: countMax, description: 'Messages in a clock hour.' }),
      action: Type.Enum(['block', 'alert'], { description: '`alert` only sends the event.' }),
    },
    { additionalProperties: false },
  ),
  { maxItems: 300 },
)
const dailySegments = Nullable(
  Type.Integer({ minimum: 0, maximum: countMax, description: `Segments a day in the account's time zone; ${off}` }),
)
const dailyLimit = Nullable(
  Type.String({
    pattern: '^\\d{1,9}(\\.\\d{1,6})?$',
    description: `Maximum cost of a day; ${off}`,
    examples: ['250.00'],
  }),
)
const currency = Nullable(Type.String({ pattern: '^[A-Z]{3}$', description: 'ISO 4217.', examples: ['EUR'] }))
const perPrefix = Nullable(
  Type.Integer({
    minimum: 1,
    maximum: countMax,
    description:
      'Messages in a clock hour to numbers that differ only in the last four digits; broadcasts do not count.',
  }),
)
const dedupeWindow = Type.Integer({
  minimum: 0,
  maximum: 86_400,
  description: 'Seconds in which the same text from the same sender to the same number is refused; 0: none.',
})
const recipientsAbove = Nullable(
  Type.Integer({
    minimum: 0,
    maximum: countMax,
    description: 'Broadcasts to more recipients need approval by somebody else.',
  }),
)

const allowPremium = Type.Boolean({
  description:
    'Whether messages may go to premium numbers (+1 900 and the like of each country), which may earn money for their owner. Default false.',
})

const closed = { additionalProperties: false } as const

export const GuardFields = {
  allowed_countries: AllowedCountries,
  allow_premium_numbers: allowPremium,
  country_limits: CountryLimits,
  velocity: Type.Object({ per_prefix_per_hour: perPrefix }),
  dedupe_window: dedupeWindow,
  approval: Type.Object({ recipients_above: recipientsAbove }),
}
/** `limits.daily_segments` and its use, in the answer. */
export const SegmentLimits = {
  daily_segments: dailySegments,
  segments_today: Nullable(Type.Integer({ description: 'null: not counted, because there is no limit.' })),
}

const GuardChangeObject = Type.Partial(
  Type.Object({
    timezone: Type.String({
      description: 'IANA time zone, in which days of limits start.',
      examples: ['Europe/London'],
    }),
    allowed_countries: AllowedCountries,
    allow_premium_numbers: allowPremium,
    country_limits: CountryLimits,
    limits: Type.Object({ daily_segments: dailySegments }, closed),
    spend: Type.Object({ daily_limit: dailyLimit, currency: Type.Optional(currency) }, closed),
    velocity: Type.Object({ per_prefix_per_hour: perPrefix }, closed),
    dedupe_window: dedupeWindow,
    approval: Type.Object({ recipients_above: recipientsAbove }, closed),
  }),
)
export const GuardChange = GuardChangeObject.properties
export type GuardChange = Static<typeof GuardChangeObject>

/** The value under `guards` in `accounts.settings`; guards that are off are absent. */
export interface StoredGuards {
  allowed_countries?: string[]
  allow_premium_numbers?: true
  country_limits?: Static<typeof CountryLimits>
  daily_segments?: number
  spend?: { daily_limit: string; currency: string }
  per_prefix_per_hour?: number
  dedupe_window?: number
  recipients_above?: number
}

export const guardKinds = [
  'daily_segments',
  'spend',
  'country_limit',
  'velocity',
  'allowed_countries',
  'duplicate',
] as const
export type GuardKind = (typeof guardKinds)[number]

/** The errors that the schema cannot find. */
export function checkGuards(change: GuardChange, stored: StoredGuards): FieldError[] {
  const errors: FieldError[] = []
  const add = (pointer: string, detail: string): void => void errors.push({ pointer, code: 'invalid_value', detail })
  if (change.timezone !== undefined && !isTimezone(change.timezone))
    add('#/timezone', 'must be a time zone of the IANA database, such as Europe/London')
  const { allowed_countries: allowed = [], country_limits: limits = [] } = change
  if (allowed.length > 1 && allowed.includes('*')) add('#/allowed_countries', 'must not contain both * and countries')
  allowed.forEach((text, i) => {
    if (text !== '*' && !isCountry(text)) add(`#/allowed_countries/${i}`, 'is not an ISO 3166-1 country code')
  })
  limits.forEach(({ country: text }, i) => {
    if (!isCountry(text)) add(`#/country_limits/${i}/country`, 'is not an ISO 3166-1 country code')
    else if (limits.findIndex((limit) => limit.country === text) < i)
      add(`#/country_limits/${i}/country`, 'already has a limit')
  })
  if (change.spend && change.spend.daily_limit !== null && !(change.spend.currency ?? stored.spend?.currency))
    errors.push({ pointer: '#/spend/currency', code: 'required', detail: 'is required: a limit needs a currency' })
  return errors
}

/** Returns the new value and the kinds of guards that changed, whose stops end. */
export function mergeGuards(stored: StoredGuards, change: GuardChange): { guards: StoredGuards; changed: GuardKind[] } {
  const guards = { ...stored }
  const changed: GuardKind[] = []
  const set = <K extends keyof StoredGuards>(name: K, value: StoredGuards[K] | null, kind: GuardKind | null): void => {
    // PostgreSQL reorders the members of stored JSON.
    if (canonical(value ?? null) === canonical(stored[name] ?? null)) return
    if (value == null) delete guards[name]
    else guards[name] = value
    if (kind) changed.push(kind)
  }
  const { allowed_countries: allowed, country_limits: limits, spend, dedupe_window: seconds } = change
  const { allow_premium_numbers: premium } = change
  if (allowed) set('allowed_countries', allowed[0] === '*' ? null : allowed, 'allowed_countries')
  if (premium !== undefined) set('allow_premium_numbers', premium || null, null)
  if (limits) set('country_limits', limits.length > 0 ? limits : null, 'country_limit')
  if (change.limits) set('daily_segments', change.limits.daily_segments, 'daily_segments')
  if (spend) {
    const money = spend.currency ?? stored.spend?.currency
    const limit = spend.daily_limit === null || !money ? null : { daily_limit: spend.daily_limit, currency: money }
    set('spend', limit, 'spend')
  }
  if (change.velocity) set('per_prefix_per_hour', change.velocity.per_prefix_per_hour, 'velocity')
  if (seconds !== undefined) set('dedupe_window', seconds > 0 ? seconds : null, 'duplicate')
  if (change.approval) set('recipients_above', change.approval.recipients_above, null)
  return { guards, changed }
}

export const showGuards = (stored: StoredGuards) => ({
  allowed_countries: stored.allowed_countries ?? ['*'],
  allow_premium_numbers: stored.allow_premium_numbers ?? false,
  country_limits: (stored.country_limits ?? []).map(({ country: name, per_hour, action }) => ({
    country: name,
    per_hour,
    action,
  })),
  velocity: { per_prefix_per_hour: stored.per_prefix_per_hour ?? null },
  dedupe_window: stored.dedupe_window ?? 0,
  approval: { recipients_above: stored.recipients_above ?? null },
})
