/** A campaign: a group of contacts, and the defaults of messages sent under its name. */
import type { Static } from 'typebox'
import { checkOwnQuietHours } from '../accounts/quiet-hours.ts'
import type { Queryable, Tx } from '../ground/db/db.ts'
import { ApiError, found, type FieldError } from '../ground/base/errors.ts'
import { newId, parseId, showId } from '../ground/base/ids.ts'
import { isCountry } from '../ground/numbers/number.ts'
import { isTimezone } from '../ground/base/timezone.ts'
import type { Campaign, CampaignChange, CampaignInput } from './campaign-schema.ts'
import { countryError } from '../ground/numbers/country-fault.ts'
import { timezoneError } from './place-faults.ts'
import {
  findCampaign,
  hasPool,
  hasSender,
  insertCampaign,
  updateCampaign,
  type CampaignFields,
  type CampaignRow,
} from './store.ts'
import type { Faults } from '../ground/http/faults.ts'
import type { Stats } from './stats-schema.ts'
import { changeText, noText, type CampaignText } from './text.ts'

/** Returns why a callback address may not be called, or null. */
type RefuseUrl = (url: string) => string | null

/** @throws ApiError `validation_failed` with every wrong field; `key_taken`. */
export async function createCampaign(
  tx: Tx,
  accountId: string,
  input: CampaignInput,
  faults: Faults,
  refuseUrl: RefuseUrl,
): Promise<CampaignRow> {
  const sound = faults.sound(input)
  faults.found.push(...checkFields(sound, refuseUrl))
  const origin = await readOrigin(tx, accountId, sound, faults.found)
  const text = await changeText(tx, accountId, noText, sound, faults.found)
  faults.end()
  const row = await insertCampaign(tx, accountId, newId(), { ...input, ...origin, ...text })
  if (row) return row
  const existing = await findCampaign(tx, accountId, { key: input.key ?? '' })
  throw new ApiError('key_taken', {
    detail: `The key ${JSON.stringify(input.key)} belongs to another campaign.`,
    members: { existing_id: existing && showId('cmp', existing.id) },
  })
}

/** @throws ApiError `validation_failed` with every wrong field. */
export async function changeCampaign(
  tx: Tx,
  accountId: string,
  before: CampaignRow,
  change: CampaignChange,
  faults: Faults,
  refuseUrl: RefuseUrl,
): Promise<CampaignRow> {
  const { from, sender_pool: pool, message, template, variables, ...plain } = change
  const sound = faults.sound(change)
  faults.found.push(...checkFields(sound, refuseUrl))
  const origin = await readOrigin(tx, accountId, sound, faults.found)
  const text = await changeText(tx, accountId, before, sound, faults.found)
  faults.end()
  return updateCampaign(tx, accountId, before, {
    ...plain,
    // A sender and a pool replace each other.
    ...((from !== undefined || origin.poolId !== null) && { sender: origin.sender }),
    ...((pool !== undefined || origin.sender !== null) && { pool_id: origin.poolId }),
    ...((message !== undefined || template !== undefined || variables !== undefined) && columnsOfText(text)),
  })
}

const columnsOfText = ({ message, templateId, variables }: CampaignText): CampaignFields => ({
  message,
  template_id: templateId,
  variables,
})

/** Reads the sender or pool from a body of any shape. Locks the pool, so that it is not deleted. */
async function readOrigin(
  tx: Tx,
  accountId: string,
  { from, sender_pool: pool }: { from?: unknown; sender_pool?: unknown },
  faults: FieldError[],
): Promise<{ sender: string | null; poolId: string | null }> {
  const sender = typeof from === 'string' ? from.replace(/^\+(?=\d)/, '') : null
  if (sender !== null && !(await hasSender(tx, accountId, sender)))
    faults.push({ pointer: '#/from', code: 'sender_not_found', detail: 'must be a sender of this account' })
  const pointer = '#/sender_pool'
  const poolId = typeof pool === 'string' ? parseId('pol', pool) : null
  if (typeof pool !== 'string') return { sender, poolId }
  if (sender !== null) faults.push({ pointer, code: 'invalid_value', detail: 'cannot be combined with from' })
  else if (poolId === null || !(await hasPool(tx, accountId, poolId)))
    faults.push({ pointer, code: 'pool_not_found', detail: 'is not a sender pool of this account' })
  return { sender, poolId }
}

/** Checks beyond the schema. The input may have any shape; fields that the schema refuses are skipped. */
function checkFields(input: Partial<Record<keyof CampaignInput, unknown>>, refuseUrl: RefuseUrl): FieldError[] {
  const errors: FieldError[] = []
  const { default_country: country, timezone, callback_url: url, quiet_hours: quietHours } = input
  if (typeof country === 'string' && !isCountry(country)) errors.push(countryError('#/default_country', country))
  if (typeof timezone === 'string' && !isTimezone(timezone)) errors.push(timezoneError('#/timezone'))
  const reason = typeof url === 'string' ? refuseUrl(url) : null
  if (reason) errors.push({ pointer: '#/callback_url', code: 'invalid_url', detail: reason })
  if (typeof quietHours === 'object' && quietHours !== null) errors.push(...checkOwnQuietHours(quietHours))
  return errors
}

/** `{campaign}` is an id or a key. @throws ApiError `not_found`. */
export async function readCampaign(db: Queryable, accountId: string, idOrKey: string): Promise<CampaignRow> {
  const id = parseId('cmp', idOrKey)
  const row =
    idOrKey.startsWith('cmp_') && id === null ? null : await findCampaign(db, accountId, id ? { id } : { key: idOrKey })
  return found(row, 'The account has no such campaign.')
}

/** For requests that add to it. @throws ApiError `not_found`, `campaign_closed`. */
export async function readOpenCampaign(db: Queryable, accountId: string, idOrKey: string): Promise<CampaignRow> {
  const row = await readCampaign(db, accountId, idOrKey)
  refuseClosed(row)
  return row
}

export function refuseClosed({ status }: CampaignRow): void {
  if (status === 'archived' || status === 'canceled')
    throw new ApiError('campaign_closed', { detail: `The campaign is ${status}.` })
}

export function showCampaign(row: CampaignRow, stats: Stats | null): Static<typeof Campaign> {
  return {
    id: showId('cmp', row.id),
    object: 'campaign',
    name: row.name,
    key: row.key,
    description: row.description,
    status: row.status,
    type: row.type,
    from: row.sender,
    sender_pool: row.poolId && showId('pol', row.poolId),
    message: row.message,
    template: row.templateId && showId('tpl', row.templateId),
    variables: row.variables,
    default_country: row.defaultCountry,
    timezone: row.timezone,
    validity_period: row.validityPeriod,
    pace: row.pace,
    on_unknown: row.onUnknown,
    shorten_urls: row.shortensUrls,
    callback_url: row.callbackUrl,
    quiet_hours: row.quietHours,
    metadata: row.metadata,
    tags: row.tags,
    contacts_count: row.contactsCount,
    stats,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  }
}
