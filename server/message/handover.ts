/** Short cut of the hand-over: a link of this process gets a message with its row. Falls back on the queue (`queue/claim.ts`). */
import type { MessageRow, MessageType } from './message.ts'
import type { Recent } from './recent.ts'

/** A message whose intent is committed for one of this node's links: the next thing is bytes. */
export interface Handover {
  accountId: string
  id: string
  type: MessageType
  theirNumber: string
  ourNumber: string | null
  campaignId: string | null
  body: string
  encoding: 'GSM-7' | 'UCS-2'
  /** Segments of the whole message. */
  segments: number
  /** Which of them are to be submitted now, counted from 1; null: all. */
  pending: number[] | null
  try: number
  expiresAt: Date | null
  linkId: string
  /** Its own row says which node has it, and no row of `intents` does: the first try of a message of one segment. */
  isDirect: boolean
}

/** Hands over a row that is stored as `sending`; remembers it if its answer and receipt may take the ledger's short cut. */
export function handOver(
  recent: Recent,
  row: MessageRow,
  { linkId, isDirect, pending }: Pick<Handover, 'linkId' | 'isDirect' | 'pending'>,
): Handover {
  // The history of a message that is sent again is in its submissions: it takes the general way.
  if (row.segments === 1 && !row.possibleDuplicate) recent.remember(row, isDirect)
  return {
    accountId: row.accountId,
    id: row.id,
    type: row.type,
    theirNumber: row.theirNumber,
    ourNumber: row.ourNumber,
    campaignId: row.campaignId,
    body: row.body ?? '',
    encoding: row.encoding,
    segments: row.segments,
    pending,
    try: row.attempts,
    expiresAt: row.expiresAt,
    linkId,
    isDirect,
  }
}

/** What a message is, as far as its turn depends on it; what is not known counts for the worst. */
export interface Newcomer {
  type: MessageType
  accountId?: string
  ourNumber?: string | null
  campaignId?: string | null
  /** Null: any. */
  carrierId?: string | null
  /** Segments before it in its own line; by default all that wait there. */
  ahead?: number | undefined
}

/** The room of this node's links, as accept and claim see it. */
export interface Slots {
  /** The node under which intents are committed; null where this process holds no links. */
  nodeId: string | null
  /** The first of these carriers of which a link is up, here or at another process; else the first. */
  preferUp(chain: readonly string[]): string | undefined
  /**
   * Keeps room for a message at a carrier; answers the link that will take it, or null when it has to queue. An account that has a pace of
   * its own always queues.
   */
  reserve(segments: number, type: MessageType, carrierId: string, accountId: string): string | null
  /**
   * What a link of this process has room for, in segments; null where it is better to queue: no link here takes many at a time, links at other
   * processes take their part, or the account has a pace of its own.
   */
  roomFor(accountId: string, type: MessageType): { free: number; most: number } | null
  /** Gives room back that was reserved and not used. */
  release(linkId: string, segments: number): void
  /** Notes a statement that leases to this node, until it has ended; the caller calls `take` in the turn in which it ends. */
  track<T>(statement: Promise<T>): Promise<T>
  /** Takes messages whose intents are committed. */
  take(handovers: Handover[]): void
  /** Something was queued. */
  wake(): void
  /** When a message queued now, or with so many segments before it, would be submitted; null: nobody knows. */
  estimateSendAt(message: Newcomer): Date | null
}

/** For processes without links: everything queues. */
export const noSlots: Slots = {
  nodeId: null,
  preferUp: ([first]) => first,
  reserve: () => null,
  roomFor: () => null,
  release: () => {},
  track: (statement) => statement,
  take: () => {},
  wake: () => {},
  estimateSendAt: () => null,
}
