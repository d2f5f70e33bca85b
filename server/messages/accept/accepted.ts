/** A draft, what the accept statement says of it, and the row that it becomes. */
import type { Money } from '../../money.ts'
import type { Window } from '../guards/judge.ts'
import type { Handover } from './handover.ts'
import type { MessageRow, MessageType, UnknownPolicy, Warning } from '../message.ts'
import { costColumns, type Estimate } from '../price.ts'
import type { PlannedRoute, RouteRefusal } from '../routing.ts'
import type { ShortLink } from '../short-links/shorten.ts'

/** The text of a message as it is sent, and what it takes. */
export interface StoredText {
  body: string
  encoding: 'GSM-7' | 'UCS-2'
  characters: number
  segments: number
  warnings: Warning[] | null
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

/** The stop of a guard that a message ran into. */
export interface Stop {
  refusal: GuardRefusal
  window: Window
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

/** What became of a draft. */
export type Accepted =
  | { kind: 'accepted'; row: MessageRow; estimatedSendAt: Date | null }
  /** The key was used before, for the message with this id. */
  | { kind: 'known_key'; messageId: string | null; fingerprint: Buffer }
  /** `stop`: the guard's, where it was one. `waitSeconds`: until a full queue has room. */
  | { kind: 'refused'; refusal: Refusal; stop: Stop | null; waitSeconds: number | null }

/** What only happens to a message after it was accepted. */
const untouched = {
  previousStatus: null,
  sentAt: null,
  completedAt: null,
  holdReason: null,
  holdUntil: null,
  carrierId: null,
  providerMessageId: null,
  attempts: 0,
  handedBack: 0,
  segmentsDelivered: 0,
  errorCode: null,
  errorStage: null,
  errorRaw: null,
  receiptStat: null,
  receiptErr: null,
  possibleDuplicate: false,
} satisfies Partial<MessageRow>

/** The row as the statement wrote it, without reading it back. It is shown as accepted (`queued`), also where a link already has it. */
export function rowOf(planned: Planned, verdict: Verdict): MessageRow {
  const { draft, id, at: now, route, opensAt } = planned
  return {
    accountId: draft.accountId,
    id,
    direction: 'outbound',
    type: verdict.type,
    status: draft.sendAt ? 'scheduled' : 'queued',
    sequence: 1,
    theirNumber: draft.theirNumber,
    country: route.message.country,
    ourNumber: route.sender.sender?.number ?? null,
    body: draft.body,
    bodySealed: null,
    encoding: draft.encoding,
    characters: draft.characters,
    segments: draft.segments,
    campaignId: verdict.campaignId ?? null,
    broadcastId: draft.broadcastId,
    contactId: verdict.contactId ?? null,
    callbackUrl: verdict.callbackUrl ?? null,
    metadata: draft.metadata,
    tags: draft.tags,
    warnings: draft.warnings,
    isTest: draft.isTest,
    isConfirmation: false,
    sendAt: draft.sendAt,
    expiresAt: verdict.expiresAt,
    createdAt: now,
    updatedAt: now,
    queuedAt: draft.sendAt ? null : now,
    ...untouched,
    ...holdOf(draft.sendAt, opensAt, verdict.isPaused),
    onUnknown: verdict.onUnknown,
    ...costColumns(planned),
    keyword: null,
    inReplyTo: null,
    isPartial: false,
  }
}

/** The row as it was when it was accepted: what a replay of its idempotency key answers. Whether its campaign was paused then, it says as it is now. */
export function asAccepted(row: MessageRow): MessageRow {
  return {
    ...row,
    status: row.sendAt ? 'scheduled' : 'queued',
    sequence: 1,
    updatedAt: row.createdAt,
    queuedAt: row.sendAt ? null : row.createdAt,
    ...untouched,
    ...holdOf(row.sendAt, quietEndOf(row), row.status === 'queued' && row.holdReason === 'campaign_paused'),
  }
}

/** The hold of a message that is accepted in quiet hours or a pause; one for a later time is only held when that has come. */
function holdOf(
  sendAt: Date | null,
  opensAt: Date | null,
  isPaused: boolean | null = false,
): Pick<MessageRow, 'holdReason' | 'holdUntil'> {
  if (sendAt) return { holdReason: null, holdUntil: null }
  if (opensAt) return { holdReason: 'quiet_hours', holdUntil: opensAt }
  return { holdReason: isPaused ? 'campaign_paused' : null, holdUntil: null }
}

/** When a message would go that was accepted before, as it was told then; of one that waits for the end of a pause nobody knows. */
export const replayEstimate = (row: MessageRow): Date | null =>
  row.holdReason === 'campaign_paused' ? null : (quietEndOf(row) ?? row.sendAt ?? row.createdAt)

/** Until when quiet hours would hold a message, as it was told when it was accepted. */
function quietEndOf({ warnings }: Pick<MessageRow, 'warnings'>): Date | null {
  const until = warnings?.find(({ code }) => code === 'quiet_hours_hold')?.until
  return until === undefined ? null : new Date(until)
}

/** The row for the link that has room for it. */
export function handoverOf(row: MessageRow, body: string, linkId: string): Handover {
  return {
    accountId: row.accountId,
    id: row.id,
    type: row.type,
    theirNumber: row.theirNumber,
    ourNumber: row.ourNumber,
    campaignId: row.campaignId,
    body,
    encoding: row.encoding,
    segments: row.segments,
    pending: null,
    try: 1,
    expiresAt: row.expiresAt,
    linkId,
    isDirect: row.segments === 1,
  }
}
