import type { StatusName } from './status.ts'

export type FieldType = 'uint8' | 'cstring' | 'octets'

/**
 * Row of a mandatory field. `max` limits writing, in octets with the NUL; `accepts`, if given, limits reading. `status` is the error for a value
 * that is too long. `name` is the field's name if several rows share it.
 */
interface FieldRow {
  readonly type: FieldType
  readonly max?: number
  readonly accepts?: number
  readonly status?: StatusName
  readonly name?: string
  readonly section: string
}

/** Mandatory fields; sections are of SMPP 3.4. */
export const FIELDS = {
  // Carriers issue names, passwords and ids longer than the specification allows, so we write them whole, up to a generous limit.
  system_id: { type: 'cstring', max: 65, status: 'RINVSYSID', section: '5.2.1' },
  password: { type: 'cstring', max: 65, status: 'RINVPASWD', section: '5.2.2' },
  system_type: { type: 'cstring', max: 13, accepts: 65, status: 'RINVSYSTYP', section: '5.2.3' },
  message_id: { type: 'cstring', max: 256, status: 'RINVMSGID', section: '5.2.23' },

  interface_version: { type: 'uint8', section: '5.2.4' },
  addr_ton: { type: 'uint8', section: '5.2.5' },
  addr_npi: { type: 'uint8', section: '5.2.6' },
  address_range: { type: 'cstring', max: 41, section: '5.2.7' },
  service_type: { type: 'cstring', max: 6, status: 'RINVSERTYP', section: '5.2.11' },
  source_addr_ton: { type: 'uint8', section: '5.2.5' },
  source_addr_npi: { type: 'uint8', section: '5.2.6' },
  source_addr: { type: 'cstring', max: 21, status: 'RINVSRCADR', section: '5.2.8' },
  dest_addr_ton: { type: 'uint8', section: '5.2.5' },
  dest_addr_npi: { type: 'uint8', section: '5.2.6' },
  destination_addr: { type: 'cstring', max: 21, status: 'RINVDSTADR', section: '5.2.9' },
  esme_addr_ton: { type: 'uint8', section: '5.2.5' },
  esme_addr_npi: { type: 'uint8', section: '5.2.6' },
  esme_addr: { type: 'cstring', max: 65, section: '5.2.10' },
  esm_class: { type: 'uint8', section: '5.2.12' },
  protocol_id: { type: 'uint8', section: '5.2.13' },
  priority_flag: { type: 'uint8', section: '5.2.14' },
  schedule_delivery_time: { type: 'cstring', max: 17, status: 'RINVSCHED', section: '5.2.15' },
  validity_period: { type: 'cstring', max: 17, status: 'RINVEXPIRY', section: '5.2.16' },
  registered_delivery: { type: 'uint8', section: '5.2.17' },
  replace_if_present_flag: { type: 'uint8', section: '5.2.18' },
  data_coding: { type: 'uint8', section: '5.2.19' },
  sm_default_msg_id: { type: 'uint8', section: '5.2.20' },
  /** Its length octet is sm_length (§5.2.21), which is not a separate field here. */
  short_message: { type: 'octets', max: 254, status: 'RINVMSGLEN', section: '5.2.22' },
  final_date: { type: 'cstring', max: 17, section: '4.8.2' },
  message_state: { type: 'uint8', section: '5.2.28' },
  error_code: { type: 'uint8', section: '4.8.2' },

  // The same fields where the specification gives them more room (§4.7.1, §4.12.1), or where a receipt for a long destination must not be refused
  // (§4.6.1 says 21).
  long_source_addr: { type: 'cstring', name: 'source_addr', max: 65, status: 'RINVSRCADR', section: '5.2.8' },
  long_destination_addr: {
    type: 'cstring',
    name: 'destination_addr',
    max: 65,
    status: 'RINVDSTADR',
    section: '5.2.9',
  },
} as const

export type FieldKey = keyof typeof FIELDS

/**
 * Commands with their mandatory fields in wire order; sections are of SMPP 3.4. Any command may carry TLVs. Left out on purpose: submit_multi
 * (one submit per recipient can be counted and resumed) and the broadcasts of 5.0.
 */
