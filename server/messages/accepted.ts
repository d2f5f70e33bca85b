/** A draft, what the accept statement says of it, and the row that it becomes. */
import type { Handover } from './handover.ts'
import type { MessageRow, MessageType, Warning } from './message.ts'

/** A checked request to send one message. */
export interface Draft {
  accountId: string
  theirNumber: string
  /** Null: the campaign's sender, else the account's default. */
  sender: string | null
  body: string
  type: MessageType | null
  encoding: 'GSM-7' | 'UCS-2'
  characters: number
  segments: number
  campaignId: string | null
  campaignKey: string | null
  sendAt: Date | null
  validitySeconds: number | null
  callbackUrl: string | null
  metadata: Record<string, string> | null
  tags: string[] | null
  warnings: Warning[] | null
  isTest: boolean
  idempotency: { operation: string; key: string; fingerprint: Buffer } | null
}

/** Why a draft was not taken, as the database saw it when it would have been written. */
export type Refusal =
  | 'account_suspended'
  | 'campaign_not_found'
  | 'campaign_closed'
  | 'sender_not_found'
  | 'recipient_opted_out'
  | 'no_route_available'

/** The answer of the statement for one draft; `n` is its place, from 1. */
export interface Verdict {
  n: number
  refusal: Refusal | null
  isNew: boolean
  isLeased: boolean
  knownId: string | null
  knownFingerprint: Buffer | null
  campaignId: string | null
  contactId: string | null
  sender: string | null
  type: MessageType
  carrierId: string | null
  callbackUrl: string | null
  expiresAt: Date
}

/** What only happens to a message after it was accepted. */
const untouched = {
  sentAt: null,
  completedAt: null,
  holdReason: null,
  holdUntil: null,
  carrierId: null,
  providerMessageId: null,
  attempts: 0,
  segmentsDelivered: 0,
  errorCode: null,
  errorStage: null,
  errorRaw: null,
  receiptStat: null,
  receiptErr: null,
  possibleDuplicate: false,
} satisfies Partial<MessageRow>

/** The row as the statement wrote it, without reading it back. It is shown as accepted (`queued`), also where a link already has it. */
export function rowOf(draft: Draft, id: string, verdict: Verdict, now: Date): MessageRow {
  return {
    accountId: draft.accountId,
    id,
    direction: 'outbound',
    type: verdict.type,
    status: draft.sendAt ? 'scheduled' : 'queued',
    sequence: 1,
    theirNumber: draft.theirNumber,
    ourNumber: verdict.sender,
    body: draft.body,
    encoding: draft.encoding,
    characters: draft.characters,
    segments: draft.segments,
    campaignId: verdict.campaignId,
    contactId: verdict.contactId,
    callbackUrl: verdict.callbackUrl,
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
    keyword: null,
    inReplyTo: null,
    isPartial: false,
  }
}

/** The row as it was when it was accepted: what a replay of its idempotency key answers. */
export function asAccepted(row: MessageRow): MessageRow {
  return {
    ...row,
    status: row.sendAt ? 'scheduled' : 'queued',
    sequence: 1,
    updatedAt: row.createdAt,
    queuedAt: row.sendAt ? null : row.createdAt,
    ...untouched,
  }
}

/** The row for the link that has room for it. */
export function handoverOf(row: MessageRow, body: string, linkId: string): Handover {
  return {
    accountId: row.accountId,
    id: row.id,
    type: row.type,
    theirNumber: row.theirNumber,
    ourNumber: row.ourNumber,
    body,
    encoding: row.encoding,
    segments: row.segments,
    pending: null,
    try: 1,
    expiresAt: row.expiresAt,
    linkId,
  }
}
