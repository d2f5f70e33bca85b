import {
  cutSegments,
  detectAddress,
  formatReceipt,
  MESSAGE_STATES,
  type CutOptions,
  type FieldsInput,
  type SegmentPdu,
  type SmppAddress,
} from '@heliogram/smpp'
import { createHash } from 'node:crypto'
import type { Admission } from './bind.ts'
import { showClientId } from './client-id.ts'
import type { Delivery } from './delivery.ts'

/** esm_class of a receipt (SMPP 3.4 §5.2.12). */
const DELIVERY_RECEIPT = 0x04

/** The deliver_sm PDUs of a delivery: one, or the parts of a long reply in order. `hasTlvs`: the client speaks SMPP 3.4. */
export function pdusOf(
  delivery: Delivery,
  { defaultAlphabet, replyConcatenation }: Pick<Admission, 'defaultAlphabet' | 'replyConcatenation'>,
  hasTlvs: boolean,
): FieldsInput<'deliver_sm'>[] {
  const source = addressOf(delivery.source)
  const destination = addressOf(delivery.destination)
  const addresses = {
    source_addr_ton: source.ton,
    source_addr_npi: source.npi,
    source_addr: source.addr,
    dest_addr_ton: destination.ton,
    dest_addr_npi: destination.npi,
    destination_addr: destination.addr,
  }
  if (delivery.kind === 'receipt') {
    const { subjectId, part, parts, state, err, submittedAt: submitDate, doneAt: doneDate } = delivery
    const id = showClientId(subjectId, parts > 1 ? part : null)
    const text = formatReceipt({ id, state, submitDate, doneDate, err })
    return [
      {
        ...addresses,
        esm_class: DELIVERY_RECEIPT,
        short_message: Buffer.from(text, 'latin1'),
        ...(hasTlvs && { tlvs: { receipted_message_id: id, message_state: MESSAGE_STATES.indexOf(state) } }),
      },
    ]
  }
  // SAR and payload are TLVs, which a client older than 3.4 does not know.
  const mode = hasTlvs || replyConcatenation === 'udh16' ? replyConcatenation : 'udh8'
  const parts = cutReply(delivery.text, { mode, reference: referenceOf(delivery.id), alphabet: defaultAlphabet })
  return parts.map((part) => ({ ...addresses, ...part }))
}

// The maximum of any concatenation: 65,535 octets of payload.
const charactersMax = 65_535

/** Splits a reply. A longer one, which no phone writes but a carrier may send, is truncated: it must not block the others. */
function cutReply(whole: string, options: CutOptions): SegmentPdu[] {
  for (let text = whole.slice(0, charactersMax); ; text = text.slice(0, Math.floor(text.length * 0.95)))
    try {
      return cutSegments(text.toWellFormed(), options)
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
    }
}

/** A repeated part keeps its reference; ids of one millisecond differ in their ends. */
const referenceOf = (id: string): number => createHash('sha256').update(id).digest().readUInt16BE(0)

/** Writes even an address that a carrier should have rejected; the field ends at 20 characters (SMPP 3.4 §5.2.8). */
function addressOf(address: string): SmppAddress {
  const addr = address.replaceAll(/[^ -~]/g, '?').slice(0, 20)
  return detectAddress(address) ?? { ton: 0, npi: 0, addr }
}
