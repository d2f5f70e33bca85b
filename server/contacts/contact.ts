/** A contact: a person's number in one campaign. Opt-outs belong to the account, not to the contact. */
import { Type, type Static } from 'typebox'
import { ApiError, found, invalid } from '../ground/base/errors.ts'
import type { Queryable, Tx } from '../ground/db/db.ts'
import { IdOf, Nullable, Timestamp, showTime } from '../ground/http/http.ts'
import { newId, parseId, showId } from '../ground/base/ids.ts'
import { consentStatuses } from '../message/consent.ts'
import { countryOf } from '../ground/numbers/number.ts'
import type { ContactSealing } from '../ground/sealing/contact-fields.ts'
import { Tags } from '../campaigns/campaign-schema.ts'
import { findContact } from './list.ts'
import { tooManyAttributes, attributeLimits, type ContactRow, type NewContact, type OnConflict } from './store.ts'
import { upsertContacts } from './upsert.ts'

/** Maximum lengths in code points. */
const textFields = {
  first_name: 100,
  last_name: 100,
  external_id: 255,
  language: 35,
  country: 2,
  timezone: 64,
} as const

export const Consent = Type.Object(
  {
    status: Type.Enum([...consentStatuses], {
      description: '`opted_out` opts the number out of the whole account; `opted_in` does not reverse an opt-out.',
    }),
    method: Type.Optional(Type.String({ maxLength: 100, examples: ['web_form'] })),
    source: Type.Optional(Type.String({ maxLength: 500, examples: ['https://example.com/signup'] })),
    text: Type.Optional(Type.String({ maxLength: 2000, description: 'The text the person agreed to.' })),
    obtained_at: Type.Optional(Timestamp('When it was given; not in the future.')),
    ip: Type.Optional(Type.Union([Type.String({ format: 'ipv4' }), Type.String({ format: 'ipv6' })])),
  },
  { additionalProperties: false, description: 'Evidence of consent.' },
)

export const AttributeValue = Type.Union([
  Type.String({ maxLength: attributeLimits.value }),
  Type.Number(),
  Type.Boolean(),
])

export const optionalFields = Type.Partial(
  Type.Object({
    first_name: Type.String({ maxLength: textFields.first_name }),
    last_name: Type.String({ maxLength: textFields.last_name }),
    external_id: Type.String({ maxLength: textFields.external_id, description: 'Your own id of the person.' }),
    language: Type.String({ maxLength: textFields.language, description: 'BCP 47.', examples: ['en-GB'] }),
    country: Type.String({ description: 'ISO 3166-1 alpha-2; default: that of the number.', examples: ['GB'] }),
    timezone: Type.String({ maxLength: textFields.timezone, description: 'IANA.', examples: ['Europe/London'] }),
    attributes: Type.Record(Type.String(), AttributeValue, {
      description: 'Up to 50 values of your own.',
      maxProperties: attributeLimits.count,
      propertyNames: { minLength: 1, maxLength: attributeLimits.name },
    }),
    tags: Tags,
    consent: Consent,
  }),
)

/** Body of `POST /v1/campaigns/{campaign}/contacts`, and a row of an import. */
export const ContactInput = Type.Object(
  {
    phone_number: Type.String({
      description: 'With country code; the plus sign is optional.',
      examples: ['15551234567'],
    }),
    ...optionalFields.properties,
  },
  { additionalProperties: false, examples: [{ phone_number: '15551230001', first_name: 'Ada' }] },
)
export type ContactInput = Static<typeof ContactInput>

export const Contact = Type.Object(
  {
    id: IdOf('ctc', 'Id of the contact.'),
    object: Type.Literal('contact'),
    campaign: IdOf('cmp', 'Its campaign.'),
    phone_number: Type.String({ description: 'Digits only, with country code.' }),
    status: Type.Enum(['active', 'opted_out'], { description: '`opted_out`: nothing is sent to the number.' }),
    first_name: Nullable(Type.String()),
    last_name: Nullable(Type.String()),
    external_id: Nullable(Type.String()),
    language: Nullable(Type.String()),
    country: Nullable(Type.String()),
    timezone: Nullable(Type.String()),
    attributes: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()])),
    tags: Type.Array(Type.String()),
    consent: Nullable(Type.Partial(Type.Object(Consent.properties))),
    line_type: Nullable(Type.String({ description: 'null: not looked up yet.' })),
    last_message_at: Nullable(Timestamp('When a message was last sent to the number or received from it.')),
    created_at: Timestamp('When it was created.'),
    updated_at: Timestamp('When it was last changed.'),
    fields_unavailable: Type.Optional(
      Type.Literal(true, {
        description:
          'Its name, external id, attributes and consent are encrypted and cannot be decrypted; ask the operator.',
      }),
    ),
  },
  { $id: 'Contact' },
)

/** `onConflict` applies to an existing contact; `isNew` is false then. @throws ApiError `contact_exists`, `validation_failed`. */
export async function addContact(
  tx: Tx,
  accountId: string,
  campaignId: string,
  contact: NewContact,
  onConflict: OnConflict | null,
  sealing: ContactSealing | null = null,
): Promise<{ row: ContactRow; isNew: boolean }> {
  const { created, refused } = await upsertContacts(
    tx,
    accountId,
    campaignId,
    [{ id: newId(), ...contact }],
    onConflict ?? 'skip',
    sealing,
  )
  if (refused.length > 0) throw invalid([tooManyAttributes])
  const row = await findContact(tx, accountId, campaignId, { phoneNumber: contact.phoneNumber })
  if (!row) throw new Error('a contact that was just written is there')
  if (created === 0 && onConflict === null)
    throw new ApiError('contact_exists', {
      detail: 'The campaign has a contact with this number.',
      members: { existing_id: showId('ctc', row.id) },
    })
  return { row, isNew: created === 1 }
}

/** @throws ApiError `not_found`. */
export async function readContactRow(
  db: Queryable,
  accountId: string,
  campaignId: string,
  publicId: string,
): Promise<ContactRow> {
  const id = parseId('ctc', publicId)
  return found(id && (await findContact(db, accountId, campaignId, { id })), 'The campaign has no such contact.')
}

export type ShownContact = Static<typeof Contact>

export function showContact(row: ContactRow): ShownContact {
  return {
    id: showId('ctc', row.id),
    object: 'contact',
    campaign: showId('cmp', row.campaignId),
    phone_number: row.phoneNumber,
    status: row.isOptedOut ? 'opted_out' : 'active',
    first_name: row.firstName,
    last_name: row.lastName,
    external_id: row.externalId,
    language: row.language,
    country: row.country ?? countryOf(row.phoneNumber),
    timezone: row.timezone,
    attributes: row.attributes,
    tags: row.tags,
    consent: row.consent,
    line_type: null,
    last_message_at: showTime(row.lastMessageAt),
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    ...(row.contactSealed && { fields_unavailable: true as const }),
  }
}
