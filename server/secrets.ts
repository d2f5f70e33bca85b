/** Secrets at rest: AES-256-GCM (NIST SP 800-38D) under the installation's master key, which lives beside the database and not in it. */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  hkdfSync,
  randomBytes,
} from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Seals and opens small secrets; `purpose` binds a sealed value to its place (table, column and row), so that it cannot be moved. */
export interface Vault {
  seal(plain: string, purpose: string): Buffer
  /** @throws when the value was made with another key or for another purpose. */
  open(sealed: Buffer, purpose: string): string
  /** A keyed hash (HMAC-SHA-256) for look-ups by what must not be stored, and for derived tokens. */
  mac(purpose: string, value: string): Buffer
}

// First byte of a sealed value, so that a later format can be told apart.
const format = 1

/** A vault over a 32-byte master key. Encryption and hashing use keys derived from it (HKDF, RFC 5869). */
export function openVault(masterKey: Buffer): Vault {
  if (masterKey.length !== 32) throw new Error('the master key must have 32 bytes')
  const derive = (info: string): Buffer => Buffer.from(hkdfSync('sha256', masterKey, '', `heliogram ${info}`, 32))
  const sealingKey = derive('seal')
  // As a KeyObject: the bytes would be made into one at every call, which takes longer than the hash.
  const macKey = createSecretKey(derive('mac'))
  return {
    seal(plain, purpose) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', sealingKey, nonce)
      cipher.setAAD(Buffer.from(purpose))
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return Buffer.concat([Buffer.of(format), nonce, cipher.getAuthTag(), body])
    },
    open(sealed, purpose) {
      if (sealed[0] !== format) throw new Error('a secret has an unknown format')
      const decipher = createDecipheriv('aes-256-gcm', sealingKey, sealed.subarray(1, 13))
      decipher.setAAD(Buffer.from(purpose))
      decipher.setAuthTag(sealed.subarray(13, 29))
      return Buffer.concat([decipher.update(sealed.subarray(29)), decipher.final()]).toString('utf8')
    },
    mac: (purpose, value) => createHmac('sha256', macKey).update(`${purpose}\0${value}`).digest(),
  }
}

/**
 * Reads the master key (base64 of 32 bytes) or, on the first start, makes one with mode 0600.
 * @throws when the file is not a key, or others than its owner can read it.
 */
export function loadMasterKey(path: string): Buffer {
  if (!existsSync(path)) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeFileSync(path, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flag: 'wx', flush: true })
    chmodSync(path, 0o600)
  }
  if (statSync(path).mode & 0o077) throw new Error(`The key file ${path} can be read by others. Run: chmod 600 ${path}`)
  const key = Buffer.from(readFileSync(path, 'utf8').trim(), 'base64')
  if (key.length !== 32)
    throw new Error(`The key file ${path} is not base64 of 32 bytes. Restore it from where you keep it safe.`)
  return key
}

/** SHA-256, for tokens with at least 112 bits of chance, which need no slow hash (OWASP ASVS 5.0, 6.5.2). */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
