import { now } from '../ground/db/clock.ts'
import type { Answer } from '../ledger/answer.ts'
import type { Handover } from '../message/handover.ts'
import { answerOf, decideMove, isRest, type SegmentEnd } from './attempt.ts'

const changed: SegmentEnd = {
  state: 'refused',
  status: null,
  raw: 'the settings of the carrier changed while the message was being sent',
  reason: { code: 'no_route_available', handling: 'permanent' },
  retryAfterMs: null,
}

/**
 * Answers for a message whose segments differ here from its count: no byte is written, and it is claimed again with that many intents. A message with
 * some segments sent cannot be cut again, and is refused.
 */
export function recount(handover: Handover, segments: number, nodeId: string, linkId: string): Answer[] {
  const isBegun = isRest(handover)
  const end: SegmentEnd = isBegun ? changed : { state: 'released' }
  const move = { ...decideMove({ handover, ends: [end] }), ...(!isBegun && { segments }) }
  const open = handover.pending ?? Array.from({ length: handover.segments }, (_, i) => i + 1)
  const attempt = { handover, intentAt: now() }
  return open.map((segment) =>
    answerOf(attempt, { nodeId, linkId, segment }, end, null, segment === open.at(-1) ? move : null),
  )
}
