/** The settings of an account, as `GET /v1/settings` shows them: what is stored, and what this installation does without being told. */
import { createHash } from 'node:crypto'
import { Type } from 'typebox'
import type { Queryable, Tx } from '../db/db.ts'
import { ApiError, invalid } from '../errors.ts'
import { Nullable, type Caller } from '../http.ts'
import { showId } from '../ids.ts'
import { checkQuietHours, mergeQuietHours, QuietHours, QuietHoursChange } from './quiet-hours.ts'

/** What other slices decide and settings only show. */
export interface SettingsSources {
  version: string
  /** Keywords and answers, from what the account says of them (null: nothing) and its name. */
  optOut: (own: unknown, name: string) => Type.Static<typeof OptOut>
}

const OptOut = Type.Object({
  stop_keywords: Type.Array(Type.String()),
  start_keywords: Type.Array(Type.String()),
  help_keywords: Type.Array(Type.String()),
  replies: Type.Record(Type.String(), Nullable(Type.String()), { description: 'null: none.' }),
})

const unlimited = { description: 'null: no limit.' }

const OnUnknown = Type.Enum(['hold', 'resend'])

/** The answer's schema. Null stands for "not limited" and "not set". */
export const Settings = Type.Object(
  {
    object: Type.Enum(['settings']),
    account: Type.Object({ id: Type.String(), name: Type.String(), status: Type.String() }),
    mode: Type.Enum(['live', 'test']),
    default_sender: Nullable(Type.String()),
    on_unknown: Type.Union([OnUnknown, Type.Null()], {
      description: 'What becomes of messages whose submit was not answered; null: as the carrier has it.',
    }),
    default_country: Nullable(Type.String()),
    timezone: Type.String(),
    allowed_countries: Type.Array(Type.String()),
    country_limits: Type.Array(
      Type.Object({ country: Type.String(), per_hour: Type.Integer(), action: Type.Enum(['block', 'alert']) }),
    ),
    quiet_hours: QuietHours,
    opt_out: OptOut,
    limits: Type.Object({
      api_per_second: Type.Union([Type.Number(), Type.Null()], unlimited),
      segments_per_second: Type.Union([Type.Number(), Type.Null()], unlimited),
      max_batch: Type.Integer(),
      max_import_rows: Type.Integer(),
      max_queue_seconds: Type.Union([Type.Number(), Type.Null()], unlimited),
    }),
    spend: Type.Object({
      daily_limit: Type.Union([Type.String(), Type.Null()], unlimited),
      spent_today: Nullable(Type.String()),
      currency: Nullable(Type.String()),
      resets_at: Nullable(Type.String()),
    }),
    retention: Type.Object({
      message_body_days: Type.Union([Type.Integer(), Type.Null()], { description: 'null: kept.' }),
      message_days: Type.Union([Type.Integer(), Type.Null()], { description: 'null: kept.' }),
      event_days: Type.Integer(),
    }),
    webhooks: Type.Object({ endpoints: Type.Integer(), failing: Type.Integer() }),
    features: Type.Record(Type.String(), Type.Boolean(), { description: 'What this version can do.' }),
    api_version: Type.String(),
    server_version: Type.String(),
  },
  { $id: 'Settings', description: 'The settings of the account. No secrets.' },
)

/** What is built. A feature that is not is refused as an unknown field or path, and said so here. */
const features = {
  campaigns: true,
  contact_import: true,
  scheduled_sending: true,
  batch: true,
  preview: true,
  replies: true,
  opt_out: true,
  webhooks: true,
  templates: true,
  broadcasts: true,
  quiet_hours: true,
  rate_limits: false,
  spend_limits: false,
}

interface SettingsRow {
  name: string
  status: string
  onUnknown: Type.Static<typeof OnUnknown> | null
  defaultSender: string | null
  keywords: unknown
  quietHours: QuietHoursChange | null
  endpoints: number
  failing: number
  segmentsPerSecond: number | null
}

