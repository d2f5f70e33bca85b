/** The row that an accepted draft becomes. */
import type { Planned, Verdict } from '../message/draft.ts'
import type { MessageRow } from '../message/message.ts'
import { costColumns } from '../message/price.ts'

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
