/** Why a message failed: our codes, and how a carrier's answers and receipts map onto them. Data, not code. */

interface MessageErrorKind {
  title: string
  isPermanent: boolean
  advice: string
}

const kind = (title: string, isPermanent: boolean, advice: string): MessageErrorKind => ({ title, isPermanent, advice })

/** Codes of `error.code` of a message. `isPermanent`: the same message to the same number will fail again. */
export const messageErrors = {
  unknown_subscriber: kind('The number is not in service', true, 'Remove the number.'),
  landline_or_unroutable: kind('The number cannot receive messages', true, 'Remove the number or call it.'),
  handset_unreachable: kind('The phone could not be reached', false, 'Try again later.'),
  handset_busy: kind('The phone was busy', false, 'Try again later.'),
  handset_memory_full: kind('The phone has no room for messages', false, 'Try again later.'),
  recipient_blocked: kind('The phone or its operator blocks the message', true, 'Do not send to this number.'),
  recipient_opted_out: kind('The recipient has opted out', true, 'Do not send until the recipient says START.'),
  content_filtered: kind('The network refused the text', true, 'Change the text or register the sender.'),
  carrier_congestion: kind('The carrier is congested', false, 'Try again later.'),
  throttled: kind('The carrier limits the rate', false, 'Lower the pace of the link, or ask the carrier for more.'),
  sender_not_registered: kind('The sender is not registered', true, 'Register the sender with the carrier.'),
  invalid_sender: kind('The carrier refused the sender', true, 'Use a sender that the carrier knows.'),
  invalid_destination: kind('The carrier refused the number', true, 'Check the number.'),
  expired_in_queue: kind('The validity period passed before it was sent', true, 'Send it again if it is still of use.'),
  expired_at_carrier: kind('The validity period passed at the carrier', true, 'Send it again if it is still of use.'),
  message_too_long: kind('The carrier refused the length', true, 'Shorten the text.'),
  provider_timeout: kind('The carrier did not answer', false, 'Try again later.'),
  provider_error: kind('The carrier had a fault', false, 'Try again later; tell the carrier if it stays.'),
  no_route_available: kind('No carrier could take the message', false, 'Enable a carrier.'),
  outcome_unknown: kind(
    'The carrier did not say whether it took the message',
    false,
    'Wait for a late receipt; sending again may reach the recipient twice.',
  ),
  no_receipt: kind('No receipt came', false, 'The message was taken by the carrier; it may have been delivered.'),
  carrier_unknown: kind('The carrier gave no known reason', false, 'See the raw code; tell the carrier if it stays.'),
} as const satisfies Record<string, MessageErrorKind>

export type MessageErrorCode = keyof typeof messageErrors

/** SMPP command_status of a refused submit_sm -> our code (SMPP 3.4 §5.1.3, SMPP 5.0 §4.7.6). */
const submitStatusCodes: Record<number, MessageErrorCode> = {
  0x01: 'message_too_long',
  0x08: 'provider_error',
  0x0a: 'invalid_sender',
  0x0b: 'invalid_destination',
  0x14: 'carrier_congestion',
  0x45: 'provider_error',
  0x58: 'throttled',
  0x61: 'provider_error',
  0x64: 'provider_error',
  0x65: 'content_filtered',
  0x66: 'content_filtered',
}

/** `err` of a receipt -> our code: the GSM numbers that most carriers pass on (3GPP TS 29.002 §7.6.1). */
const receiptErrCodes: Record<number, MessageErrorCode> = {
  1: 'unknown_subscriber',
  5: 'unknown_subscriber',
  6: 'handset_unreachable',
  11: 'landline_or_unroutable',
  13: 'recipient_blocked',
  21: 'landline_or_unroutable',
  27: 'handset_unreachable',
  31: 'handset_busy',
  32: 'handset_unreachable',
  34: 'carrier_congestion',
  40: 'handset_memory_full',
}

/** Our code for a refused submit_sm. */
export function codeOfSubmitStatus(status: number): MessageErrorCode {
  return submitStatusCodes[status] ?? 'carrier_unknown'
}

/** Our code for a receipt that tells a failure. */
export function codeOfReceipt(state: string, err: string | null): MessageErrorCode {
  if (state === 'expired') return 'expired_at_carrier'
  const number = err !== null && /^\d{1,4}$/.test(err.trim()) ? Number(err) : Number.NaN
  return receiptErrCodes[number] ?? (state === 'rejected' ? 'content_filtered' : 'carrier_unknown')
}
