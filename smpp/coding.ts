import type { DefaultAlphabet } from './alphabet.ts'
import { decodeGsm7, toBuffer } from './gsm7.ts'
import { unpackGsm7 } from './packing.ts'
import type { NationalShift } from './shift.ts'

export type TextCoding =
  | DefaultAlphabet
  | 'ucs2'
  | 'utf8'
  | 'binary'
  | 'shift_jis'
  | 'iso-8859-5'
  | 'iso-8859-8'
  | 'iso-2022-jp'
  | 'euc-kr'

export type CodingOptions = {
  /** Default `gsm7`. */
  defaultAlphabet?: DefaultAlphabet | undefined
  /** By data_coding, for carriers that redefine values. */
  overrides?: Readonly<Record<number, TextCoding>> | undefined
}

/** data_coding 0 to 15 (SMPP 3.4 §5.2.19, 5.0 §4.7.7). Missing values are the default alphabet. */
const CODINGS: Readonly<Record<number, TextCoding>> = {
  1: 'ascii',
  2: 'binary',
  3: 'latin1',
  4: 'binary',
  5: 'shift_jis',
  6: 'iso-8859-5',
  7: 'iso-8859-8',
  8: 'ucs2',
  9: 'binary',
  10: 'iso-2022-jp',
  13: 'shift_jis',
  14: 'euc-kr',
}

/** The coding of a data_coding: the carrier's override, then SMPP's values, then the groups of a GSM data coding scheme (3GPP TS 23.038 §4). */
export function codingOf(data_coding: number, options?: CodingOptions): TextCoding {
  const alphabet = options?.defaultAlphabet ?? 'gsm7'
  const own = options?.overrides?.[data_coding]
  if (own !== undefined) return own
  if (data_coding < 0x10) return CODINGS[data_coding] ?? alphabet
  // Message class (0x10-0x1f), compressed and so unreadable (0x20-0x3f), marked for deletion (0x40-0x7f).
  if (data_coding < 0x80) {
    if ((data_coding & 0x20) !== 0) return 'binary'
    const bits = data_coding & 0x0c
    return bits === 0x08 ? 'ucs2' : bits === 0x04 ? 'binary' : alphabet
  }
  // Message waiting in UCS-2 (0xe0-0xef); class with an alphabet bit (0xf0-0xff).
  if (data_coding >= 0xf0) return (data_coding & 0x04) === 0 ? alphabet : 'binary'
  return data_coding >= 0xe0 ? 'ucs2' : alphabet
}

export type OctetsContext = { shift?: NationalShift; udhLength?: number }

/**
 * Decodes octets, or returns them unchanged if the coding is binary. Never fails: undecodable octets become U+FFFD. NUL is dropped, because
 * carriers end texts with it and PostgreSQL cannot store it. (In GSM-7 0x00 is `@` and stays.)
 */
export function decodeText(octets: Uint8Array, coding: TextCoding, context?: OctetsContext): string | Buffer {
  if (coding === 'gsm7') return decodeGsm7(octets, context?.shift)
  if (coding === 'gsm7-packed') return decodeGsm7(unpackGsm7(octets, context?.udhLength), context?.shift)
  if (coding === 'binary') return toBuffer(octets)
  if (coding === 'ascii' && isGsm7(octets)) return decodeGsm7(withoutPadding(octets), context?.shift)
  // The Encoding Standard's latin1 is Windows-1252; SMPP means ISO 8859-1.
  if (coding === 'latin1') return withoutNul(toBuffer(octets).toString('latin1'))
  if (coding === 'ucs2' && isShortUtf16(octets)) return decodeShortUtf16(octets)
  return withoutNul(new TextDecoder(labelOf(coding, octets)).decode(octets))
}

/**
 * Whether declared ASCII is unpacked GSM-7: npm smpp and copies of its table send all of GSM-7 under data_coding 1. There `@`, `$`, `_`, `£` and
 * the escape before `€` and `[` are controls that no ASCII text has. Western European letters cannot be distinguished.
 */
function isGsm7(octets: Uint8Array): boolean {
  let isControlled = false
  for (const octet of withoutPadding(octets)) {
    if (octet >= 0x80) return false
    if (octet < 0x20 && octet !== 0x09 && octet !== 0x0a && octet !== 0x0d) isControlled = true
  }
  return isControlled
}

/** Without NULs at the end. */
export function withoutPadding(octets: Uint8Array): Uint8Array {
  let end = octets.length
  while (end > 0 && octets[end - 1] === 0) end--
  return octets.subarray(0, end)
}

/** Holds more than one segment, byte-swapped for this machine. */
const swapped = Buffer.alloc(256)

/** Short, whole units without a byte order mark. A TextDecoder would cost five times as much for these. */
function isShortUtf16(octets: Uint8Array): boolean {
  return octets.length % 2 === 0 && octets.length <= swapped.length && (octets[0] ?? 0) < 0xfe
}

function decodeShortUtf16(octets: Uint8Array): string {
  let isPlain = true
  for (let at = 0; at < octets.length; at += 2) {
    const high = octets[at] ?? 0
    const low = octets[at + 1] ?? 0
    swapped[at] = low
    swapped[at + 1] = high
    if ((high & 0xf8) === 0xd8 || (high | low) === 0) isPlain = false
  }
  const text = swapped.toString('utf16le', 0, octets.length)
  // Only lone surrogates and NUL need repair.
  return isPlain ? text : withoutNul(text.toWellFormed())
}

function labelOf(coding: TextCoding, octets: Uint8Array): string {
  // Carriers that promise ASCII and send more mean UTF-8 or Latin-1; only UTF-8 can be recognised.
  if (coding === 'ascii' || coding === 'utf8') return 'utf-8'
  if (coding !== 'ucs2') return coding
  // SMPP says big-endian; a little-endian byte order mark shows that the sender ignored it.
  return octets[0] === 0xff && octets[1] === 0xfe ? 'utf-16le' : 'utf-16be'
}

function withoutNul(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '') : text
}
