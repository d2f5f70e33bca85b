/**
 * Why a message failed: our codes, and their mapping from carriers' answers and receipts unless the carrier's table differs (mappings/mapping.ts).
 * Data, not code.
 */
import { classifyStatus, type StatusClass } from '@heliogram/smpp'

interface MessageErrorKind {
  title: string
  isPermanent: boolean
  advice: string
}

const kind = (title: string, isPermanent: boolean, advice: string): MessageErrorKind => ({ title, isPermanent, advice })

const longerValidity = 'If it is still useful, send it again with a longer validity_period.'

/** Codes of `error.code` of a message. `isPermanent`: the same message to the same number will fail again. */
export const messageErrors = {
  unknown_subscriber: kind('The number is not in service', true, 'Remove the number.'),
  landline_or_unroutable: kind('The number cannot receive messages', true, 'Remove the number or call it.'),
  handset_unreachable: kind('The phone could not be reached', false, 'Try again later.'),
  handset_busy: kind('The phone was busy', false, 'Try again later.'),
  handset_memory_full: kind('The phone has no room for messages', false, 'Try again later.'),
  recipient_blocked: kind('The phone or its operator blocks the message', true, 'Do not send to this number.'),
  recipient_opted_out: kind('The recipient has opted out', true, 'Do not send until the person replies START.'),
  content_filtered: kind('The network refused the text', true, 'Change the text or register the sender.'),
  carrier_congestion: kind('The carrier is congested', false, 'Try again later.'),
  throttled: kind('The carrier limits the rate', false, 'Lower the pace of the link, or ask the carrier for more.'),
  sender_not_registered: kind('The sender is not registered', true, 'Register the sender with the carrier.'),
  invalid_sender: kind('The carrier refused the sender', true, 'Use a sender that the carrier knows.'),
  invalid_destination: kind('The carrier refused the number', true, 'Check the number.'),
  destination_not_allowed: kind('The carrier does not serve the destination', true, 'Ask the carrier to enable it.'),
  fraud_suspected: kind('The carrier suspects fraud', true, 'Stop, and check who requests these messages.'),
  queue_full: kind("The carrier's queue is full", false, 'Try again later.'),
  expired_in_queue: kind('The validity period ended before it was sent', true, longerValidity),
  expired_at_carrier: kind('The validity period ended at the carrier', true, longerValidity),
  message_too_long: kind('The carrier refused the length', true, 'Shorten the text.'),
  spend_limit_reached: kind('The credit at the carrier is used up', false, 'Top it up, then send again.'),
  text_unavailable: kind(
    'The text cannot be decrypted',
    false,
    'Its key is missing or it was changed: ask the operator, or send it again.',
  ),
  quiet_hours: kind('It is too late or too early at the recipient', false, 'Try again during the day.'),
  provider_timeout: kind('The carrier did not answer', false, 'Try again later.'),
  provider_error: kind('The carrier had an error', false, 'Try again later; inform the carrier if it continues.'),
  no_route_available: kind('No carrier could send the message', false, 'Enable a carrier.'),
  outcome_unknown: kind(
    'The carrier did not say whether it accepted the message',
    false,
    'Wait for a late receipt; sending again may reach the recipient twice.',
  ),
  no_receipt: kind('No receipt arrived', false, 'The carrier accepted the message; it may have been delivered.'),
  carrier_unknown: kind(
    'The carrier gave no known reason',
    false,
    'See the raw code; inform the carrier if it continues.',
  ),
} as const satisfies Record<string, MessageErrorKind>

export type MessageErrorCode = keyof typeof messageErrors

/**
 * How to handle a failure: `throttling` slows the link and resends the segment, `passing` retries later or elsewhere, `permanent` ends it. A receipt
 * is final in any case: there it only says whether another message may succeed.
 */
export const handlings = ['permanent', 'passing', 'throttling'] as const
export type Handling = (typeof handlings)[number]

const everywhere: ReadonlySet<MessageErrorCode> = new Set([
  'unknown_subscriber',
  'landline_or_unroutable',
  'recipient_blocked',
  'recipient_opted_out',
  'message_too_long',
  'fraud_suspected',
])

/** Whether every carrier would answer the same: it is about the recipient or the text. */
export const failsEverywhere = (code: MessageErrorCode): boolean => everywhere.has(code)

export interface Reason {
  code: MessageErrorCode
  handling: Handling
}

/** The failure in a receipt; `state` is SMPP's by name, `stat` and `err` are the carrier's words. */
export interface ReceiptWords {
  state: string
  stat: string | null
  err: string | null
}

/** Looks up the meanings of a link's carrier: synchronous, for the paths of every message. */
export interface Reasons {
  /** A refused submit_sm, by its command_status. */
  ofStatus(linkId: string, status: number): Reason
  ofReceipt(linkId: string, receipt: ReceiptWords): Reason
}

