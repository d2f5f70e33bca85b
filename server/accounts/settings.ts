/** The settings of an account, as `GET /v1/settings` shows them: stored values and the defaults of this installation. */
import { createHash } from 'node:crypto'
import type { Static } from 'typebox'
import { actorOf, showActorId } from '../ground/audit/audit.ts'
import type { Queryable, Tx } from '../ground/db/db.ts'
import { ApiError, invalid, type FieldError } from '../ground/base/errors.ts'
import type { Caller } from '../ground/http/http.ts'
import { showId } from '../ground/base/ids.ts'
import { isCountry } from '../ground/numbers/number.ts'
import { readEncryption } from './encryption-settings.ts'
import { changeGuards, readGuardSettings, type GuardSources } from './guard-store.ts'
import { checkQuietHours, mergeQuietHours, type QuietHoursChange } from './quiet-hours.ts'
import { changeRetention, retentionColumn, type Retention } from './retention-settings.ts'
import type { OptOut, Settings, SettingsChange } from './settings-schema.ts'

/** Values that other rooms decide. */
export interface SettingsSources extends GuardSources {
  version: string
  /** Default requests per second of a credential; 100 if undefined. */
  apiPerSecond?: number
  encryptsContent?: boolean
  /** Keywords and replies, from the account's own settings (null: none) and its name. */
  optOut: (own: unknown, name: string) => Static<typeof OptOut>
  /** Null clears the default; false if the account has no such sender. */
  setDefaultSender: (tx: Tx, accountId: string, number: string | null) => Promise<boolean>
}

/** Features of this build. Missing ones are refused as unknown fields or paths. */
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
  rate_limits: true,
  guards: true,
  spend_limits: true,
}

interface SettingsRow {
  name: string
  status: string
  onUnknown: SettingsBody['on_unknown']
  defaultSender: string | null
  defaultCountry: string | null
  keywords: unknown
  quietHours: QuietHoursChange | null
  retention: Retention
  endpoints: number
  failing: number
  disabled: number
  segmentsPerSecond: number | null
}

export async function readSettings(db: Queryable, caller: Caller, sources: SettingsSources): Promise<ShownSettings> {
  const { version, optOut, apiPerSecond = 100, encryptsContent = false } = sources
  const row = await findSettings(db, caller.accountId)
  const guards = await readGuardSettings(db, caller.accountId, sources)
  const body: SettingsBody = {
    object: 'settings',
    account: { id: showId('acc', caller.accountId), name: row.name, status: row.status },
    mode: caller.mode,
    default_sender: row.defaultSender,
    on_unknown: row.onUnknown,
    default_country: row.defaultCountry,
    ...guards,
    quiet_hours: mergeQuietHours(row.quietHours),
    opt_out: optOut(row.keywords, row.name),
    limits: {
      api_per_second: caller.apiPerSecond ?? apiPerSecond,
      segments_per_second: row.segmentsPerSecond,
      max_batch: 10_000,
      max_import_rows: 1_000_000,
      max_queue_seconds: 14_400,
      ...guards.limits,
    },
    retention: row.retention,
    encryption: await readEncryption(db, caller.accountId, encryptsContent),
    webhooks: { endpoints: row.endpoints, failing: row.failing, disabled: row.disabled },
    features,
    api_version: 'v1',
    server_version: version,
  }
  return { body, etag: tagOf(body) }
}

type SettingsBody = Static<typeof Settings>

interface ShownSettings {
  body: SettingsBody
  /**
   * A strong entity tag with its quotes (RFC 9110 §8.8.3): a hash of the settings, a dot, and a hash that includes counts. A change
   * compares only the settings, so that messages sent meanwhile do not conflict.
   */
  etag: string
}

/** Tests a header If-Match or If-None-Match (RFC 9110 §13.1). Proxies that compress answers weaken tags (`W/`); the mark is ignored. */
export function matchesTag(header: string | undefined, etag: string): boolean {
  const tags = header?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? []
  return tags.includes('*') || tags.includes(etag)
}

/** Read-only members of the answer. */
const counted = new Set([
  'encryption',
  'webhooks',
  'segments_per_second',
  'segments_today',
  'spent_today',
  'resets_at',
  'server_version',
])

function tagOf(body: SettingsBody): string {
  const hash = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 22)
  const set = JSON.stringify(body, (name, value: unknown) => (counted.has(name) ? undefined : value))
  return `"${hash(set)}.${hash(JSON.stringify(body))}"`
}

