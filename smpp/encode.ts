import { COMMANDS, type CommandName, fieldsOf, type WireField } from './commands.ts'
import { type FieldsInput, HEADER_OCTETS, isResponseId, PDU_OCTETS_MAX, PduError, type PduInput } from './pdu.ts'
import { ESME, type StatusName } from './status.ts'
import { type NamedTlv, TLV_BY_NAME } from './tlvs.ts'
import { PduWriter } from './writer.ts'

type Value = number | string | Uint8Array | undefined
type Values = Readonly<Record<string, Value>>

interface Encoder {
  readonly id: number
  readonly isResponse: boolean
  readonly fields: readonly WireField[]
  /** Most octets of the header and the mandatory fields. */
  readonly octetsMax: number
}

const ENCODERS = {} as Record<CommandName, Encoder>
for (const command of Object.keys(COMMANDS) as CommandName[]) {
  const { id } = COMMANDS[command]
  const fields = fieldsOf(command)
  const octetsMax = fields.reduce((sum, field) => sum + field.maxWrite + 1, HEADER_OCTETS)
  ENCODERS[command] = { id, isResponse: isResponseId(id), fields, octetsMax }
}

const EMPTY = new Uint8Array(0)

/** Shorter octets are copied by a loop, which costs less than a call out of V8. */
const LOOPED_OCTETS_MAX = 32

/**
 * Appends one PDU to the writer, and answers its octets. Throws PduError, and appends nothing, when a field does not fit: its status is the one
 * that a peer would answer. A refused response (status other than 0) gets no mandatory fields, only its TLVs.
 */
export function writePdu<C extends CommandName>(
  writer: PduWriter,
  command: C,
  fields: FieldsInput<C> | undefined,
  sequence_number: number,
  command_status = 0,
): number {
  const encoder = ENCODERS[command]
  const values = (fields ?? {}) as Values
  const tlvs = fields?.tlvs as Values | undefined
  writer.reserve(encoder.octetsMax + (tlvs === undefined ? 0 : boundTlvs(tlvs)))
  const { bytes, end: start } = writer
  let end = start + HEADER_OCTETS
  if (command_status === 0 || !encoder.isResponse) {
    for (const field of encoder.fields) end = writeField(bytes, end, field, values[field.name])
  }
  if (tlvs !== undefined) end = writeTlvs(bytes, end, tlvs)
  if (end - start > PDU_OCTETS_MAX) throw new PduError(ESME.RINVCMDLEN, `${command} is longer than a PDU may be`)
  writeInteger(bytes, start, 4, end - start)
  writeInteger(bytes, start + 4, 4, encoder.id)
  writeInteger(bytes, start + 8, 4, command_status)
  writeInteger(bytes, start + 12, 4, sequence_number)
  writer.end = end
  return end - start
}

/** Encodes one PDU by itself. Throws PduError when a field does not fit. */
export function encodePdu(pdu: PduInput): Buffer {
  const writer = new PduWriter(512)
  writePdu(writer, pdu.command, pdu, pdu.sequence_number ?? 0, pdu.command_status ?? 0)
  return writer.take()
}

function writeField(bytes: Buffer, at: number, field: WireField, value: Value): number {
  if (field.type === 'uint8') {
    bytes[at] = checkInteger(field.name, field.status, value ?? 0, 0xff)
    return at + 1
  }
  if (field.type === 'cstring') return writeText(bytes, at, field.name, field.status, value ?? '', field.maxWrite)
  const octets = checkOctets(field.name, field.status, value ?? EMPTY, field.maxWrite)
  bytes[at] = octets.length
  return writeOctets(bytes, at + 1, octets)
}

/** Writes Latin-1 and the NUL that ends it. */
function writeText(
  bytes: Buffer,
  at: number,
  name: string,
  status: StatusName,
  text: Value,
  octetsMax: number,
): number {
  if (typeof text !== 'string') throw new PduError(ESME[status], `${name} is no text`)
  const { length } = text
  if (length >= octetsMax) throw new PduError(ESME[status], `${name} is longer than ${octetsMax - 1} octets`)
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i)
    // A NUL would end the field early, and a wider character would arrive as another one.
    if (code === 0 || code > 0xff) throw new PduError(ESME[status], `${name} has a character that is no octet`)
    bytes[at + i] = code
  }
  bytes[at + length] = 0
  return at + length + 1
}

function writeOctets(bytes: Buffer, at: number, octets: Uint8Array): number {
  const { length } = octets
  if (length > LOOPED_OCTETS_MAX) bytes.set(octets, at)
  else for (let i = 0; i < length; i++) bytes[at + i] = octets[i] ?? 0
  return at + length
}

function writeInteger(bytes: Buffer, at: number, octets: number, integer: number): number {
  for (let i = octets - 1, rest = integer; i >= 0; i--, rest >>>= 8) bytes[at + i] = rest
  return at + octets
}

function checkInteger(name: string, status: StatusName, integer: Value, max: number): number {
  if (typeof integer !== 'number' || !(integer >= 0 && integer <= max) || !Number.isInteger(integer)) {
    throw new PduError(ESME[status], `${name} is no integer from 0 to ${max}`)
  }
  return integer
}

function checkOctets(name: string, status: StatusName, octets: Value, max: number): Uint8Array {
  if (!(octets instanceof Uint8Array)) throw new PduError(ESME[status], `${name} is no octets`)
  if (octets.length > max) throw new PduError(ESME[status], `${name} is longer than ${max} octets`)
  return octets
}

/** The most octets that these TLVs can take. */
function boundTlvs(tlvs: Values): number {
  let octets = 0
  for (const key in tlvs) {
    const value = tlvs[key]
    octets += 8 + (typeof value === 'number' ? 0 : (value?.length ?? 0))
  }
  return octets
}

function writeTlvs(bytes: Buffer, start: number, tlvs: Values): number {
  let at = start
  for (const key in tlvs) {
    const value = tlvs[key]
    if (value === undefined) continue
    const row = TLV_BY_NAME.get(key)
    const end =
      row === undefined
        ? writeOctets(bytes, at + 4, checkOctets(key, 'RINVPARLEN', value, 0xffff))
        : writeTlv(bytes, at + 4, row, value)
    writeInteger(
      bytes,
      at,
      2,
      row === undefined ? checkInteger('tag', 'ROPTPARNOTALLWD', Number(key), 0xffff) : row.tag,
    )
    writeInteger(bytes, at + 2, 2, end - at - 4)
    at = end
  }
  return at
}

function writeTlv(bytes: Buffer, at: number, row: NamedTlv, value: Value): number {
  const { name, type, max = 0xffff } = row
  if (type === 'cstring') return writeText(bytes, at, name, 'RINVPARLEN', value, max)
  if (type === 'octets') return writeOctets(bytes, at, checkOctets(name, 'RINVPARLEN', value, max))
  const [octets, integerMax] = INTEGERS[type]
  return writeInteger(bytes, at, octets, checkInteger(name, 'RINVPARLEN', value, integerMax))
}

/** Octets and greatest value of the integers of TLVs. */
const INTEGERS = { uint8: [1, 0xff], uint16: [2, 0xffff], uint32: [4, 0xffffffff] } as const
