import {
  BASIC_UNITS,
  ESCAPE,
  EXTENSION_UNITS,
  gsm7Length,
  NOT_ENCODABLE,
  SEPTETS,
  toUnits,
  withPairs,
} from './alphabet.ts'
import { LOCKING_SHIFT, SINGLE_SHIFT, type NationalShift } from './shift.ts'

const SPACE = 0x20
const REPLACEMENT = 0xfffd

const LOCKING_UNITS = new Map(Object.entries(LOCKING_SHIFT).map(([code, table]) => [Number(code), toUnits(table)]))
const SINGLE_UNITS = new Map(
  Object.entries(SINGLE_SHIFT).map(([code, pairs]) => [Number(code), withPairs(EXTENSION_UNITS.slice(), pairs)]),
)

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
