/** Sealed messages that cannot be opened are not sent, and stay sealed. */
import { now } from '../ground/db/clock.ts'
import { isUndecryptable } from '../ground/sealing/texts.ts'
import { writeAnswers, type Answer } from './answer.ts'
import type { RejectUndecryptable } from '../queue/claim.ts'

type Claimed = Parameters<RejectUndecryptable>[2][number]

/**
 * Ends messages of a claim whose text cannot be opened, in the claim's transaction: no byte was written. The sealed text stays, so that they can be
 * resent when the key is back.
 */
export const rejectUndecryptable: RejectUndecryptable = async (tx, nodeId, claimed) => {
  const answers = claimed
    .filter((row) => row.status === 'sending' && isUndecryptable(row))
    .flatMap((row) => answersOf(row, nodeId))
  if (answers.length === 0) return []
  return (await writeAnswers(tx, answers, () => false)).moved
}

/** One answer for each intent; the last one moves the message. */
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
