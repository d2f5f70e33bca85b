import { LOCKING_SHIFT, SINGLE_SHIFT, type NationalShift } from './shift.ts'

/** GSM 7-bit default alphabet: a character's index is its septet (3GPP TS 23.038 §6.2.1). */
const DEFAULT_ALPHABET =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞ\u001bÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?' +
  '¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà'

const EXTENSION = '\n\f\u0014^({)}/\\<[=~>]@|e€'

const ESCAPE = 0x1b
const SPACE = 0x20
const REPLACEMENT = 0xfffd
const NOT_ENCODABLE = 0xffff

/** UTF-16 unit → septet, or 0x1b00 + septet for the extension table, or NOT_ENCODABLE. 128 KiB leave one branch per character. */
const SEPTETS: Uint16Array = new Uint16Array(0x10000).fill(NOT_ENCODABLE)
const BASIC_UNITS = toUnits(DEFAULT_ALPHABET)
const EXTENSION_UNITS = withPairs(new Uint16Array(128), EXTENSION)
const LOCKING_UNITS = new Map(Object.entries(LOCKING_SHIFT).map(([code, table]) => [Number(code), toUnits(table)]))
const SINGLE_UNITS = new Map(
  Object.entries(SINGLE_SHIFT).map(([code, pairs]) => [Number(code), withPairs(EXTENSION_UNITS.slice(), pairs)]),
)

BASIC_UNITS.forEach((unit, septet) => {
  if (septet !== ESCAPE) SEPTETS[unit] = septet
})
EXTENSION_UNITS.forEach((unit, septet) => {
  if (unit !== 0) SEPTETS[unit] = (ESCAPE << 8) | septet
})

function toUnits(table: string): Uint16Array {
  return Uint16Array.from(table, (character) => character.charCodeAt(0))
}

function withPairs(units: Uint16Array, pairs: string): Uint16Array {
  for (let at = 0; at < pairs.length; at += 2) units[pairs.charCodeAt(at)] = pairs.charCodeAt(at + 1)
  return units
}

/** Septets of a UTF-16 unit in GSM-7: 1, 2 (extension table), or 0 if it has none. */
export function septetsOf(unit: number): 0 | 1 | 2 {
  const septet = SEPTETS[unit] ?? NOT_ENCODABLE
  return septet < 0x80 ? 1 : septet === NOT_ENCODABLE ? 0 : 2
}

/** Septets of a text in GSM-7 (an extension character takes two), or -1 if a character has none. */
export function gsm7Length(text: string): number {
  let length = text.length
  for (let at = 0; at < text.length; at++) {
    const septet = SEPTETS[text.charCodeAt(at)] ?? NOT_ENCODABLE
    if (septet > 0x7f) {
      if (septet === NOT_ENCODABLE) return -1
      length++
    }
  }
  return length
}

/** Unpacked GSM-7, one septet per octet. Throws a RangeError if a character has no septet: see gsm7Length. */
export function encodeGsm7(text: string): Buffer {
  const length = gsm7Length(text)
  if (length < 0) throw new RangeError('text has a character outside GSM 03.38')
  const octets = Buffer.allocUnsafe(length)
  let to = 0
  for (let at = 0; at < text.length; at++) {
    const septet = SEPTETS[text.charCodeAt(at)] ?? NOT_ENCODABLE
    if (septet > 0x7f) octets[to++] = ESCAPE
    octets[to++] = septet & 0x7f
  }
  return octets
}

/**
 * Decodes unpacked GSM-7; never fails. An escaped septet without a meaning reads as its character in the main table, a doubled or last escape as
 * a space (3GPP TS 23.038 §6.2.1.1), an octet above 0x7f as U+FFFD. 0x00 is `@`, also at the end. Unknown national tables read as the default
 * ones.
 */
export function decodeGsm7(octets: Uint8Array, shift?: NationalShift): string {
  if (shift?.locking === undefined && isAscii(octets)) return toBuffer(octets).toString('latin1')
  const basic = LOCKING_UNITS.get(shift?.locking ?? 0) ?? BASIC_UNITS
  const extension = SINGLE_UNITS.get(shift?.single ?? 0) ?? EXTENSION_UNITS
  const units = Buffer.allocUnsafe(octets.length * 2)
  let to = 0
  for (let at = 0; at < octets.length; at++) {
    const octet = octets[at] ?? 0
    let unit = basic[octet] ?? REPLACEMENT
    if (octet === ESCAPE) {
      const escaped = octets[++at] ?? ESCAPE
      unit = escaped === ESCAPE ? SPACE : extension[escaped] || (basic[escaped] ?? REPLACEMENT)
    }
    units[to++] = unit & 0xff
    units[to++] = unit >> 8
  }
  return units.toString('utf16le', 0, to)
}

export function toBuffer(octets: Uint8Array): Buffer {
  return Buffer.isBuffer(octets) ? octets : Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength)
}

/** 1 for octets that differ between GSM-7 and ASCII. Most texts have none. */
const IS_OTHER = new Uint8Array(256).fill(1)
BASIC_UNITS.forEach((unit, septet) => (IS_OTHER[septet] = Number(unit !== septet || septet === ESCAPE)))

function isAscii(octets: Uint8Array): boolean {
  let others = 0
  for (let at = 0; at < octets.length; at++) others |= IS_OTHER[octets[at] ?? 0] ?? 1
  return others === 0
}