/** The settings and their entity tag. */
export async function readSettings(
  db: Queryable,
  caller: Caller,
  { version, optOut }: SettingsSources,
): Promise<{ body: SettingsBody; etag: string }> {
  const row = await findSettings(db, caller.accountId)
  const body: SettingsBody = {
    object: 'settings',
    account: { id: showId('acc', caller.accountId), name: row.name, status: row.status },
    mode: caller.mode,
    default_sender: row.defaultSender,
    on_unknown: row.onUnknown,
    default_country: null,
    timezone: 'UTC',
    allowed_countries: ['*'],
    country_limits: [],
    quiet_hours: mergeQuietHours(row.quietHours),
    opt_out: optOut(row.keywords, row.name),
    limits: {
      api_per_second: null,
      segments_per_second: row.segmentsPerSecond,
      max_batch: 10_000,
      max_import_rows: 1_000_000,
      max_queue_seconds: null,
    },
    spend: { daily_limit: null, spent_today: null, currency: null, resets_at: null },
    retention: { message_body_days: null, message_days: null, event_days: 30 },
    webhooks: { endpoints: row.endpoints, failing: row.failing },
    features,
    api_version: 'v1',
    server_version: version,
  }
  const etag = `"${createHash('sha256').update(JSON.stringify(body)).digest('base64url').slice(0, 22)}"`
  return { body, etag }
}

type SettingsBody = Type.Static<typeof Settings>

/** The body of `PATCH /v1/settings`; the rest follows from what there is, or is not built. */
export const SettingsChange = Type.Object(
  {
    account: Type.Optional(
      Type.Object(
        {
          name: Type.String({ minLength: 1, maxLength: 120, description: 'For people; confirmations of STOP say it.' }),
        },
        { additionalProperties: false },
      ),
    ),
    on_unknown: Type.Optional(Nullable(OnUnknown)),
    quiet_hours: Type.Optional(QuietHoursChange),
  },
  { additionalProperties: false, minProperties: 1 },
)

/**
 * Changes settings of the caller's account and returns all of them. Locks the account. `expected` is an entity tag, or undefined.
 * @throws ApiError `version_conflict` where the settings have another one by now; `validation_failed`.
 */
export async function changeSettings(
  tx: Tx,
  caller: Caller,
  sources: SettingsSources,
  change: Type.Static<typeof SettingsChange>,
  expected: string | undefined,
): Promise<SettingsBody> {
  await tx.query(`select 1 from accounts where id = $1 for update`, [caller.accountId])
  if (expected !== undefined && expected !== '*') {
    const { etag } = await readSettings(tx, caller, sources)
    if (!expected.includes(etag)) throw new ApiError('version_conflict')
  }
  await tx.query(
    `update accounts
     set name = coalesce($2, name), on_unknown = case when $4 then $3 else on_unknown end, updated_at = now()
     where id = $1`,
    [caller.accountId, change.account?.name ?? null, change.on_unknown ?? null, change.on_unknown !== undefined],
  )
  if (change.quiet_hours) await changeQuietHours(tx, caller.accountId, change.quiet_hours)
  return (await readSettings(tx, caller, sources)).body
}

/** Adds what is said to what was; by the primary key, whose row is locked. */
async function changeQuietHours(tx: Tx, accountId: string, change: QuietHoursChange): Promise<void> {
  const { quietHours } = await findSettings(tx, accountId)
  const errors = checkQuietHours(change, mergeQuietHours(quietHours, change))
  if (errors.length > 0) throw invalid(errors)
  await tx.query(`update accounts set quiet_hours = $2, quiet_hours_changed_at = now() where id = $1`, [
    accountId,
    JSON.stringify({ ...quietHours, ...change }),
  ])
}

/** Reads the account with its default sender, its endpoints and its pace, or that of the carriers it may use; each by an index or a few rows. */
async function findSettings(db: Queryable, accountId: string): Promise<SettingsRow> {
  const { rows } = await db.query<SettingsRow>({
    name: 'find-settings',
    text: `
      select
        a.name,
        a.status,
        a.on_unknown as "onUnknown",
        a.quiet_hours as "quietHours",
        (select number from senders where account_id = $1 and is_default) as "defaultSender",
        (select settings from keyword_settings where account_id = $1 and campaign_id is null) as keywords,
        (select count(*) from webhooks where account_id = $1) as endpoints,
        (select count(*) from webhooks where account_id = $1 and (failing_since is not null or not enabled)) as failing,
        least(a.pace, (select sum(pace) from carriers where enabled))::float8 as "segmentsPerSecond"
      from accounts a
      where a.id = $1`,
    values: [accountId],
  })
  if (!rows[0]) throw new ApiError('not_found')
  return rows[0]
}
