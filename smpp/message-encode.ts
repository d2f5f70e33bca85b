import { FIELDS } from './commands.ts'
import { checkInteger, checkOctets, NO_OCTETS, writeOctets, writeText } from './octets.ts'
import type { FieldsInput } from './pdu.ts'

/**
 * Writes the mandatory fields of submit_sm (SMPP 3.4 §4.4.1) and deliver_sm (§4.6.1), several times as fast as writerByTable, the reference.
 * Returns their end; throws PduError if a field does not fit.
 */
export function writeMessageFields(
  bytes: Buffer,
  start: number,
  fields: FieldsInput<'submit_sm'>,
  addressMax: number,
): number {
  let at = writeText(bytes, start, 'service_type', 'RINVSERTYP', fields.service_type ?? '', FIELDS.service_type.max)
  bytes[at++] = octet('source_addr_ton', fields.source_addr_ton)
  bytes[at++] = octet('source_addr_npi', fields.source_addr_npi)
  at = writeText(bytes, at, 'source_addr', 'RINVSRCADR', fields.source_addr ?? '', addressMax)
  bytes[at++] = octet('dest_addr_ton', fields.dest_addr_ton)
  bytes[at++] = octet('dest_addr_npi', fields.dest_addr_npi)
  at = writeText(bytes, at, 'destination_addr', 'RINVDSTADR', fields.destination_addr ?? '', addressMax)
  bytes[at++] = octet('esm_class', fields.esm_class)
  bytes[at++] = octet('protocol_id', fields.protocol_id)
  bytes[at++] = octet('priority_flag', fields.priority_flag)
  at = writeText(
    bytes,
    at,
    'schedule_delivery_time',
    'RINVSCHED',
    fields.schedule_delivery_time ?? '',
    FIELDS.schedule_delivery_time.max,
  )
  at = writeText(bytes, at, 'validity_period', 'RINVEXPIRY', fields.validity_period ?? '', FIELDS.validity_period.max)
  bytes[at++] = octet('registered_delivery', fields.registered_delivery)
  bytes[at++] = octet('replace_if_present_flag', fields.replace_if_present_flag)
  bytes[at++] = octet('data_coding', fields.data_coding)
  bytes[at++] = octet('sm_default_msg_id', fields.sm_default_msg_id)
  const message = checkOctets(
    'short_message',
    'RINVMSGLEN',
    fields.short_message ?? NO_OCTETS,
    FIELDS.short_message.max,
  )
  bytes[at++] = message.length
  return writeOctets(bytes, at, message)
}

/** Writes the mandatory field of submit_sm_resp (SMPP 3.4 §4.4.2) and deliver_sm_resp (§4.6.2) likewise. */
export function writeMessageId(bytes: Buffer, start: number, fields: FieldsInput<'submit_sm_resp'>): number {
  return writeText(bytes, start, 'message_id', 'RINVMSGID', fields.message_id ?? '', FIELDS.message_id.max)
}

function octet(name: string, value: number | undefined): number {
  const integer = value ?? 0
  return (integer & 0xff) === integer ? integer : checkInteger(name, 'RINVPARLEN', integer, 0xff)
}
