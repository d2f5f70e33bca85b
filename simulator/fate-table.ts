import type { ReceiptState } from '@heliogram/smpp'
import type { PartOrder, SubmitFault } from './faults.ts'
import type { IdSpelling } from './message-ids.ts'

/** When and how an accepted submit is answered; `late`: after clients have given up. */
export type AnswerManner = 'soon' | 'after_receipt' | 'late' | 'twice' | 'without_id'

/** The behaviour of a recipient. */
export interface Fate {
  /** A whole number, or the last four digits of a number. */
  readonly recipient: string
  /** For people, on the page and in the README. */
  readonly happens: string
  /** The fault of its submits, if any. */
  readonly submit?: SubmitFault
  /** How many submits to the number fail before one is accepted, repeatedly. Default: all. */
  readonly times?: number
  readonly answer?: AnswerManner
  /** Null: no receipt ever. Default: delivered. */
  readonly receipt?: FatedReceipt | null
  /** A second receipt, one receipt latency after the first. */
  readonly next?: FatedReceipt
  /** The affected part of long messages; the others are delivered. */
  readonly part?: number
  readonly reply?: FatedReply
}

export interface FatedReceipt {
  readonly state: ReceiptState
  /** The text's `err`: a MAP user error if there is one (3GPP TS 29.002 §17.5), in decimal. */
  readonly err: string
  readonly stat?: string
  readonly copies?: number
  readonly id?: IdSpelling
  readonly form?: ReceiptForm
  /** Least milliseconds after the submit response. */
  readonly notBeforeMs?: number
}

/**
 * The form of a receipt: TLVs, text, or both; text without a receipt's esm_class; a data_sm; with a UDH or SAR TLVs as if it were a part; to a
 * destination_addr of 64 digits; with a receipted_message_id padded with NULs to 65 octets; in an odd text.
 */
export type ReceiptForm =
  | 'both'
  | 'tlvs'
  | 'text'
  | 'unmarked'
  | 'data_sm'
  | 'udh'
  | 'sar'
  | 'long_destination'
  | 'padded_tlv'
  | 'odd_text'

/** An automatic reply of a phone: a text, or the received one (null). */
export interface FatedReply {
  readonly text: string | null
  readonly order?: PartOrder
  readonly copies?: number
  readonly isPartMissing?: boolean
}

export const DELIVERED: FatedReceipt = { state: 'delivered', err: '000' }
const UNDELIVERED: FatedReceipt = { state: 'undeliverable', err: '001' }
const ENROUTE: FatedReceipt = { state: 'enroute', err: '000' }

/** Four different parts of UCS-2. */
const LONG_TEXT = Array.from({ length: 24 }, (_, n) => `№ ${n + 1}: всё.`).join(' ')

