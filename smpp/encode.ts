import { COMMANDS, type CommandName, FIELDS, fieldsOf, type WireField } from './commands.ts'
import { writeMessageFields, writeMessageId } from './message-encode.ts'
import { checkInteger, checkOctets, NO_OCTETS, type Value, writeHeader, writeOctets, writeText } from './octets.ts'
import { type FieldsInput, HEADER_OCTETS, isResponseId, PDU_OCTETS_MAX, PduError, type PduInput } from './pdu.ts'
import { ESME } from './status.ts'
import { boundTlvs, type TlvValues, writeTlvs } from './tlv-codec.ts'
import { PduWriter } from './writer.ts'

type FieldsWriter = (bytes: Buffer, start: number, fields: object) => number

interface Encoder {
  readonly id: number
  readonly isResponse: boolean
  readonly writeFields: FieldsWriter
  /** Upper bound for the header and the mandatory fields. */
  readonly octetsMax: number
}

const FAST: Partial<Record<CommandName, FieldsWriter>> = {
  submit_sm: (bytes, start, fields) => writeMessageFields(bytes, start, fields, FIELDS.source_addr.max),
  deliver_sm: (bytes, start, fields) => writeMessageFields(bytes, start, fields, FIELDS.long_source_addr.max),
  submit_sm_resp: writeMessageId,
  deliver_sm_resp: writeMessageId,
}

const ENCODERS = {} as Record<CommandName, Encoder>
for (const command of Object.keys(COMMANDS) as CommandName[]) {
  const { id } = COMMANDS[command]
  const octetsMax = fieldsOf(command).reduce((sum, field) => sum + field.maxWrite + 1, HEADER_OCTETS)
  ENCODERS[command] = {
    id,
    isResponse: isResponseId(id),
    writeFields: FAST[command] ?? writerByTable(command),
    octetsMax,
  }
}

export function writerByTable(command: CommandName): FieldsWriter {
  const rows = fieldsOf(command)
  return (bytes, start, fields) => {
    let at = start
    for (const row of rows) at = writeField(bytes, at, row, (fields as Record<string, Value>)[row.name])
    return at
  }
}

function writeField(bytes: Buffer, at: number, field: WireField, value: Value): number {
  if (field.type === 'uint8') {
    bytes[at] = checkInteger(field.name, field.status, value ?? 0, 0xff)
    return at + 1
  }
  if (field.type === 'cstring') return writeText(bytes, at, field.name, field.status, value ?? '', field.maxWrite)
  const octets = checkOctets(field.name, field.status, value ?? NO_OCTETS, field.maxWrite)
  bytes[at] = octets.length
  return writeOctets(bytes, at + 1, octets)
}

const { submit_sm: SUBMIT, submit_sm_resp: SUBMIT_RESP } = ENCODERS

/** The usual commands skip the lookup by name. */
function encoderOf(command: CommandName): Encoder {
  return command === 'submit_sm' ? SUBMIT : command === 'submit_sm_resp' ? SUBMIT_RESP : ENCODERS[command]
}

const NO_FIELDS = {}

/**
 * Appends one PDU and returns its octets. Throws PduError, and appends nothing, if a field does not fit: its status is the one a peer would
 * answer. A refused response (status other than 0) gets only its TLVs.
 */
export function writePdu<C extends CommandName>(
  writer: PduWriter,
  command: C,
  fields: FieldsInput<C> | undefined,
  sequence_number: number,
  command_status = 0,
): number {
  const { id, isResponse, writeFields, octetsMax } = encoderOf(command)
  const tlvs = fields?.tlvs as TlvValues | undefined
  writer.reserve(tlvs === undefined ? octetsMax : octetsMax + boundTlvs(tlvs))
  const { bytes, end: start } = writer
  let end = start + HEADER_OCTETS
  if (command_status === 0 || !isResponse) end = writeFields(bytes, end, fields ?? NO_FIELDS)
  if (tlvs !== undefined) end = writeTlvs(bytes, end, tlvs)
  if (end - start > PDU_OCTETS_MAX) throw new PduError(ESME.RINVCMDLEN, `${command} is longer than a PDU may be`)
  writeHeader(bytes, start, end, id, command_status, sequence_number)
  writer.end = end
  return end - start
}

/** Throws PduError if a field does not fit. */
export function encodePdu(pdu: PduInput): Buffer {
  const writer = new PduWriter(512)
  writePdu(writer, pdu.command, pdu, pdu.sequence_number ?? 0, pdu.command_status ?? 0)
  return writer.take()
}
