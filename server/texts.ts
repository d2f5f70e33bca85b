/**
 * Texts of messages at rest. Where the installation encrypts content they are sealed (AES-256-GCM, NIST SP 800-38D) with their account's data key
 * when they are written; they are opened where rows come from the database, so that a row in memory has its text in `body` either way.
 */
import { createCipheriv, createDecipheriv, randomBytes, type KeyObject } from 'node:crypto'
import type { QueryResult } from 'pg'
import type { DataKey, DataKeys } from './data-keys.ts'
import type { Db, Queryable } from './db/db.ts'
import type { Log } from './db/log.ts'
import type { Vault } from './secrets.ts'

/** A text with its place, to which it is bound: sealed, it cannot be moved to another message. */
export interface PlacedText {
  accountId: string
  /** Of the message. */
  id: string
  text: string
}

// First byte of a sealed text, so that a later format can be told apart. Then the key's version (2), a nonce (12), the tag (16), the text.
const format = 1
const headerLength = 31

const boundTo = (accountId: string, id: string, version: number): Buffer =>
  Buffer.from(`messages.body_sealed|${id}|${accountId}|${version}`)

/** Seals a text with a key of its account. */
export function sealText({ version, key }: DataKey, { accountId, id, text }: PlacedText): Buffer {
  const header = Buffer.allocUnsafe(headerLength)
  header[0] = format
  header.writeUInt16BE(version, 1)
  const nonce = randomBytes(12)
  nonce.copy(header, 3)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  cipher.setAAD(boundTo(accountId, id, version))
  const sealed = Buffer.concat([header, cipher.update(text, 'utf8'), cipher.final()])
  cipher.getAuthTag().copy(sealed, 15)
  return sealed
}

/** The version of the key that sealed a text; null: it is no sealed text. */
export function versionOf(sealed: Buffer): number | null {
  return sealed[0] === format && sealed.length >= headerLength ? sealed.readUInt16BE(1) : null
}

/** Opens a text. @throws where it was changed, or sealed with another key or for another place. */
export function openText(key: KeyObject, { accountId, id }: Omit<PlacedText, 'text'>, sealed: Buffer): string {
  const version = versionOf(sealed)
  if (version === null) throw new Error('a text has an unknown format')
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(3, 15), { authTagLength: 16 })
  decipher.setAAD(boundTo(accountId, id, version))
  decipher.setAuthTag(sealed.subarray(15, headerLength))
  return Buffer.concat([decipher.update(sealed.subarray(headerLength)), decipher.final()]).toString('utf8')
}

/** Seals the texts of a process, where its installation asks for that. */
export class Texts {
  /** Whether new texts are sealed. Those that are sealed are opened in any case. */
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
   * Seals texts, in their order, with the data keys that are current.
   * @throws where the key of an account was wrapped by another master key: nothing is written then.
   */
  async seal(texts: readonly PlacedText[]): Promise<Buffer[]> {
    const keys = await this.#keys.readCurrent(this.#db, [...new Set(texts.map(({ accountId }) => accountId))])
    return texts.map((one) => {
      const key = keys.get(one.accountId)
      if (!key) throw new Error('an account has no data key')
      return sealText(key, one)
    })
  }

  /** Seals octets of a text that nobody owns yet, with the master key. `place` is its table, column and row. */
  sealLoose(octets: Buffer, place: string): Buffer {
    return this.#vault.seal(octets.toString('base64'), place)
  }

  /** Opens such octets. @throws where they were changed or are not of this place. */
  openLoose(sealed: Buffer, place: string): Buffer {
    return Buffer.from(this.#vault.open(sealed, place), 'base64')
  }
}

/** What is stored of a text: itself, or the sealed one. */
export interface StoredBody {
  body: string | null
  sealed: Buffer | null
}

/** What is to be stored of texts, in their order. */
export async function storeTexts(texts: Texts | undefined, all: readonly PlacedText[]): Promise<StoredBody[]> {
  if (!texts?.isSealing) return all.map(({ text }) => ({ body: text, sealed: null }))
  return (await texts.seal(all)).map((sealed) => ({ body: null, sealed }))
}

/** A row with a text that may be sealed; `body` and `bodySealed` are null where it was removed. */
interface SealedRow {
  accountId: string
  id: string
  body: string | null
  bodySealed: Buffer | null
}

/**
 * Opens the sealed texts of a result: of every statement that selects `bodySealed`, beside `accountId`, `id` and `body`. A text that cannot be
 * opened stays sealed in its row, and is logged: its reader sees that there is one (`isUnreadable`). Keys are read on the same connection,
 * so that nobody who holds one waits for another.
 */
export function openResult(
  { keys, log }: { keys: DataKeys; log: Log },
  result: QueryResult,
  connection: Queryable,
): Promise<void> | undefined {
  if (!result.fields?.some(({ name }) => name === 'bodySealed')) return undefined
  const rows = (result.rows as SealedRow[]).filter(({ bodySealed }) => bodySealed !== null)
  return rows.length === 0 ? undefined : openRows(keys, log, rows, connection)
}

async function openRows(keys: DataKeys, log: Log, rows: SealedRow[], connection: Queryable): Promise<void> {
  const wanted = new Map<string, Set<number>>()
  for (const { accountId, bodySealed } of rows) {
    const version = bodySealed && versionOf(bodySealed)
    const versions = wanted.get(accountId) ?? new Set()
    wanted.set(accountId, version === null ? versions : versions.add(version))
  }
  const found = await keys.read(connection, wanted)
  for (const row of rows) {
    const sealed = row.bodySealed
    if (!sealed) continue
    const version = versionOf(sealed)
    const key = version === null ? undefined : found.get(row.accountId)?.keys.get(version)
    try {
      if (!key) throw new Error('its key is not there')
      row.body = openText(key, row, sealed)
      row.bodySealed = null
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      log.warn({ account: row.accountId, message: row.id, key: version, reason }, 'a text cannot be opened')
    }
  }
}

/** Whether a row has a text that could not be opened. */
export const isUnreadable = ({ body, bodySealed }: Pick<SealedRow, 'body' | 'bodySealed'>): boolean =>
  body === null && bodySealed !== null
