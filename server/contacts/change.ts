/** Changes a contact: given fields are set, null clears, and attributes are set one by one. */
import { Type, type Static } from 'typebox'
import type { Tx } from '../ground/db/db.ts'
import { codeOf } from '../ground/db/failure.ts'
import { ApiError, found, invalid } from '../ground/base/errors.ts'
import type { Faults } from '../ground/http/faults.ts'
import { clearedByNull, Nullable } from '../ground/http/http.ts'
import { parseId, showId } from '../ground/base/ids.ts'
import { readNumber } from '../ground/numbers/number.ts'
import type { ContactSealing } from '../ground/sealing/contact-fields.ts'
import { AttributeValue, ContactInput, optionalFields } from './contact.ts'
import { readContact } from './read.ts'
import {
  attributeLimits,
  contactFields,
  tooManyAttributes,
  updateContact,
  type ContactRow,
  type NewContact,
} from './store.ts'
import { findContact, lockContact } from './list.ts'
import type { CampaignRow } from '../campaigns/store.ts'

export const ContactChange = Type.Object(
  {
    phone_number: Type.Optional(ContactInput.properties.phone_number),
    ...clearedByNull({
      ...optionalFields.properties,
      attributes: Type.Record(Type.String(), Nullable(AttributeValue), {
        description: 'Attributes in the request are set, or removed by null; others stay.',
        maxProperties: attributeLimits.count,
        propertyNames: { minLength: 1, maxLength: attributeLimits.name },
      }),
    }),
  },
  { additionalProperties: false, minProperties: 1, examples: [{ first_name: 'Ada', tags: ['patient'] }] },
)
export type ContactChange = Static<typeof ContactChange>

/** `written` has consent only if it is new. Locks it. @throws ApiError `not_found`, `validation_failed`, `contact_exists`, `fields_unavailable`. */
export async function changeContact(
  tx: Tx,
  accountId: string,
  campaign: CampaignRow,
  publicId: string,
  given: ContactChange,
  faults: Faults,
  sealing: ContactSealing | null = null,
): Promise<{ row: ContactRow; written: NewContact }> {
  const change = faults.sound(given)
  const id = parseId('ctc', publicId)
  const before = found(id && (await lockContact(tx, accountId, campaign.id, id)), 'The campaign has no such contact.')
  // Half a contact must not replace the whole: with its key it may become readable again.
  if (before.contactSealed) throw new ApiError('fields_unavailable')
  const read = readContact({ phone_number: before.phoneNumber, ...withoutNulls(change) }, (text) =>
    text === before.phoneNumber ? { number: text } : readNumber(text, campaign.defaultCountry),
  )
  faults.found.push(...read.errors)
  const attributes = mergeAttributes(before.attributes, change.attributes)
  // Repeated additions may once have added more: then other fields can change, and attributes can be removed.
  const most = Math.max(attributeLimits.count, Object.keys(before.attributes).length)
  if (Object.keys(attributes).length > most) faults.found.push(tooManyAttributes)
  const errors = faults.all
  if (errors.length > 0 || !read.contact) throw invalid(errors)
  const written = { ...merge(before, read.contact, change), attributes }
  // A violation ends the transaction, so conflicts are looked for first; one that appears in between is caught below.
  await refuseTaken(tx, accountId, campaign.id, before, written.phoneNumber)
  try {
    await updateContact(tx, accountId, campaign.id, before.id, written, sealing)
  } catch (error) {
    if (codeOf(error) !== '23505') throw error
    throw new ApiError('contact_exists', { detail: 'The campaign has another contact with this number.' })
  }
  const row = await findContact(tx, accountId, campaign.id, { id: before.id })
  if (!row) throw new Error('a contact that is locked is there')
  // An opt-out follows to another number; any other consent is new only if this request gives it.
  const isMoved = written.phoneNumber !== before.phoneNumber && written.consent?.status === 'opted_out'
  return { row, written: { ...written, consent: isMoved ? written.consent : read.contact.consent } }
}

async function refuseTaken(
  tx: Tx,
  accountId: string,
  campaignId: string,
  before: ContactRow,
  phoneNumber: string,
): Promise<void> {
  const other =
    phoneNumber === before.phoneNumber ? null : await findContact(tx, accountId, campaignId, { phoneNumber })
  if (other)
    throw new ApiError('contact_exists', {
      detail: 'The campaign has another contact with this number.',
      members: { existing_id: showId('ctc', other.id) },
    })
}

const withoutNulls = (change: object): object =>
  Object.fromEntries(Object.entries(change).filter(([name, value]) => value !== null && name !== 'attributes'))

/** Missing attributes stay. The value may have any shape; what the schema refuses is skipped. */
function mergeAttributes(before: ContactRow['attributes'], change: unknown): ContactRow['attributes'] {
  if (change === undefined || Array.isArray(change)) return before
  if (change === null || typeof change !== 'object') return {}
  const merged = { ...before, ...(change as ContactRow['attributes']) }
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null))
}

const merge = (
  before: ContactRow,
  read: NewContact,
  change: Partial<Record<keyof ContactChange, unknown>>,
): NewContact => {
  const fields = Object.entries(contactFields) as [keyof ContactChange, keyof NewContact][]
  const merged = fields.map(([shown, name]) => [name, (change[shown] === undefined ? before : read)[name]])
  return { ...(Object.fromEntries(merged) as unknown as NewContact), phoneNumber: read.phoneNumber, attributes: null }
}
