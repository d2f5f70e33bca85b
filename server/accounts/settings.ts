/** The settings of an account, as `GET /v1/settings` shows them: what is stored, and what this installation does without being told. */
import { createHash } from 'node:crypto'
import { Type } from 'typebox'
import type { Db } from '../db/db.ts'
import { ApiError } from '../errors.ts'
import { Nullable, type Caller } from '../http.ts'
import { showId } from '../ids.ts'

type Keyword = 'stop' | 'start' | 'help'

/** What other slices decide and settings only show. */
export interface SettingsSources {
  version: string
  optOut: {
    keywords: Record<Keyword, readonly string[]>
    /** What is answered to each; the argument is the account's name. */
    confirmations: Record<Keyword, (name: string) => string>
  }
}

const unlimited = { description: 'null: no limit.' }

/** The answer's schema. Null stands for "not limited" and "not set". */
export const Settings = Type.Object(
  {
    object: Type.Enum(['settings']),
    account: Type.Object({ id: Type.String(), name: Type.String(), status: Type.String() }),
    mode: Type.Enum(['live', 'test']),
    default_sender: Nullable(Type.String()),
    default_country: Nullable(Type.String()),
    timezone: Type.String(),
    allowed_countries: Type.Array(Type.String()),
    country_limits: Type.Array(
      Type.Object({ country: Type.String(), per_hour: Type.Integer(), action: Type.Enum(['block', 'alert']) }),
    ),
    quiet_hours: Type.Object({
      enabled: Type.Boolean(),
      start: Type.String(),
      end: Type.String(),
      applies_to: Type.Array(Type.String()),
      fallback_timezone: Type.String(),
    }),
    opt_out: Type.Object({
      stop_keywords: Type.Array(Type.String()),
      start_keywords: Type.Array(Type.String()),
      help_keywords: Type.Array(Type.String()),
      replies: Type.Record(Type.String(), Type.String()),
    }),
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
  templates: false,
  broadcasts: false,
  quiet_hours: false,
  rate_limits: false,
  spend_limits: false,
}

interface SettingsRow {
  name: string
  status: string
  defaultSender: string | null
  endpoints: number
  failing: number
  segmentsPerSecond: number | null
}

/** The settings and their entity tag. */
export async function readSettings(
  db: Db,
  caller: Caller,
  { version, optOut }: SettingsSources,
): Promise<{ body: SettingsBody; etag: string }> {
  const row = await findSettings(db, caller.accountId)
  const body: SettingsBody = {
    object: 'settings',
    account: { id: showId('acc', caller.accountId), name: row.name, status: row.status },
    mode: caller.mode,
    default_sender: row.defaultSender,
    default_country: null,
    timezone: 'UTC',
    allowed_countries: ['*'],
    country_limits: [],
    quiet_hours: { enabled: false, start: '21:00', end: '08:00', applies_to: ['marketing'], fallback_timezone: 'UTC' },
    opt_out: {
      stop_keywords: [...optOut.keywords.stop],
      start_keywords: [...optOut.keywords.start],
      help_keywords: [...optOut.keywords.help],
      replies: {
        stop: optOut.confirmations.stop(row.name),
        start: optOut.confirmations.start(row.name),
        help: optOut.confirmations.help(row.name),
      },
    },
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

/** Reads the account with its default sender, its endpoints and the pace of the carriers it may use; each by an index or a few rows. */
async function findSettings(db: Db, accountId: string): Promise<SettingsRow> {
  const { rows } = await db.query<SettingsRow>({
    name: 'find-settings',
    text: `
      select
        a.name,
        a.status,
        (select number from senders where account_id = $1 and is_default) as "defaultSender",
        (select count(*) from webhooks where account_id = $1) as endpoints,
        (select count(*) from webhooks where account_id = $1 and (failing_since is not null or not enabled)) as failing,
        (select sum(pace)::float8 from carriers where enabled) as "segmentsPerSecond"
      from accounts a
      where a.id = $1`,
    values: [accountId],
  })
  if (!rows[0]) throw new ApiError('not_found')
  return rows[0]
}
