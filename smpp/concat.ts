import { type CodingOptions, codingOf } from './coding.ts'
import { unpackGsm7 } from './packing.ts'
import { readOctets, type Reading } from './reading.ts'
import type { NationalShift } from './shift.ts'
import { type Concatenation, readUserDataHeader, toConcatenation } from './udh.ts'

export type TextPdu = {
  esm_class: number
  data_coding: number
  /** data_sm has none. */
  short_message?: Buffer | undefined
  tlvs?: TextTlvs | undefined
}

export type TextTlvs = {
  message_payload?: Buffer
  sar_msg_ref_num?: number
  sar_total_segments?: number
  sar_segment_seqnum?: number
}

/** The user data of one PDU without its header: what to keep of a part until the others arrive. */
export type MessagePart = {
  /** Null for a single-part message. */
  concatenation: Concatenation | null
  data_coding: number
  shift: NationalShift
  /** Octets of the header before the body: the bit at which packed septets begin depends on it. */
  udhLength: number
  /** A view of the PDU's octets: copy it to keep it. */
  body: Buffer
}

export type JoinedMessage = {
  /** Null if the octets of a part are not text. */
  text: string | null
  coding: Reading['coding'] | null
  isExact: boolean
  isReadable: boolean
  octets: Buffer
  missing: number[]
}

const UDHI = 0x40

/**
 * Never fails: an invalid header is text. A header's concatenation takes precedence over SAR TLVs; message_payload replaces an empty
 * short_message (SMPP 3.4 §5.3.2.32).
 */
export function readPart(pdu: TextPdu): MessagePart {
  const { esm_class, data_coding, short_message, tlvs } = pdu
  const octets = short_message?.length ? short_message : (tlvs?.message_payload ?? Buffer.alloc(0))
  const header = (esm_class & UDHI) === 0 ? null : readUserDataHeader(octets)
  const udhLength = header?.length ?? 0
  return {
    concatenation: header?.concatenation ?? readSar(tlvs),
    data_coding,
    shift: header?.shift ?? {},
    udhLength,
    body: octets.subarray(udhLength),
  }
}

function readSar(tlvs: TextTlvs | undefined): Concatenation | null {
  const { sar_msg_ref_num, sar_total_segments, sar_segment_seqnum } = tlvs ?? {}
  if (sar_msg_ref_num === undefined || sar_total_segments === undefined || sar_segment_seqnum === undefined) return null
  return toConcatenation('sar', sar_msg_ref_num, sar_total_segments, sar_segment_seqnum)
}

/**
 * Joins the parts of one message, in any order; the first of two with the same number counts. Adjacent parts with the same coding are joined as
 * octets before decoding, because senders split surrogate pairs and escapes.
 */
export function joinParts(parts: readonly MessagePart[], options: CodingOptions = {}): JoinedMessage {
  const byNumber = new Map<number, MessagePart>()
  for (const part of parts) {
    const number = part.concatenation?.part ?? 1
    if (!byNumber.has(number)) byNumber.set(number, part)
  }
  const ordered = [...byNumber].sort(([a], [b]) => a - b)
  const total = parts[0]?.concatenation?.total ?? 1
  const missing = Array.from({ length: total }, (_, index) => index + 1).filter((number) => !byNumber.has(number))
  const readings = runsOf(ordered).flatMap((run) => readRun(run, options))
  const texts = readings.map(({ text }) => text)
  return {
    text: texts.includes(null) ? null : texts.join(''),
    coding: readings.every(({ coding }) => coding === readings[0]?.coding) ? (readings[0]?.coding ?? null) : null,
    isExact: readings.every(({ isExact }) => isExact),
    isReadable: readings.every(({ isReadable }) => isReadable),
    octets: Buffer.concat(ordered.map(([, part]) => part.body)),
    missing,
  }
}

/** The octets to store beside the text: those that contradict their declared coding or could not be fully read. */
export const octetsToKeep = ({ isExact, isReadable, octets }: JoinedMessage): Buffer | null =>
  isExact && isReadable ? null : octets

function runsOf(ordered: readonly [number, MessagePart][]): MessagePart[][] {
  const runs: MessagePart[][] = []
  let last: [number, MessagePart] | undefined
  for (const [number, part] of ordered) {
    const run = runs.at(-1)
    if (run && last && last[0] + 1 === number && isCodedAlike(last[1], part)) run.push(part)
    else runs.push([part])
    last = [number, part]
  }
  return runs
}

function isCodedAlike(a: MessagePart, b: MessagePart): boolean {
  return a.data_coding === b.data_coding && a.shift.locking === b.shift.locking && a.shift.single === b.shift.single
}

function readRun(run: readonly MessagePart[], options: CodingOptions): Reading[] {
  const [first] = run
  if (!first) return []
  const coding = codingOf(first.data_coding, options)
  const isPacked = coding === 'gsm7-packed' && run.length > 1
  const octets = Buffer.concat(run.map((part) => (isPacked ? unpackGsm7(part.body, part.udhLength) : part.body)))
  return [readOctets(octets, isPacked ? 'gsm7' : coding, { shift: first.shift, udhLength: first.udhLength })]
}
