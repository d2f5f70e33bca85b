/** The interface of routing for accept: a sender and carriers for each message. */
import type { Money } from '../ground/base/money.ts'
import type { MessageType } from './message.ts'

export interface RouteRequest {
  messageId: string
  accountId: string
  /** Digits of the recipient. */
  to: string
  /** As stored: digits or a name; null: the pool's, the campaign's or the default. */
  from: string | null
  /** Null: the campaign's, if the message names no sender. */
  poolId: string | null
  campaignId: string | null
  campaignKey: string | null
  type: MessageType | null
  segments: number
  /** For the carrier of test mode; routes do not count. */
  isTest: boolean
}

export type RouteRefusal =
  | 'campaign_not_found'
  | 'pool_not_found'
  | 'sender_not_found'
  | 'sender_not_allowed'
  | 'no_route_available'
  // A premium number, which the account does not allow.
  | 'premium_number_not_allowed'
  /** Test mode is off. */
  | 'test_mode_unavailable'

export interface PlannedRoute {
  refusal: RouteRefusal | null
  /** `country`: of the recipient, ISO 3166-1; null if the number belongs to none. */
  message: { type: MessageType; country: string | null }
  /** `sender` null: the carrier's own. */
  sender: { sender: { id: string; number: string } | null }
  /** The pool of the chosen sender. */
  poolId: string | null
  choice: {
    /** The matching rule; null: the default route. */
    ruleId: string | null
    /** Carriers in order of use, without duplicates. */
    chain: readonly string[]
    /** None of them is enabled: the message waits for one. */
    isHeld: boolean
    /** The price of a segment at each, null if unknown; absent: no prices. */
    prices?: readonly (Money | null)[]
  }
}

export interface Acquaintance {
  accountId: string
  poolId: string
  theirNumber: string
}

export interface Routing {
  /** Plans messages in order; its data is at most two seconds old. */
  plan(requests: readonly RouteRequest[]): Promise<PlannedRoute[]>
  /** Remembers the senders that people got messages from, after the commit. */
  remember(people: readonly (Acquaintance & { senderId: string })[]): Promise<void>
}
