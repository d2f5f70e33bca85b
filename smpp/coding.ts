import { decodeGsm7, toBuffer } from './gsm7.ts'
import { unpackGsm7 } from './packing.ts'
import type { NationalShift } from './shift.ts'

/** How a carrier reads and writes "the default alphabet": mostly septets one an octet, sometimes something else. */
export type DefaultAlphabet = 'gsm7' | 'gsm7-packed' | 'latin1' | 'ascii'

/** How the octets of a message become text. The last five are labels of the Encoding Standard. */
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

/** What is known of a carrier's codings. */
export type CodingOptions = {
  /** `gsm7` by default. */
  defaultAlphabet?: DefaultAlphabet | undefined
  /** By data_coding, for carriers that use a value in their own way. */
  overrides?: Readonly<Record<number, TextCoding>> | undefined
}

/** data_coding 0 to 15 (SMPP 3.4 §5.2.19, 5.0 §4.7.7); what has no place here is the default alphabet. */
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

/** What data_coding means: the carrier's own word, SMPP's values, else the groups of a GSM data coding scheme (3GPP TS 23.038 §4). */
export function codingOf(data_coding: number, options?: CodingOptions): TextCoding {
  const alphabet = options?.defaultAlphabet ?? 'gsm7'
  const own = options?.overrides?.[data_coding]
  if (own !== undefined) return own
  if (data_coding < 0x10) return CODINGS[data_coding] ?? alphabet
  // Message class (0x10-0x1f), compressed (0x20-0x3f, which nobody can read), marked for deletion (0x40-0x7f).
  if (data_coding < 0x80) {
    if ((data_coding & 0x20) !== 0) return 'binary'
    const bits = data_coding & 0x0c
    return bits === 0x08 ? 'ucs2' : bits === 0x04 ? 'binary' : alphabet
  }
  // Message waiting in UCS-2 (0xe0-0xef); class with an alphabet bit (0xf0-0xff).
  if (data_coding >= 0xf0) return (data_coding & 0x04) === 0 ? alphabet : 'binary'
  return data_coding >= 0xe0 ? 'ucs2' : alphabet
}

/** What decodeText needs to know of the octets besides their coding. */
export type OctetsContext = { shift?: NationalShift; udhLength?: number }

/**
 * The octets of a message as text, or themselves where the coding is binary; never fails. What cannot be read is U+FFFD.
 * NUL is left out: carriers end texts with it, and PostgreSQL cannot store it. (In GSM-7 0x00 is `@` and stays.)
 */
export function decodeText(octets: Uint8Array, coding: TextCoding, context?: OctetsContext): string | Buffer {
  if (coding === 'gsm7') return decodeGsm7(octets, context?.shift)
  if (coding === 'gsm7-packed') return decodeGsm7(unpackGsm7(octets, context?.udhLength), context?.shift)
  if (coding === 'binary') return toBuffer(octets)
  if (coding === 'ascii' && isGsm7(octets)) return decodeGsm7(withoutPadding(octets), context?.shift)
  // The Encoding Standard's latin1 is Windows-1252, which is not what SMPP means.
  if (coding === 'latin1') return withoutNul(toBuffer(octets).toString('latin1'))
  if (coding === 'ucs2' && isShortUtf16(octets)) return decodeShortUtf16(octets)
  return withoutNul(new TextDecoder(labelOf(coding, octets)).decode(octets))
}

/**
 * Whether what is said to be ASCII is GSM-7, one septet an octet: npm smpp, and who copied its table, write all of GSM-7 under data_coding 1. There
 * `@`, `$`, `_`, `£` and the escape before `€` and `[` are controls that no ASCII text has; letters of Western Europe cannot be told.
 */
function isGsm7(octets: Uint8Array): boolean {
  let isControlled = false
  for (const octet of withoutPadding(octets)) {
    if (octet >= 0x80) return false
    if (octet < 0x20 && octet !== 0x09 && octet !== 0x0a && octet !== 0x0d) isControlled = true
  }
  return isControlled
}

function withoutPadding(octets: Uint8Array): Uint8Array {
  let end = octets.length
  while (end > 0 && octets[end - 1] === 0) end--
  return octets.subarray(0, end)
}

/** One segment and more, with its octets in the order of this machine. */
const swapped = Buffer.alloc(256)

/** Whole units without a byte order mark, and few of them: what is not worth a TextDecoder, which costs five times as much. */
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
  // Only surrogates may be torn, and only a NUL must go.
  return isPlain ? text : withoutNul(text.toWellFormed())
}

/** The decoder of the Encoding Standard for a coding. */
function labelOf(coding: TextCoding, octets: Uint8Array): string {
  // Carriers that promise ASCII and send more mean UTF-8 or Latin-1; only the former can be told.
  if (coding === 'ascii' || coding === 'utf8') return 'utf-8'
  if (coding !== 'ucs2') return coding
  // SMPP says big-endian; a byte order mark says that a sender did not read it.
  return octets[0] === 0xff && octets[1] === 0xfe ? 'utf-16le' : 'utf-16be'
}

function withoutNul(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '') : text
}
