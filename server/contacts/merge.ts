/** Changes contacts that may be encrypted: reads, merges and writes them here; for plain ones SQL merges (`upsert.ts`). */
import { isDeepStrictEqual } from 'node:util'
import { arrayLiteral } from '../ground/db/array.ts'
import type { Tx } from '../ground/db/db.ts'
import { hasFields, sealFields, type ContactSealing } from '../ground/sealing/contact-fields.ts'
import { attributeLimits, contactFields, type NewContact } from './store.ts'

/** A contact to be written; an import encrypts while the previous batch is being written. */
export interface WrittenContact extends NewContact {
  id: string
  sealed?: SealedFields
}

/** The encrypted columns in base64, or null. */
export interface SealedFields {
  fields: string | null
  externalIdHmac: string | null
}

type Plain = NewContact & { attributes: NonNullable<NewContact['attributes']>; tags: string[] }

type Known = Plain & {
  accountId: string
  id: string
  contactSealed: Buffer | null
  isSealed: boolean
}

/** Encrypts with the account's key; returns nothing if contacts are stored in the clear. */
export function sealContact(
  { accountId, key, hashOf }: ContactSealing,
  contact: NewContact & { id: string },
): SealedFields {
  const sealed = key && sealFields(key, accountId, contact.id, contact)
  return {
    fields: sealed && sealed.toString('base64'),
    externalIdHmac: sealed && contact.externalId !== null ? hashOf(contact.externalId).toString('base64') : null,
  }
}

/**
 * Applies `on_conflict=update` to existing contacts: missing fields stay, attributes are set one by one. Locks them in the order of their
 * numbers. A contact that cannot be decrypted stays, because half of it must not replace the whole. One that would get too many attributes
 * stays too, and its number is returned; one already above the limit may lose some.
 */
export async function mergeContacts(
  tx: Tx,
  sealing: ContactSealing,
  campaignId: string,
  contacts: readonly WrittenContact[],
): Promise<string[]> {
  const refused: string[] = []
  const given = new Map(contacts.map((contact) => [contact.phoneNumber, contact]))
  const known = await lockKnown(tx, sealing.accountId, campaignId, contacts)
  const changed = known.flatMap((before) => {
    const contact = given.get(before.phoneNumber)
    if (!contact || before.contactSealed) return []
    const after = merge(before, contact)
    if (countOf(after) > Math.max(attributeLimits.count, countOf(before))) {
      refused.push(before.phoneNumber)
      return []
    }
    const isChanged = !isDeepStrictEqual(after, pick(before))
    const isStoredOtherwise = before.isSealed !== (sealing.key !== null && hasFields(after))
    if (!isChanged && !isStoredOtherwise) return []
    return [{ ...after, id: before.id, sealed: sealContact(sealing, { ...after, id: before.id }), isChanged }]
  })
  if (changed.length > 0) await writeMerged(tx, sealing.accountId, campaignId, changed)
  return refused
}

const countOf = ({ attributes }: Pick<Known, 'attributes'>): number => Object.keys(attributes).length

const fieldNames = Object.values(contactFields)

const pick = (contact: Known): Plain =>
  Object.fromEntries(fieldNames.map((name) => [name, contact[name]])) as unknown as Plain

function merge(before: Known, given: NewContact): Plain {
  const after = Object.fromEntries(fieldNames.map((name) => [name, given[name] ?? before[name]])) as unknown as Plain
  const attributes = { ...before.attributes, ...given.attributes }
  return { ...after, attributes, tags: given.tags && given.tags.length > 0 ? given.tags : before.tags }
}

/** By the unique (account_id, campaign_id, phone_number). */
async function lockKnown(
  tx: Tx,
  accountId: string,
  campaignId: string,
  contacts: readonly WrittenContact[],
): Promise<Known[]> {
  const { rows } = await tx.query<Known>({
    name: 'lock-known-contacts',
    text: `
      select c.account_id as "accountId", c.id, c.phone_number as "phoneNumber", c.first_name as "firstName", c.last_name as "lastName",
        c.external_id as "externalId", c.language, c.country, c.timezone, c.attributes, c.tags, c.consent, c.sealed as "contactSealed",
        c.sealed is not null as "isSealed"
      from unnest($3::uuid[], $4::text[]) as r (id, number)
      join contacts c on c.account_id = $1 and c.campaign_id = $2 and c.phone_number = r.number and c.id <> r.id
      order by c.phone_number
      for no key update of c`,
    values: [
      accountId,
      campaignId,
      arrayLiteral(contacts.map(({ id }) => id)),
      arrayLiteral(contacts.map(({ phoneNumber }) => phoneNumber)),
    ],
  })
  return rows
}

/** Writes locked contacts, by primary key. */
async function writeMerged(
  tx: Tx,
  accountId: string,
  campaignId: string,
  changed: readonly (Plain & { id: string; sealed: SealedFields; isChanged: boolean })[],
): Promise<void> {
  // Encrypted fields are stored nowhere else.
  const plain = <T>(read: (contact: Plain) => T): (T | null)[] =>
    changed.map((contact) => (contact.sealed.fields === null ? read(contact) : null))
  await tx.query({
    name: 'write-merged-contacts',
    text: `
      update contacts c
      set sealed = decode(r.sealed, 'base64'), external_id_hmac = decode(r.external_id_hmac, 'base64'), first_name = r.first_name,
        last_name = r.last_name, external_id = r.external_id, attributes = coalesce(r.attributes, '{}'), consent = r.consent,
        language = r.language, country = r.country, timezone = r.timezone, tags = r.tags::text[],
        updated_at = case when r.is_changed then now() else c.updated_at end
      from unnest($3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::jsonb[], $10::jsonb[], $11::text[], $12::text[],
        $13::text[], $14::text[], $15::boolean[])
        as r (id, sealed, external_id_hmac, first_name, last_name, external_id, attributes, consent, language, country, timezone, tags, is_changed)
      where c.account_id = $1
        and c.campaign_id = $2
        and c.id = r.id`,
    values: [
      accountId,
      campaignId,
      arrayLiteral(changed.map(({ id }) => id)),
      arrayLiteral(changed.map(({ sealed }) => sealed.fields)),
      arrayLiteral(changed.map(({ sealed }) => sealed.externalIdHmac)),
      arrayLiteral(plain(({ firstName }) => firstName)),
      arrayLiteral(plain(({ lastName }) => lastName)),
      arrayLiteral(plain(({ externalId }) => externalId)),
      arrayLiteral(plain(({ attributes }) => JSON.stringify(attributes))),
      arrayLiteral(plain(({ consent }) => consent && JSON.stringify(consent))),
      arrayLiteral(changed.map(({ language }) => language)),
      arrayLiteral(changed.map(({ country }) => country)),
      arrayLiteral(changed.map(({ timezone }) => timezone)),
      arrayLiteral(changed.map(({ tags }) => arrayLiteral(tags))),
      arrayLiteral(changed.map(({ isChanged }) => isChanged)),
    ],
  })
}
