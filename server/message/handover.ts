/** Short cut of the hand-over: passes a message with its row to a link of this process. Falls back on the queue (`queue/claim.ts`). */
import type { MessageRow, MessageType } from './message.ts'
import type { Recent } from './recent.ts'

/** A message whose intent is committed for one of this node's links: its bytes may be written. */
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
  /** Segments to submit now, counted from 1; null: all. */
  pending: number[] | null
  try: number
  expiresAt: Date | null
  linkId: string
  /** Its own row names its node instead of a row of `intents`: the first try of a one-segment message. */
  isDirect: boolean
}

/** Hands over a row stored as `sending`; remembers it if its answer and receipt may take the ledger's short cut. */
export function handOver(
  recent: Recent,
  row: MessageRow,
  { linkId, isDirect, pending }: Pick<Handover, 'linkId' | 'isDirect' | 'pending'>,
): Handover {
  // The history of a resent message is in its submissions: it takes the general way.
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

/** The properties of a message that determine its turn; unknown ones count for the worst. */
export interface Newcomer {
  type: MessageType
  accountId?: string
  ourNumber?: string | null
  campaignId?: string | null
  /** Null: any. */
  carrierId?: string | null
  /** Segments before it in its own line; by default all of them. */
  ahead?: number | undefined
}

/** The room of this node's links, for accept and claim. */
export interface OwnLinks {
  /** The node of intents; null if this process holds no links. */
  nodeId: string | null
  /** The first of these carriers with a link up at any process; else the first. */
  preferUp(chain: readonly string[]): string | undefined
  /** Keeps room for a message at a carrier; returns its link, or null if it has to queue. An account with its own pace always queues. */
  reserve(segments: number, type: MessageType, carrierId: string, accountId: string): string | null
  /**
   * Room of this process's links in segments; null if queueing is better: no link here takes many at a time, other processes have links, or the
   * account has its own pace.
   */
  roomFor(accountId: string, type: MessageType): { free: number; most: number } | null
  release(linkId: string, segments: number): void
  /** Tracks a statement that leases to this node; the caller calls `take` in the turn in which it ends. */
  track<T>(statement: Promise<T>): Promise<T>
  /** Takes messages whose intents are committed. */
  take(handovers: Handover[]): void
  /** Call after queueing. */
  wake(): void
  /** When a message queued now, or behind so many segments, would be submitted; null: unknown. */
  estimateSendAt(message: Newcomer): Date | null
}

/** For processes without links: everything queues. */
export const noLinks: OwnLinks = {
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
