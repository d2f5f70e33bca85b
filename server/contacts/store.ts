/** The SQL that changes contacts; `list.ts` reads them and `upsert.ts` adds them. Every query begins with the account. */
import type { Tx } from '../ground/db/db.ts'
import { sealFields, type ContactSealing } from '../ground/sealing/contact-fields.ts'

/** Maximum length of names, number of attributes, and length of values. */
export const attributeLimits = {
  name: 40,
  count: 50,
  value: 500,
  /** Attribute columns in an export; a campaign with more was filled by a program, which reads the last column. */
  columns: 200,
} as const

export type OnConflict = 'update' | 'skip'

/** Null: missing, so an update keeps the current value. */
export interface NewContact {
  phoneNumber: string
  firstName: string | null
  lastName: string | null
  externalId: string | null
  language: string | null
  country: string | null
  timezone: string | null
  attributes: Record<string, string | number | boolean> | null
  tags: string[] | null
  consent: Consent | null
}

/** The fields of a contact, by their names in the API. */
export const contactFields = {
  phone_number: 'phoneNumber',
  first_name: 'firstName',
  last_name: 'lastName',
  external_id: 'externalId',
  language: 'language',
  country: 'country',
  timezone: 'timezone',
  attributes: 'attributes',
  tags: 'tags',
  consent: 'consent',
} as const satisfies Record<string, keyof NewContact>

interface Consent {
  status: 'opted_in' | 'opted_out' | 'unknown'
  method?: string
  source?: string
  text?: string
  obtained_at?: string
  ip?: string
}

/** A row of `contacts`, with the account's data on its number. */
export interface ContactRow extends Omit<NewContact, 'attributes' | 'tags'> {
  accountId: string
  id: string
  campaignId: string
  /** Null, unless its fields cannot be decrypted: then it has none. */
  contactSealed: Buffer | null
  attributes: Record<string, string | number | boolean>
  tags: string[]
  isOptedOut: boolean
  lastMessageAt: Date | null
  createdAt: Date
  updatedAt: Date
}

/** By primary key; reduces its campaign's count. An opt-out of its number stays. */
export async function deleteContact(tx: Tx, accountId: string, campaignId: string, id: string): Promise<boolean> {
  const { rows } = await tx.query<{ count: number }>({
    name: 'delete-contact',
    text: `
      with gone as (
        delete from contacts
        where account_id = $1
          and campaign_id = $2
          and id = $3
        returning id
      ), counted as (
        update campaigns
        set contacts_count = contacts_count - 1
        where account_id = $1
          and id = $2
          and exists (select from gone)
      )
      select count(*) from gone`,
    values: [accountId, campaignId, id],
  })
  return rows[0]?.count === 1
}

/** By primary key; encrypts if `sealing` says so. @throws a unique violation if the campaign has another contact with the number. */
export async function updateContact(
  tx: Tx,
  accountId: string,
  campaignId: string,
  id: string,
  contact: NewContact,
  sealing: ContactSealing | null = null,
): Promise<void> {
  const sealed = sealing?.key ? sealFields(sealing.key, accountId, id, contact) : null
  const externalIdHmac = sealed && contact.externalId !== null ? sealing?.hashOf(contact.externalId) : null
  const none = { firstName: null, lastName: null, externalId: null, attributes: null, consent: null }
  const plain = sealed ? none : contact
  await tx.query({
    name: 'update-contact',
    text: `
      update contacts
      set phone_number = $4, first_name = $5, last_name = $6, external_id = $7, language = $8, country = $9, timezone = $10,
        attributes = $11, tags = $12, consent = $13, sealed = $14, external_id_hmac = $15, updated_at = now()
      where account_id = $1
        and campaign_id = $2
        and id = $3`,
    values: [
      accountId,
      campaignId,
      id,
      contact.phoneNumber,
      plain.firstName,
      plain.lastName,
      plain.externalId,
      contact.language,
      contact.country,
      contact.timezone,
      JSON.stringify(plain.attributes ?? {}),
      contact.tags ?? [],
      plain.consent && JSON.stringify(plain.consent),
      sealed,
      externalIdHmac ?? null,
    ],
  })
}

export const tooManyAttributes = {
  pointer: '#/attributes',
  code: 'too_long',
  detail: `must leave the contact with at most ${attributeLimits.count} attributes`,
} as const

export const showFields = (contact: NewContact): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(contactFields).flatMap(([shown, name]) => (contact[name] === null ? [] : [[shown, contact[name]]])),
  )
