/** A draft: a checked request to send a message, the plan for it, and the answer to it. */
import type { GuardKind } from '../accounts/guard-settings.ts'
import type { Span } from '../ground/base/day.ts'
import type { Money } from '../ground/base/money.ts'
import type { MessageRow, MessageType, UnknownPolicy, Warning } from './message.ts'
import type { Estimate } from './price.ts'
import type { PlannedRoute, RouteRefusal } from './routing.ts'

/** The text of a message as it is sent, and what it takes. */
export interface StoredText {
  body: string
  encoding: 'GSM-7' | 'UCS-2'
  characters: number
  segments: number
  warnings: Warning[] | null
}

/** The address behind the code of a short link. */
export interface ShortLink {
  code: string
  url: string
}

/** A checked request to send one message. */
export interface Draft extends StoredText {
  accountId: string
  theirNumber: string
  /** Null: the pool's, the campaign's, or the account's default. */
  sender: string | null
  poolId: string | null
  type: MessageType | null
  campaignId: string | null
  campaignKey: string | null
  /** The broadcast of the campaign that it is made for. */
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
  /**
   * The text without smart encoding, where it was encoded so and only the campaign knows whether the message is a code: codes are sent as
   * written.
   */
  written?: StoredText
  /** The most it may cost; absent: anything. */
  maxPrice?: Money
  /** What the codes in the text stand for, where it has short links. */
  shortLinks?: ShortLink[]
  /** Its text goes as soon as it is over. */
  isDiscarded?: boolean
}

/** Why a draft was not taken, as the database saw it when it would have been written. */
export type Refusal =
  | RouteRefusal
  | 'max_price_exceeded'
  | 'account_suspended'
  | 'campaign_closed'
  | 'recipient_opted_out'
  | 'queue_full'
  | GuardRefusal

/** Why a guard of the account does not let a message go (see `guards/`). */
export const refusalsOfGuards = [
  'destination_not_allowed',
  'spend_limit_reached',
  'country_limit_reached',
  'fraud_suspected',
  'duplicate_message',
] as const
export type GuardRefusal = (typeof refusalsOfGuards)[number]

/** The window of a limit: a day or an hour of one account, of one country or prefix where the key is not empty. */
export interface LimitWindow extends Span {
  accountId: string
  kind: GuardKind
  key: string
  action: 'block' | 'alert'
  /** The most that may be used in it; null: nothing is counted, everything stops. */
  limit: number | null
}

/** The stop of a guard that a message ran into. */
export interface Stop {
  refusal: GuardRefusal
  window: LimitWindow
  /** What may be used up, with what was raised; null: nothing is counted. */
  limit: number | null
  /** Null: not recorded yet. */
  guardId: string | null
  /** The message that had the same text a moment ago. */
  earlierId: string | null
}

/** A draft on its way to the statement. */
export interface Planned {
  draft: Draft
  id: string
  /** When it was accepted. */
  at: Date
  route: PlannedRoute
  /** When quiet hours end in which it would be sent; null: it would not. */
  opensAt: Date | null
  /** Where it goes first. */
  carrierId: string | null
  /** What it would cost there. */
  estimate: Estimate | null
  /** It would cost more than it may. */
  isOver: boolean
  /** The link that keeps room for it. */
  link: string | null
  /** The guard of its account that stops it. */
  stop: Stop | null
  /** Seconds until the queue of its account has room for it; null: it has. */
  waitSeconds: number | null
}

/** The answer of the statement for the drafts at some places of the batch, from 1; null: for all of them. */
export interface Verdict {
  places: number[] | null
  refusal: Refusal | null
  /** The account has forgotten numbers of opt-outs, and the draft came without the keyed hash that finds them. */
  lacksHash: boolean
  isNew: boolean
  type: MessageType
  expiresAt: Date
  onUnknown: UnknownPolicy | null
  // Absent where no draft of the batch has what they are about.
  isLeased?: boolean
  knownId?: string | null
  knownFingerprint?: Buffer | null
  campaignId?: string | null
  contactId?: string | null
  /** Its campaign is paused. */
  isPaused?: boolean | null
  callbackUrl?: string | null
}

/** The outcome of a draft. */
export type Accepted =
  | { kind: 'accepted'; row: MessageRow; estimatedSendAt: Date | null }
  /** The key was used before, for the message with this id. */
  | { kind: 'known_key'; messageId: string | null; fingerprint: Buffer }
  /** `stop`: the guard's, where it was one. `waitSeconds`: until a full queue has room. */
  | { kind: 'refused'; refusal: Refusal; stop: Stop | null; waitSeconds: number | null }
