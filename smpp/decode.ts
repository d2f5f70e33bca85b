import { COMMANDS, type CommandName, fieldsOf, type WireField } from './commands.ts'
import { HEADER_OCTETS, indexOfId, isResponseId, PDU_OCTETS_MAX, type Pdu, PduError } from './pdu.ts'
import { ESME } from './status.ts'
import { type NamedTlv, TLV_BY_TAG, type Tlvs } from './tlvs.ts'

type Value = number | string | Buffer | Tlvs | undefined

interface Decoder {
  readonly isResponse: boolean
  readonly fields: readonly WireField[]
  /** A PDU of the command with every field at its default: a copy of it has its shape before the first field is read. */
  readonly blank: Readonly<Record<string, Value>>
}

const DEFAULTS = { uint8: 0, cstring: '', octets: Buffer.alloc(0) } as const

const DECODERS: (Decoder | undefined)[] = []
for (const command of Object.keys(COMMANDS) as CommandName[]) {
  const { id } = COMMANDS[command]
  const fields = fieldsOf(command)
  const header = Object.entries({ command, command_status: 0, sequence_number: 0, tlvs: undefined })
  // Built by fromEntries, V8 copies it in one step; built field by field, a copy would cost a hundred times as much.
  const blank = Object.fromEntries<Value>([
    ...header,
    ...fields.map(({ name, type }) => [name, DEFAULTS[type]] as const),
  ])
  DECODERS[indexOfId(id)] = { isResponse: isResponseId(id), fields, blank }
}

/**
 * Decodes the one PDU in bytes[start, end). Throws PduError with the status that answers it: RINVCMDLEN for a length that
 * does not match or a field cut short, RINVCMDID for an unknown command, a field's own status for one that is too long,
 * RINVOPTPARSTREAM and RINVPARLEN for TLVs that do not fit. A response may lack its body: its fields are then 0, '' and empty.
 */
export function decodePdu(bytes: Buffer, start: number = 0, end: number = bytes.length): Pdu {
  const octets = end - start
  if (octets < HEADER_OCTETS) throw new PduError(ESME.RINVCMDLEN, `a PDU has at least ${HEADER_OCTETS} octets`)
  const id = readUint32(bytes, start + 4)
  if (octets > PDU_OCTETS_MAX || readUint32(bytes, start) !== octets) {
    throw pduError(bytes, start, ESME.RINVCMDLEN, 'command_length is not the length')
  }
  const decoder = DECODERS[indexOfId(id)]
  if (decoder === undefined) throw pduError(bytes, start, ESME.RINVCMDID, 'unknown command_id')
  const pdu = { ...decoder.blank }
  pdu.command_status = readUint32(bytes, start + 8)
  pdu.sequence_number = readUint32(bytes, start + 12)
  if (octets === HEADER_OCTETS && decoder.isResponse) return pdu as Pdu
  let at = start + HEADER_OCTETS
  for (const field of decoder.fields) {
    const { name, type } = field
    if (type === 'uint8') {
      if (at >= end) throw pduError(bytes, start, ESME.RINVCMDLEN, `${name} is missing`)
      pdu[name] = bytes[at++]
    } else if (type === 'cstring') {
      const limit = Math.min(end, at + field.maxRead)
      const nul = findNul(bytes, at, limit)
      if (nul === limit && limit === end) throw pduError(bytes, start, ESME.RINVCMDLEN, `${name} has no NUL`)
      if (nul === limit) throw pduError(bytes, start, ESME[field.status], `${name} is too long`)
      pdu[name] = nul === at ? '' : bytes.toString('latin1', at, nul)
      at = nul + 1
    } else {
      if (at >= end) throw pduError(bytes, start, ESME.RINVCMDLEN, `${name} is missing`)
      const length = bytes[at++] ?? 0
      if (length > field.maxRead) throw pduError(bytes, start, ESME[field.status], `${name} is too long`)
      if (at + length > end) throw pduError(bytes, start, ESME.RINVCMDLEN, `${name} is cut short`)
      pdu[name] = length === 0 ? DEFAULTS.octets : bytes.subarray(at, at + length)
      at += length
    }
  }
  if (at < end) pdu.tlvs = readTlvs(bytes, start, at, end)
  return pdu as Pdu
}

/** Decodes a response by its header alone, as though it had no body: what is left to know of one whose body is broken. */
export function decodeHeader(bytes: Buffer, start: number): Pdu {
  const header = Buffer.from(bytes.subarray(start, start + HEADER_OCTETS))
  header.writeUInt32BE(HEADER_OCTETS, 0)
  return decodePdu(header)
}

/** Reads an unsigned integer of 32 bits. */
export function readUint32(bytes: Buffer, at: number): number {
  const high = ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)
  return high * 0x10000 + (((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0))
}

function pduError(bytes: Buffer, start: number, status: number, message: string): PduError {
  const id = readUint32(bytes, start + 4)
  return new PduError(status, message, id, readUint32(bytes, start + 12), readUint32(bytes, start + 8))
}

/** Finds the first NUL in bytes[at, limit); `limit` when there is none. The texts are too short for a call out of V8 to pay. */
function findNul(bytes: Buffer, at: number, limit: number): number {
  let nul = at
  while (nul < limit && bytes[nul] !== 0) nul++
  return nul
}

function readTlvs(bytes: Buffer, start: number, tlvsAt: number, end: number): Tlvs {
  const tlvs: Record<string | number, number | string | Buffer> = {}
  let at = tlvsAt
  while (at < end) {
    if (at + 4 > end) throw pduError(bytes, start, ESME.RINVOPTPARSTREAM, 'octets behind the last parameter')
    const tag = bytes.readUInt16BE(at)
    const length = bytes.readUInt16BE(at + 2)
    at += 4
    if (at + length > end) throw pduError(bytes, start, ESME.RINVPARLEN, `TLV ${tag} is cut short`)
    const row = TLV_BY_TAG.get(tag)
    if (row === undefined) tlvs[tag] = bytes.subarray(at, at + length)
    else tlvs[row.name] = readTlv(bytes, start, at, length, row)
    at += length
  }
  return tlvs as Tlvs
}

function readTlv(bytes: Buffer, start: number, at: number, length: number, row: NamedTlv): number | string | Buffer {
  if (row.type === 'octets') return bytes.subarray(at, at + length)
  if (row.type === 'cstring') return bytes.toString('latin1', at, findNul(bytes, at, at + length))
  if (length < 1 || length > 4) throw pduError(bytes, start, ESME.RINVPARLEN, `${row.name} has ${length} octets`)
  return bytes.readUIntBE(at, length)
}
