/** How accepted messages reach a link of the same process without being read back from the queue. */
import type { MessageType } from './message.ts'

/** A message whose intent is committed for one of this node's links: the next thing is bytes. */
export interface Handover {
  accountId: string
  id: string
  type: MessageType
  theirNumber: string
  ourNumber: string | null
  body: string
  encoding: 'GSM-7' | 'UCS-2'
  /** Segments of the whole message. */
  segments: number
  /** Which of them are to be submitted now, counted from 1; null: all. */
  pending: number[] | null
  try: number
  expiresAt: Date | null
  linkId: string
}

/** The room of this node's links, as accept and claim see it. */
export interface Slots {
  /** The node under which intents are committed; null where this process holds no links. */
  nodeId: string | null
  /**
   * Keeps room for a message; answers the link that will take it, of this carrier or of any, or null when it has to queue. An account
   * that has a pace of its own always queues.
   */
  reserve(segments: number, type: MessageType, carrierId?: string, accountId?: string): string | null
  /** Gives room back that was reserved and not used. */
  release(linkId: string, segments: number): void
  /** Notes a statement that leases to this node, until it has ended; whoever awaits it calls `take` in the same turn. */
  track<T>(statement: Promise<T>): Promise<T>
  /** Takes messages whose intents are committed. */
  take(handovers: Handover[]): void
  /** Something was queued. */
  wake(): void
  /**
   * When a message queued now would be submitted, or one with so many segments of its account before it; null: nobody knows. The more is
   * known of it, the better.
   */
  estimateSendAt(type?: MessageType, accountId?: string, carrierId?: string, ahead?: number): Date | null
}

/** For processes without links: everything queues. */
export const noSlots: Slots = {
  nodeId: null,
  reserve: () => null,
  release: () => {},
  track: (statement) => statement,
  take: () => {},
  wake: () => {},
  estimateSendAt: () => null,
}
