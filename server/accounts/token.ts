/**
 * Bearer tokens and API keys as text. Both end in a checksum, so that a scanner can tell a leaked one from noise without asking us,
 * and so that a mistyped one costs no look-up:
 *   hg_at_ or hg_rt_            43 base62 of 256 bits, 6 base62 of CRC-32
 *   hg_iv_                   the same: the code of an invitation
 *   hg_live_ or hg_test_        12 base62 of public id, `_`, 43 base62 of 256 bits, 6 base62 of CRC-32
 */
import { createHash, randomBytes, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** A token with valid form and checksum; only the database knows whether it exists. */
export type ReadToken =
  | { kind: 'access' }
  | { kind: 'refresh' }
  | { kind: 'invitation' }
  | { kind: 'key'; mode: 'live' | 'test'; publicId: string }

/** A new API key and its public part, which identifies it when the key must not be shown. `known` gets a new secret for that part. */
export function newKey(mode: 'live' | 'test', known?: string): { key: string; publicId: string } {
  const publicId = known ?? Array.from({ length: 12 }, () => digits[randomInt(62)]).join('')
  return { key: withChecksum(`hg_${mode}_${publicId}_${toBase62(randomBytes(32), 43)}`), publicId }
}

/** Deterministic: the same 32 bytes give the same token. */
export function tokenOf(kind: keyof typeof marks, bytes: Buffer): string {
  return withChecksum(`hg_${marks[kind]}_${toBase62(bytes, 43)}`)
}

const marks = { access: 'at', refresh: 'rt', invitation: 'iv' } as const
const form = /^hg_(?:(at|rt|iv)_|(live|test)_([0-9A-Za-z]{12})_)[0-9A-Za-z]{49}$/

/** Null if it is not one of ours or was mistyped. */
export function readToken(token: string): ReadToken | null {
  const match = form.exec(token)
  if (!match || withChecksum(token.slice(0, -6)) !== token) return null
  const [, kind, mode, publicId] = match
  if (publicId !== undefined) return { kind: 'key', mode: mode === 'test' ? 'test' : 'live', publicId }
  return { kind: kind === 'at' ? 'access' : kind === 'rt' ? 'refresh' : 'invitation' }
}

/** The public part of a key: `hg_live_4fK0…`. */
export function prefixOfKey(mode: string, publicId: string): string {
  return `hg_${mode}_${publicId}`
}

/** SHA-256, for tokens with at least 112 bits of entropy, which need no slow hash (OWASP ASVS 5.0, 6.5.2). */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

const withChecksum = (text: string): string => {
  let rest = crc32(text)
  let checksum = ''
  for (let i = 0; i < 6; i++) {
    checksum = digits[rest % 62] + checksum
    rest = Math.floor(rest / 62)
  }
  return text + checksum
}

function toBase62(bytes: Buffer, length: number): string {
  let rest = BigInt(`0x${bytes.toString('hex')}`)
  let text = ''
  for (let i = 0; i < length; i++) {
    text = digits[Number(rest % 62n)] + text
    rest /= 62n
  }
  return text
}
