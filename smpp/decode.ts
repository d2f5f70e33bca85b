import { COMMANDS, FIELDS, type CommandName, fieldsOf, type WireField } from './commands.ts'
import { readMessage, readMessageResponse } from './message-decode.ts'
import { findNul, NO_OCTETS, pduErrorAt, readText, readUint32, type Value } from './octets.ts'
import { HEADER_OCTETS, indexOfId, isResponseId, PDU_OCTETS_MAX, type Pdu, PduError, type PduOf } from './pdu.ts'
import { ESME } from './status.ts'
import { readTlvs } from './tlv-codec.ts'
import type { Tlvs } from './tlvs.ts'

interface Decoder {
  readonly isResponse: boolean
  readonly fields: readonly WireField[]
  /** A PDU with every field at its default. Copies have the final shape before the first field is read. */
  readonly blank: Readonly<Record<string, Value | Tlvs>>
}

const DEFAULTS = { uint8: 0, cstring: '', octets: NO_OCTETS } as const

const DECODERS: (Decoder | undefined)[] = []
for (const command of Object.keys(COMMANDS) as CommandName[]) {
  const { id } = COMMANDS[command]
  const fields = fieldsOf(command)
  const header = Object.entries({ command, command_status: 0, sequence_number: 0, tlvs: undefined })
  // V8 copies the result of fromEntries in one step; an object built field by field costs a hundred times as much to copy.
  const blank = Object.fromEntries<Value>([
    ...header,
    ...fields.map(({ name, type }) => [name, DEFAULTS[type]] as const),
  ])
  DECODERS[indexOfId(id)] = { isResponse: isResponseId(id), fields, blank }
}

/**
 * Decodes the one PDU in bytes[start, end). Throws PduError with the status to answer: RINVCMDLEN for a wrong length or a truncated field,
 * RINVCMDID for an unknown command, a field's own status if it is too long, RINVOPTPARSTREAM and RINVPARLEN for TLVs that do not fit. A response
 * may lack its body: its fields are then 0, '' and empty.
 */
export function decodePdu(bytes: Buffer, start: number = 0, end: number = bytes.length): Pdu {
  return decodeMessage(bytes, start, end) ?? decodeByTable(bytes, start, end)
}

/** Fast path for the commands of nearly all traffic; undefined if decodeByTable must decide. */
function decodeMessage(bytes: Buffer, start: number, end: number): Pdu | undefined {
  const octets = end - start
  if (octets < HEADER_OCTETS || octets > PDU_OCTETS_MAX || readUint32(bytes, start) !== octets) return undefined
  switch (readUint32(bytes, start + 4)) {
    case COMMANDS.submit_sm.id:
      return readMessage(bytes, start, end, 'submit_sm', FIELDS.source_addr.max)
    case COMMANDS.submit_sm_resp.id:
      return readMessageResponse(bytes, start, end, 'submit_sm_resp')
    case COMMANDS.deliver_sm.id:
      return readMessage(bytes, start, end, 'deliver_sm', FIELDS.long_source_addr.max)
    case COMMANDS.deliver_sm_resp.id:
      return readMessageResponse(bytes, start, end, 'deliver_sm_resp')
    default:
      return undefined
  }
}

/** Reference implementation of decodePdu, by the table of commands. Can drop broken TLVs and tolerate a missing last NUL of a response. */
export function decodeByTable(bytes: Buffer, start: number, end: number, dropsBroken: boolean = false): Pdu {
  const octets = end - start
  if (octets < HEADER_OCTETS) throw new PduError(ESME.RINVCMDLEN, `a PDU has at least ${HEADER_OCTETS} octets`)
  const id = readUint32(bytes, start + 4)
  if (octets > PDU_OCTETS_MAX || readUint32(bytes, start) !== octets) {
    throw pduErrorAt(bytes, start, ESME.RINVCMDLEN, 'command_length is not the length')
  }
  const decoder = DECODERS[indexOfId(id)]
  if (decoder === undefined) throw pduErrorAt(bytes, start, ESME.RINVCMDID, 'unknown command_id')
  const pdu = { ...decoder.blank }
  pdu.command_status = readUint32(bytes, start + 8)
  pdu.sequence_number = readUint32(bytes, start + 12)
  if (octets === HEADER_OCTETS && decoder.isResponse) return pdu as Pdu
  let at = start + HEADER_OCTETS
  for (const field of decoder.fields) {
    const { name, type } = field
    if (type === 'uint8') {
      if (at >= end) throw pduErrorAt(bytes, start, ESME.RINVCMDLEN, `${name} is missing`)
      pdu[name] = bytes[at++]
    } else if (type === 'cstring') {
      const limit = Math.min(end, at + field.maxRead)
      const nul = findNul(bytes, at, limit)
      if (nul === limit && limit < end) throw pduErrorAt(bytes, start, ESME[field.status], `${name} is too long`)
      // Some peers omit the NUL after the message id that their receipts will name.
      const isRead = nul < limit || (dropsBroken && decoder.isResponse)
      if (!isRead) throw pduErrorAt(bytes, start, ESME.RINVCMDLEN, `${name} has no NUL`)
      pdu[name] = readText(bytes, at, nul)
      at = nul + 1
    } else {
      if (at >= end) throw pduErrorAt(bytes, start, ESME.RINVCMDLEN, `${name} is missing`)
      const length = bytes[at++] ?? 0
      if (length > field.maxRead) throw pduErrorAt(bytes, start, ESME[field.status], `${name} is too long`)
      if (at + length > end) throw pduErrorAt(bytes, start, ESME.RINVCMDLEN, `${name} is cut short`)
      pdu[name] = length === 0 ? NO_OCTETS : bytes.subarray(at, at + length)
      at += length
    }
  }
  if (at < end) pdu.tlvs = readTlvs(bytes, start, at, end, dropsBroken)
  return pdu as Pdu
}

/** Decodes a response that decodePdu refuses: its fields if only padding, TLVs or the last NUL are wrong, else its header. */
export function decodeBroken(bytes: Buffer, start: number, end: number): Pdu {
  try {
    return decodeByTable(bytes, start, end, true)
  } catch (error) {
    if (!(error instanceof PduError)) throw error
    return decodeHeader(bytes, start)
  }
}

/**
 * Decodes a deliver_sm or data_sm that decodePdu refuses, without the broken part after its mandatory fields, because a refused receipt is lost
 * for good. Undefined if a mandatory field is broken, or if neither a text nor the TLVs of a receipt remain.
 */
export function decodeBrokenDelivery(
  bytes: Buffer,
  start: number,
  end: number,
): PduOf<'deliver_sm'> | PduOf<'data_sm'> | undefined {
  try {
    const pdu = decodeByTable(bytes, start, end, true)
    if (pdu.command !== 'deliver_sm' && pdu.command !== 'data_sm') return undefined
    const { message_payload, receipted_message_id, message_state } = pdu.tlvs ?? {}
    const hasText = Boolean(message_payload?.length) || (pdu.command === 'deliver_sm' && pdu.short_message.length > 0)
    return hasText || (receipted_message_id && message_state !== undefined) ? pdu : undefined
  } catch (error) {
    if (!(error instanceof PduError)) throw error
    return undefined
  }
}

export function decodeHeader(bytes: Buffer, start: number): Pdu {
  const header = Buffer.from(bytes.subarray(start, start + HEADER_OCTETS))
  header.writeUInt32BE(HEADER_OCTETS, 0)
  return decodePdu(header)
}
