/**
 * The settings of an account, one row each: where it is stored, its default, its schema with range and description, and its checks.
 * Schemas, reading, changes, audit and the table in docs/api/settings.md come from here. Changed with the scope `settings:write`.
 */
import { Type, type Static, type TObject, type TSchema } from 'typebox'
import type { FieldError } from '../ground/base/errors.ts'
import { isTimezone } from '../ground/base/timezone.ts'
import { Nullable } from '../ground/http/http.ts'
import { isCountry } from '../ground/numbers/number.ts'
import { Encryption } from './encryption-settings.ts'

export const guardKinds = [
  'daily_segments',
  'spend',
  'country_limit',
  'velocity',
  'allowed_countries',
  'duplicate',
] as const
export type GuardKind = (typeof guardKinds)[number]

/** `path` is the place in the account's row. In `accounts.settings`, a value equal to `fallback` is not stored. */
export interface Setting<S extends TSchema = TSchema> {
  path: readonly string[]
  schema: S
  fallback: Static<S>
  /** Guards whose stops end when it changes. */
  ends?: readonly GuardKind[]
  /** Finds what the schema cannot. */
  check?: (value: never, pointer: string) => FieldError[]
}

const at = <S extends TSchema>(
  path: readonly string[],
  schema: S,
  fallback: Static<S>,
  more: { ends?: readonly GuardKind[]; check?: (value: Static<S>, pointer: string) => FieldError[] } = {},
): Setting<S> => ({ path, schema, fallback, ...more })
/** A limit in `settings.guards`. */
const guard = <S extends TSchema>(
  name: string,
  schema: S,
  fallback: Static<S>,
  more: Parameters<typeof at<S>>[3] = {},
) => at(['settings', 'guards', ...name.split('.')], schema, fallback, more)

const country = Type.String({ pattern: '^[A-Z]{2}$', description: 'ISO 3166-1 alpha-2.', examples: ['GB'] })
const count = (description: string, minimum = 0) => Type.Integer({ minimum, maximum: 1_000_000_000_000, description })
/** A limit that is a count, or null. */
const most = (name: string, description: string, ends: readonly GuardKind[], minimum = 0) =>
  guard(name, Nullable(count(description, minimum)), null, { ends })
const days = (name: string, fallback: number, minimum: number, description: string) =>
  at([name], Type.Integer({ minimum, maximum: 36_500, description }), fallback)
