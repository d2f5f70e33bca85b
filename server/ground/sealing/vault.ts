/** Secrets at rest: AES-256-GCM (NIST SP 800-38D) under the installation's master key, which is kept outside the database. */
import { createCipheriv, createDecipheriv, createHmac, createSecretKey, randomBytes } from 'node:crypto'
import { derive, macSecretOf, type KeyFile, type MasterKeys } from './master-key.ts'

/** Seals and opens small secrets; `purpose` binds a sealed value to its place (table, column and row), so that it cannot be moved. */
export interface Vault {
  seal(plain: string, purpose: string): Buffer
  /** @throws if the value was made with another key or for another purpose. */
  open(sealed: Buffer, purpose: string): string
  /** A keyed hash (HMAC-SHA-256), to look up values that must not be stored, and for derived tokens. */
  mac(purpose: string, value: string): Buffer
}

// First byte of a sealed value, to distinguish later formats. Then the key's id (4), a nonce (12), the tag (16), the value; if the key was
// never replaced, the first format without an id, which older programs read too.
const formats = { withoutId: 1, withId: 2 } as const
const idLength = 4

interface SealingKey {
  id: Buffer
  key: Buffer
}

/** A short name of a master key, which reveals nothing of it. */
export const idOfKey = (masterKey: Buffer): Buffer => derive(masterKey, 'key id', idLength)

/** Ids of a file's keys, the sealing one first. */
export const keyIdsOf = ({ current, next, old }: Omit<MasterKeys, 'mac'>): string[] =>
  [current, ...(next ? [next] : []), ...old].map((key) => idOfKey(key).toString('hex'))

/** A short name of that secret. It stays the same over all rotations. */
export const hashingIdOf = (keys: Pick<MasterKeys, 'current' | 'mac'>): string =>
  idOfKey(macSecretOf(keys)).toString('hex')

/** The first octets of a master key's sealed values after a rotation; no other value begins so. */
export const sealedPrefix = (masterKey: Buffer): Buffer =>
  Buffer.concat([Buffer.of(formats.withId), idOfKey(masterKey)])

/**
 * A vault over a 32-byte master key, or over a file with several. Encryption and hashing use keys derived from it (HKDF, RFC 5869). Uses a
 * replaced file's keys within a second.
 */
export function openVault(source: Buffer | KeyFile): Vault {
  const keysNow = (): MasterKeys => (Buffer.isBuffer(source) ? fixed : source.read())
  const fixed: MasterKeys = Buffer.isBuffer(source)
    ? { current: source, next: null, old: [], mac: null }
    : source.read()
  if (fixed.current.length !== 32) throw new Error('the master key must have 32 bytes')
  // As a KeyObject: converting the bytes at every call takes longer than the hash.
  const macKey = createSecretKey(macSecretOf(fixed))
  let known: { keys: MasterKeys; ring: SealingKey[] } | null = null
  /** The first seals. */
  const ringOf = (keys: MasterKeys): SealingKey[] => {
    if (known?.keys === keys) return known.ring
    const all = [keys.current, ...(keys.next ? [keys.next] : []), ...keys.old]
    const ring = all.map((key) => ({ id: idOfKey(key), key: derive(key, 'seal') }))
    known = { keys, ring }
    return ring
  }
  return {
    seal(plain, purpose) {
      const keys = keysNow()
      const [newest] = ringOf(keys)
      if (!newest) throw new Error('a key file has a key')
      const isFirst = keys.mac === null && keys.next === null && keys.old.length === 0
      const head = isFirst ? Buffer.of(formats.withoutId) : Buffer.from([formats.withId, ...newest.id])
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', newest.key, nonce)
      cipher.setAAD(Buffer.from(purpose))
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return Buffer.concat([head, nonce, cipher.getAuthTag(), body])
    },
    open(sealed, purpose) {
      const [format] = sealed
      if (format !== formats.withId && format !== formats.withoutId) throw new Error('a secret has an unknown format')
      const tries = (keys: MasterKeys): SealingKey[] =>
        ringOf(keys).filter(({ id }) => format === formats.withoutId || id.equals(sealed.subarray(1, 1 + idLength)))
      const body = sealed.subarray(format === formats.withId ? 1 + idLength : 1)
      const now = tries(keysNow())
      // Another process may have replaced the key a moment ago.
      const candidates = now.length > 0 || Buffer.isBuffer(source) ? now : tries(source.reread())
      if (candidates.length === 0) throw new Error('a secret was sealed with a key that is not in the key file')
      let failure: unknown
      for (const { key } of candidates)
        try {
          return decrypt(key, body, purpose)
        } catch (error) {
          failure = error
        }
      throw new Error('a secret was sealed with another key, or changed', { cause: failure })
    },
    mac: (purpose, value) => createHmac('sha256', macKey).update(`${purpose}\0${value}`).digest(),
  }
}

function decrypt(key: Buffer, body: Buffer, purpose: string): string {
  const decipher = createDecipheriv('aes-256-gcm', key, body.subarray(0, 12), { authTagLength: 16 })
  decipher.setAAD(Buffer.from(purpose))
  decipher.setAuthTag(body.subarray(12, 28))
  return Buffer.concat([decipher.update(body.subarray(28)), decipher.final()]).toString('utf8')
}
