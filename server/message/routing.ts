/** What accept asks of routing, which lives with the carriers: a sender and carriers for each message. */
import type { Money } from '../ground/base/money.ts'
import type { MessageType } from './message.ts'

/** A message to be routed, as its caller wrote it. */
export interface RouteRequest {
  messageId: string
  accountId: string
  /** Digits of the recipient. */
  to: string
  /** As stored: digits or a name; null: the pool's, the campaign's or the default. */
  from: string | null
  /** Null: the campaign's, where the message asks for no sender of its own. */
  poolId: string | null
  campaignId: string | null
  campaignKey: string | null
  type: MessageType | null
  segments: number
  /** It goes to the carrier of test mode; routes do not count. */
  isTest: boolean
}

/** Why a message has no route. */
export type RouteRefusal =
  | 'campaign_not_found'
  | 'pool_not_found'
  | 'sender_not_found'
  | 'sender_not_allowed'
  | 'no_route_available'
  // The number is of a premium range, and the account does not allow them.
  | 'premium_number_not_allowed'
  /** Test mode is turned off. */
  | 'test_mode_unavailable'

/** What was decided for a message. */
export interface PlannedRoute {
  refusal: RouteRefusal | null
  /** `country`: of the recipient, ISO 3166-1; null where the number belongs to none. */
  message: { type: MessageType; country: string | null }
  /** `sender` null: the carrier's own. */
  sender: { sender: { id: string; number: string } | null }
  /** The pool that the sender was chosen from. */
  poolId: string | null
  choice: {
    /** The rule that took it; null: the default route. */
    ruleId: string | null
    /** Carriers in the order in which they are tried, each once. */
    chain: readonly string[]
    /** None of them is enabled: the message waits for one. */
    isHeld: boolean
    /** What a segment costs at each of them, null where it is not known; absent: at none. */
    prices?: readonly (Money | null)[]
  }
}

/** A person who was written to from a pool. */
export interface Acquaintance {
  accountId: string
  poolId: string
  theirNumber: string
}

export interface Routing {
  /** Plans messages, in their order; what it knows is at most two seconds old. */
  plan(requests: readonly RouteRequest[]): Promise<PlannedRoute[]>
  /** Remembers from which sender people were written to, after the commit. */
  remember(people: readonly (Acquaintance & { senderId: string })[]): Promise<void>
}
