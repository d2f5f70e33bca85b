/**
 * What an account knows of a person, at rest. Where the installation encrypts content, name, external id, attributes and consent of a contact are one
 * sealed value; they are opened where rows come from the database. Numbers, tags, language, country and time zone stay: contacts are chosen by them.
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

/** How contacts of an account are to be written at this moment. Made before the transaction that needs it: a key must not be rolled back. */
export interface ContactSealing {
  accountId: string
  /** Null: contacts are written as they read. */
  key: DataKey | null
  /** The keyed hash by which a sealed external id is found. 3 µs. */
  hashOf: (externalId: string) => Buffer
}

/** Seals contacts of a process. */
export class ContactSeals {
  readonly #db: Db
  readonly #keys: DataKeys
  readonly #vault: Vault
  /** Whether new contacts are sealed. Those that are sealed are opened in any case. */
  readonly isSealing: boolean

  constructor({ db, keys, vault, isSealing }: { db: Db; keys: DataKeys; vault: Vault; isSealing: boolean }) {
    this.#db = db
    this.#keys = keys
    this.#vault = vault
    this.isSealing = isSealing
  }

  /**
   * How an account's contacts are written; null: nothing is encrypted, nor ever was. Reads its keys where they are not known, on a connection of
   * its own. @throws where its key was wrapped by another master key.
   */
  async of(accountId: string): Promise<ContactSealing | null> {
    const key = this.isSealing ? ((await this.#keys.readCurrent(this.#db, [accountId])).get(accountId) ?? null) : null
    if (!key && !(await this.hasKeys(this.#db, accountId))) return null
    return { accountId, key, hashOf: (externalId) => this.hash(accountId, externalId) }
  }

  /** Whether there may be sealed contacts of an account: whether it ever had a key. */
  async hasKeys(db: Queryable, accountId: string): Promise<boolean> {
    const found = await this.#keys.read(db, new Map([[accountId, new Set()]]))
    return (found.get(accountId)?.lastVersion ?? 0) > 0
  }

  /** The keyed hash of an external id. */
  hash(accountId: string, externalId: string): Buffer {
    return this.#vault.mac(`contacts.external_id ${accountId}`, externalId)
  }
}

/** Where a contact's sealed fields stand. */
export const placeOfContact = (accountId: string, id: string): Place => ({ column: 'contacts.sealed', accountId, id })

/** Whether a contact has something to be sealed. */
export const hasFields = ({ firstName, lastName, externalId, attributes, consent }: PersonalFields): boolean =>
  [firstName, lastName, externalId, consent].some((one) => one !== null) || Object.keys(attributes ?? {}).length > 0

/** Seals the fields of a contact; null where it has none. */
export function sealFields(key: DataKey, accountId: string, id: string, fields: PersonalFields): Buffer | null {
  const { firstName, lastName, externalId, attributes, consent } = fields
  if (!hasFields(fields)) return null
  // In the words of the API, so that they may be told apart without this file; absent and null are the same.
  const plain = JSON.stringify({
    first_name: firstName ?? undefined,
    last_name: lastName ?? undefined,
    external_id: externalId ?? undefined,
    attributes: attributes ?? undefined,
    consent: consent ?? undefined,
  })
  return sealValue(key, placeOfContact(accountId, id), plain)
}

/** Reads what `sealFields` wrote, once it is open. */
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

/** A row of a contact with fields that may be sealed: its own, or those that a text may name in `contact`. */
export interface SealedContactRow {
  accountId: string
  id: string
  /** Null: it is open. */
  contactSealed: Buffer | null
  contact?: Record<string, unknown> | null
}

/** Puts the opened fields of a contact where its row has them. */
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
