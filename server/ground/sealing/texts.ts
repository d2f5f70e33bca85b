/**
 * Texts of messages at rest. If the installation encrypts content they are sealed (AES-256-GCM, NIST SP 800-38D) with their account's data
 * key on write, and opened in results of the database: rows in memory have their text in `body` either way.
 */
import type { KeyObject } from 'node:crypto'
import type { QueryResult } from 'pg'
import type { Db, Queryable } from '../db/db.ts'
import type { Log } from '../db/log.ts'
import { placeOfContact, putFields, type SealedContactRow } from './contact-fields.ts'
import type { DataKey, DataKeys } from './data-keys.ts'
import { sealValue, openValue, versionOf, type Place } from './values.ts'
import type { Vault } from './vault.ts'

/** A text with its place: sealed, it cannot be moved to another message. */
export interface PlacedText {
  accountId: string
  /** Of the message. */
  id: string
  text: string
  /** Default: the text. The other column holds the received octets, in base64. */
  column?: 'messages.body_sealed' | 'messages.octets'
}

const placeOf = ({ accountId, id, column = 'messages.body_sealed' }: Omit<PlacedText, 'text'>): Place => ({
  column,
  accountId,
  id,
})

export const sealText = (key: DataKey, text: PlacedText): Buffer => sealValue(key, placeOf(text), text.text)

/** @throws if it was changed, or sealed with another key or for another place. */
export const openText = (key: KeyObject, text: Omit<PlacedText, 'text'>, sealed: Buffer): string =>
  openValue(key, placeOf(text), sealed)

export class Texts {
  /** Whether new texts are sealed. Sealed ones are always opened. */
  readonly isSealing: boolean
  readonly #db: Db
  readonly #keys: DataKeys
  readonly #vault: Vault

  constructor({ db, keys, vault, isSealing }: { db: Db; keys: DataKeys; vault: Vault; isSealing: boolean }) {
    this.#db = db
    this.#keys = keys
    this.#vault = vault
    this.isSealing = isSealing
  }

  /**
   * Seals texts, in order, with the current data keys.
   * @throws if an account's key was wrapped by another master key: nothing is written then.
   */
  async seal(texts: readonly PlacedText[]): Promise<Buffer[]> {
    const keys = await this.#keys.readCurrent(this.#db, [...new Set(texts.map(({ accountId }) => accountId))])
    return texts.map((one) => {
      const key = keys.get(one.accountId)
      if (!key) throw new Error('an account has no data key')
      return sealText(key, one)
    })
  }

  /** Opens the received octets of a text. @throws if they were changed, or their key is missing. */
  async openOctets(place: { accountId: string; id: string }, sealed: Buffer): Promise<Buffer> {
    const { accountId } = place
    const version = versionOf(sealed) ?? 0
    const found = await this.#keys.read(this.#db, new Map([[accountId, new Set([version])]]))
    const key = found.get(accountId)?.keys.get(version)
    if (!key) throw new Error('the key of octets is not there')
    return Buffer.from(openText(key, { ...place, column: 'messages.octets' }, sealed), 'base64')
  }

  /** Seals octets that have no account yet, with the master key. `place` is the table, column and row. */
  sealLoose(octets: Buffer, place: string): Buffer {
    return this.#vault.seal(octets.toString('base64'), place)
  }

  /** A keyed hash of such octets, to compare them without opening. */
  hashLoose(octets: Buffer, place: string): Buffer {
    return this.#vault.mac(place, octets.toString('base64'))
  }

  /** @throws if they were changed or belong to another place. */
  openLoose(sealed: Buffer, place: string): Buffer {
    return Buffer.from(this.#vault.open(sealed, place), 'base64')
  }
}

/** A text as stored: in clear, or sealed. */
export interface StoredBody {
  body: string | null
  sealed: Buffer | null
}

/** In order. */
export async function storeTexts(texts: Texts | undefined, all: readonly PlacedText[]): Promise<StoredBody[]> {
  if (!texts?.isSealing) return all.map(({ text }) => ({ body: text, sealed: null }))
  return (await texts.seal(all)).map((sealed) => ({ body: null, sealed }))
}

/** `body` and `bodySealed` are null if the text was removed. */
interface SealedRow {
  accountId: string
  id: string
  body: string | null
  bodySealed: Buffer | null
}

/** A sealed value of a row, and where its content goes. */
interface Opening {
  accountId: string
  sealed: Buffer
  open: (key: KeyObject) => void
  /** For the log. */
  what: { message: string } | { contact: string }
}

/**
 * Opens sealed values of a result: texts of statements that select `bodySealed` with `accountId`, `id` and `body`, and contacts of those
 * that select `contactSealed` with `accountId` and `id`. Values that cannot be opened stay sealed in their row, and are logged
 * (`isUndecryptable`). Reads keys on the same connection, so that its holder does not wait for another.
 */
export function openResult(
  { keys, log }: { keys: DataKeys; log: Pick<Log, 'warn'> },
  result: QueryResult,
  connection: Queryable,
): Promise<void> | undefined {
  const column = result.fields?.find(({ name }) => name === 'bodySealed' || name === 'contactSealed')?.name
  if (column === undefined) return undefined
  const openings = column === 'bodySealed' ? openingsOfTexts(result.rows) : openingsOfContacts(result.rows)
  return openings.length === 0 ? undefined : openAll(keys, log, openings, connection)
}

function openingsOfTexts(rows: SealedRow[]): Opening[] {
  return rows.flatMap((row) => {
    const sealed = row.bodySealed
    if (!sealed) return []
    const open = (key: KeyObject): void => {
      row.body = openText(key, row, sealed)
      row.bodySealed = null
    }
    return [{ accountId: row.accountId, sealed, open, what: { message: row.id } }]
  })
}

function openingsOfContacts(rows: SealedContactRow[]): Opening[] {
  return rows.flatMap((row) => {
    const sealed = row.contactSealed
    if (!sealed) return []
    const open = (key: KeyObject): void => putFields(row, openValue(key, placeOfContact(row.accountId, row.id), sealed))
    return [{ accountId: row.accountId, sealed, open, what: { contact: row.id } }]
  })
}

async function openAll(keys: DataKeys, log: Pick<Log, 'warn'>, all: Opening[], connection: Queryable): Promise<void> {
  const wanted = new Map<string, Set<number>>()
  for (const { accountId, sealed } of all) {
    const version = versionOf(sealed)
    const versions = wanted.get(accountId) ?? new Set()
    wanted.set(accountId, version === null ? versions : versions.add(version))
  }
  const found = await keys.read(connection, wanted)
  for (const { accountId, sealed, open, what } of all) {
    const version = versionOf(sealed)
    const key = version === null ? undefined : found.get(accountId)?.keys.get(version)
    try {
      if (!key) throw new Error('its key is not there')
      open(key)
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      const fields = { account: accountId, ...what, key: version, reason }
      if ('message' in what) log.warn(fields, 'a text cannot be decrypted')
      else log.warn(fields, 'a contact cannot be decrypted')
    }
  }
}

/** Whether a row has a text that could not be opened. */
export const isUndecryptable = ({ body, bodySealed }: Pick<SealedRow, 'body' | 'bodySealed'>): boolean =>
  body === null && bodySealed !== null
