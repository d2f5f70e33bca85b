/** What Submit needs of a link of any protocol, and what it hands to one. */
import type { Answer } from '../ledger/answer.ts'
import type { Handover } from '../message/handover.ts'
import type { MessageType } from '../message/message.ts'
import type { Reasons } from '../message/taxonomy.ts'
import type { SegmentEnd } from './attempt.ts'
import type { RunnableLink } from './carrier-store.ts'
import type { Limits } from './limits.ts'
import type { Pace } from './pace.ts'

/** `throttled`: bound, and slowed down by the carrier. `disabled`: closed for good. */
export type LinkState = 'down' | 'binding' | 'bound' | 'throttled' | 'disabled'

/** What of a link this process may use. Slots are sessions of the carrier, counted from 1 over all processes. */
export interface Lease {
  readonly slots: readonly number[]
  /** Until when bytes may be written, on `performance.now()`; renewed every second, long before it. */
  readonly untilMs: number
}

/** What every kind of link is made of, besides its own settings and secrets. */
export interface CarrierLinkOptions<L extends CarrierLink = CarrierLink> {
  id: string
  carrierId: string
  nodeId: string
  /** Turns of this process's share of the link's pace; the owner's, so that a slow-down survives the link. */
  pace: Pace
  /** What the carrier's refusals mean. */
  reasons: Reasons
  /** Turns of senders, accounts and lanes that have a pace of their own. */
  limits: Limits
  /** Whether this node may write what it committed before (see Node.isFresh). */
  mayWrite: () => boolean
  /** Once for each segment that was submitted; later again where a late response tells more. */
  onAnswer: (answer: Answer) => void
  /** Told of the end of every submit (a PDU, or a request), and how long it was with the carrier, in milliseconds. */
  onEnd?: (theirNumber: string, end: SegmentEnd, ms: number) => void
  /** There may be room again. */
  onRoom: () => void
  /** `isTrouble`: a session was lost or refused, or the carrier throttles; not what we did ourselves. */
  onState: (link: L, state: LinkState, detail: string, isTrouble?: boolean) => void
}

/** A link of this process: kept up, with its line, its pace and its window. */
export interface CarrierLink {
  readonly id: string
  readonly carrierId: string
  readonly state: LinkState
  /** Sessions that are bound; for a carrier without sessions, 1 while it can be sent to. */
  readonly sessions: number
  /** Unanswered submits at most, over the sessions of this process. */
  readonly windowMax: number
  /** Unanswered submits. */
  readonly inFlight: number
  /** Segments a second that this process sends now. */
  readonly pace: number
  /** Segments written since the start; the owner makes a rate of it. */
  readonly submitted: number
  readonly lastEnquireAt: Date | null
  readonly lastError: string | null
  readonly lastErrorAt: Date | null

  /** Segments of messages of this type that it would take now. Codes have room beside a line of campaigns. */
  room(type: MessageType): number
  /** Keeps room for a message; false where there is none. A message longer than the whole room goes when nothing waits. */
  reserve(segments: number, type: MessageType): boolean
  /** Gives back what was reserved. */
  release(segments: number): void
  /** Submits a message whose intents are committed; every segment ends with one answer, the last of them with the move. */
  submit(handover: Handover): void
  /** Says what this process may use from now on: it dials the slots that are new. Nothing is written without a lease. */
  renew(lease: Lease): void
  /** Gives up one slot: at once with 0, else after its window has drained. What was not written goes on another or back. */
  drop(slot: number, drainMs: number): Promise<void>
  /** Drains every window, unbinds and stays closed. What was not written goes back to the queue. */
  close(drainMs: number): Promise<void>
}

/** What of a session tells whether the carrier has our answers. */
export interface DeliverySession {
  /** `closed` for good, once it is. */
  readonly state: string
  /** It ended by an unbind: the carrier has read all that was sent. */
  readonly hasUnbound: boolean
  /** Unix milliseconds; 0 before the first. */
  readonly lastReadAtMs: number
  /** Its heartbeats, counted: what was sent before one that is answered has been read. */
  readonly enquiries: { readonly sent: number; readonly answered: number }
  /** Sends a heartbeat. */
  enquire(): void
}

/** Makes a link that dials when it has a lease. @throws if it cannot start before its settings change. */
export type OpenLink = (link: RunnableLink, options: CarrierLinkOptions) => CarrierLink
