import { type Fields, type FieldsInput, formatReceipt, MESSAGE_STATES } from '@heliogram/smpp'
import type { FatedReceipt } from './fates.ts'

/** Message type "delivery receipt" in esm_class. SMPP 3.4 §5.2.12. */
const DELIVERY_RECEIPT = 0x04
/** Network type GSM of network_error_code. SMPP 3.4 §5.3.2.31. */
const GSM_NETWORK = 3

/** The addresses of a message. */
export type Addresses = Pick<
  Fields<'submit_sm'>,
  'source_addr_ton' | 'source_addr_npi' | 'source_addr' | 'dest_addr_ton' | 'dest_addr_npi' | 'destination_addr'
>

/** Tells whether a submit wants to hear of this outcome. SMPP 3.4 §5.2.17; 3 = success only is of 5.0 §4.7.21. */
export function isReceiptAsked(registered_delivery: number, receipt: FatedReceipt): boolean {
  const asked = registered_delivery & 0x03
  if (asked === 2) return receipt.state !== 'delivered'
  if (asked === 3) return receipt.state === 'delivered'
  return asked === 1
}

/** The addresses of a message the other way round. */
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

/** Writes a receipt as the fields of a deliver_sm; `addresses` are its own: from the recipient, to the sender. */
export function buildReceipt(
  addresses: Addresses,
  receipt: FatedReceipt,
  about: { id: string; text: string; submittedAt: Date; hasTlvs: boolean },
): FieldsInput<'deliver_sm'> {
  const { state, err } = receipt
  const { id, submittedAt: submitDate } = about
  const text = formatReceipt({ id, state, err, submitDate, doneDate: new Date(), text: toAscii(about.text) })
  return {
    ...addresses,
    esm_class: DELIVERY_RECEIPT,
    short_message: Buffer.from(text, 'latin1'),
    tlvs: about.hasTlvs ? toTlvs(id, receipt) : undefined,
  }
}

function toTlvs(id: string, { state, err }: FatedReceipt): NonNullable<FieldsInput<'deliver_sm'>['tlvs']> {
  const tlvs = { receipted_message_id: id, message_state: MESSAGE_STATES.indexOf(state) }
  const code = Number(err)
  return code === 0 ? tlvs : { ...tlvs, network_error_code: Buffer.from([GSM_NETWORK, code >> 8, code & 0xff]) }
}

/** The beginning of a text as a receipt can carry it whatever its own alphabet. */
function toAscii(text: string): string {
  return text.slice(0, 20).replaceAll(/[^ -~]/g, '?')
}