/** Well-known recipients: endings, and whole numbers (those of Twilio's test credentials), which take precedence. */
export const FATES: readonly Fate[] = [
  { recipient: '0001', happens: 'Delivered.' },
  { recipient: '0002', happens: 'Undelivered (receipt UNDELIV, err 001).', receipt: UNDELIVERED },
  { recipient: '0003', happens: 'Throttled twice (RTHROTTLED), then delivered.', submit: 'RTHROTTLED', times: 2 },
  { recipient: '0004', happens: 'Accepted, but a receipt never comes.', receipt: null },
  { recipient: '0005', happens: 'Delivered; the receipt comes before the submit response.', answer: 'after_receipt' },
  { recipient: '0006', happens: 'Delivered, then replies STOP.', reply: { text: 'STOP' } },
  { recipient: '0007', happens: 'Delivered, then replies with the text it got.', reply: { text: null } },

  { recipient: '0010', happens: 'Delivered, but the submit is never answered.', submit: 'silent_taken' },
  {
    recipient: '0011',
    happens: 'Delivered, but the connection is closed instead of answering the submit.',
    submit: 'drop_taken',
  },
  { recipient: '0012', happens: 'Delivered, with the receipt three times.', receipt: { ...DELIVERED, copies: 3 } },
  {
    recipient: '0013',
    happens: 'Delivered; the receipt writes the id in hexadecimal if the response was decimal (or the reverse).',
    receipt: { ...DELIVERED, id: 'other_radix' },
  },
  {
    recipient: '0014',
    happens: 'Rejected by the recipient (receipt REJECTD, err 013).',
    receipt: { state: 'rejected', err: '013' },
  },
  { recipient: '0015', happens: 'Expired (receipt EXPIRED, err 027).', receipt: { state: 'expired', err: '027' } },

  { recipient: '0020', happens: 'Never accepted: the submit is not answered.', submit: 'silent' },
  { recipient: '0021', happens: 'Never accepted: the connection is closed instead.', submit: 'drop' },
  { recipient: '0022', happens: 'Never accepted: an unbind is sent instead of an answer.', submit: 'unbind' },
  { recipient: '0023', happens: 'Refused by a generic_nack.', submit: 'nack' },
  { recipient: '0024', happens: 'Refused by a generic_nack without the sequence number.', submit: 'nack_null' },
  { recipient: '0025', happens: 'Queue full twice (RMSGQFUL), then delivered.', submit: 'RMSGQFUL', times: 2 },
  { recipient: '0026', happens: 'One system error (RSYSERR), then delivered.', submit: 'RSYSERR', times: 1 },
  { recipient: '0027', happens: 'Refused with a status of the carrier’s own (0x0400).', submit: '0x0400' },
  { recipient: '0028', happens: 'Delivered, but the answer comes after 75 seconds.', answer: 'late' },
  { recipient: '0029', happens: 'Delivered; the submit is answered twice.', answer: 'twice' },
  { recipient: '0030', happens: 'Delivered; the submit response has no id.', answer: 'without_id' },
  {
    recipient: '0031',
    happens: 'Of a long message the second part is refused (RINVDSTADR), the others are delivered.',
    submit: 'RINVDSTADR',
    part: 2,
  },

  { recipient: '0040', happens: 'Delivered by the first receipt, undelivered by the next.', next: UNDELIVERED },
  {
    recipient: '0041',
    happens: 'Undelivered by the first receipt, delivered by the next.',
    receipt: UNDELIVERED,
    next: DELIVERED,
  },
  { recipient: '0042', happens: 'In transit (ENROUTE), then delivered.', receipt: ENROUTE, next: DELIVERED },
  { recipient: '0043', happens: 'Delivered; then another receipt says ENROUTE.', next: ENROUTE },
  {
    recipient: '0044',
    happens: 'Accepted (receipt ACCEPTD), without a final receipt.',
    receipt: { state: 'accepted', err: '000' },
  },
  {
    recipient: '0045',
    happens: 'Unknown (receipt UNKNOWN), without a final receipt.',
    receipt: { state: 'unknown', err: '000' },
  },
  { recipient: '0046', happens: 'Deleted (receipt DELETED).', receipt: { state: 'deleted', err: '000' } },
  {
    recipient: '0047',
    happens: 'Rejected in the carrier’s own words (receipt DND_REJECTED, err 21b).',
    receipt: { state: 'rejected', err: '21b', stat: 'DND_REJECTED', form: 'text' },
  },
  {
    recipient: '0048',
    happens: 'Delivered; the receipt comes after a minute.',
    receipt: { ...DELIVERED, notBeforeMs: 60_000 },
  },
  {
    recipient: '0049',
    happens: 'Of a long message the second part is undelivered, the others are delivered.',
    receipt: UNDELIVERED,
    part: 2,
  },

  { recipient: '0050', happens: 'Delivered; the receipt is TLVs alone.', receipt: { ...DELIVERED, form: 'tlvs' } },
  { recipient: '0051', happens: 'Delivered; the receipt is text alone.', receipt: { ...DELIVERED, form: 'text' } },
  {
    recipient: '0052',
    happens: 'Delivered; the receipt is text, and its esm_class does not say that it is one.',
    receipt: { ...DELIVERED, form: 'unmarked' },
  },
  { recipient: '0053', happens: 'Delivered; the receipt is a data_sm.', receipt: { ...DELIVERED, form: 'data_sm' } },
  {
    recipient: '0054',
    happens: 'Delivered; the receipt begins with a header of concatenation.',
    receipt: { ...DELIVERED, form: 'udh' },
  },
  { recipient: '0055', happens: 'Delivered; the receipt has SAR TLVs.', receipt: { ...DELIVERED, form: 'sar' } },
  {
    recipient: '0056',
    happens: 'Delivered; the receipt goes to a number of 64 digits.',
    receipt: { ...DELIVERED, form: 'long_destination' },
  },
  {
    recipient: '0057',
    happens: 'Delivered; the id in the receipt’s TLV is filled up with NULs to 65 octets.',
    receipt: { ...DELIVERED, form: 'padded_tlv' },
  },
  {
    recipient: '0058',
    happens: 'Delivered; the receipt’s text has another order, fewer fields, other dates and a NUL.',
    receipt: { ...DELIVERED, form: 'odd_text' },
  },

  {
    recipient: '0060',
    happens: 'Delivered; the receipt writes the id in upper-case hexadecimal.',
    receipt: { ...DELIVERED, id: 'upper_case' },
  },
  {
    recipient: '0061',
    happens: 'Delivered; the receipt writes the id with leading zeros.',
    receipt: { ...DELIVERED, id: 'leading_zeros' },
  },

  {
    recipient: '0070',
    happens: 'Delivered, then replies with a long text, its last part first.',
    reply: { text: LONG_TEXT, order: 'last_first' },
  },
  {
    recipient: '0071',
    happens: 'Delivered, then replies with a long text, its parts in any order and each twice.',
    reply: { text: LONG_TEXT, order: 'shuffled', copies: 2 },
  },
  {
    recipient: '0072',
    happens: 'Delivered, then replies with a long text whose last part never comes.',
    reply: { text: LONG_TEXT, isPartMissing: true },
  },

  {
    recipient: '15005550001',
    happens: 'Refused: the number is invalid (submit answered RINVDSTADR).',
    submit: 'RINVDSTADR',
  },
  {
    recipient: '15005550002',
    happens: 'Refused: there is no route to it (RDELIVERYFAILURE).',
    submit: 'RDELIVERYFAILURE',
  },
  { recipient: '15005550003', happens: 'Refused: its country is not permitted (RPROHIBITED).', submit: 'RPROHIBITED' },
  { recipient: '15005550004', happens: 'Refused: the carrier has blocked it (RX_R_APPN).', submit: 'RX_R_APPN' },
  { recipient: '15005550006', happens: 'Delivered.' },
  {
    recipient: '15005550009',
    happens: 'Undelivered: it cannot receive texts (receipt UNDELIV, err 011).',
    receipt: { state: 'undeliverable', err: '011' },
  },
]
