import { Type } from 'typebox'
import { Nullable } from '../ground/http/http.ts'
import { Encryption } from './encryption-settings.ts'
import { GuardChange, GuardFields, SegmentLimits } from './guard-settings.ts'
import { QuietHours, QuietHoursChange } from './quiet-hours.ts'
import { Retention, RetentionChange } from './retention-settings.ts'

export const OptOut = Type.Object({
  stop_keywords: Type.Array(Type.String()),
  start_keywords: Type.Array(Type.String()),
  help_keywords: Type.Array(Type.String()),
  replies: Type.Record(Type.String(), Nullable(Type.String()), { description: 'null: none.' }),
})

const unlimited = { description: 'null: no limit.' }

const OnUnknown = Type.Enum(['hold', 'resend'])

/** Null means "not limited" or "not set". */
export const Settings = Type.Object(
  {
    object: Type.Enum(['settings']),
    account: Type.Object({ id: Type.String(), name: Type.String(), status: Type.String() }),
    mode: Type.Enum(['live', 'test']),
    default_sender: Nullable(Type.String()),
    on_unknown: Type.Union([OnUnknown, Type.Null()], {
      description: "What to do with messages whose submit was not answered; null: the carrier's setting.",
    }),
    default_country: Nullable(Type.String()),
    timezone: Type.String(),
    ...GuardFields,
    quiet_hours: QuietHours,
    opt_out: OptOut,
    limits: Type.Object({
      api_per_second: Type.Union([Type.Number(), Type.Null()], unlimited),
      segments_per_second: Type.Union([Type.Number(), Type.Null()], unlimited),
      max_batch: Type.Integer(),
      max_import_rows: Type.Integer(),
      max_queue_seconds: Type.Union([Type.Number(), Type.Null()], unlimited),
      ...SegmentLimits,
    }),
    spend: Type.Object({
      daily_limit: Type.Union([Type.String(), Type.Null()], unlimited),
      spent_today: Nullable(Type.String()),
      currency: Nullable(Type.String()),
      resets_at: Nullable(Type.String()),
    }),
    retention: Retention,
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

/** The body of `PATCH /v1/settings`; other settings are derived or not built. */
export const SettingsChange = Type.Object(
  {
    account: Type.Optional(
      Type.Object(
        {
          name: Type.String({
            minLength: 1,
            maxLength: 120,
            description: 'Name for people; used in confirmations of STOP.',
          }),
        },
        { additionalProperties: false },
      ),
    ),
    on_unknown: Type.Optional(Nullable(OnUnknown)),
    default_sender: Type.Optional(
      Nullable(Type.String({ minLength: 1, maxLength: 16, description: 'Number or name of one of your senders.' })),
    ),
    default_country: Type.Optional(
      Nullable(
        Type.String({
          pattern: '^[A-Z]{2}$',
          description: 'For campaigns without one, ISO 3166-1 alpha-2.',
          examples: ['GB'],
        }),
      ),
    ),
    quiet_hours: Type.Optional(QuietHoursChange),
    retention: Type.Optional(RetentionChange),
    ...GuardChange,
  },
  { additionalProperties: false, minProperties: 1, examples: [{ timezone: 'Europe/London' }] },
)
