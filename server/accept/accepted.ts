import type { Planned, Verdict } from '../message/draft.ts'
import type { MessageRow } from '../message/message.ts'
import { costColumns } from '../message/price.ts'

/** Columns that change only after acceptance. */
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

/** The row as the statement wrote it, without reading it back. Its status is `queued` even if a link already has it. */
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

/** The row as it was accepted, for the replay of its idempotency key. Only the pause of its campaign is current. */
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

/** The hold of a message accepted in quiet hours or a pause. A scheduled message is held only when its time comes. */
function holdOf(
  sendAt: Date | null,
  opensAt: Date | null,
  isPaused: boolean | null = false,
): Pick<MessageRow, 'holdReason' | 'holdUntil'> {
  if (sendAt) return { holdReason: null, holdUntil: null }
  if (opensAt) return { holdReason: 'quiet_hours', holdUntil: opensAt }
  return { holdReason: isPaused ? 'campaign_paused' : null, holdUntil: null }
}

/** The original estimate of a message. Null during a pause, whose end is unknown. */
export const replayEstimate = (row: MessageRow): Date | null =>
  row.holdReason === 'campaign_paused' ? null : (quietEndOf(row) ?? row.sendAt ?? row.createdAt)

/** The end of quiet hours, as first reported. */
function quietEndOf({ warnings }: Pick<MessageRow, 'warnings'>): Date | null {
  const until = warnings?.find(({ code }) => code === 'quiet_hours_hold')?.until
  return until === undefined ? null : new Date(until)
}
