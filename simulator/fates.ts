import type { ReceiptState } from '@heliogram/smpp'
import { DELIVERED, FATES } from './fate-table.ts'
import type { PartOrder, SubmitFault } from './faults.ts'
import type { IdSpelling } from './message-ids.ts'
import { plainNumber } from './numbers.ts'

/** When and how an accepted submit is answered; `late`: when nobody waits any more. */
export type AnswerManner = 'soon' | 'after_receipt' | 'late' | 'twice' | 'without_id'

/** What becomes of a message, by its recipient. */
export interface Fate {
  /** A whole number, or four digits that any other number may end in. */
  readonly recipient: string
  /** What happens, for people: the page and the README say it in these words. */
  readonly happens: string
  /** What is wrong with its submits, besides nothing. */
  readonly submit?: SubmitFault
  /** How many submits to the number `submit` befalls before one is accepted, again and again; all where it is not given. */
  readonly times?: number
  readonly answer?: AnswerManner
  /** What the receipt says; null: there never is one. Delivered where it is not given. */
  readonly receipt?: FatedReceipt | null
  /** A second receipt, a receipt's latency after the first. */
  readonly next?: FatedReceipt
  /** The part of long messages that all this befalls; the others are delivered. */
  readonly part?: number
  readonly reply?: FatedReply
}

/** What a receipt says, and how it is spoilt. */
export interface FatedReceipt {
  readonly state: ReceiptState
  /** The text's `err`: a MAP user error where there is one (3GPP TS 29.002 §17.5), in decimal. */
  readonly err: string
  /** The carrier's own word for the state. */
  readonly stat?: string
  readonly copies?: number
  readonly id?: IdSpelling
  readonly form?: ReceiptForm
  /** Not before so many milliseconds after the submit response. */
  readonly notBeforeMs?: number
}

/**
 * What a receipt is written as: TLVs, text, or both; text without a word in esm_class that it is one; a data_sm; with a UDH or
 * with SAR TLVs as though it were a part; to a destination_addr of 64 digits; with a receipted_message_id filled up with NULs to 65
 * octets; in an odd text.
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

/** What a phone answers by itself: a text, or what it got (null). */
export interface FatedReply {
  readonly text: string | null
  readonly order?: PartOrder
  readonly copies?: number
  /** The last part never comes. */
  readonly isPartMissing?: boolean
}

/** The fate of every number that is in no row of FATES. */
export const ORDINARY: Fate = { recipient: 'any other', happens: 'Delivered.' }

const fateByRecipient = new Map(FATES.map((fate) => [fate.recipient, fate]))
const ENDING_DIGITS = 4

/** Tells whether a recipient is in the table. */
export function hasFate(recipient: string): boolean {
  return fateByRecipient.has(recipient)
}

/** The fate of a recipient, as it stands in a destination_addr: the whole number first, then its last four digits. */
export function fateOf(recipient: string, ordinary = ''): Fate {
  const digits = plainNumber(recipient)
  const ending = digits.slice(-ENDING_DIGITS)
  return fateByRecipient.get(digits) ?? fateByRecipient.get(ending) ?? fateByRecipient.get(ordinary) ?? ORDINARY
}

/** The receipts of a fate in their order; none where none ever comes. */
export function receiptsOf(fate: Fate): readonly FatedReceipt[] {
  const first = fate.receipt === undefined ? DELIVERED : fate.receipt
  return [first, fate.next ?? null].filter((receipt) => receipt !== null)
}