const time = (description: string) =>
  Type.String({ description, pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$', examples: ['21:00'] })

const wrong = (isWrong: boolean, pointer: string, detail: string): FieldError[] =>
  isWrong ? [{ pointer, code: 'invalid_value', detail }] : []
export const checkTimezone = (zone: string, pointer: string): FieldError[] =>
  wrong(!isTimezone(zone), pointer, 'must be a time zone of the IANA database, such as Europe/London')
const checkCountry = (text: string, pointer: string): FieldError[] =>
  wrong(!isCountry(text), pointer, 'is not an ISO 3166-1 country code')

export const accountSettings = {
  account: {
    name: at(
      ['name'],
      Type.String({ minLength: 1, maxLength: 120, description: 'Name for people; used in confirmations of STOP.' }),
      '',
    ),
  },
  default_sender: at(
    ['default_sender'],
    Nullable(Type.String({ minLength: 1, maxLength: 16, description: 'Number or name of one of your senders.' })),
    null,
  ),
  on_unknown: at(
    ['on_unknown'],
    Nullable(
      Type.Enum(['hold', 'resend'], {
        description: "What to do with messages whose submit was not answered; null: the carrier's setting.",
      }),
    ),
    null,
  ),
  default_country: at(
    ['settings', 'default_country'],
    Nullable(
      Type.String({
        pattern: '^[A-Z]{2}$',
        description: 'For campaigns without one, ISO 3166-1 alpha-2.',
        examples: ['GB'],
      }),
    ),
    null,
    {
      check: (text, pointer) =>
        wrong(text !== null && !isCountry(text), pointer, 'is not a country with phone numbers'),
    },
  ),
  timezone: at(
    ['settings', 'timezone'],
    Type.String({ description: 'IANA time zone, in which days of limits start.', examples: ['Europe/London'] }),
    'UTC',
    // A new time zone moves the start of the day.
    { ends: ['daily_segments', 'spend'], check: checkTimezone },
  ),
  allowed_countries: guard(
    'allowed_countries',
    Type.Array(Type.String({ pattern: '^(\\*|[A-Z]{2})$', examples: ['GB'] }), {
      minItems: 1,
      maxItems: 300,
      uniqueItems: true,
      description: 'ISO 3166-1 alpha-2 of the allowed countries; `*`: all.',
    }),
    ['*'],
    {
      ends: ['allowed_countries'],
      check: (texts, pointer) => [
        ...wrong(texts.length > 1 && texts.includes('*'), pointer, 'must not contain both * and countries'),
        ...texts.flatMap((text, i) => (text === '*' ? [] : checkCountry(text, `${pointer}/${i}`))),
      ],
    },
  ),
  allow_premium_numbers: guard(
    'allow_premium_numbers',
    Type.Boolean({
      description:
        'Whether messages may go to premium numbers (+1 900 and the like of each country), which may earn money for their owner.',
    }),
    false,
  ),
  country_limits: guard(
    'country_limits',
    Type.Array(
      Type.Object(
        {
          country,
          per_hour: count('Messages in a clock hour.'),
          action: Type.Enum(['block', 'alert'], { description: '`alert` only sends the event.' }),
        },
        { additionalProperties: false },
      ),
      { maxItems: 300, description: 'At most so many messages to a country in a clock hour.' },
    ),
    [],
    {
      ends: ['country_limit'],
      check: (limits, pointer) =>
        limits.flatMap(({ country: text }, i) => {
          const isSecond = limits.findIndex((limit) => limit.country === text) < i
          const faults = checkCountry(text, `${pointer}/${i}/country`)
          return faults.length > 0 ? faults : wrong(isSecond, `${pointer}/${i}/country`, 'already has a limit')
        }),
    },
  ),
  velocity: {
    per_prefix_per_hour: most(
      'per_prefix_per_hour',
      'Messages in a clock hour to numbers that differ only in the last four digits; broadcasts do not count.',
      ['velocity'],
      1,
    ),
  },
  dedupe_window: guard(
    'dedupe_window',
    Type.Integer({
      minimum: 0,
      maximum: 86_400,
      description: 'Seconds in which the same text from the same sender to the same number is refused; 0: none.',
    }),
    0,
    { ends: ['duplicate'] },
  ),
  approval: {
    recipients_above: most('recipients_above', 'Broadcasts to more recipients need approval by somebody else.', []),
  },
  limits: {
    daily_segments: most('daily_segments', "Segments a day in the account's time zone; null: no limit.", [
      'daily_segments',
    ]),
  },
  spend: {
    daily_limit: guard(
      'spend.daily_limit',
      Nullable(
        Type.String({
          pattern: '^\\d{1,9}(\\.\\d{1,6})?$',
          description: 'Maximum cost of a day; null: no limit.',
          examples: ['250.00'],
        }),
      ),
      null,
      { ends: ['spend'] },
    ),
    currency: guard(
      'spend.currency',
      Nullable(Type.String({ pattern: '^[A-Z]{3}$', description: 'ISO 4217.', examples: ['EUR'] })),
      null,
      { ends: ['spend'] },
    ),
  },
  quiet_hours: {
    enabled: at(
      ['quiet_hours', 'enabled'],
      Type.Boolean({ description: 'Whether marketing is held at night.' }),
      false,
    ),
    // United States telemarketing rules forbid 21:00 to 08:00 (47 CFR §64.1200).
    start: at(['quiet_hours', 'start'], time("In the recipient's time zone."), '21:00'),
    end: at(
      ['quiet_hours', 'end'],
      time('The first minute after the quiet hours; on the next day if it is before `start`.'),
      '08:00',
    ),
    applies_to: at(
      ['quiet_hours', 'applies_to'],
      Type.Array(Type.Enum(['marketing', 'transactional']), {
        description: 'Types of messages. One-time passwords are never held.',
        minItems: 1,
        uniqueItems: true,
      }),
      ['marketing'],
    ),
    fallback_timezone: at(
      ['quiet_hours', 'fallback_timezone'],
      Type.String({
        description: 'IANA time zone for recipients whose own is unknown and whose number belongs to no country.',
        examples: ['Europe/London'],
      }),
      'UTC',
      { check: checkTimezone },
    ),
  },
  // Days from the acceptance of a message, or from the event. Existing data follows within an hour.
  retention: {
    message_body_days: days('message_body_days', 30, 0, 'Texts of final messages; 0: only until they are final.'),
    reply_body_days: days('reply_body_days', 90, 0, 'Texts of replies; 0: two minutes.'),
    message_days: days('message_days', 400, 1, 'Messages without their texts: numbers, times, outcomes.'),
    // Postings are retried for three days, and need their event.
    event_days: days('event_days', 30, 4, 'Events, and the attempts to post them.'),
    // Otherwise an attacker could outwait the log.
    audit_days: days('audit_days', 400, 90, 'The audit log.'),
  },
}

type Rows = Record<string, Setting | Record<string, Setting>>
const rows: Rows = accountSettings
const isSetting = (row: Rows[string]): row is Setting => Array.isArray(row['path'])

/** All settings, by their place in the API: `['velocity', 'per_prefix_per_hour']`. */
export const settingRows: readonly { at: readonly string[]; setting: Setting }[] = Object.entries(rows).flatMap(
  ([name, row]) =>
    isSetting(row)
      ? [{ at: [name], setting: row }]
      : Object.entries(row).map(([member, setting]) => ({ at: [name, member], setting })),
)

type Table = typeof accountSettings
type SchemaOf<T> = T extends Setting<infer S> ? S : never
type Properties = {
  [K in keyof Table]: Table[K] extends Setting
    ? SchemaOf<Table[K]>
    : TObject<{ [M in keyof Table[K]]: SchemaOf<Table[K][M]> }>
}
const schemasOf = (group: Record<string, Setting>): Record<string, TSchema> =>
  Object.fromEntries(Object.entries(group).map(([name, { schema }]) => [name, schema]))
const properties = Object.fromEntries(
  Object.entries(rows).map(([name, row]) => [name, isSetting(row) ? row.schema : Type.Object(schemasOf(row))]),
) as unknown as Properties

export type SettingsValues = { [K in keyof Properties]: Static<Properties[K]> }
/** The value under `guards` in `accounts.settings`; guards that are off are absent. */
export type StoredGuards = Partial<
  Pick<SettingsValues, 'allowed_countries' | 'allow_premium_numbers' | 'country_limits' | 'dedupe_window'> & {
    daily_segments: number
    per_prefix_per_hour: number
    recipients_above: number
    spend: { daily_limit: string; currency: string }
  }
>
export type QuietHours = SettingsValues['quiet_hours']
export type QuietHoursChange = Partial<QuietHours>
/** Missing fields, also of a group, stay. */
export type SettingsChange = {
  [K in keyof Table]?: Table[K] extends Setting ? SettingsValues[K] : Partial<SettingsValues[K]>
}

const closed = { additionalProperties: false, minProperties: 1 } as const
const partial = (group: Record<string, Setting>) =>
  Type.Object(Type.Partial(Type.Object(schemasOf(group))).properties, closed)

/** Missing fields stay, or inherit from the account. */
export const QuietHoursChange = Type.Unsafe<QuietHoursChange>(partial(accountSettings.quiet_hours))

/** The body of `PATCH /v1/settings`. */
export const SettingsChange = Type.Unsafe<SettingsChange>(
  Type.Object(
    Object.fromEntries(
      Object.entries(rows).map(([name, row]) => [name, Type.Optional(isSetting(row) ? row.schema : partial(row))]),
    ),
    { ...closed, examples: [{ timezone: 'Europe/London' }] },
  ),
)

const unlimited = { description: 'null: no limit.' }
const { account, limits, spend, ...plain } = properties

/** Null means "not limited" or "not set". */
export const Settings = Type.Object(
  {
    object: Type.Enum(['settings']),
    account: Type.Object({ id: Type.String(), ...account.properties, status: Type.String() }),
    mode: Type.Enum(['live', 'test']),
    ...plain,
    opt_out: Type.Object({
      stop_keywords: Type.Array(Type.String()),
      start_keywords: Type.Array(Type.String()),
      help_keywords: Type.Array(Type.String()),
      replies: Type.Record(Type.String(), Nullable(Type.String()), { description: 'null: none.' }),
    }),
    limits: Type.Object({
      api_per_second: Type.Union([Type.Number(), Type.Null()], unlimited),
      segments_per_second: Type.Union([Type.Number(), Type.Null()], unlimited),
      max_batch: Type.Integer(),
      max_import_rows: Type.Integer(),
      max_queue_seconds: Type.Union([Type.Number(), Type.Null()], unlimited),
      ...limits.properties,
      segments_today: Nullable(Type.Integer({ description: 'null: not counted, because there is no limit.' })),
    }),
    spend: Type.Object({
      ...spend.properties,
      spent_today: Nullable(Type.String()),
      resets_at: Nullable(Type.String()),
    }),
    encryption: Encryption,
    webhooks: Type.Object({
      endpoints: Type.Integer(),
      failing: Type.Integer(),
      disabled: Type.Integer({
        description: 'Webhooks that were disabled after a 410 or days of failures. Nothing is posted to them.',
      }),
    }),
    features: Type.Record(Type.String(), Type.Boolean(), { description: 'Features of this version.' }),
    api_version: Type.String(),
    server_version: Type.String(),
  },
  { $id: 'Settings', description: 'The settings of the account. No secrets.' },
)
