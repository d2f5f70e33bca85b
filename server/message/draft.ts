/** A draft: a checked request to send a message, its plan, and the result. */
import type { GuardKind } from '../accounts/account-settings.ts'
import type { Span } from '../ground/base/day.ts'
import type { Money } from '../ground/base/money.ts'
import type { MessageRow, MessageType, UnknownPolicy, Warning } from './message.ts'
import type { Estimate } from './price.ts'
import type { PlannedRoute, RouteRefusal } from './routing.ts'

export interface StoredText {
  body: string
  encoding: 'GSM-7' | 'UCS-2'
  characters: number
  segments: number
  warnings: Warning[] | null
}

export interface ShortLink {
  code: string
  url: string
}

export interface Draft extends StoredText {
  accountId: string
  theirNumber: string
  /** Null: the pool's, the campaign's, or the account's default. */
  sender: string | null
  poolId: string | null
  type: MessageType | null
  campaignId: string | null
  campaignKey: string | null
  /** The broadcast that it belongs to. */
  broadcastId: string | null
  sendAt: Date | null
  validitySeconds: number | null
  /** Null: the campaign's, the account's, or the link's. */
  onUnknown: UnknownPolicy | null
  callbackUrl: string | null
  metadata: Record<string, string> | null
  tags: string[] | null
  isTest: boolean
  idempotency: { operation: string; key: string; fingerprint: Buffer } | null
  /** The text before smart encoding, if only the campaign knows whether the message is a code: codes are sent as written. */
  written?: StoredText
  maxPrice?: Money
  /** Targets of the codes in the text, if it has short links. */
  shortLinks?: ShortLink[]
  /** Its text is deleted when the message is final. */
  isDiscarded?: boolean
}

/** Why a draft was refused, as the database saw it at the time of the insert. */
export type Refusal =
  | RouteRefusal
  | 'max_price_exceeded'
  | 'account_suspended'
  | 'campaign_closed'
  | 'recipient_opted_out'
  | 'queue_full'
  | GuardRefusal

/** Why a guard of the account stops a message (see `guards/`). */
export const refusalsOfGuards = [
  'destination_not_allowed',
  'spend_limit_reached',
  'country_limit_reached',
  'fraud_suspected',
  'duplicate_message',
] as const
export type GuardRefusal = (typeof refusalsOfGuards)[number]

/** The window of a limit: a day or an hour of an account, or of one country or prefix if the key is not empty. */
export interface LimitWindow extends Span {
  accountId: string
  kind: GuardKind
  key: string
  action: 'block' | 'alert'
  /** The most that may be used in it; null: no count, always stops. */
  limit: number | null
}

/** The stop of a guard that refused a message. */
export interface Stop {
  refusal: GuardRefusal
  window: LimitWindow
  /** The limit including raises; null: not counted. */
  limit: number | null
  /** Null: not recorded yet. */
  guardId: string | null
  /** The recent message with the same text. */
  earlierId: string | null
}

export interface Planned {
  draft: Draft
  id: string
  /** Time of acceptance. */
  at: Date
  route: PlannedRoute
  /** End of the quiet hours that would delay it; null: none. */
  opensAt: Date | null
  /** Its first carrier. */
  carrierId: string | null
  /** Its cost there. */
  estimate: Estimate | null
  /** It would cost more than `maxPrice`. */
  isOver: boolean
  /** The link that keeps room for it. */
  link: string | null
  /** The guard that stops it. */
  stop: Stop | null
  /** Seconds until its account's queue has room; null: it has room now. */
  waitSeconds: number | null
}

/** The statement's result for drafts at some places of the batch, from 1; null: for all. */
export interface Verdict {
  places: number[] | null
  refusal: Refusal | null
  /** The account has forgotten numbers of opt-outs, and the draft lacks the keyed hash that finds them. */
  lacksHash: boolean
  isNew: boolean
  type: MessageType
  expiresAt: Date
  onUnknown: UnknownPolicy | null
  // Absent if it concerns no draft of the batch.
  isLeased?: boolean
  knownId?: string | null
  knownFingerprint?: Buffer | null
  campaignId?: string | null
  contactId?: string | null
  /** Its campaign is paused. */
  isPaused?: boolean | null
  callbackUrl?: string | null
}

export type Accepted =
  | { kind: 'accepted'; row: MessageRow; estimatedSendAt: Date | null }
  /** The key was used before, for the message with this id. */
  | { kind: 'known_key'; messageId: string | null; fingerprint: Buffer }
  /** `stop`: the guard's, if one refused. `waitSeconds`: until a full queue has room. */
  | { kind: 'refused'; refusal: Refusal; stop: Stop | null; waitSeconds: number | null }
