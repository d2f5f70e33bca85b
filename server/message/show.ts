/** The public form of a message, the same in responses and events. */
import { showTime } from '../ground/http/http.ts'
import { showId } from '../ground/base/ids.ts'
import { isUndecryptable } from '../ground/sealing/texts.ts'
import { conversationIdOf } from './conversation-id.ts'
import { deliveryStatusOf, isErased, isFinal, isHeld, type MessageRow, type Status, type Warning } from './message.ts'
import { renderPrices } from './price.ts'
import { messageErrors } from './taxonomy.ts'

export const warningsAboutText: readonly Warning['code'][] = [
  'ucs2_due_to_character',
  'smart_encoded',
  'smart_encoding_off',
]

/** Without its text and the warnings that name characters of it. */
export function hideText<Shown extends object>(shown: Shown): Shown & { message: null } {
  const { warnings } = shown as { warnings?: Warning[] }
  const kept = warnings?.filter(({ code }) => !warningsAboutText.includes(code))
  return { ...shown, message: null, ...(kept && { warnings: kept }) }
}

/**
 * The public form of a message; `hasBody` false hides the text (scope `messages:read_body`). Without an estimate, a message that waits for a time has
 * that one.
 */
export function renderMessage(
  row: MessageRow,
  estimatedSendAt: Date | null = null,
  hasBody = true,
): Record<string, unknown> {
  if (!hasBody) return hideText(renderMessage(row, estimatedSendAt))
  const isOutbound = row.direction === 'outbound'
  const common = {
    id: showId('msg', row.id),
    object: 'message',
    direction: row.direction,
    status: row.status,
    delivery_status: deliveryStatusOf(row.status),
    final: isFinal(row.status),
    to: isOutbound ? showNumber(row.theirNumber) : row.ourNumber,
    from: isOutbound ? row.ourNumber : showNumber(row.theirNumber),
    message: row.body,
    ...(row.body === null && (isUndecryptable(row) ? { text_unavailable: true } : { redacted: true })),
    campaign: row.campaignId && showId('cmp', row.campaignId),
    contact: row.contactId && showId('ctc', row.contactId),
    encoding: row.encoding,
    segments: row.segments,
    characters: row.characters,
    test: row.isTest,
    sequence: row.sequence,
    created_at: showTime(row.createdAt),
    updated_at: showTime(row.updatedAt),
  }
  if (!isOutbound)
    return {
      ...common,
      keyword: row.keyword,
      in_reply_to: row.inReplyTo && showId('msg', row.inReplyTo),
      partial: row.isPartial,
      conversation:
        row.ourNumber && !isErased(row)
          ? showId('cnv', conversationIdOf(row.accountId, row.ourNumber, row.theirNumber))
          : null,
    }
  const goesAt = estimatedSendAt ?? timeOf(row)
  return {
    ...common,
    type: row.type,
    automatic: row.isConfirmation,
    segments_delivered: row.segmentsDelivered,
    warnings: row.warnings ?? [],
    send_at: showTime(row.sendAt),
    expires_at: showTime(row.expiresAt),
    // A message that expires before is not sent.
    estimated_send_at: showTime(goesAt && row.expiresAt && goesAt > row.expiresAt ? null : goesAt),
    hold: isHeld(row) ? { reason: row.holdReason, until: showTime(row.holdUntil) } : null,
    route: row.carrierId && { carrier: showId('car', row.carrierId) },
    provider_message_id: row.providerMessageId,
    attempts: row.attempts - row.handedBack,
    possible_duplicate: row.possibleDuplicate,
    on_unknown: row.onUnknown,
    ...renderPrices(row),
    error: renderError(row),
    callback_url: row.callbackUrl,
    metadata: row.metadata ?? {},
    tags: row.tags ?? [],
    queued_at: showTime(row.queuedAt),
    sent_at: showTime(row.sentAt),
    completed_at: showTime(row.completedAt),
  }
}

/** The time that a message waits for; null: none, or it has gone. */
function timeOf({ status, sentAt, sendAt, holdUntil }: MessageRow): Date | null {
  if (status === 'scheduled') return sendAt
  return status === 'queued' && sentAt === null ? holdUntil : null
}

const showNumber = (theirNumber: string): string | null => (isErased({ theirNumber }) ? null : theirNumber)

function renderError(row: MessageRow): Record<string, unknown> | null {
  if (!row.errorCode) return null
  const known = messageErrors[row.errorCode] ?? messageErrors.carrier_unknown
  return {
    code: row.errorCode,
    title: known.title,
    detail: row.errorRaw ? `${known.title} (${row.errorRaw}).` : `${known.title}.`,
    permanent: known.isPermanent,
    retryable: !known.isPermanent,
    stage: row.errorStage,
    source: { provider: row.carrierId && showId('car', row.carrierId), code: row.receiptErr, raw: row.errorRaw },
    advice: known.advice,
    doc_url: `/docs/errors/${row.errorCode}`,
  }
}

/** `data` of an event about an outbound message. */
export function messageEventData(row: MessageRow, previousStatus: Status): Record<string, unknown> {
  return {
    message: renderMessage(row),
    previous_status: previousStatus,
    carrier: row.receiptStat && { mcc: null, mnc: null, code: row.receiptErr, raw: row.receiptStat },
  }
}
