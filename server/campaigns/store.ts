/** The SQL of campaigns. Every query begins with the account. */
import type { QuietHoursChange } from '../accounts/account-settings.ts'
import type { Queryable, Tx } from '../ground/db/db.ts'
import type { MessageType, UnknownPolicy } from '../message/message.ts'
import type { Found, Position } from '../ground/http/page.ts'
import { findRows, hasWords, isCreatedIn, type Search } from '../ground/http/search.ts'
import type { CampaignChange, CampaignInput } from './campaign-schema.ts'
import type { CampaignText } from './text.ts'

export interface CampaignRow extends CampaignText {
  id: string
  key: string | null
  name: string
  description: string | null
  status: string
  type: MessageType | null
  sender: string | null
  poolId: string | null
  defaultCountry: string | null
  timezone: string | null
  validityPeriod: number | null
  pace: number | null
  onUnknown: UnknownPolicy | null
  shortensUrls: boolean
  callbackUrl: string | null
  quietHours: QuietHoursChange | null
  metadata: Record<string, string>
  tags: string[]
  contactsCount: number
  createdAt: Date
  updatedAt: Date
}

const columns = `id, key, name, description, status, type, sender, pool_id as "poolId", message, template_id as "templateId", variables,
  default_country as "defaultCountry", timezone,
  validity_period as "validityPeriod", pace::float8 as pace, on_unknown as "onUnknown", coalesce(shorten_urls, false) as "shortensUrls", callback_url as "callbackUrl", quiet_hours as "quietHours", metadata, tags, contacts_count as "contactsCount",
  created_at as "createdAt", updated_at as "updatedAt"`

/** Null if its key is taken. `sender` must match `senders.number`. */
export async function insertCampaign(
  tx: Tx,
  accountId: string,
  id: string,
  input: Omit<CampaignInput, 'message' | 'variables'> & CampaignText & Pick<CampaignRow, 'sender' | 'poolId'>,
): Promise<CampaignRow | null> {
  const { rows } = await tx.query<CampaignRow>({
    name: 'insert-campaign',
    text: `
      insert into campaigns (account_id, id, key, name, description, type, sender, default_country, timezone, validity_period,
        callback_url, metadata, tags, pace, on_unknown, shorten_urls,
        quiet_hours, quiet_hours_changed_at, pool_id, message, template_id, variables)
      values ($1, $2, $3, $4, $5, $6, $7,
        coalesce($8, (select settings ->> 'default_country' from accounts where id = $1)), $9, $10, $11, $12, $13, $14, $15, $16,
        $17, case when $17::jsonb is not null then now() end, $18, $19, $20, $21)
      on conflict (account_id, key) do nothing
      returning ${columns}`,
    values: [
      accountId,
      id,
      input.key ?? null,
      input.name,
      input.description ?? null,
      input.type ?? null,
      input.sender,
      input.default_country ?? null,
      input.timezone ?? null,
      input.validity_period ?? null,
      input.callback_url ?? null,
      JSON.stringify(input.metadata ?? {}),
      input.tags ?? [],
      input.pace ?? null,
      input.on_unknown ?? null,
      input.shorten_urls ?? null,
      input.quiet_hours ? JSON.stringify(input.quiet_hours) : null,
      input.poolId,
      input.message,
      input.templateId,
      JSON.stringify(input.variables),
    ],
  })
  return rows[0] ?? null
}

export type CampaignFields = Omit<CampaignChange, 'from' | 'sender_pool' | 'template'> & {
  sender?: string | null
  pool_id?: string | null
  template_id?: string | null
}

const fieldColumns = [
  'name',
  'description',
  'type',
  'sender',
  'pool_id',
  'message',
  'template_id',
  'variables',
  'default_country',
  'timezone',
  'validity_period',
  'on_unknown',
  'shorten_urls',
  'callback_url',
  'pace',
  'quiet_hours',
  'metadata',
  'tags',
] as const satisfies (keyof CampaignFields)[]

/** Writes the given fields; locks the row, by primary key. Other processes read a new pace and quiet hours within seconds (`links/limits.ts`). */
export async function updateCampaign(
  tx: Tx,
  accountId: string,
  before: CampaignRow,
  fields: CampaignFields,
): Promise<CampaignRow> {
  const given = fieldColumns.filter((name) => fields[name] !== undefined)
  if (given.length === 0) return before
  const sets = given.map((name, i) => `${name} = $${i + 3}`)
  if (fields.quiet_hours !== undefined) sets.push('quiet_hours_changed_at = now()')
  const { rows } = await tx.query<CampaignRow>(
    `update campaigns
     set ${sets.join(', ')}, updated_at = now()
     where account_id = $1
       and id = $2
     returning ${columns}`,
    [accountId, before.id, ...given.map((name) => fields[name])],
  )
  return rows[0] ?? before
}

/** By its primary key or the unique (account_id, key); locks nothing. */
export async function findCampaign(
  db: Queryable,
  accountId: string,
  by: { id: string } | { key: string },
): Promise<CampaignRow | null> {
  const [column, value] = 'id' in by ? ['id', by.id] : ['key', by.key]
  const { rows } = await db.query<CampaignRow>({
    name: `find-campaign-by-${column}`,
    text: `
      select ${columns}
      from campaigns
      where account_id = $1
        and ${column} = $2`,
    values: [accountId, value],
  })
  return rows[0] ?? null
}

/** Locks a campaign by primary key, so that fields outside the change stay current. */
export async function lockCampaign(tx: Tx, accountId: string, id: string): Promise<CampaignRow | null> {
  const { rows } = await tx.query<CampaignRow>({
    name: 'lock-campaign-to-change',
    text: `
      select ${columns}
      from campaigns
      where account_id = $1
        and id = $2
      for no key update`,
    values: [accountId, id],
  })
  return rows[0] ?? null
}

/** At any carrier; reads a few rows under (account_id, id). */
export async function hasSender(db: Queryable, accountId: string, number: string): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'has-sender',
    text: `
      select 1
      from senders
      where account_id = $1
        and number = $2
      limit 1`,
    values: [accountId, number],
  })
  return rowCount === 1
}

/** By primary key; locks the pool against deletion until the transaction ends. */
export async function hasPool(db: Queryable, accountId: string, id: string): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'has-sender-pool',
    text: `select 1 from sender_pools where account_id = $1 and id = $2 for key share`,
    values: [accountId, id],
  })
  return rowCount === 1
}

/** Null means all. */
export interface CampaignFilters {
  /** Words of its name or key. */
  name: string | null
  statuses: string[] | null
  type: string | null
  /** All of them must match. */
  tags: string[] | null
  createdAfter: Date | null
  createdBefore: Date | null
}

/** In the order that `buildPage` expects; one more than `limit`. By the primary key, reading a bounded number of rows. */
export function listCampaigns(
  db: Queryable,
  accountId: string,
  { name, statuses, type, tags, createdAfter, createdBefore }: CampaignFilters,
  limit: number,
  position: Position | null,
): Promise<Found<CampaignRow>> {
  const search: Search = {
    table: 'campaigns',
    columns,
    accountId,
    found: (value) => isCreatedIn(createdAfter, createdBefore, value),
    matches: (value) => [
      ...(name === null ? [] : hasWords(`t.name || ' ' || coalesce(t.key, '')`, name, value)),
      ...(statuses ? [`t.status = any (${value(statuses)}::text[])`] : []),
      ...(type === null ? [] : [`t.type = ${value(type)}`]),
      ...(tags ? [`t.tags @> ${value(tags)}::text[]`] : []),
    ],
  }
  return findRows(db, search, limit, position)
}
