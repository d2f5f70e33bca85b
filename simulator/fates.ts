import type { ReceiptState, StatusName } from '@heliogram/smpp'
import { plainNumber } from './numbers.ts'

/** How a submit is answered: soon, after its receipt, not at all, or by closing the connection. */
export type AnswerManner = 'soon' | 'after_receipt' | 'never' | 'drop'

/** What becomes of a message, by its recipient. */
export interface Fate {
  /** A whole number, or four digits that any other number may end in. */
  readonly recipient: string
  /** What happens, for people: the page and the README say it in these words. */
  readonly happens: string
  /** Refused with this status, and nothing more. */
  readonly refusal?: StatusName
  /** So many submits to the number are refused with RTHROTTLED before one is taken, again and again. */
  readonly throttledTimes?: number
  readonly answer?: AnswerManner
  /** What the receipt says; null: there never is one. Delivered where it is not given. */
  readonly receipt?: FatedReceipt | null
  readonly reply?: 'STOP' | 'echo'
}

/** What a receipt says, and how it is spoilt. */
export interface FatedReceipt {
  readonly state: ReceiptState
  /** The text's `err`: a MAP user error where there is one (3GPP TS 29.002 §17.5), in decimal. */
  readonly err: string
  readonly copies?: number
  readonly isIdOtherRadix?: boolean
}

const DELIVERED: FatedReceipt = { state: 'delivered', err: '000' }

/** The fate of every number that is in no row of FATES. */
export const ORDINARY: Fate = { recipient: 'any other', happens: 'Delivered.' }

/** Well-known recipients: endings, and whole numbers, which count first: the ones that Twilio's test credentials know. */
export const FATES: readonly Fate[] = [
  { recipient: '0001', happens: 'Delivered.' },
  {
    recipient: '0002',
    happens: 'Undelivered (receipt UNDELIV, err 001).',
    receipt: { state: 'undeliverable', err: '001' },
  },
  { recipient: '0003', happens: 'Throttled twice (RTHROTTLED), then delivered.', throttledTimes: 2 },
  { recipient: '0004', happens: 'Accepted, but a receipt never comes.', receipt: null },
  { recipient: '0005', happens: 'Delivered; the receipt comes before the submit response.', answer: 'after_receipt' },
  { recipient: '0006', happens: 'Delivered, then replies STOP.', reply: 'STOP' },
  { recipient: '0007', happens: 'Delivered, then replies with the text it got.', reply: 'echo' },

  { recipient: '0010', happens: 'Delivered, but the submit is never answered.', answer: 'never' },
  {
    recipient: '0011',
    happens: 'Delivered, but the connection is closed instead of answering the submit.',
    answer: 'drop',
  },
  { recipient: '0012', happens: 'Delivered, with the receipt three times.', receipt: { ...DELIVERED, copies: 3 } },
  {
    recipient: '0013',
    happens: 'Delivered; the receipt writes the id hexadecimal where the response was decimal (or the reverse).',
    receipt: { ...DELIVERED, isIdOtherRadix: true },
  },
  {
    recipient: '0014',
    happens: 'Rejected by the recipient (receipt REJECTD, err 013).',
    receipt: { state: 'rejected', err: '013' },
  },
  { recipient: '0015', happens: 'Expired (receipt EXPIRED, err 027).', receipt: { state: 'expired', err: '027' } },

  {
    recipient: '15005550001',
    happens: 'Refused: the number is invalid (submit answered RINVDSTADR).',
    refusal: 'RINVDSTADR',
  },
  {
    recipient: '15005550002',
    happens: 'Refused: there is no route to it (RDELIVERYFAILURE).',
    refusal: 'RDELIVERYFAILURE',
  },
  {
    recipient: '15005550003',
    happens: 'Refused: its country is not permitted (RPROHIBITED).',
    refusal: 'RPROHIBITED',
  },
  { recipient: '15005550004', happens: 'Refused: the carrier has blocked it (RX_R_APPN).', refusal: 'RX_R_APPN' },
  { recipient: '15005550006', happens: 'Delivered.' },
  {
    recipient: '15005550009',
    happens: 'Undelivered: it cannot receive texts (receipt UNDELIV, err 011).',
    receipt: { state: 'undeliverable', err: '011' },
  },
]

const fateByRecipient = new Map(FATES.map((fate) => [fate.recipient, fate]))
const ENDING_DIGITS = 4

/** The fate of a recipient, as it stands in a destination_addr: the whole number first, then its last four digits. */
export function fateOf(recipient: string): Fate {
  const digits = plainNumber(recipient)
  return fateByRecipient.get(digits) ?? fateByRecipient.get(digits.slice(-ENDING_DIGITS)) ?? ORDINARY
}

/** What the receipt of a fate says; null where there is none. */
export function receiptOf(fate: Fate): FatedReceipt | null {
  return fate.receipt === undefined ? DELIVERED : fate.receipt
}
