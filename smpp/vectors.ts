import type { Pdu } from './pdu.ts'

export interface Vector {
  readonly name: string
  /** White space separates the header. */
  readonly hex: string
  readonly pdu: Pdu
  readonly source: string
}

const OK = { command_status: 0, tlvs: undefined }

const FROM = { source_addr_ton: 1, source_addr_npi: 1, source_addr: '15550001' }

const BIND = {
  system_id: 'heliogram',
  password: 'secret',
  system_type: '',
  interface_version: 0x34,
  addr_ton: 0,
  addr_npi: 0,
  address_range: '',
}

const MESSAGE = {
  service_type: '',
  source_addr_ton: 1,
  source_addr_npi: 1,
  dest_addr_ton: 1,
  dest_addr_npi: 1,
  esm_class: 0,
  protocol_id: 0,
  priority_flag: 0,
  schedule_delivery_time: '',
  validity_period: '',
  registered_delivery: 0,
  replace_if_present_flag: 0,
  data_coding: 0,
  sm_default_msg_id: 0,
  short_message: Buffer.alloc(0),
}

/** PDUs written by hand from the field tables of the specification; the codec must agree in both directions. */
export const VECTORS: readonly Vector[] = [
  {
    name: "bind_transmitter, the specification's own example",
    hex: '0000002f000000020000000000000001 534d50503354455354007365637265743038005355424d4954310000010100',
    pdu: {
      ...OK,
      command: 'bind_transmitter',
      sequence_number: 1,
      system_id: 'SMPP3TEST',
      password: 'secret08',
      system_type: 'SUBMIT1',
      interface_version: 0,
      addr_ton: 1,
      addr_npi: 1,
      address_range: '',
    },
    source: 'SMPP 3.4 §3.2.2',
  },
  {
    name: 'submit_sm, the example of Wikipedia',
    hex: `0000003c000000040000000000000005
      000208353535000101353535353535353535000000000000000000000f48656c6c6f2077696b697065646961`,
    pdu: {
      ...OK,
      command: 'submit_sm',
      sequence_number: 5,
      ...MESSAGE,
      source_addr_ton: 2,
      source_addr_npi: 8,
      source_addr: '555',
      destination_addr: '555555555',
      short_message: Buffer.from('Hello wikipedia'),
    },
    source: 'Wikipedia, Short Message Peer-to-Peer',
  },
  {
    name: 'bind_receiver',
    hex: '00000026000000010000000000000001 68656c696f6772616d00736563726574000034000000',
    pdu: { ...OK, command: 'bind_receiver', sequence_number: 1, ...BIND },
    source: 'SMPP 3.4 §4.1.3',
  },
  {
    name: 'bind_transceiver',
    hex: '00000026000000090000000000000001 68656c696f6772616d00736563726574000034000000',
    pdu: { ...OK, command: 'bind_transceiver', sequence_number: 1, ...BIND },
    source: 'SMPP 3.4 §4.1.5',
  },
  {
    name: 'bind_transceiver_resp with sc_interface_version',
    hex: '0000001a800000090000000000000001 736d7363000210000134',
    pdu: {
      ...OK,
      command: 'bind_transceiver_resp',
      sequence_number: 1,
      system_id: 'smsc',
      tlvs: { sc_interface_version: 0x34 },
    },
    source: 'SMPP 3.4 §4.1.6, §5.3.2.25',
  },
  {
    name: 'bind_receiver_resp without TLVs',
    hex: '00000015800000010000000000000001 736d736300',
    pdu: { ...OK, command: 'bind_receiver_resp', sequence_number: 1, system_id: 'smsc' },
    source: 'SMPP 3.4 §4.1.4',
  },
  {
    name: 'bind_transmitter_resp that refuses',
    hex: '00000010800000020000000e00000001',
    pdu: { ...OK, command: 'bind_transmitter_resp', command_status: 0x0e, sequence_number: 1, system_id: '' },
    source: 'SMPP 3.4 §4.1.2',
  },
  {
    name: 'outbind',
    hex: '000000180000000b0000000000000003 736d736300707700',
    pdu: { ...OK, command: 'outbind', sequence_number: 3, system_id: 'smsc', password: 'pw' },
    source: 'SMPP 3.4 §4.1.7',
  },
  {
    name: 'submit_sm with UDH, UCS-2 and validity',
    hex: `0000004f000000040000000000000007
      00050048656c696f6772616d000101313535353132333030303100400000003236303130323033303430353030302b00
      010008000a050003a1020100e920ac`,
    pdu: {
      ...OK,
      command: 'submit_sm',
      sequence_number: 7,
      ...MESSAGE,
      source_addr_ton: 5,
      source_addr_npi: 0,
      source_addr: 'Heliogram',
      destination_addr: '15551230001',
      esm_class: 64,
      validity_period: '260102030405000+',
      registered_delivery: 1,
      data_coding: 8,
      short_message: Buffer.from('050003a1020100e920ac', 'hex'),
    },
    source: 'SMPP 3.4 §4.4.1, §5.2.22, §7.1.1',
  },
  {
    name: 'submit_sm with its text in message_payload, SAR and a vendor TLV',
    hex: `0000005000000004000000007fffffff
      00010131353535303030310001013135353531323330303031000000000000010000000014000002cafe020c00021234
      020e000102020f000101042400024869`,
    pdu: {
      ...OK,
      command: 'submit_sm',
      sequence_number: 0x7fffffff,
      ...MESSAGE,
      source_addr: '15550001',
      destination_addr: '15551230001',
      registered_delivery: 1,
      tlvs: {
        0x1400: Buffer.from([0xca, 0xfe]),
        sar_msg_ref_num: 0x1234,
        sar_total_segments: 2,
        sar_segment_seqnum: 1,
        message_payload: Buffer.from('Hi'),
      },
    },
    source: 'SMPP 3.4 §4.4.1, §5.3.2.22 to .24, §5.3.2.32',
  },
  {
    name: 'submit_sm_resp',
    hex: '00000019800000040000000000000007 323962666561366300',
    pdu: { ...OK, command: 'submit_sm_resp', sequence_number: 7, message_id: '29bfea6c' },
    source: 'SMPP 3.4 §4.4.2',
  },
  {
    name: 'submit_sm_resp that throttles, without a body',
    hex: '00000010800000040000005800000007',
    pdu: { ...OK, command: 'submit_sm_resp', command_status: 0x58, sequence_number: 7, message_id: '' },
    source: 'SMPP 3.4 §4.4.2',
  },
  {
    name: 'deliver_sm with a receipt in text and TLVs',
    hex: `000000a5000000050000000000000009
      00010131353535313233303030310001013135353530303031000400000000000000005e69643a3432207375623a3030
      3120646c7672643a303031207375626d697420646174653a3236303130323033303420646f6e6520646174653a323630
      3130323033303520737461743a44454c49565244206572723a30303020746578743a001e000334320004270001020423
      0003030000`,
    pdu: {
      ...OK,
      command: 'deliver_sm',
      sequence_number: 9,
      ...MESSAGE,
      source_addr: '15551230001',
      destination_addr: '15550001',
      esm_class: 4,
      short_message: Buffer.from(
        'id:42 sub:001 dlvrd:001 submit date:2601020304 done date:2601020305 stat:DELIVRD err:000 text:',
      ),
      tlvs: { receipted_message_id: '42', message_state: 2, network_error_code: Buffer.from([3, 0, 0]) },
    },
    source: 'SMPP 3.4 §4.6.1, §5.3.2.12, §5.3.2.31, §5.3.2.35, appendix B',
  },
  {
    name: 'deliver_sm_resp',
    hex: '00000011800000050000000000000009 00',
    pdu: { ...OK, command: 'deliver_sm_resp', sequence_number: 9, message_id: '' },
    source: 'SMPP 3.4 §4.6.2',
  },
  {
    name: 'data_sm',
    hex: `0000003c00000103000000000000000a
      5741500001013135353530303031000101313535353132333030303100000104042400020106020b00020b84`,
    pdu: {
      ...OK,
      command: 'data_sm',
      sequence_number: 10,
      service_type: 'WAP',
      ...FROM,
      dest_addr_ton: 1,
      dest_addr_npi: 1,
      destination_addr: '15551230001',
      esm_class: 0,
      registered_delivery: 1,
      data_coding: 4,
      tlvs: { message_payload: Buffer.from([1, 6]), destination_port: 2948 },
    },
    source: 'SMPP 3.4 §4.7.1, §5.3.2.21',
  },
  {
    name: 'data_sm_resp',
    hex: '0000001380000103000000000000000a 613100',
    pdu: { ...OK, command: 'data_sm_resp', sequence_number: 10, message_id: 'a1' },
    source: 'SMPP 3.4 §4.7.2',
  },
  {
    name: 'query_sm',
    hex: '0000001e00000003000000000000000b 6131000101313535353030303100',
    pdu: { ...OK, command: 'query_sm', sequence_number: 11, message_id: 'a1', ...FROM },
    source: 'SMPP 3.4 §4.8.1',
  },
  {
    name: 'query_sm_resp',
    hex: '0000002680000003000000000000000b 6131003236303130323033303430353030302b000200',
    pdu: {
      ...OK,
      command: 'query_sm_resp',
      sequence_number: 11,
      message_id: 'a1',
      final_date: '260102030405000+',
      message_state: 2,
      error_code: 0,
    },
    source: 'SMPP 3.4 §4.8.2',
  },
  {
    name: 'cancel_sm',
    hex: '0000002d00000008000000000000000c 0061310001013135353530303031000101313535353132333030303100',
    pdu: {
      ...OK,
      command: 'cancel_sm',
      sequence_number: 12,
      service_type: '',
      message_id: 'a1',
      ...FROM,
      dest_addr_ton: 1,
      dest_addr_npi: 1,
      destination_addr: '15551230001',
    },
    source: 'SMPP 3.4 §4.9.1',
  },
  {
    name: 'cancel_sm_resp',
    hex: '0000001080000008000000110000000c',
    pdu: { ...OK, command: 'cancel_sm_resp', command_status: 0x11, sequence_number: 12 },
    source: 'SMPP 3.4 §4.9.2',
  },
  {
    name: 'replace_sm',
    hex: '0000003600000007000000000000000d 61310001013135353530303031000030303030303130303030303030303052000100034e6577',
    pdu: {
      ...OK,
      command: 'replace_sm',
      sequence_number: 13,
      message_id: 'a1',
      ...FROM,
      schedule_delivery_time: '',
      validity_period: '000001000000000R',
      registered_delivery: 1,
      sm_default_msg_id: 0,
      short_message: Buffer.from('New'),
    },
    source: 'SMPP 3.4 §4.10.1',
  },
  {
    name: 'replace_sm_resp',
    hex: '0000001080000007000000000000000d',
    pdu: { ...OK, command: 'replace_sm_resp', sequence_number: 13 },
    source: 'SMPP 3.4 §4.10.2',
  },
  {
    name: 'unbind',
    hex: '0000001000000006000000000000000e',
    pdu: { ...OK, command: 'unbind', sequence_number: 14 },
    source: 'SMPP 3.4 §4.2.1',
  },
  {
    name: 'unbind_resp',
    hex: '0000001080000006000000000000000e',
    pdu: { ...OK, command: 'unbind_resp', sequence_number: 14 },
    source: 'SMPP 3.4 §4.2.2',
  },
  {
    name: 'enquire_link',
    hex: '0000001000000015000000000000000f',
    pdu: { ...OK, command: 'enquire_link', sequence_number: 15 },
    source: 'SMPP 3.4 §4.11.1',
  },
  {
    name: 'enquire_link_resp',
    hex: '0000001080000015000000000000000f',
    pdu: { ...OK, command: 'enquire_link_resp', sequence_number: 15 },
    source: 'SMPP 3.4 §4.11.2',
  },
  {
    name: 'generic_nack',
    hex: '00000010800000000000000300000000',
    pdu: { ...OK, command: 'generic_nack', command_status: 3, sequence_number: 0 },
    source: 'SMPP 3.4 §4.3.1',
  },
  {
    name: 'alert_notification',
    hex: '0000002e000001020000000000000010 010131353535313233303030310001013135353530303031000422000100',
    pdu: {
      ...OK,
      command: 'alert_notification',
      sequence_number: 16,
      source_addr_ton: 1,
      source_addr_npi: 1,
      source_addr: '15551230001',
      esme_addr_ton: 1,
      esme_addr_npi: 1,
      esme_addr: '15550001',
      tlvs: { ms_availability_status: 0 },
    },
    source: 'SMPP 3.4 §4.12.1, §5.3.2.30',
  },
]
