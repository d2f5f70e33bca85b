/**
 * How a TLV is written: unsigned integers, text that ends in NUL, or raw octets. Integers are read from one to four octets (ms_validity has 1 in
 * 3.4 and 4 in 5.0) and written as their row says. The NUL of a text may be missing or followed by padding.
 */
export type TlvType = 'uint8' | 'uint16' | 'uint32' | 'cstring' | 'octets'

/** `max` limits the octets that we write, NUL included. `section` is of SMPP 3.4, or of 5.0 if it says so. */
interface TlvRow {
  readonly tag: number
  readonly type: TlvType
  readonly max?: number
  readonly section: string
}

/** The TLVs known by name. Other tags pass through as octets under their number. */
export const TLVS = {
  dest_addr_subunit: { tag: 0x0005, type: 'uint8', section: '5.3.2.1' },
  dest_network_type: { tag: 0x0006, type: 'uint8', section: '5.3.2.3' },
  dest_bearer_type: { tag: 0x0007, type: 'uint8', section: '5.3.2.5' },
  dest_telematics_id: { tag: 0x0008, type: 'uint16', section: '5.3.2.7' },
  source_addr_subunit: { tag: 0x000d, type: 'uint8', section: '5.3.2.2' },
  source_network_type: { tag: 0x000e, type: 'uint8', section: '5.3.2.4' },
  source_bearer_type: { tag: 0x000f, type: 'uint8', section: '5.3.2.6' },
  source_telematics_id: { tag: 0x0010, type: 'uint8', section: '5.3.2.8' },
  qos_time_to_live: { tag: 0x0017, type: 'uint32', section: '5.3.2.9' },
  payload_type: { tag: 0x0019, type: 'uint8', section: '5.3.2.10' },
  additional_status_info_text: { tag: 0x001d, type: 'cstring', max: 256, section: '5.3.2.11' },
  receipted_message_id: { tag: 0x001e, type: 'cstring', max: 65, section: '5.3.2.12' },
  ms_msg_wait_facilities: { tag: 0x0030, type: 'uint8', section: '5.3.2.13' },
  privacy_indicator: { tag: 0x0201, type: 'uint8', section: '5.3.2.14' },
  source_subaddress: { tag: 0x0202, type: 'octets', max: 23, section: '5.3.2.15' },
  dest_subaddress: { tag: 0x0203, type: 'octets', max: 23, section: '5.3.2.16' },
  user_message_reference: { tag: 0x0204, type: 'uint16', section: '5.3.2.17' },
  user_response_code: { tag: 0x0205, type: 'uint8', section: '5.3.2.18' },
  source_port: { tag: 0x020a, type: 'uint16', section: '5.3.2.20' },
  destination_port: { tag: 0x020b, type: 'uint16', section: '5.3.2.21' },
  sar_msg_ref_num: { tag: 0x020c, type: 'uint16', section: '5.3.2.22' },
  language_indicator: { tag: 0x020d, type: 'uint8', section: '5.3.2.19' },
  sar_total_segments: { tag: 0x020e, type: 'uint8', section: '5.3.2.23' },
  sar_segment_seqnum: { tag: 0x020f, type: 'uint8', section: '5.3.2.24' },
  sc_interface_version: { tag: 0x0210, type: 'uint8', section: '5.3.2.25' },
  callback_num_pres_ind: { tag: 0x0302, type: 'uint8', section: '5.3.2.37' },
  callback_num_atag: { tag: 0x0303, type: 'octets', max: 65, section: '5.3.2.38' },
  number_of_messages: { tag: 0x0304, type: 'uint8', section: '5.3.2.39' },
  callback_num: { tag: 0x0381, type: 'octets', max: 19, section: '5.3.2.36' },
  dpf_result: { tag: 0x0420, type: 'uint8', section: '5.3.2.28' },
  set_dpf: { tag: 0x0421, type: 'uint8', section: '5.3.2.29' },
  ms_availability_status: { tag: 0x0422, type: 'uint8', section: '5.3.2.30' },
  network_error_code: { tag: 0x0423, type: 'octets', max: 3, section: '5.3.2.31' },
  message_payload: { tag: 0x0424, type: 'octets', section: '5.3.2.32' },
  delivery_failure_reason: { tag: 0x0425, type: 'uint8', section: '5.3.2.33' },
  more_messages_to_send: { tag: 0x0426, type: 'uint8', section: '5.3.2.34' },
  message_state: { tag: 0x0427, type: 'uint8', section: '5.3.2.35' },
  congestion_state: { tag: 0x0428, type: 'uint8', section: '5.0 §4.8.4.18' },
  ussd_service_op: { tag: 0x0501, type: 'uint8', section: '5.3.2.44' },
  billing_identification: { tag: 0x060b, type: 'octets', max: 1024, section: '5.0 §4.8.4.3' },
  display_time: { tag: 0x1201, type: 'uint8', section: '5.3.2.26' },
  sms_signal: { tag: 0x1203, type: 'uint16', section: '5.3.2.40' },
  ms_validity: { tag: 0x1204, type: 'uint8', section: '5.3.2.27' },
  // No octets in 3.4, where its presence is its meaning; one in 5.0.
  alert_on_message_delivery: { tag: 0x130c, type: 'octets', max: 1, section: '5.3.2.41' },
  its_reply_type: { tag: 0x1380, type: 'uint8', section: '5.3.2.42' },
  its_session_info: { tag: 0x1383, type: 'uint16', section: '5.3.2.43' },
} as const

export type TlvName = keyof typeof TLVS

type TlvValue<T extends TlvType> = T extends 'cstring' ? string : T extends 'octets' ? Buffer : number

type KnownTlvs = { -readonly [N in TlvName]?: TlvValue<(typeof TLVS)[N]['type']> }

/** By name if we know the tag, else octets by tag number. The last of a repeated tag counts. */
export interface Tlvs extends KnownTlvs {
  [tag: number]: Buffer
}

export interface NamedTlv {
  readonly name: TlvName
  readonly tag: number
  readonly type: TlvType
  /** 0 for types other than integers. */
  readonly integerOctets: number
  /** The greatest integer, or the most octets with the NUL. */
  readonly max: number
}

const INTEGER_OCTETS: Readonly<Record<TlvType, number>> = { uint8: 1, uint16: 2, uint32: 4, cstring: 0, octets: 0 }

const rows: readonly NamedTlv[] = (Object.keys(TLVS) as TlvName[]).map((name) => {
  const { tag, type, max = 0xffff }: TlvRow = TLVS[name]
  const integerOctets = INTEGER_OCTETS[type]
  return { name, tag, type, integerOctets, max: integerOctets === 0 ? max : 256 ** integerOctets - 1 }
})

/** By tag. */
export const TLV_BY_TAG: readonly (NamedTlv | undefined)[] = rows.reduce<(NamedTlv | undefined)[]>(
  (byTag, row) => {
    byTag[row.tag] = row
    return byTag
  },
  Array.from({ length: Math.max(...rows.map(({ tag }) => tag)) + 1 }),
)

export const TLV_BY_NAME: ReadonlyMap<string, NamedTlv> = new Map(rows.map((row) => [row.name, row]))
