/**
 * The message: its row and its states; `show.ts` has its public form.
 *
 *   scheduled ─▶ queued ─▶ sending ─▶ sent ─▶ delivered | undelivered | rejected
 *                  ▲         │  │       └──▶ unconfirmed (no receipt in time)
 *                  └─ retry ─┘  └──▶ rejected | unconfirmed (no answer) ─ late answer or receipt ─▶ sent | delivered | …
 *                  ▲                              └─▶ queued, by the policy `resend` or by hand: a possible duplicate
 *   scheduled, queued ─▶ canceled (also: opted out)       queued ─▶ expired       inbound: received
 *
 * Every change is a compare-and-set on the state before it (`canBecome`): nothing moves backwards, a late word is kept in the
 * ledger and never shown.
 */
import type { MessageErrorCode } from './taxonomy.ts'

export const statuses = [
  'scheduled',
  'queued',
  'sending',
  'sent',
  'delivered',
  'undelivered',
  'rejected',
  'failed',
  'expired',
  'unconfirmed',
  'canceled',
  'received',
] as const
export type Status = (typeof statuses)[number]

export const messageTypes = ['transactional', 'marketing', 'otp'] as const
export type MessageType = (typeof messageTypes)[number]

/** Unknown outcome: hold the message, or resend it, perhaps twice. */
export const unknownPolicies = ['hold', 'resend'] as const
export type UnknownPolicy = (typeof unknownPolicies)[number]

/** Final statuses of failures. */
export const failures: readonly Status[] = ['undelivered', 'rejected', 'failed', 'expired']
/** Statuses in `outcomes`: every end except `delivered`. */
export const outcomeStatuses: readonly Status[] = [...failures, 'unconfirmed', 'canceled']
const finals: readonly Status[] = ['delivered', ...failures, 'canceled', 'received']

/**
 * The states before each state: the `where` of every status update, as its test checks. From `queued` to `sent`, `delivered`, `undelivered` or
 * `unconfirmed` only if the message waits to be resent, and an answer or receipt of an earlier try comes.
 */
export const canBecome = {
  queued: ['scheduled', 'sending', 'unconfirmed'],
  sending: ['queued'],
  sent: ['queued', 'sending', 'unconfirmed'],
  delivered: ['queued', 'sending', 'sent', 'unconfirmed'],
  undelivered: ['queued', 'sending', 'sent', 'unconfirmed'],
  rejected: ['queued', 'sending', 'sent', 'unconfirmed'],
  unconfirmed: ['queued', 'sending', 'sent'],
  expired: ['queued'],
  canceled: ['scheduled', 'queued'],
} as const satisfies Partial<Record<Status, readonly Status[]>>

export const isFinal = (status: Status): boolean => finals.includes(status)

/** Null without an outcome; the specification has exactly these words. */
export function deliveryStatusOf(status: Status): 'Delivered' | 'Failed' | null {
  if (status === 'delivered') return 'Delivered'
  return failures.includes(status) ? 'Failed' : null
}

/** A row of `messages`, as `messageColumns` reads it. */
export interface MessageRow {
  accountId: string
  id: string
  direction: 'outbound' | 'inbound'
  type: MessageType
  status: Status
  /** Null: this is its first status. */
  previousStatus: Status | null
  sequence: number
  theirNumber: string
  /** ISO 3166-1 alpha-2 of the recipient's number; null: none. */
  country: string | null
  ourNumber: string | null
  /** Null if there is none, or it cannot be opened (`isUndecryptable`). */
  body: string | null
  /** The stored text, if it could not be opened; see ground/sealing/texts.ts. */
  bodySealed: Buffer | null
  encoding: 'GSM-7' | 'UCS-2'
  characters: number
  segments: number
  campaignId: string | null
  /** Its broadcast; of a reply, that of the message it answers. */
  broadcastId: string | null
  contactId: string | null
  callbackUrl: string | null
  metadata: Record<string, string> | null
  tags: string[] | null
  warnings: Warning[] | null
  isTest: boolean
  isConfirmation: boolean
  sendAt: Date | null
  expiresAt: Date | null
  createdAt: Date
  updatedAt: Date
  queuedAt: Date | null
  sentAt: Date | null
  completedAt: Date | null
  holdReason: string | null
  holdUntil: Date | null
  carrierId: string | null
  providerMessageId: string | null
  /** Number of the last try. */
  attempts: number
  /** Tries that were returned unwritten. */
  handedBack: number
  segmentsDelivered: number
  errorCode: MessageErrorCode | null
  errorStage: 'queue' | 'submit' | 'receipt' | null
  errorRaw: string | null
  receiptStat: string | null
  receiptErr: string | null
  keyword: string | null
  inReplyTo: string | null
  isPartial: boolean
  possibleDuplicate: boolean
  /** As requested or decided; null: open. */
  onUnknown: UnknownPolicy | null
  /** All segments, in the currency's unit, at its present or expected carrier; null: no rate is known. */
  cost: string | null
  costCurrency: string | null
  costCarrierId: string | null
  /** If another carrier took it: the estimated amount and currency (empty: none). */
  firstEstimate: string | null
}

