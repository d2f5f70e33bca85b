import {
  checkInteger,
  checkOctets,
  findNul,
  pduErrorAt,
  readText,
  readUint16,
  type Value,
  writeOctets,
  writeText,
  writeUint16,
  writeUint32,
} from './octets.ts'
import { ESME } from './status.ts'
import { type NamedTlv, TLV_BY_NAME, TLV_BY_TAG, TLVS, type TlvName, type Tlvs } from './tlvs.ts'

export type TlvValues = Readonly<Record<string, Value>>

export function boundTlvs(tlvs: TlvValues): number {
  let octets = 0
  for (const key in tlvs) {
    const value = tlvs[key]
    octets += 8 + (typeof value === 'number' ? 0 : (value?.length ?? 0))
  }
  return octets
}

/** Writes TLVs in their given order; returns the end. Throws PduError if a value or a tag does not fit. */
export function writeTlvs(bytes: Buffer, start: number, tlvs: TlvValues): number {
  let at = start
  for (const key in tlvs) {
    const value = tlvs[key]
    if (value === undefined) continue
    const row = TLV_BY_NAME.get(key)
    const end = row === undefined ? writeUnnamed(bytes, at, key, value) : writeValue(bytes, at + 4, row, value)
    if (row !== undefined) writeUint16(bytes, at, row.tag)
    writeUint16(bytes, at + 2, end - at - 4)
    at = end
  }
  return at
}

function writeUnnamed(bytes: Buffer, at: number, key: string, value: Value): number {
  writeUint16(bytes, at, checkInteger('tag', 'ROPTPARNOTALLWD', Number(key), 0xffff))
  return writeOctets(bytes, at + 4, checkOctets(key, 'RINVPARLEN', value, 0xffff))
}

function writeValue(bytes: Buffer, at: number, row: NamedTlv, value: Value): number {
  const { name, type, integerOctets, max } = row
  if (integerOctets !== 0) {
    const integer = checkInteger(name, 'RINVPARLEN', value, max)
    if (integerOctets === 1) bytes[at] = integer
    else if (integerOctets === 2) writeUint16(bytes, at, integer)
    else writeUint32(bytes, at, integer)
    return at + integerOctets
  }
  if (type === 'cstring') return writeText(bytes, at, name, 'RINVPARLEN', value, max)
  return writeOctets(bytes, at, checkOctets(name, 'RINVPARLEN', value, max))
}

/**
 * Reads the TLVs in bytes[tlvsAt, end) of the PDU at `start`. Throws PduError if they do not fill it; with `dropsBroken` returns the readable
 * ones instead: all before one that is cut short, without integers of an invalid length.
 */
export function readTlvs(
  bytes: Buffer,
  start: number,
  tlvsAt: number,
  end: number,
  dropsBroken: boolean = false,
): Tlvs {
  const tlvs: Tlvs = {}
  let at = tlvsAt
  while (at < end) {
    if (at + 4 > end) {
      if (dropsBroken) return tlvs
      throw pduErrorAt(bytes, start, ESME.RINVOPTPARSTREAM, 'octets behind the last parameter')
    }
    const tag = readUint16(bytes, at)
    const length = readUint16(bytes, at + 2)
    at += 4
    if (at + length > end) {
      if (dropsBroken) return tlvs
      throw pduErrorAt(bytes, start, ESME.RINVPARLEN, `TLV ${tag} is cut short`)
    }
    const row = TLV_BY_TAG[tag]
    if (row === undefined) tlvs[tag] = bytes.subarray(at, at + length)
    else if (row.type === 'octets') putOctets(tlvs, row, bytes.subarray(at, at + length))
    else if (row.type === 'cstring') putText(tlvs, row, readText(bytes, at, findNul(bytes, at, at + length)))
    else if (length >= 1 && length <= 4) putInteger(tlvs, row, readInteger(bytes, at, length))
    else if (!dropsBroken) throw pduErrorAt(bytes, start, ESME.RINVPARLEN, `${row.name} has ${length} octets`)
    at += length
  }
  return tlvs
}

function readInteger(bytes: Buffer, at: number, octets: number): number {
  let integer = bytes[at] ?? 0
  // Multiplied, not shifted: four octets exceed 31 bits.
  for (let i = 1; i < octets; i++) integer = integer * 0x100 + (bytes[at + i] ?? 0)
  return integer
}

// The TLVs of nearly all traffic are named in code: V8 takes five times as long for a name that it must look up.

function putInteger(tlvs: Tlvs, { tag, name }: NamedTlv, integer: number): void {
  if (tag === TLVS.message_state.tag) tlvs.message_state = integer
  else if (tag === TLVS.sar_msg_ref_num.tag) tlvs.sar_msg_ref_num = integer
  else if (tag === TLVS.sar_total_segments.tag) tlvs.sar_total_segments = integer
  else if (tag === TLVS.sar_segment_seqnum.tag) tlvs.sar_segment_seqnum = integer
  else if (tag === TLVS.user_message_reference.tag) tlvs.user_message_reference = integer
  else put(tlvs, name, integer)
}

function putText(tlvs: Tlvs, { tag, name }: NamedTlv, text: string): void {
  if (tag === TLVS.receipted_message_id.tag) tlvs.receipted_message_id = text
  else if (tag === TLVS.additional_status_info_text.tag) tlvs.additional_status_info_text = text
  else put(tlvs, name, text)
}

function putOctets(tlvs: Tlvs, { tag, name }: NamedTlv, octets: Buffer): void {
  if (tag === TLVS.message_payload.tag) tlvs.message_payload = octets
  else if (tag === TLVS.network_error_code.tag) tlvs.network_error_code = octets
  else put(tlvs, name, octets)
}

function put(tlvs: object, name: TlvName, value: number | string | Buffer): void {
  ;(tlvs as Record<TlvName, unknown>)[name] = value
}
