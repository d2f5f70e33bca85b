import { decodeText, withoutPadding, type OctetsContext, type TextCoding } from './coding.ts'
import { decodeGsm7, toBuffer } from './gsm7.ts'
import { unpackGsm7 } from './packing.ts'

export type Reading = {
  /** Null if the octets are not text. Unreadable octets are U+FFFD. */
  text: string | null
  coding: TextCoding | 'windows-1252'
  /** The octets match their declared coding and are fully readable. If not, keep them beside the text. */
  isExact: boolean
  /** All octets could be read, as declared or otherwise. */
  isReadable: boolean
}

/**
 * Reads the octets of a message; never fails. The declared coding is used unless the octets disprove it: GSM-7 and ASCII have nothing above 0x7F
 * and no pairs like those of UCS-2 (`@S@T`), Latin-1 has no controls, UCS-2 has an even length. Then the first of these that fits: UTF-16 in
 * either order, UTF-8, packed GSM-7, Windows-1252, UCS-2 of Chinese, Japanese or Korean. Octets declared as binary are text if they are
 * printable text.
 */
export function readOctets(octets: Uint8Array, declared: TextCoding, context?: OctetsContext): Reading {
  if (!isDisproved(octets, declared, context)) {
    const text = decodeText(octets, declared, context)
    if (typeof text === 'string' && (!text.includes('\ufffd') || isWritten(text, octets, declared)))
      return { text, coding: declared, isExact: true, isReadable: true }
  }
  for (const read of readers) {
    const found = read(octets, declared, context)
    if (found) return { ...found, isExact: false, isReadable: true }
  }
  if (declared === 'binary') return { text: null, coding: declared, isExact: true, isReadable: false }
  const text = String(decodeText(octets, declared, context))
  return { text, coding: declared, isExact: false, isReadable: !text.includes('\ufffd') }
}

/** Whether the sender wrote every U+FFFD of a text, as UCS-2 can. */
const isWritten = (text: string, octets: Uint8Array, declared: TextCoding): boolean =>
  declared === 'ucs2' && Buffer.from(text, 'utf16le').swap16().equals(octets)

function isDisproved(octets: Uint8Array, declared: TextCoding, context?: OctetsContext): boolean {
  switch (declared) {
    case 'gsm7':
    case 'ascii':
      return isAbove(octets, 0x7f) || isUtf16(octets)
    case 'gsm7-packed':
      return isWordy(latin1(octets)) && !isWordy(unpacked(octets, context))
    case 'latin1':
    case 'iso-8859-5':
    case 'iso-8859-8':
      return isAbove(octets, 0x7f) ? hasControls(octets) || utf8(octets) !== null : hasControls(octets)
    case 'ucs2':
      return isNoUcs2(octets)
    case 'shift_jis':
    case 'euc-kr':
      // A pair or two may be valid in both by chance.
      return octets.length >= 6 && isAbove(octets, 0x7f) && utf8(octets) !== null
    case 'binary':
      return true
    case 'utf8':
    case 'iso-2022-jp':
      return false
    default:
      return declared satisfies never
  }
}

type Found = Pick<Reading, 'text' | 'coding'>
type Reader = (octets: Uint8Array, declared: TextCoding, context?: OctetsContext) => Found | null

const readAsUtf8: Reader = (octets) => {
  const text = hasC0(octets) ? null : utf8(octets)
  return text !== null && isPrintable(text) ? { text: withoutNul(text), coding: 'utf8' } : null
}

/** A final NUL may be half a unit. */
const readAsUtf16: Reader = (octets, declared) => {
  const isEnded = octets.length % 2 === 1 && octets.at(-1) === 0
  const units = isEnded ? octets.subarray(0, -1) : octets
  if (!(declared === 'ucs2' && isEnded && !isNoUcs2(units)) && !isUtf16(units)) return null
  const text = decodeUtf16(units)
  return isPrintable(text) ? { text, coding: 'ucs2' } : null
}

const readAsGsm7: Reader = (octets, declared, context) =>
  singleOctets.has(declared) && !isAbove(octets, 0x7f)
    ? { text: decodeGsm7(octets, context?.shift), coding: 'gsm7' }
    : null

const readAsPacked: Reader = (octets, declared, context) => {
  if (!singleOctets.has(declared) && (declared !== 'binary' || octets.length < 4)) return null
  const text = unpacked(octets, context)
  const isOdd = hasControls(octets) || shareOf(octets, (octet) => octet > 0x7f) > 0.25
  return isOdd && isWordy(text) ? { text, coding: 'gsm7-packed' } : null
}

const readAsWindows: Reader = (octets, declared) => {
  // Random octets or half units also yield letters.
  const isMostlyAscii = shareOf(octets, (octet) => octet < 0x80) >= 0.7
  if (
    hasC0(octets) ||
    !(singleOctets.has(declared) || (isMostlyAscii && (declared === 'binary' || declared === 'ucs2')))
  )
    return null
  const text = new TextDecoder('windows-1252').decode(octets)
  return isPrintable(text) ? { text: withoutNul(text), coding: 'windows-1252' } : null
}

/** Tried last: pairs of Latin letters are also Chinese characters. */
const readAsEastAsian: Reader = (octets, declared) => {
  if (!singleOctets.has(declared) || octets.length < 4 || octets.length % 2 !== 0) return null
  const text = new TextDecoder('utf-16be').decode(octets)
  return eastAsian.test(text) ? { text, coding: 'ucs2' } : null
}