/** A hint that refuses nothing. */
export interface Warning {
  code:
    | 'ucs2_due_to_character'
    | 'multi_segment'
    | 'smart_encoded'
    | 'smart_encoding_off'
    | 'unassigned_range'
    | 'possible_national_number'
    | 'quiet_hours_hold'
  detail: string
  until?: string
  characters?: { character: string; code_point: string; position: number }[]
  replaced?: { character: string; code_point: string; replacement: string; count: number }[]
}

/** Select list for `MessageRow`, of the table under the alias. */
export const messageColumns = (m: string): string => `
    ${m}.account_id as "accountId", ${m}.id, ${m}.direction, ${m}.type, ${m}.status, ${m}.previous_status as "previousStatus", ${m}.sequence,
    ${m}.their_number as "theirNumber", ${m}.country, ${m}.our_number as "ourNumber", ${m}.body,
    ${m}.body_sealed as "bodySealed", ${m}.encoding, ${m}.characters, ${m}.segments,
    ${m}.campaign_id as "campaignId", ${m}.broadcast_id as "broadcastId", ${m}.contact_id as "contactId", ${m}.callback_url as "callbackUrl",
    ${m}.metadata, ${m}.tags, ${m}.warnings, ${m}.is_test as "isTest",
    ${m}.is_confirmation as "isConfirmation", ${m}.send_at as "sendAt", ${m}.expires_at as "expiresAt",
    ${m}.created_at as "createdAt", ${m}.updated_at as "updatedAt", ${m}.queued_at as "queuedAt", ${m}.sent_at as "sentAt",
    ${m}.completed_at as "completedAt", ${m}.hold_reason as "holdReason", ${m}.hold_until as "holdUntil",
    ${m}.carrier_id as "carrierId", ${m}.provider_message_id as "providerMessageId", ${m}.attempts,
    ${m}.handed_back as "handedBack", ${m}.segments_delivered as "segmentsDelivered", ${m}.error_code as "errorCode", ${m}.error_stage as "errorStage",
    ${m}.error_raw as "errorRaw", ${m}.receipt_stat as "receiptStat", ${m}.receipt_err as "receiptErr", ${m}.keyword,
    ${m}.in_reply_to as "inReplyTo", ${m}.is_partial as "isPartial", ${m}.possible_duplicate as "possibleDuplicate",
    ${m}.on_unknown as "onUnknown", ${m}.cost, ${m}.cost_currency as "costCurrency", ${m}.cost_carrier_id as "costCarrierId",
    ${m}.first_estimate as "firstEstimate"`

export const messageColumnNames: readonly string[] = messageColumns('m')
  .split(',')
  .map((column) => /as "(\w+)"$/.exec(column.trim())?.[1] ?? column.trim().replace('m.', ''))

/** Replaces the number of an erased person in messages: random, one for each erasure. */
export const erasedMark = (erasureId: string): string => `erased-${erasureId.slice(-12)}`

/** Whether the person of a message was erased. */
export const isErased = ({ theirNumber }: Pick<MessageRow, 'theirNumber'>): boolean => theirNumber.startsWith('erased-')

/** A moved message may still have an old reason. */
export const isHeld = ({ holdReason, status }: MessageRow): boolean =>
  holdReason !== null && ['scheduled', 'queued', 'unconfirmed'].includes(status)
