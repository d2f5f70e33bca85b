/** Counts a text in segments, without Node.js: browsers count with it too. */
import { gsm7Length, septetsOf, type DefaultAlphabet } from './alphabet.ts'
import { isClusterSplit, isPairSplit } from './grapheme.ts'

export type Encoding = 'GSM-7' | 'UCS-2'

/** `auto` is GSM-7 if every character has a septet, else UCS-2. */
export type EncodingChoice = 'auto' | 'gsm7' | 'ucs2'

export type SegmentCount = {
  encoding: Encoding
  characters: number
  /** GSM-7 septets, or UTF-16 units of UCS-2. */
  units: number
  segments: number
}

/** How the parts of a long text are linked; one mode per link. */
export type ConcatenationMode = 'udh8' | 'udh16' | 'sar' | 'payload'

/** Options of a link that affect the number of segments. */
export type PlanOptions = {
  encoding?: EncodingChoice | undefined
  /** Default `udh8`. */
  mode?: ConcatenationMode | undefined
  /**
   * How the carrier reads data_coding 0; default `gsm7`. With `latin1` and `ascii` the octets are of that alphabet but counted as the septets
   * that the carrier will make of them; a GSM-7 text outside the alphabet is sent and counted as UCS-2.
   */
  alphabet?: DefaultAlphabet | undefined
}

export type NonGsm7Character = {
  character: string
  /** As in `U+2019`. */
  codePoint: string
  /** Index in code points. */
  position: number
}

type Sizes = Readonly<Record<Encoding, number>>

/** 140 octets: 160 septets, 70 UTF-16 units. */
export const WHOLE: Sizes = { 'GSM-7': 160, 'UCS-2': 70 }
/** 134 octets after a header of 6. Also for SAR and payload, because the carrier makes such headers of them. */
export const PART: Sizes = { 'GSM-7': 153, 'UCS-2': 67 }
/** 133 octets after a header of 7. */
export const PART16: Sizes = { 'GSM-7': 152, 'UCS-2': 66 }

/**
 * Counts a text; the empty one is one segment. Parts are counted as `udh8`, `sar` and `payload` cut them in GSM-7 or UCS-2, which is right for
 * most links before the link is known; planSegments counts for one link. Not capped at SEGMENTS_MAX. Throws a RangeError for `gsm7` if a
 * character has no septet: see findNonGsm7.
 */
export function countSegments(text: string, options: { encoding?: EncodingChoice | undefined } = {}): SegmentCount {
  return planSegments(text, options)
}

/**
 * Counts a text as cutSegments cuts it for a link: `segments` is the number of submits, or with `payload` the number of parts that the carrier
 * makes of the one submit. Exceeds countSegments only because of the link's alphabet or its 16-bit references. Throws as countSegments does.
 */
export function planSegments(text: string, options: PlanOptions = {}): SegmentCount {
  const septets = options.encoding === 'ucs2' ? -1 : gsm7Length(text)
  if (septets < 0 && options.encoding === 'gsm7') throw new RangeError('text has a character outside GSM 03.38')
  const sizes = options.mode === 'udh16' ? PART16 : PART
  if (septets >= 0 && isOf(options.alphabet ?? 'gsm7', text)) {
    const segments = countGsm7(text, septets, sizes['GSM-7'])
    return { encoding: 'GSM-7', characters: text.length, units: septets, segments }
  }
  const segments = text.length <= WHOLE['UCS-2'] ? 1 : cutPoints(text, 'UCS-2', sizes['UCS-2']).length
  return { encoding: 'UCS-2', characters: countPoints(text), units: text.length, segments }
}

function countGsm7(text: string, septets: number, size: number): number {
  if (septets <= WHOLE['GSM-7']) return 1
  if (septets === text.length) return Math.ceil(septets / size)
  return cutPoints(text, 'GSM-7', size).length
}

function countPoints(text: string): number {
  let points = text.length
  for (let at = 1; at < text.length; at++) if (isPairSplit(text, at)) points--
  return points
}

/** The first `limit` occurrences of characters without a septet. */
export function findNonGsm7(text: string, limit: number): NonGsm7Character[] {
  const found: NonGsm7Character[] = []
  let position = 0
  for (const character of text) {
    if (found.length >= limit) break
    if (septetsOf(character.charCodeAt(0)) === 0) {
      const point = character.codePointAt(0) ?? 0
      found.push({ character, codePoint: `U+${point.toString(16).toUpperCase().padStart(4, '0')}`, position })
    }
    position++
  }
  return found
}

/** UTF-16 units or septets that the last segment still takes before another one begins. */
export function roomLeft(text: string, { encoding, segments, units }: SegmentCount): number {
  if (segments === 1) return WHOLE[encoding] - units
  const last = text.slice(cutPoints(text, encoding, PART[encoding]).at(-2))
  return PART[encoding] - (encoding === 'UCS-2' ? last.length : gsm7Length(last))
}

function isOf(alphabet: DefaultAlphabet, text: string): boolean {
  const unitMax = alphabet === 'latin1' ? 0xff : alphabet === 'ascii' ? 0x7f : 0xffff
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > unitMax) return false
  return true
}

/** Where the segments of a text end, as indices of UTF-16 units. */
export function cutPoints(text: string, encoding: Encoding, size: number): number[] {
  const next = encoding === 'GSM-7' ? nextGsm7Cut : nextUcs2Cut
  const ends: number[] = []
  for (let end = 0; end < text.length;) {
    end = next(text, end, size)
    ends.push(end)
  }
  return ends
}

function nextGsm7Cut(text: string, start: number, size: number): number {
  let at = start
  for (let room = size; at < text.length; at++) {
    room -= septetsOf(text.charCodeAt(at))
    if (room < 0) break
  }
  return at
}

function nextUcs2Cut(text: string, start: number, size: number): number {
  const limit = start + size
  if (limit >= text.length) return text.length
  for (let at = limit; at > start; at--) {
    if (!isPairSplit(text, at) && !isClusterSplit(text, at, start)) return at
  }
  return isPairSplit(text, limit) ? limit - 1 : limit
}
