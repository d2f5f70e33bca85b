/** Messages whose text is sealed and cannot be opened: they are not sent, and nothing is taken from them. */
import { now } from '../ground/db/clock.ts'
import { isUnreadable } from '../ground/sealing/texts.ts'
import { writeAnswers, type Answer } from './answer.ts'
import type { RejectUnreadable } from '../queue/claim.ts'

type Claimed = Parameters<RejectUnreadable>[2][number]

/**
 * Ends those of a claim whose text cannot be opened, in the claim's transaction: no byte was written of them. The sealed text stays, so that
 * they may be sent again when its key is back.
 */
export const rejectUnreadable: RejectUnreadable = async (tx, nodeId, claimed) => {
  const answers = claimed
    .filter((row) => row.status === 'sending' && isUnreadable(row))
    .flatMap((row) => answersOf(row, nodeId))
  if (answers.length === 0) return []
  return (await writeAnswers(tx, answers, () => false)).moved
}

/** One for each intent; the last one moves the message. */
function answersOf(row: Claimed, nodeId: string): Answer[] {
  const segments = row.pending ?? Array.from({ length: row.segments }, (_, i) => i + 1)
  return segments.map((segment, i) => ({
    nodeId,
    accountId: row.accountId,
    messageId: row.id,
    segment,
    segments: row.segments,
    try: row.attempts,
    linkId: row.linkId,
    state: 'released',
    carrierMessageId: null,
    commandStatus: null,
    intentAt: now(),
    move:
      i < segments.length - 1
        ? null
        : { to: 'rejected', retryAfterMs: null, errorCode: 'text_unavailable', errorRaw: null },
  }))
}