export const COMMANDS = {
  bind_receiver: {
    id: 0x00000001,
    fields: ['system_id', 'password', 'system_type', 'interface_version', 'addr_ton', 'addr_npi', 'address_range'],
    section: '4.1.3',
  },
  bind_receiver_resp: { id: 0x80000001, fields: ['system_id'], section: '4.1.4' },
  bind_transmitter: {
    id: 0x00000002,
    fields: ['system_id', 'password', 'system_type', 'interface_version', 'addr_ton', 'addr_npi', 'address_range'],
    section: '4.1.1',
  },
  bind_transmitter_resp: { id: 0x80000002, fields: ['system_id'], section: '4.1.2' },
  bind_transceiver: {
    id: 0x00000009,
    fields: ['system_id', 'password', 'system_type', 'interface_version', 'addr_ton', 'addr_npi', 'address_range'],
    section: '4.1.5',
  },
  bind_transceiver_resp: { id: 0x80000009, fields: ['system_id'], section: '4.1.6' },
  outbind: { id: 0x0000000b, fields: ['system_id', 'password'], section: '4.1.7' },
  unbind: { id: 0x00000006, fields: [], section: '4.2.1' },
  unbind_resp: { id: 0x80000006, fields: [], section: '4.2.2' },
  generic_nack: { id: 0x80000000, fields: [], section: '4.3.1' },
  submit_sm: {
    id: 0x00000004,
    fields: [
      'service_type',
      'source_addr_ton',
      'source_addr_npi',
      'source_addr',
      'dest_addr_ton',
      'dest_addr_npi',
      'destination_addr',
      'esm_class',
      'protocol_id',
      'priority_flag',
      'schedule_delivery_time',
      'validity_period',
      'registered_delivery',
      'replace_if_present_flag',
      'data_coding',
      'sm_default_msg_id',
      'short_message',
    ],
    section: '4.4.1',
  },
  submit_sm_resp: { id: 0x80000004, fields: ['message_id'], section: '4.4.2' },
  deliver_sm: {
    id: 0x00000005,
    fields: [
      'service_type',
      'source_addr_ton',
      'source_addr_npi',
      'long_source_addr',
      'dest_addr_ton',
      'dest_addr_npi',
      'long_destination_addr',
      'esm_class',
      'protocol_id',
      'priority_flag',
      'schedule_delivery_time',
      'validity_period',
      'registered_delivery',
      'replace_if_present_flag',
      'data_coding',
      'sm_default_msg_id',
      'short_message',
    ],
    section: '4.6.1',
  },
  deliver_sm_resp: { id: 0x80000005, fields: ['message_id'], section: '4.6.2' },
  data_sm: {
    id: 0x00000103,
    fields: [
      'service_type',
      'source_addr_ton',
      'source_addr_npi',
      'long_source_addr',
      'dest_addr_ton',
      'dest_addr_npi',
      'long_destination_addr',
      'esm_class',
      'registered_delivery',
      'data_coding',
    ],
    section: '4.7.1',
  },
  data_sm_resp: { id: 0x80000103, fields: ['message_id'], section: '4.7.2' },
  query_sm: {
    id: 0x00000003,
    fields: ['message_id', 'source_addr_ton', 'source_addr_npi', 'source_addr'],
    section: '4.8.1',
  },
  query_sm_resp: {
    id: 0x80000003,
    fields: ['message_id', 'final_date', 'message_state', 'error_code'],
    section: '4.8.2',
  },
  cancel_sm: {
    id: 0x00000008,
    fields: [
      'service_type',
      'message_id',
      'source_addr_ton',
      'source_addr_npi',
      'source_addr',
      'dest_addr_ton',
      'dest_addr_npi',
      'destination_addr',
    ],
    section: '4.9.1',
  },
  cancel_sm_resp: { id: 0x80000008, fields: [], section: '4.9.2' },
  replace_sm: {
    id: 0x00000007,
    fields: [
      'message_id',
      'source_addr_ton',
      'source_addr_npi',
      'source_addr',
      'schedule_delivery_time',
      'validity_period',
      'registered_delivery',
      'sm_default_msg_id',
      'short_message',
    ],
    section: '4.10.1',
  },
  replace_sm_resp: { id: 0x80000007, fields: [], section: '4.10.2' },
  enquire_link: { id: 0x00000015, fields: [], section: '4.11.1' },
  enquire_link_resp: { id: 0x80000015, fields: [], section: '4.11.2' },
  alert_notification: {
    id: 0x00000102,
    fields: ['source_addr_ton', 'source_addr_npi', 'long_source_addr', 'esme_addr_ton', 'esme_addr_npi', 'esme_addr'],
    section: '4.12.1',
  },
} as const

export type CommandName = keyof typeof COMMANDS

/** The bit of command_id that marks a response. SMPP 3.4 §5.1.2.1. */
export const RESPONSE_BIT = 0x80000000

type FieldValue<T extends FieldType> = T extends 'cstring' ? string : T extends 'octets' ? Buffer : number

type NameOf<K extends FieldKey> = (typeof FIELDS)[K] extends { readonly name: infer N extends string } ? N : K

type FieldKeyOf<C extends CommandName> = (typeof COMMANDS)[C]['fields'][number]

export type Fields<C extends CommandName> = [FieldKeyOf<C>] extends [never]
  ? unknown
  : { [K in FieldKeyOf<C> as NameOf<K>]: FieldValue<(typeof FIELDS)[K]['type']> }

/** A field as the codec sees it: `maxWrite` and `maxRead` in octets with the NUL. */
export interface WireField {
  readonly name: string
  readonly type: FieldType
  readonly maxWrite: number
  readonly maxRead: number
  readonly status: StatusName
}

export function fieldsOf(command: CommandName): WireField[] {
  return COMMANDS[command].fields.map((key: FieldKey) => {
    const row: FieldRow = FIELDS[key]
    const maxWrite = row.max ?? 1
    return {
      name: row.name ?? key,
      type: row.type,
      maxWrite,
      maxRead: row.accepts ?? maxWrite,
      status: row.status ?? 'RINVPARLEN',
    }
  })
}
