/**
 * Contacts at rest. If the installation encrypts content, name, external id, attributes and consent of a contact are one sealed value,
 * opened in results of the database. Numbers, tags, language, country and time zone stay in clear, because contacts are selected by them.
 */
import type { Db, Queryable } from '../db/db.ts'
import type { DataKey, DataKeys } from './data-keys.ts'
import { sealValue, type Place } from './values.ts'
import type { Vault } from './vault.ts'

/** The fields that are sealed together; null: the contact has none. */
export interface PersonalFields<Consent = unknown> {
  firstName: string | null
  lastName: string | null
  externalId: string | null
  attributes: Record<string, string | number | boolean> | null
  consent: Consent | null
}

/** How to write an account's contacts now. Made before the transaction that needs it: a key must not be rolled back. */
export interface ContactSealing {
  accountId: string
  /** Null: contacts are written in clear. */
  key: DataKey | null
  /** The keyed hash by which a sealed external id is found. Takes 3 µs. */
  hashOf: (externalId: string) => Buffer
}

export class ContactSeals {
  readonly #db: Db
  readonly #keys: DataKeys
  readonly #vault: Vault
  /** Whether new contacts are sealed. Sealed ones are always opened. */
  readonly isSealing: boolean

  constructor({ db, keys, vault, isSealing }: { db: Db; keys: DataKeys; vault: Vault; isSealing: boolean }) {
    this.#db = db
    this.#keys = keys
    this.#vault = vault
    this.isSealing = isSealing
  }

  /**
   * How to write an account's contacts; null: nothing was ever encrypted. Reads unknown keys on its own connection. @throws if the
   * account's key was wrapped by another master key.
   */
  async of(accountId: string): Promise<ContactSealing | null> {
    const key = this.isSealing ? ((await this.#keys.readCurrent(this.#db, [accountId])).get(accountId) ?? null) : null
    if (!key && !(await this.hasKeys(this.#db, accountId))) return null
    return { accountId, key, hashOf: (externalId) => this.hash(accountId, externalId) }
  }

  /** Whether an account ever had a key, and so may have sealed contacts. */
  async hasKeys(db: Queryable, accountId: string): Promise<boolean> {
    const found = await this.#keys.read(db, new Map([[accountId, new Set()]]))
    return (found.get(accountId)?.lastVersion ?? 0) > 0
  }

  hash(accountId: string, externalId: string): Buffer {
    return this.#vault.mac(`contacts.external_id ${accountId}`, externalId)
  }
}

export const placeOfContact = (accountId: string, id: string): Place => ({ column: 'contacts.sealed', accountId, id })

export const hasFields = ({ firstName, lastName, externalId, attributes, consent }: PersonalFields): boolean =>
  [firstName, lastName, externalId, consent].some((one) => one !== null) || Object.keys(attributes ?? {}).length > 0

/** Null if the contact has none. */
export function sealFields(key: DataKey, accountId: string, id: string, fields: PersonalFields): Buffer | null {
  const { firstName, lastName, externalId, attributes, consent } = fields
  if (!hasFields(fields)) return null
  // In the API's names, so that they can be read without this file; absent and null are equal.
  const plain = JSON.stringify({
    first_name: firstName ?? undefined,
    last_name: lastName ?? undefined,
    external_id: externalId ?? undefined,
    attributes: attributes ?? undefined,
    consent: consent ?? undefined,
  })
  return sealValue(key, placeOfContact(accountId, id), plain)
}

/** Reads an opened value of `sealFields`. */
export function readFields(plain: string): PersonalFields {
  const read = JSON.parse(plain) as Record<string, unknown> & { attributes?: PersonalFields['attributes'] }
  const text = (name: string): string | null => (read[name] as string | undefined) ?? null
  return {
    firstName: text('first_name'),
    lastName: text('last_name'),
    externalId: text('external_id'),
    attributes: read.attributes ?? {},
    consent: read['consent'] ?? null,
  }
}

/** A row with fields that may be sealed: a contact's, or those that a text may use in `contact`. */
export interface SealedContactRow {
  accountId: string
  id: string
  /** Null: it is in clear. */
  contactSealed: Buffer | null
  contact?: Record<string, unknown> | null
}

/** Puts the opened fields of a contact into its row. */
export function putFields(row: SealedContactRow, plain: string): void {
  const fields = readFields(plain)
  row.contactSealed = null
  if (!row.contact) return void Object.assign(row, fields)
  Object.assign(row.contact, {
    first_name: fields.firstName,
    last_name: fields.lastName,
    external_id: fields.externalId,
    attributes: fields.attributes,
    is_sealed: false,
  })
}