const eastAsian = /^[\p{sc=Han}\p{sc=Hang}\p{sc=Hira}\p{sc=Kana}\u3000-\u303f\uff00-\uffef\u0020-\u007e\n]+$/u

const singleOctets: ReadonlySet<TextCoding> = new Set(['gsm7', 'ascii', 'latin1', 'iso-8859-5', 'iso-8859-8', 'utf8'])
const readers = [readAsUtf16, readAsUtf8, readAsGsm7, readAsPacked, readAsWindows, readAsEastAsian]

/** UCS-2 is disproved by half a unit, words in ASCII or UTF-8, or the other byte order. */
function isNoUcs2(octets: Uint8Array): boolean {
  if (octets.length % 2 !== 0) return true
  if (hasMark(octets)) return false
  if (isLittleEndian(octets)) return true
  const said = withoutPadding(octets)
  const text = said.length < 4 ? null : utf8(said)
  if (text === null || hasC0(said)) return false
  // A few Chinese or Korean characters may have these octets by chance.
  if (isAbove(said, 0x7f)) return said.length >= 6
  return said.length >= 8 ? isWordy(text) : /^(?:[A-Z]+|[A-Z]?[a-z]+)[.!]?$/.test(text)
}

const hasMark = (octets: Uint8Array): boolean =>
  (octets[0] === 0xfe && octets[1] === 0xff) || (octets[0] === 0xff && octets[1] === 0xfe)

/** The common alphabets and signs, and all pairs, such as emoji: chance yields few. */
const alphabets = [
  [0, 0x1ff],
  [0x300, 0x6ff],
  [0x900, 0x9ff],
  [0xe00, 0xe7f],
  [0x1e00, 0x1eff],
  [0x200d, 0x203f],
  [0x20a0, 0x20bf],
  [0x2764, 0x2764],
  [0xfe0f, 0xfe0f],
  [0x10000, 0x10ffff],
] as const

function isOfAlphabets(octets: Uint8Array, order: 'utf-16be' | 'utf-16le'): boolean {
  for (const character of new TextDecoder(order).decode(octets)) {
    const point = character.codePointAt(0) ?? 0
    if (!alphabets.some(([first, last]) => first <= point && point <= last)) return false
  }
  return true
}

/** One unit decides nothing: a letter in one byte order is a Chinese character in the other. */
const isLittleEndian = (octets: Uint8Array): boolean =>
  octets.length >= 4 &&
  octets.length % 2 === 0 &&
  isOfAlphabets(octets, 'utf-16le') &&
  !isOfAlphabets(octets, 'utf-16be')

function isUtf16(octets: Uint8Array): boolean {
  if (octets.length < 4 || octets.length % 2 !== 0) return false
  return hasMark(octets) || isOfAlphabets(octets, 'utf-16le') !== isOfAlphabets(octets, 'utf-16be')
}

function decodeUtf16(octets: Uint8Array): string {
  const isLittle = (octets[0] === 0xff && octets[1] === 0xfe) || (!hasMark(octets) && isLittleEndian(octets))
  return withoutNul(new TextDecoder(isLittle ? 'utf-16le' : 'utf-16be').decode(octets))
}

const strict = new TextDecoder('utf-8', { fatal: true })

function utf8(octets: Uint8Array): string | null {
  try {
    return strict.decode(octets)
  } catch {
    return null
  }
}

const latin1 = (octets: Uint8Array): string => toBuffer(octets).toString('latin1')

const unpacked = (octets: Uint8Array, context?: OctetsContext): string =>
  decodeGsm7(unpackGsm7(octets, context?.udhLength), context?.shift)

const withoutNul = (text: string): string => text.replaceAll('\0', '')

function isAbove(octets: Uint8Array, most: number): boolean {
  for (const octet of octets) if (octet > most) return true
  return false
}

/** Controls that texts do not contain, except NULs at the end. */
function hasC0(octets: Uint8Array): boolean {
  return withoutPadding(octets).some((octet) => octet < 0x20 && octet !== 0x09 && octet !== 0x0a && octet !== 0x0d)
}

const hasControls = (octets: Uint8Array): boolean =>
  hasC0(octets) || octets.some((octet) => octet >= 0x7f && octet < 0xa0)

function shareOf(octets: Uint8Array, isCounted: (octet: number) => boolean): number {
  let count = 0
  for (const octet of octets) if (isCounted(octet)) count++
  return octets.length === 0 ? 0 : count / octets.length
}

const isPrintable = (text: string): boolean => text !== '' && !/[^\P{Cc}\t\n\r]|\ufffd/u.test(text.replace(/\0+$/, ''))

/** Words as people write them, in ASCII: `STOP`, `Stop` or `stop 12`. Chance yields `sToP`. */
function isWordy(text: string): boolean {
  if (!/^[A-Za-z0-9 .,!?'":;()/@\r\n-]+$/.test(text)) return false
  const words = text.split(/[^A-Za-z0-9']+/).filter((word) => word !== '')
  return words.length > 0 && words.every((word) => /^(?:[A-Z']+|[A-Z]?[a-z']+|\d+)$/.test(word))
}
