/** A campaign: the caller's group of contacts, and the defaults of what is sent under its name. */
import { Type, type Static } from 'typebox'
import { checkOwnQuietHours, QuietHoursChange } from '../accounts/quiet-hours.ts'
import type { Queryable, Tx } from '../db/db.ts'
import { ApiError, invalid, type FieldError } from '../errors.ts'
import { IdOf, Nullable, paceNumber, Timestamp } from '../http.ts'
import { newId, parseId, showId } from '../ids.ts'
import { messageTypes, unknownPolicies } from '../messages/message.ts'
import { isCountry } from '../messages/number.ts'
import { isTimezone } from '../timezone.ts'
import {
  findCampaign,
  hasSender,
  insertCampaign,
  setFields,
  setPace,
  setQuietHours,
  type CampaignRow,
} from './store.ts'
import { Stats, type CampaignStats } from './stats.ts'

const text = (description: string, minLength: number, maxLength: number) =>
  Type.String({ description, minLength, maxLength })

/** Values that the caller keeps with a resource and gets back unchanged. */
export const Metadata = Type.Record(Type.String(), Type.String({ maxLength: 500 }), {
  description: 'Up to 50 keys of at most 40 characters, values of at most 500.',
  maxProperties: 50,
  propertyNames: { maxLength: 40, minLength: 1 },
})

/** Labels for filtering. */
export const Tags = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
  description: 'Up to 50 labels.',
  maxItems: 50,
  uniqueItems: true,
})

const fields = {
  key: Type.String({
    description: 'A name of your own for the campaign, usable wherever its id is; unique in the account.',
    // A key that looked like an id would make `{campaign}` ambiguous.
    pattern: '^(?!cmp_)[a-z0-9][a-z0-9_-]{0,62}$',
    examples: ['autumn-sale'],
  }),
  description: text('For people.', 0, 1000),
  type: Type.Enum([...messageTypes], { description: 'Default type of its messages.' }),
  from: Type.String({
    description: 'Default sender of its messages: one of the senders of the account.',
    maxLength: 32,
  }),
  default_country: Type.String({
    description: 'ISO 3166-1 alpha-2: where imported numbers without a country code are from.',
    examples: ['GB'],
  }),
  timezone: Type.String({ description: 'IANA time zone.', examples: ['Europe/London'] }),
  validity_period: Type.Integer({
    description: 'Default seconds for which its messages may wait to be sent.',
    minimum: 1,
    maximum: 259_200,
  }),
  pace: Nullable(
    paceNumber('Segments a second of all its messages, over all carriers and processes; null: as the links allow.'),
  ),
  on_unknown: Type.Enum([...unknownPolicies], {
    description: 'What becomes of its messages when the carrier does not answer: held, or sent again, perhaps twice.',
  }),
  shorten_urls: Type.Boolean({ description: 'Whether its messages have short links, and clicks are counted.' }),
  callback_url: Type.String({ description: 'Where events of its messages are posted.', maxLength: 2048 }),
  quiet_hours: Nullable(QuietHoursChange),
  metadata: Metadata,
  tags: Tags,
}

/** Body of `POST /v1/campaigns`. */
export const CampaignInput = Type.Object(
  { name: text('For people.', 1, 120), ...Type.Partial(Type.Object(fields)).properties },
  { additionalProperties: false },
)
export type CampaignInput = Static<typeof CampaignInput>

/** Body of `PATCH /v1/campaigns/{campaign}`; null takes away what was said. */
export const CampaignChange = Type.Object(
  Type.Partial(
    Type.Object({
      name: text('For people.', 1, 120),
      description: Nullable(fields.description),
      type: Nullable(fields.type),
      from: Nullable(fields.from),
      timezone: Nullable(fields.timezone),
      validity_period: Nullable(fields.validity_period),
      callback_url: Nullable(fields.callback_url),
      metadata: fields.metadata,
      tags: fields.tags,
      pace: fields.pace,
      quiet_hours: fields.quiet_hours,
    }),
  ).properties,
  { additionalProperties: false, minProperties: 1 },
)

const Count = Type.Integer({ minimum: 0 })

/** A campaign in answers. */
export const Campaign = Type.Object(
  {
    id: IdOf('cmp', 'Id of the campaign.'),
    object: Type.Literal('campaign'),
    name: Type.String(),
    key: Nullable(fields.key),
    description: Nullable(Type.String()),
    status: Type.String({ description: '`active` for a campaign that labels messages. More states may come.' }),
    type: Nullable(fields.type),
    from: Nullable(Type.String()),
    default_country: Nullable(Type.String()),
    timezone: Nullable(Type.String()),
    validity_period: Nullable(Type.Integer()),
    pace: fields.pace,
    on_unknown: Nullable(fields.on_unknown),
    shorten_urls: Type.Boolean(),
    callback_url: Nullable(Type.String()),
    quiet_hours: Type.Union([QuietHoursChange, Type.Null()], {
      description: 'What it says of quiet hours itself; the rest, and null: as the account has it.',
    }),
    metadata: Type.Record(Type.String(), Type.String()),
    tags: Type.Array(Type.String()),
    contacts_count: Count,
    stats: Type.Union([Stats, Type.Null()], {
      description: 'Counted when one campaign is read; null in lists.',
    }),
    created_at: Timestamp('When it was made.'),
    updated_at: Timestamp('When it was last changed.'),
  },
  { $id: 'Campaign' },
)

