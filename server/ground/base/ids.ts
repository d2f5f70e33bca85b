/** Ids: UUIDv7 in the database (RFC 9562 §5.7), shown as a type prefix and 26 characters of Crockford base32 (TypeID). */
import { randomFillSync } from 'node:crypto'
import { nowMs } from '../db/clock.ts'
import { hexValueOf } from '../db/uuid.ts'

export { firstIdAt, firstIdBehind, firstIdSql, timeOfId } from '../db/uuid.ts'

export type IdPrefix =
  | 'acc'
  | 'usr'
  | 'inv'
  | 'key'
  | 'msg'
  | 'cmp'
  | 'ctc'
  | 'imp'
  | 'evt'
  | 'bat'
  | 'rpl'
  | 'orp'
  | 'whk'
  | 'att'
  | 'car'
  | 'lnk'
  | 'snd'
  | 'pol'
  | 'rte'
  | 'smc'
  | 'alr'
  | 'opt'
  | 'cns'
  | 'brc'
  | 'tpl'
  | 'twc'
  | 'cnv'
  | 'aud'
  | 'grd'
  | 'ers'
  | 'req'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const valueOf = new Int8Array(128).fill(-1)
for (let i = 0; i < 32; i++) valueOf[alphabet.charCodeAt(i)] = i

// The first sixteen are those of hexadecimal. Ids are written into octets and become one string each: concatenation would build trees, 2 KB
// of garbage apiece.
const digits = Buffer.from(alphabet)
const written = Buffer.from('00000000-0000-7000-0000-000000000000')
const shown = Buffer.alloc(30)
const pool = Buffer.allocUnsafe(8192)
let poolUsed = pool.length
let lastMs = 0
let counter = 0

/** Fixed width, in the buffer of the next id. */
function writeHex(value: number, from: number, to: number): void {
  for (let at = to - 1; at >= from; at--, value >>>= 4) written[at] = digits[value & 15] ?? 0
}

/**
 * A new UUIDv7 as 36 lower-case characters. Strictly increasing inside a process: 12 bits of counter follow the millisecond (RFC 9562 §6.2
 * method 1), which `crypto.randomUUIDv7` does not promise; a full counter borrows from the next millisecond.
 */
export function newId(now: number = nowMs()): string {
  if (now > lastMs) {
    lastMs = now
    counter = 0
    writeHex(Math.floor(now / 0x10000), 0, 8)
    writeHex(now % 0x10000, 9, 13)
  } else if (++counter > 0xfff) return newId(lastMs + 1)
  if (poolUsed + 8 > pool.length) {
    randomFillSync(pool)
    poolUsed = 0
  }
  writeHex(counter, 15, 18)
  writeHex(0x8000 | (pool.readUInt16BE(poolUsed) & 0x3fff), 19, 23)
  writeHex(pool.readUInt16BE(poolUsed + 2), 24, 28)
  writeHex(pool.readUInt32BE(poolUsed + 4), 28, 36)
  poolUsed += 8
  return written.toString('latin1')
}

/** Resets the time and counter, for a process that switches databases. */
export function forgetIds(): void {
  lastMs = 0
}

/** The public form of a database id: `msg_01kb…`. Never contains a dot (Standard Webhooks signs `id.timestamp.body`). */
export function showId(prefix: IdPrefix, uuid: string): string {
  for (let i = 0; i < 3; i++) shown[i] = prefix.charCodeAt(i)
  shown[3] = 0x5f
  // 128 bits in 26 characters of 5 bits, the first of which carries 3; the hyphens have no value.
  let at = 4
  let bits = 2
  let value = 0
  for (let i = 0; i < 36; i++) {
    const nibble = hexValueOf[uuid.charCodeAt(i)] ?? -1
    if (nibble < 0) continue
    value = (value << 4) | nibble
    bits += 4
    if (bits < 5) continue
    bits -= 5
    shown[at++] = digits[value >> bits] ?? 0
    value &= (1 << bits) - 1
  }
  return shown.toString('latin1', 0, at)
}

/** Null if it is not an id of that kind. */
export function parseId(prefix: IdPrefix, id: string): string | null {
  if (id.length !== prefix.length + 27 || !id.startsWith(prefix) || id[prefix.length] !== '_') return null
  return decodeBase32(id.slice(prefix.length + 1))
}

function decodeBase32(text: string): string | null {
  let hex = ''
  let value = 0
  let bits = -2
  for (let i = 0; i < 26; i++) {
    const digit = valueOf[text.charCodeAt(i)] ?? -1
    if (digit < 0 || (i === 0 && digit > 7)) return null
    value = (value << 5) | digit
    bits += 5
    while (bits >= 4) {
      bits -= 4
      hex += ((value >> bits) & 15).toString(16)
    }
    value &= (1 << Math.max(bits, 0)) - 1
  }
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
