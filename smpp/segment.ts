import type { DefaultAlphabet } from './alphabet.ts'
import {
  cutPoints,
  PART,
  PART16,
  planSegments,
  WHOLE,
  type ConcatenationMode,
  type Encoding,
  type PlanOptions,
} from './count.ts'
import { encodeGsm7 } from './gsm7.ts'
import { packGsm7 } from './packing.ts'
import { writeConcatenation } from './udh.ts'

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

export type CutOptions = PlanOptions & {
  mode: ConcatenationMode
  /** Links the parts of one text; cut to 8 bits for udh8, to 16 otherwise. */
  reference: number
  /** The link's values of data_coding; default 0 and 8. */
  dataCodings?: Partial<Record<Encoding, number | undefined>> | undefined
}

/** The part number has one octet (3GPP TS 23.040 §9.2.3.24.1). */
export const SEGMENTS_MAX = 255

const UDHI = 0x40
const PAYLOAD_OCTETS_MAX = 0xffff

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