/**
 * Creates a campaign; returns its row.
 * @throws ApiError `validation_failed` with every wrong field, those of `known` included; `key_taken`.
 */
export async function createCampaign(
  tx: Tx,
  accountId: string,
  input: CampaignInput,
  known: FieldError[],
): Promise<CampaignRow> {
  const errors = mergeErrors(known, checkFields(input))
  const sender = typeof input.from === 'string' ? input.from.replace(/^\+(?=\d)/, '') : null
  if (
    sender !== null &&
    !errors.some((error) => error.pointer === '#/from') &&
    !(await hasSender(tx, accountId, sender))
  )
    errors.push(noSender)
  if (errors.length > 0) throw invalid(errors)
  const row = await insertCampaign(tx, accountId, newId(), { ...input, from: sender })
  if (row) return row
  const existing = await findCampaign(tx, accountId, { key: input.key ?? '' })
  throw new ApiError('key_taken', {
    detail: `The key ${JSON.stringify(input.key)} belongs to another campaign.`,
    members: { existing_id: existing && showId('cmp', existing.id) },
  })
}

/**
 * Changes a campaign; returns its row.
 * @throws ApiError `validation_failed`.
 */
export async function changeCampaign(
  tx: Tx,
  accountId: string,
  before: CampaignRow,
  change: Static<typeof CampaignChange>,
): Promise<CampaignRow> {
  const { pace, quiet_hours: quietHours, ...rest } = change
  const errors = checkFields(change)
  const sender = typeof rest.from === 'string' ? rest.from.replace(/^\+(?=\d)/, '') : rest.from
  if (sender && !(await hasSender(tx, accountId, sender))) errors.push(noSender)
  if (errors.length > 0) throw invalid(errors)
  const { from: _from, ...plain } = rest
  let row = await setFields(tx, accountId, before, sender === undefined ? plain : { ...plain, sender })
  if (pace !== undefined) row = await setPace(tx, accountId, before.id, pace)
  return quietHours === undefined ? row : setQuietHours(tx, accountId, before.id, quietHours)
}

const noSender: FieldError = {
  pointer: '#/from',
  code: 'sender_not_found',
  detail: 'must be a sender of this account',
}

/** What the schema cannot say. The input may be of any shape: what the schema refuses is passed over. */
function checkFields(input: Partial<Record<keyof CampaignInput, unknown>>): FieldError[] {
  const errors: FieldError[] = []
  const { default_country: country, timezone, callback_url: url, quiet_hours: quietHours } = input
  if (typeof country === 'string' && !isCountry(country)) errors.push(countryError('#/default_country', country))
  if (typeof timezone === 'string' && !isTimezone(timezone)) errors.push(timezoneError('#/timezone'))
  if (typeof url === 'string' && !isWebAddress(url))
    errors.push({
      pointer: '#/callback_url',
      code: 'invalid_url',
      detail: 'must be an http or https URL without credentials',
    })
  if (typeof quietHours === 'object' && quietHours !== null) errors.push(...checkOwnQuietHours(quietHours))
  return errors
}

/** A country that no numbering plan knows. */
export function countryError(pointer: string, country: string): FieldError {
  const suggestion = country === 'UK' ? 'GB' : country.toUpperCase()
  return {
    pointer,
    code: 'invalid_value',
    detail: 'must be a country code of ISO 3166-1 alpha-2, such as GB',
    ...(isCountry(suggestion) && { suggestion }),
  }
}

/** A time zone that does not exist. */
export const timezoneError = (pointer: string): FieldError => ({
  pointer,
  code: 'invalid_value',
  detail: 'must be a time zone of the IANA database, such as Europe/London',
})

function isWebAddress(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, username, password } = new URL(url)
  return (protocol === 'https:' || protocol === 'http:') && username === '' && password === ''
}

/** All errors once: where the schema already refused a field, what else is wrong with it adds nothing. */
export function mergeErrors(known: FieldError[], more: FieldError[]): FieldError[] {
  const pointers = new Set(known.map((error) => error.pointer))
  return [...known, ...more.filter((error) => !pointers.has(error.pointer))]
}

/** The campaign behind `{campaign}`, which is an id or a key. @throws ApiError `not_found`. */
export async function readCampaign(db: Queryable, accountId: string, idOrKey: string): Promise<CampaignRow> {
  const id = parseId('cmp', idOrKey)
  const row =
    idOrKey.startsWith('cmp_') && id === null ? null : await findCampaign(db, accountId, id ? { id } : { key: idOrKey })
  if (!row) throw new ApiError('not_found', { detail: 'The account has no such campaign.' })
  return row
}

/** As `readCampaign`, for what adds to it. @throws ApiError `not_found`, `campaign_closed`. */
export async function readOpenCampaign(db: Queryable, accountId: string, idOrKey: string): Promise<CampaignRow> {
  const row = await readCampaign(db, accountId, idOrKey)
  if (row.status === 'archived' || row.status === 'canceled')
    throw new ApiError('campaign_closed', { detail: `The campaign is ${row.status}.` })
  return row
}

/** The public form of a campaign. */
export function showCampaign(row: CampaignRow, stats: CampaignStats | null): Static<typeof Campaign> {
  return {
    id: showId('cmp', row.id),
    object: 'campaign',
    name: row.name,
    key: row.key,
    description: row.description,
    status: row.status,
    type: row.type,
    from: row.sender,
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
