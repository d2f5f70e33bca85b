import type { DefaultAlphabet } from './coding.ts'
import { isClusterSplit, isPairSplit } from './grapheme.ts'
import { encodeGsm7, gsm7Length, septetsOf } from './gsm7.ts'
import { packGsm7 } from './packing.ts'
import { writeConcatenation } from './udh.ts'

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

/** The fields of a submit_sm or deliver_sm for one segment. */
export type SegmentPdu = {
  data_coding: number
  esm_class: number
  short_message: Buffer
  tlvs?: SegmentTlvs
}

export type SegmentTlvs = {
  sar_msg_ref_num?: number
  sar_total_segments?: number
  sar_segment_seqnum?: number
  message_payload?: Buffer
}

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

export type CutOptions = PlanOptions & {
  mode: ConcatenationMode
  /** Links the parts of one text; cut to 8 bits for udh8, to 16 otherwise. */
  reference: number
  /** The link's values of data_coding; default 0 and 8. */
  dataCodings?: Partial<Record<Encoding, number | undefined>> | undefined
}

export type NonGsm7Character = {
  character: string
  /** As in `U+2019`. */
  codePoint: string
  /** Index in code points. */
  position: number
}

/** The part number has one octet (3GPP TS 23.040 §9.2.3.24.1). */
export const SEGMENTS_MAX = 255

type Sizes = Readonly<Record<Encoding, number>>

/** 140 octets: 160 septets, 70 UTF-16 units. */
const WHOLE: Sizes = { 'GSM-7': 160, 'UCS-2': 70 }
/** 134 octets after a header of 6. Also for SAR and payload, because the carrier makes such headers of them. */
const PART: Sizes = { 'GSM-7': 153, 'UCS-2': 67 }
/** 133 octets after a header of 7. */
const PART16: Sizes = { 'GSM-7': 152, 'UCS-2': 66 }

const UDHI = 0x40
const PAYLOAD_OCTETS_MAX = 0xffff

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

/**
 * Cuts a text into the fields of its submits, in order. Never cuts an escaped septet, a surrogate pair or a grapheme cluster that fits a segment.
 * A text of one segment carries no concatenation in any mode. Throws a RangeError above SEGMENTS_MAX parts, above 65,535 octets of payload, and
 * as planSegments does.
 */
export function cutSegments(text: string, options: CutOptions): SegmentPdu[] {
  const { encoding, units } = planSegments(text, options)
  const isUcs2 = encoding === 'UCS-2'
  const data_coding = options.dataCodings?.[encoding] ?? (isUcs2 ? 8 : 0)
  const encode = isUcs2 ? encodeUcs2 : ENCODERS[options.alphabet ?? 'gsm7']
  if (units <= WHOLE[encoding]) return [{ data_coding, esm_class: 0, short_message: encode(text, 0) }]

  if (options.mode === 'payload') {
    const message_payload = encode(text, 0)
    if (message_payload.length > PAYLOAD_OCTETS_MAX) throw new RangeError('text is longer than a message_payload')
    return [{ data_coding, esm_class: 0, short_message: Buffer.alloc(0), tlvs: { message_payload } }]
  }

  const ends = cutPoints(text, encoding, (options.mode === 'udh16' ? PART16 : PART)[encoding])
  const total = ends.length
  if (total > SEGMENTS_MAX) throw new RangeError(`text takes ${total} segments, more than ${SEGMENTS_MAX}`)
  return ends.map((end, index): SegmentPdu => {
    const part = text.slice(ends[index - 1] ?? 0, end)
    if (options.mode === 'udh8' || options.mode === 'udh16') {
      const header = writeConcatenation({ kind: options.mode, reference: options.reference, total, part: index + 1 })
      return { data_coding, esm_class: UDHI, short_message: Buffer.concat([header, encode(part, header.length)]) }
    }
    const tlvs = {
      sar_msg_ref_num: options.reference & 0xffff,
      sar_total_segments: total,
      sar_segment_seqnum: index + 1,
    }
    return { data_coding, esm_class: 0, short_message: encode(part, 0), tlvs }
  })
}

const ENCODERS: Readonly<Record<DefaultAlphabet, (text: string, udhLength: number) => Buffer>> = {
  gsm7: encodeGsm7,
  'gsm7-packed': (text, udhLength) => packGsm7(encodeGsm7(text), udhLength),
  latin1: (text) => Buffer.from(text, 'latin1'),
  ascii: (text) => Buffer.from(text, 'latin1'),
}

function encodeUcs2(text: string): Buffer {
  return Buffer.from(text, 'utf16le').swap16()
}

function isOf(alphabet: DefaultAlphabet, text: string): boolean {
  const unitMax = alphabet === 'latin1' ? 0xff : alphabet === 'ascii' ? 0x7f : 0xffff
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > unitMax) return false
  return true
}

function cutPoints(text: string, encoding: Encoding, size: number): number[] {
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
