/** Reads and changes the settings of an account, as `GET /v1/settings` shows them: stored values, defaults and use. */
import { createHash } from 'node:crypto'
import type { Static } from 'typebox'
import { actorOf, showActorId } from '../ground/audit/audit.ts'
import { canonical } from '../ground/base/canonical.ts'
import { dayAt } from '../ground/base/day.ts'
import { now as readNow } from '../ground/db/clock.ts'
import type { Queryable, Tx } from '../ground/db/db.ts'
import { ApiError, invalid, type FieldError } from '../ground/base/errors.ts'
import type { Caller } from '../ground/http/http.ts'
import { showId } from '../ground/base/ids.ts'
import {
  settingRows,
  type GuardKind,
  type QuietHoursChange,
  type Settings,
  type SettingsChange,
  type SettingsValues,
  type StoredGuards,
} from './account-settings.ts'
import { readEncryption } from './encryption-settings.ts'
import { checkQuietHours } from './quiet-hours.ts'

export interface GuardDay {
  accountId: string
  kind: 'daily_segments' | 'spend'
  /** The currency; empty for segments. */
  key: string
  startsAt: Date
}

/** Values that other rooms decide. */
export interface SettingsSources {
  version: string
  /** Default requests per second of a credential; 100 if undefined. */
  apiPerSecond?: number
  encryptsContent?: boolean
  /** Keywords and replies, from the account's own settings (null: none) and its name. */
  optOut: (own: unknown, name: string) => SettingsBody['opt_out']
  /** Null clears the default; false if the account has no such sender. */
  setDefaultSender: (tx: Tx, accountId: string, number: string | null) => Promise<boolean>
  /** Ends the stops of guards that changed, and posts the events. */
  endStops: (tx: Tx, accountId: string, kinds: readonly GuardKind[], by: string) => Promise<void>
  /** The day's use in segments, or millionths of the currency. */
  readUsed: (db: Queryable, day: GuardDay) => Promise<number>
  /** Makes the day be counted again. */
  forgetUsed: (tx: Tx, day: GuardDay) => Promise<void>
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

type SettingsBody = Static<typeof Settings>

interface ShownSettings {
  body: SettingsBody
  /**
   * A strong entity tag with its quotes (RFC 9110 §8.8.3): a hash of the settings, a dot, and a hash that includes counts. A change
   * compares only the settings, so that messages sent meanwhile do not conflict.
   */
  etag: string
}

export async function readSettings(
  db: Queryable,
  caller: Caller,
  sources: SettingsSources,
  known?: SettingsRow,
): Promise<ShownSettings> {
  const { version, optOut, readUsed, apiPerSecond = 100, encryptsContent = false } = sources
  const { accountId } = caller
  const row = known ?? (await findSettings(db, accountId))
  const { account, limits, spend, ...values } = valuesOf(row)
  const now = readNow()
  const used = new Map<GuardKind, number>()
  for (const day of daysOf(accountId, row, now)) used.set(day.kind, await readUsed(db, day))
  const spent = used.get('spend') ?? null
  const body: SettingsBody = {
    object: 'settings',
    account: { id: showId('acc', accountId), ...account, status: row.status },
    mode: caller.mode,
    ...values,
    // PostgreSQL reorders the members of stored JSON.
    country_limits: values.country_limits.map(({ country, per_hour, action }) => ({ country, per_hour, action })),
    opt_out: optOut(row.keywords, row.name),
    limits: {
      api_per_second: caller.apiPerSecond ?? apiPerSecond,
      segments_per_second: row.segmentsPerSecond,
      max_batch: 10_000,
      max_import_rows: 1_000_000,
      max_queue_seconds: 14_400,
      ...limits,
      segments_today: used.get('daily_segments') ?? null,
    },
    spend: {
      ...spend,
      spent_today: spent === null ? null : (spent / 1_000_000).toFixed(6),
      resets_at: used.size > 0 ? dayAt(values.timezone, now).endsAt.toISOString() : null,
    },
    encryption: await readEncryption(db, accountId, encryptsContent),
    webhooks: { endpoints: row.endpoints, failing: row.failing, disabled: row.disabled },
    features,
    api_version: 'v1',
    server_version: version,
  }
  return { body, etag: tagOf(body) }
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
 * Returns all settings before and after. Locks the account. Other processes apply the change within two seconds. `expected` is an
 * If-Match header, or undefined; `known` are the schema's faults, besides the valid `change`. @throws ApiError `version_conflict` if the
 * tag has changed; `validation_failed` with every wrong field, including `known`.
 */
export async function changeSettings(
  tx: Tx,
  caller: Caller,
  sources: SettingsSources,
  change: SettingsChange,
  expected: string | undefined,
  known: readonly FieldError[] = [],
): Promise<{ before: ShownSettings; after: ShownSettings }> {
  const { accountId } = caller
  await tx.query(`select 1 from accounts where id = $1 for update`, [accountId])
  const row = await findSettings(tx, accountId)
  const before = await readSettings(tx, caller, sources, row)
  if (expected !== undefined && !matchesTag(settledPart(expected), settledPart(before.etag)))
    throw new ApiError('version_conflict')
  const next = structuredClone(row)
  const faults = [...known]
  const ended = new Set<GuardKind>()
  const { default_sender: sender } = change
  // A fault rolls back everything that was written.
  if (sender !== undefined && !(await sources.setDefaultSender(tx, accountId, sender)))
    faults.push({ pointer: '#/default_sender', code: 'sender_not_found', detail: 'is not a sender of the account' })
  for (const { at, setting } of settingRows) {
    const value = valueAt(change, at)
    if (value === undefined) continue
    faults.push(...(setting.check?.(value as never, `#/${at.join('/')}`) ?? []))
    const isChanged = canonical(value) !== canonical(valueAt(row, setting.path) ?? setting.fallback)
    if (isChanged) for (const kind of setting.ends ?? []) ended.add(kind)
    store(
      next,
      setting.path,
      setting.path[0] === 'settings' && canonical(value) === canonical(setting.fallback) ? undefined : value,
    )
  }
  faults.push(...checkTogether(change, valuesOf(next)))
  if (faults.length > 0) throw invalid(faults)
  const { guards } = next.settings
  if (guards?.spend?.daily_limit === undefined) delete guards?.spend
  if (guards && Object.keys(guards).length === 0) delete next.settings.guards
  await save(tx, accountId, next, change.quiet_hours !== undefined)
  if (ended.size > 0) await sources.endStops(tx, accountId, [...ended], showActorId(actorOf(caller)) ?? '')
  const now = readNow()
  const nameOf = (day: GuardDay) => `${day.kind} ${day.key} ${day.startsAt.getTime()}`
  const counting = new Set(daysOf(accountId, row, now).map(nameOf))
  // A count that stopped with an earlier limit lacks what was used since.
  for (const day of daysOf(accountId, next, now)) if (!counting.has(nameOf(day))) await sources.forgetUsed(tx, day)
  return { before, after: await readSettings(tx, caller, sources) }
}

/** Faults of fields that depend on each other. */
function checkTogether(change: SettingsChange, { spend, quiet_hours: quiet, retention }: SettingsValues): FieldError[] {
  const faults: FieldError[] = []
  const missing = (field: keyof typeof spend, detail: string): void =>
    void faults.push({ pointer: `#/spend/${field}`, code: 'required', detail })
  if (change.quiet_hours) faults.push(...checkQuietHours(change.quiet_hours, quiet))
  for (const name of ['message_body_days', 'reply_body_days'] as const)
    if (change.retention && retention[name] > retention.message_days)
      faults.push({
        pointer: `#/retention/${change.retention[name] === undefined ? 'message_days' : name}`,
        code: 'out_of_range',
        detail: `keeps texts longer than their messages: ${name} must be at most message_days`,
      })
  if (change.spend && spend.daily_limit !== null && spend.currency === null)
    missing('currency', 'is required: a limit needs a currency')
  if (change.spend && change.spend.daily_limit === undefined && spend.daily_limit === null)
    missing('daily_limit', 'is required')
  return faults
}

/** What is stored, by the names of the columns. */
interface SettingsRow extends Retention {
  name: string
  status: string
  default_sender: string | null
  on_unknown: SettingsBody['on_unknown']
  settings: { default_country?: string; timezone?: string; guards?: StoredGuards }
  quiet_hours: QuietHoursChange | null
  keywords: unknown
  endpoints: number
  failing: number
  disabled: number
  segmentsPerSecond: number | null
}
type Retention = SettingsValues['retention']

const valueAt = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((found, name) => (found as Record<string, unknown> | null | undefined)?.[name], value)

/** Undefined deletes the value. */
function store(into: object, path: readonly string[], value: unknown): void {
  const last = path.at(-1) ?? ''
  const members = path
    .slice(0, -1)
    .reduce((at, name) => (at[name] ??= {}) as Record<string, unknown>, into as Record<string, unknown>)
  if (value === undefined) delete members[last]
  else members[last] = value
}

function valuesOf(row: SettingsRow): SettingsValues {
  const values = {}
  for (const { at, setting } of settingRows) store(values, at, valueAt(row, setting.path) ?? setting.fallback)
  return values as SettingsValues
}

function daysOf(accountId: string, { settings: { timezone = 'UTC', guards } }: SettingsRow, at: Date): GuardDay[] {
  const { startsAt } = dayAt(timezone, at)
  const days: GuardDay[] = []
  if (guards?.daily_segments !== undefined) days.push({ accountId, kind: 'daily_segments', key: '', startsAt })
  if (guards?.spend) days.push({ accountId, kind: 'spend', key: guards.spend.currency, startsAt })
  return days
}

const columns = settingRows
  .flatMap(({ setting: { path } }) => (path.length === 1 ? path : []))
  .filter((name) => name !== 'default_sender')

/** Reads the account with its default sender, its endpoints and its pace, or that of its carriers; each by an index or a few rows. */
async function findSettings(db: Queryable, accountId: string): Promise<SettingsRow> {
  const { rows } = await db.query<SettingsRow>({
    name: 'find-settings',
    text: `
      select
        ${columns.map((name) => `a.${name}`).join(', ')},
        a.status,
        a.settings,
        a.quiet_hours,
        (select number from senders where account_id = $1 and is_default) as default_sender,
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

/** By the primary key, whose row is locked. */
async function save(tx: Tx, accountId: string, row: SettingsRow, isQuietChanged: boolean): Promise<void> {
  await tx.query({
    name: 'save-settings',
    text: `
      update accounts
      set settings = $2, quiet_hours = $3,
        quiet_hours_changed_at = case when $4 then now() else quiet_hours_changed_at end,
        ${columns.map((name, i) => `${name} = $${i + 5}`).join(', ')},
        updated_at = now()
      where id = $1`,
    values: [
      accountId,
      JSON.stringify(row.settings),
      row.quiet_hours && JSON.stringify(row.quiet_hours),
      isQuietChanged,
      ...columns.map((name) => valueAt(row, [name])),
    ],
  })
}
