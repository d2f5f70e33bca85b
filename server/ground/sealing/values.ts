/** Values sealed with an account's data key: AES-256-GCM (NIST SP 800-38D), bound to their place so that none can be moved to another row. */
import { createCipheriv, createDecipheriv, randomFillSync, type KeyObject } from 'node:crypto'
import type { DataKey } from './data-keys.ts'

export interface Place {
  /** `table.column`. */
  column: SealedColumn
  accountId: string
  /** Of the row. */
  id: string
}

/** Every column that data keys seal; a sweep reseals each after a key is retired. */
const sealedColumns = ['messages.body_sealed', 'messages.octets', 'contacts.sealed'] as const
export type SealedColumn = (typeof sealedColumns)[number]

// First byte of a sealed value, to distinguish later formats. Then the key's version (2), a nonce (12), the tag (16), the value.
const format = 1
const headerLength = 31

// Nonces are drawn by the thousand: one by one they take a third of the time of a sealing.
const nonces = Buffer.alloc(12 * 1024)
let nextNonce = nonces.length

const boundTo = ({ column, accountId, id }: Place, version: number): Buffer =>
  Buffer.from(`${column}|${id}|${accountId}|${version}`)

export function sealValue({ version, key }: DataKey, place: Place, plain: string): Buffer {
  if (nextNonce === nonces.length) {
    randomFillSync(nonces)
    nextNonce = 0
  }
  const nonce = nonces.subarray(nextNonce, nextNonce + 12)
  nextNonce += 12
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  cipher.setAAD(boundTo(place, version))
  const body = cipher.update(plain, 'utf8')
  cipher.final()
  const sealed = Buffer.allocUnsafe(headerLength + body.length)
  sealed[0] = format
  sealed.writeUInt16BE(version, 1)
  nonce.copy(sealed, 3)
  cipher.getAuthTag().copy(sealed, 15)
  body.copy(sealed, headerLength)
  return sealed
}

/** The version of a value's key; null: it is not sealed. */
export function versionOf(sealed: Buffer): number | null {
  return sealed[0] === format && sealed.length >= headerLength ? sealed.readUInt16BE(1) : null
}

/** @throws if it was changed, or sealed with another key or for another place. */
export function openValue(key: KeyObject, place: Place, sealed: Buffer): string {
  const version = versionOf(sealed)
  if (version === null) throw new Error('a sealed value has an unknown format')
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(3, 15), { authTagLength: 16 })
  decipher.setAAD(boundTo(place, version))
  decipher.setAuthTag(sealed.subarray(15, headerLength))
  return Buffer.concat([decipher.update(sealed.subarray(headerLength)), decipher.final()]).toString('utf8')
}