/** command_status of a refused submit_sm -> our code (SMPP 3.4 §5.1.3; from 0x100 on SMPP 5.0 §4.7.6). Others: carrier_unknown. */
const submitStatusCodes: Readonly<Record<number, MessageErrorCode>> = {
  0x01: 'message_too_long',
  0x04: 'provider_error',
  0x05: 'provider_error',
  0x08: 'provider_error',
  0x0a: 'invalid_sender',
  0x0b: 'invalid_destination',
  0x0d: 'provider_error',
  0x14: 'carrier_congestion',
  0x45: 'provider_error',
  0x48: 'invalid_sender',
  0x49: 'invalid_sender',
  0x50: 'invalid_destination',
  0x51: 'invalid_destination',
  0x58: 'throttled',
  0x61: 'provider_error',
  0x62: 'provider_error',
  0x64: 'provider_error',
  0x65: 'content_filtered',
  0x66: 'content_filtered',
  0xff: 'provider_error',
  0x100: 'destination_not_allowed',
  0x101: 'destination_not_allowed',
  0x102: 'provider_error',
  0x103: 'destination_not_allowed',
  0x105: 'invalid_sender',
  0x106: 'invalid_destination',
}

/**
 * `err` of a receipt -> our code: the mobile network's numbers, which most carriers pass on (local errors of 3GPP TS 29.002 §17.6; 40 to 42 are the
 * causes of its sm-DeliveryFailure as gateways number them).
 */
export const receiptErrCodes: Readonly<Record<number, MessageErrorCode>> = {
  1: 'unknown_subscriber',
  5: 'unknown_subscriber',
  6: 'handset_unreachable',
  9: 'recipient_blocked',
  10: 'landline_or_unroutable',
  11: 'landline_or_unroutable',
  12: 'recipient_blocked',
  13: 'recipient_blocked',
  21: 'landline_or_unroutable',
  22: 'landline_or_unroutable',
  27: 'handset_unreachable',
  31: 'handset_busy',
  32: 'handset_unreachable',
  34: 'carrier_congestion',
  35: 'provider_error',
  36: 'provider_error',
  40: 'handset_memory_full',
  42: 'landline_or_unroutable',
}

/** `stat` of a receipt -> our code, if the word says more than its state: carriers' own words beside those of SMPP 3.4 appendix B. */
export const receiptStatCodes: Readonly<Record<string, MessageErrorCode>> = {
  BLACKLST: 'recipient_blocked',
  BLACKLISTED: 'recipient_blocked',
  BLOCKED: 'recipient_blocked',
  DND: 'recipient_blocked',
  DND_REJECTED: 'recipient_blocked',
  NCPR: 'recipient_blocked',
  NCPR_REJECTED: 'recipient_blocked',
  SPAM: 'content_filtered',
  SPAM_REJECTED: 'content_filtered',
}

/**
 * Our code -> `err` of a receipt to an SMPP client, three characters as in SMPP 3.4 appendix B. Below 100 the network's numbers, which
 * `receiptErrCodes` reads back; from 100 on our own.
 */
export const clientErrs: Readonly<Record<MessageErrorCode, string>> = {
  unknown_subscriber: '001',
  landline_or_unroutable: '011',
  recipient_blocked: '013',
  handset_unreachable: '027',
  handset_busy: '031',
  carrier_congestion: '034',
  provider_error: '036',
  handset_memory_full: '040',
  recipient_opted_out: '101',
  content_filtered: '102',
  throttled: '103',
  sender_not_registered: '104',
  invalid_sender: '105',
  invalid_destination: '106',
  destination_not_allowed: '107',
  fraud_suspected: '108',
  queue_full: '109',
  expired_in_queue: '110',
  expired_at_carrier: '111',
  message_too_long: '112',
  spend_limit_reached: '113',
  text_unavailable: '114',
  quiet_hours: '115',
  provider_timeout: '116',
  no_route_available: '117',
  outcome_unknown: '118',
  no_receipt: '119',
  carrier_unknown: '120',
}

const handlingOfClass = {
  ok: 'permanent',
  permanent: 'permanent',
  retry_link: 'throttling',
  retry_later: 'passing',
} as const satisfies Record<StatusClass, Handling>

export function handlingOf(code: MessageErrorCode): Handling {
  if (code === 'throttled' || code === 'queue_full') return 'throttling'
  return messageErrors[code].isPermanent ? 'permanent' : 'passing'
}

/** The default meaning of a command_status; an unlisted one is permanent, which cannot loop. */
export function reasonOfStatus(status: number): Reason {
  return { code: submitStatusCodes[status] ?? 'carrier_unknown', handling: handlingOfClass[classifyStatus(status)] }
}

export function reasonOfReceipt({ state, stat, err }: ReceiptWords): Reason {
  const code = receiptStatCodes[stat?.toUpperCase() ?? ''] ?? codeOfReceipt(state, err)
  return { code, handling: handlingOf(code) }
}

/** By state and number alone. */
function codeOfReceipt(state: string, err: string | null): MessageErrorCode {
  if (state === 'expired') return 'expired_at_carrier'
  const number = err !== null && /^\d{1,4}$/.test(err.trim()) ? Number(err) : Number.NaN
  return receiptErrCodes[number] ?? 'carrier_unknown'
}

/** The same for every carrier. */
export const defaultReasons: Reasons = {
  ofStatus: (_linkId, status) => reasonOfStatus(status),
  ofReceipt: (_linkId, receipt) => reasonOfReceipt(receipt),
}
