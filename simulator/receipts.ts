import { type Fields, type FieldsInput, formatReceipt, MESSAGE_STATES, STATE_WORDS } from '@heliogram/smpp'
import type { FatedReceipt, ReceiptForm } from './fate-table.ts'

/** SMPP 3.4 §5.2.12. */
const DELIVERY_RECEIPT = 0x04
const INTERMEDIATE = 0x20
const UDHI = 0x40
/** Network type GSM of network_error_code. SMPP 3.4 §5.3.2.31. */
const GSM_NETWORK = 3
/** Concatenation: part 1 of 1, reference 1. 3GPP TS 23.040 §9.2.3.24.1. */
const UDH = Buffer.from([5, 0, 3, 1, 1, 1])
const SAR = { sar_msg_ref_num: 1, sar_total_segments: 1, sar_segment_seqnum: 1 }
/** Tag of receipted_message_id, and its most octets. SMPP 3.4 §5.3.2.12. */
const RECEIPTED_MESSAGE_ID = 0x001e
const ID_OCTETS_MAX = 65
/** SMPP 3.4 §5.2.9. */
const LONG_ADDRESS_DIGITS = 64

export type Addresses = Pick<
  Fields<'submit_sm'>,
  'source_addr_ton' | 'source_addr_npi' | 'source_addr' | 'dest_addr_ton' | 'dest_addr_npi' | 'destination_addr'
>

/** A PDU to a client, without its sequence number. */
export type Outgoing =
  | { readonly command: 'deliver_sm'; readonly fields: FieldsInput<'deliver_sm'> }
  | { readonly command: 'data_sm'; readonly fields: FieldsInput<'data_sm'> }

export interface ReceiptAbout {
  readonly id: string
  readonly text: string
  readonly submittedAt: Date
  readonly form: ReceiptForm
  /** The submit's user_message_reference, returned with the TLVs. SMPP 3.4 §5.3.2.17. */
  readonly reference?: number | undefined
}

export function isFinalReceipt({ state }: FatedReceipt): boolean {
  return state !== 'enroute' && state !== 'scheduled'
}

/** SMPP 3.4 §5.2.17; 3 = success only is of 5.0 §4.7.21. */
export function isReceiptAsked(registered_delivery: number, receipt: FatedReceipt): boolean {
  const asked = registered_delivery & 0x03
  if (asked === 2) return receipt.state !== 'delivered' && isFinalReceipt(receipt)
  if (asked === 3) return receipt.state === 'delivered'
  return asked === 1
}

export function turnAround(message: Addresses): Addresses {
  return {
    source_addr_ton: message.dest_addr_ton,
    source_addr_npi: message.dest_addr_npi,
    source_addr: message.destination_addr,
    dest_addr_ton: message.source_addr_ton,
    dest_addr_npi: message.source_addr_npi,
    destination_addr: message.source_addr,
  }
}

/** `addresses` are the receipt's own: from the recipient, to the sender. */
export function buildReceipt(addresses: Addresses, receipt: FatedReceipt, about: ReceiptAbout): Outgoing {
  const marked = isFinalReceipt(receipt) ? DELIVERY_RECEIPT : INTERMEDIATE
  const fields = { ...addresses, esm_class: marked }
  const text = Buffer.from(toText(receipt, about), 'latin1')
  const { reference: user_message_reference } = about
  const tlvs = {
    ...toTlvs(about.id, receipt),
    ...(user_message_reference !== undefined && { user_message_reference }),
  }
  const asBoth = { ...fields, short_message: text, tlvs }
  switch (about.form) {
    case 'both':
      return { command: 'deliver_sm', fields: asBoth }
    case 'tlvs':
      return { command: 'deliver_sm', fields: { ...fields, tlvs } }
    case 'text':
    case 'odd_text':
      return { command: 'deliver_sm', fields: { ...fields, short_message: text } }
    case 'unmarked':
      return { command: 'deliver_sm', fields: { ...addresses, short_message: text } }
    case 'data_sm':
      return { command: 'data_sm', fields: { ...fields, tlvs: { ...tlvs, message_payload: text } } }
    case 'udh':
      return {
        command: 'deliver_sm',
        fields: { ...fields, esm_class: marked | UDHI, short_message: Buffer.concat([UDH, text]) },
      }
    case 'sar':
      return { command: 'deliver_sm', fields: { ...asBoth, tlvs: { ...tlvs, ...SAR } } }
    case 'long_destination': {
      const destination_addr = addresses.destination_addr.padEnd(LONG_ADDRESS_DIGITS, '0')
      return { command: 'deliver_sm', fields: { ...asBoth, destination_addr } }
    }
    case 'padded_tlv': {
      const id = Buffer.alloc(ID_OCTETS_MAX)
      id.write(about.id, 'latin1')
      const { receipted_message_id: _, ...rest } = tlvs
      return { command: 'deliver_sm', fields: { ...fields, tlvs: { ...rest, [RECEIPTED_MESSAGE_ID]: id } } }
    }
    default:
      return about.form satisfies never
  }
}

function toText(receipt: FatedReceipt, { id, text, submittedAt, form }: ReceiptAbout): string {
  const { state, err, stat = STATE_WORDS[state] } = receipt
  const doneDate = new Date()
  if (form === 'odd_text') {
    const seconds = doneDate.toISOString().replaceAll(/\D/g, '').slice(0, 14)
    return `stat:${stat} done date:${seconds} id:${id} Text:about stat:EXPIRED\0`
  }
  const standard = formatReceipt({ id, state, err, submitDate: submittedAt, doneDate, text: toAscii(text) })
  return receipt.stat === undefined ? standard : standard.replace(/ stat:\S+/, ` stat:${stat}`)
}

function toTlvs(id: string, { state, err }: FatedReceipt) {
  const tlvs = { receipted_message_id: id, message_state: MESSAGE_STATES.indexOf(state) }
  const code = Number(err)
  return code > 0 ? { ...tlvs, network_error_code: Buffer.from([GSM_NETWORK, code >> 8, code & 0xff]) } : tlvs
}

/** The start of a text, in characters that every alphabet shares. */
function toAscii(text: string): string {
  return text.slice(0, 20).replaceAll(/[^ -~]/g, '?')
}
