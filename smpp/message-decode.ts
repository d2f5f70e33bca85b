import { FIELDS } from './commands.ts'
import { findNul, NO_OCTETS, readText, readUint32 } from './octets.ts'
import { HEADER_OCTETS, type PduOf } from './pdu.ts'
import { readTlvs } from './tlv-codec.ts'

type Message = PduOf<'submit_sm'> | PduOf<'deliver_sm'>
type MessageResponse = PduOf<'submit_sm_resp'> | PduOf<'deliver_sm_resp'>

// Read position. An object literal evaluates its fields in order. A field that does not fit moves the cursor past the end for good, so one check
// after the last field is enough.
let source: Buffer = NO_OCTETS
let cursor = 0
let limit = 0

/**
 * Reads the submit_sm or deliver_sm in bytes[start, end), whose length is already checked. Undefined if a mandatory field does not fit:
 * decodeByTable, the slow reference, then reports the reason. Throws PduError as readTlvs does.
 */
export function readMessage(
  bytes: Buffer,
  start: number,
  end: number,
  command: 'submit_sm' | 'deliver_sm',
  addressMax: number,
): Message | undefined {
  begin(bytes, start, end)
  const pdu: Message = {
    command,
    command_status: readUint32(bytes, start + 8),
    sequence_number: readUint32(bytes, start + 12),
    service_type: text(FIELDS.service_type.max),
    source_addr_ton: octet(),
    source_addr_npi: octet(),
    source_addr: text(addressMax),
    dest_addr_ton: octet(),
    dest_addr_npi: octet(),
    destination_addr: text(addressMax),
    esm_class: octet(),
    protocol_id: octet(),
    priority_flag: octet(),
    schedule_delivery_time: text(FIELDS.schedule_delivery_time.max),
    validity_period: text(FIELDS.validity_period.max),
    registered_delivery: octet(),
    replace_if_present_flag: octet(),
    data_coding: octet(),
    sm_default_msg_id: octet(),
    short_message: octets(FIELDS.short_message.max),
    tlvs: undefined,
  }
  if (cursor > limit) return undefined
  if (cursor < limit) pdu.tlvs = readTlvs(bytes, start, cursor, end)
  return pdu
}

/** Reads a submit_sm_resp or deliver_sm_resp likewise; the body may be missing. */
export function readMessageResponse(
  bytes: Buffer,
  start: number,
  end: number,
  command: 'submit_sm_resp' | 'deliver_sm_resp',
): MessageResponse | undefined {
  begin(bytes, start, end)
  const pdu: MessageResponse = {
    command,
    command_status: readUint32(bytes, start + 8),
    sequence_number: readUint32(bytes, start + 12),
    message_id: cursor === limit ? '' : text(FIELDS.message_id.max),
    tlvs: undefined,
  }
  if (cursor > limit) return undefined
  if (cursor < limit) pdu.tlvs = readTlvs(bytes, start, cursor, end)
  return pdu
}

function begin(bytes: Buffer, start: number, end: number): void {
  source = bytes
  cursor = start + HEADER_OCTETS
  limit = end
}

function octet(): number {
  return source[cursor++] ?? 0
}

function text(max: number): string {
  const start = cursor
  if (source[start] === 0) {
    cursor++
    return ''
  }
  const textLimit = Math.min(limit, start + max)
  const nul = findNul(source, start, textLimit)
  if (nul >= textLimit) {
    cursor = limit + 1
    return ''
  }
  cursor = nul + 1
  return readText(source, start, nul)
}

function octets(max: number): Buffer {
  const length = octet()
  const start = cursor
  cursor = length > max ? limit + 1 : start + length
  return length === 0 || cursor > limit ? NO_OCTETS : source.subarray(start, cursor)
}
