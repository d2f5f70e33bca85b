/** The interface between Submit and a link of any protocol. */
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

/** This process's part of a link. Slots are sessions with the carrier, counted from 1 over all processes. */
export interface Lease {
  readonly slots: readonly number[]
  /** Writing is allowed until then, on `performance.now()`; renewed every second, long before it. */
  readonly untilMs: number
}

export interface CarrierLinkOptions<L extends CarrierLink = CarrierLink> {
  id: string
  carrierId: string
  nodeId: string
  /** This process's share of the link's pace; owned by the caller, so that a slow-down outlives the link. */
  pace: Pace
  /** Meanings of the carrier's refusals. */
  reasons: Reasons
  /** Paces of senders, accounts and lanes. */
  limits: Limits
  /** Whether this node may write what it committed before (see Node.isFresh). */
  mayWrite: () => boolean
  /** Called once for each submitted segment, and again if a late response has news. */
  onAnswer: (answer: Answer) => void
  /** Called at the end of every submit (a PDU, or a request), with its duration in milliseconds. */
  onEnd?: (theirNumber: string, end: SegmentEnd, ms: number) => void
  /** There may be room again. */
  onRoom: () => void
  /** `isTrouble`: a session was lost or refused, or the carrier throttles; false for our own actions. */
  onState: (link: L, state: LinkState, detail: string, isTrouble?: boolean) => void
}

/** A link in this process: kept up, with its line, pace and window. */
export interface CarrierLink {
  readonly id: string
  readonly carrierId: string
  readonly state: LinkState
  /** Bound sessions; without sessions, 1 while sending is possible. */
  readonly sessions: number
  readonly windowMax: number
  /** Unanswered submits. */
  readonly inFlight: number
  /** Segments a second of this process at present. */
  readonly pace: number
  /** Segments written since the start, for a rate. */
  readonly submitted: number
  readonly lastEnquireAt: Date | null
  readonly lastError: string | null
  readonly lastErrorAt: Date | null

  /** Segments of messages of this type that it would take now. Codes have room even when campaigns fill the line. */
  room(type: MessageType): number
  /** Keeps room for a message; false if there is none. A message longer than the whole room goes when the line is empty. */
  reserve(segments: number, type: MessageType): boolean
  release(segments: number): void
  /** Submits a message whose intents are committed; every segment ends with one answer, the last of them with the move. */
  submit(handover: Handover): void
  /** Sets the lease, and dials new slots. Nothing is written without a lease. */
  renew(lease: Lease): void
  /** Gives up one slot: at once with 0, else after its window has drained. Unwritten messages move to another slot or back. */
  drop(slot: number, drainMs: number): Promise<void>
  /** Drains every window, unbinds and stays closed. Unwritten messages return to the queue. */
  close(drainMs: number): Promise<void>
}

/** The state of a session that proves whether the carrier has our answers. */
export interface DeliverySession {
  /** `closed` is final. */
  readonly state: string
  /** It ended by an unbind: the carrier has read everything sent. */
  readonly hasUnbound: boolean
  /** Unix milliseconds; 0 before the first. */
  readonly lastReadAtMs: number
  /** Its heartbeats: everything sent before an answered one has been read. */
  readonly enquiries: { readonly sent: number; readonly answered: number }
  enquire(): void
}

/** Creates a link that dials when it has a lease. @throws if it cannot start until its settings change. */
export type OpenLink = (link: RunnableLink, options: CarrierLinkOptions) => CarrierLink