/** Strips the part of the counts. */
const settledPart = (tags: string): string => tags.replace(/\.[\w-]{22}"/g, '"')

/**
 * Returns all settings before and after. Locks the account. `expected` is an If-Match header, or undefined; `known` are the schema's
 * faults, besides the valid `change`. @throws ApiError `version_conflict` if the tag has changed; `validation_failed` with every wrong
 * field, including `known`.
 */
export async function changeSettings(
  tx: Tx,
  caller: Caller,
  sources: SettingsSources,
  change: Static<typeof SettingsChange>,
  expected: string | undefined,
  known: readonly FieldError[] = [],
): Promise<{ before: ShownSettings; after: ShownSettings }> {
  await tx.query(`select 1 from accounts where id = $1 for update`, [caller.accountId])
  const before = await readSettings(tx, caller, sources)
  if (expected !== undefined && !matchesTag(settledPart(expected), settledPart(before.etag)))
    throw new ApiError('version_conflict')
  await tx.query(
    `update accounts
     set name = coalesce($2, name), on_unknown = case when $4 then $3 else on_unknown end, updated_at = now()
     where id = $1`,
    [caller.accountId, change.account?.name ?? null, change.on_unknown ?? null, change.on_unknown !== undefined],
  )
  // A fault rolls back everything that was written.
  const faults = [...known]
  const gather = (changing: Promise<void>): Promise<void> =>
    changing.catch((error: unknown) => {
      if (!(error instanceof ApiError) || error.code !== 'validation_failed') throw error
      faults.push(...(error.options.errors ?? []))
    })
  if (change.quiet_hours) await gather(changeQuietHours(tx, caller.accountId, change.quiet_hours))
  if (change.retention) await gather(changeRetention(tx, caller.accountId, change.retention))
  await gather(changeDefaults(tx, caller.accountId, sources, change))
  await gather(changeGuards(tx, caller.accountId, showActorId(actorOf(caller)) ?? '', sources, change))
  if (faults.length > 0) throw invalid(faults)
  return { before, after: await readSettings(tx, caller, sources) }
}

/** By the primary key, whose row is locked. */
async function changeDefaults(
  tx: Tx,
  accountId: string,
  { setDefaultSender }: SettingsSources,
  { default_sender: sender, default_country: country }: Static<typeof SettingsChange>,
): Promise<void> {
  const errors: FieldError[] = []
  if (sender !== undefined && !(await setDefaultSender(tx, accountId, sender)))
    errors.push({ pointer: '#/default_sender', code: 'sender_not_found', detail: 'is not a sender of the account' })
  if (typeof country === 'string' && !isCountry(country))
    errors.push({
      pointer: '#/default_country',
      code: 'invalid_value',
      detail: 'is not a country with phone numbers',
    })
  if (errors.length > 0) throw invalid(errors)
  if (country !== undefined)
    await tx.query(
      `update accounts
       set settings =
         case when $2::text is null then settings - 'default_country'
           else settings || jsonb_build_object('default_country', $2::text) end
       where id = $1`,
      [accountId, country],
    )
}

/** Merges the change; by the primary key, whose row is locked. */
async function changeQuietHours(tx: Tx, accountId: string, change: QuietHoursChange): Promise<void> {
  const { quietHours } = await findSettings(tx, accountId)
  const errors = checkQuietHours(change, mergeQuietHours(quietHours, change))
  if (errors.length > 0) throw invalid(errors)
  await tx.query(`update accounts set quiet_hours = $2, quiet_hours_changed_at = now() where id = $1`, [
    accountId,
    JSON.stringify({ ...quietHours, ...change }),
  ])
}

/** Reads the account with its default sender, its endpoints and its pace, or that of its carriers; each by an index or a few rows. */
async function findSettings(db: Queryable, accountId: string): Promise<SettingsRow> {
  const { rows } = await db.query<SettingsRow>({
    name: 'find-settings',
    text: `
      select
        a.name,
        a.status,
        a.on_unknown as "onUnknown",
        a.settings ->> 'default_country' as "defaultCountry",
        a.quiet_hours as "quietHours",
        ${retentionColumn('a')} as retention,
        (select number from senders where account_id = $1 and is_default) as "defaultSender",
        (select settings from keyword_settings where account_id = $1 and campaign_id is null) as keywords,
        (select count(*) from webhooks where account_id = $1) as endpoints,
        (select count(*) from webhooks where account_id = $1 and (failing_since is not null or not enabled)) as failing,
        (select count(*) from webhooks where account_id = $1 and not enabled and disabled_reason <> 'request') as disabled,
        least(a.pace, (select sum(pace) from carriers where enabled and not is_test))::float8 as "segmentsPerSecond"
      from accounts a
      where a.id = $1`,
    values: [accountId],
  })
  if (!rows[0]) throw new ApiError('not_found')
  return rows[0]
}
