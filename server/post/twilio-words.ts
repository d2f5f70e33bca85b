/**
 * Twilio's words for ours, for programs written for its API of 2010-04-01: sids, states, and numbers of errors
 * (https://www.twilio.com/docs/messaging/api/message-resource, https://www.twilio.com/docs/api/errors).
 */
import type { Status } from '../message/message.ts'
import type { MessageErrorCode } from '../message/taxonomy.ts'

export const twilioVersion = '2010-04-01'

/** Binds a sealed auth token to its row of `twilio_credentials`. */
export const twilioTokenPurpose = (accountId: string, id: string): string =>
  `twilio_credentials.token|${accountId}|${id}`

/** The sid of one of our ids: two letters and the 32 hexadecimal digits of the UUID, so that it need not be stored. */
export const showSid = (letters: 'AC' | 'SM' | 'MG', uuid: string): string => letters + uuid.replaceAll('-', '')

/** Null if invalid. `MM` names a message as well as `SM`. */
export function parseSid(letters: 'AC' | 'SM' | 'MG', sid: string): string | null {
  const hex = /^(?:AC|SM|MM|MG)([0-9a-f]{32})$/.exec(sid)?.[1]
  const isOfKind = sid.startsWith(letters) || (letters === 'SM' && sid.startsWith('MM'))
  if (hex === undefined || !isOfKind) return null
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

/** Unknown outcomes stay `sent`, as in Twilio. */
export const twilioStatuses: Readonly<Record<Status, string>> = {
  scheduled: 'scheduled',
  queued: 'queued',
  sending: 'sending',
  sent: 'sent',
  delivered: 'delivered',
  undelivered: 'undelivered',
  rejected: 'failed',
  failed: 'failed',
  expired: 'failed',
  unconfirmed: 'sent',
  canceled: 'canceled',
  received: 'received',
}

export const twilioErrors: Readonly<Record<MessageErrorCode, number | null>> = {
  unknown_subscriber: 30005,
  landline_or_unroutable: 30006,
  handset_unreachable: 30003,
  handset_busy: 30003,
  handset_memory_full: 30003,
  recipient_blocked: 30004,
  recipient_opted_out: 21610,
  content_filtered: 30007,
  carrier_congestion: 30017,
  throttled: 30022,
  sender_not_registered: 30034,
  invalid_sender: 21606,
  invalid_destination: 21211,
  destination_not_allowed: 21408,
  fraud_suspected: 30450,
  queue_full: 30001,
  expired_in_queue: 30036,
  expired_at_carrier: 30003,
  message_too_long: 21617,
  spend_limit_reached: 30001,
  quiet_hours: 30610,
  text_unavailable: 30008,
  provider_timeout: 30410,
  provider_error: 30008,
  no_route_available: 21612,
  // It has not failed.
  outcome_unknown: null,
  no_receipt: null,
  carrier_unknown: 30008,
}

/** A number in Twilio's form: with a plus sign, except for short codes and names. */
export const twilioNumber = (number: string | null): string | null =>
  number !== null && /^\d{7,15}$/.test(number) ? `+${number}` : number
