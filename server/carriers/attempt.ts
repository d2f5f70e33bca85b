/** One try of a message on a link: what its segments' outcomes add up to. Pure. */
import { classifyStatus, statusName, type Outcome } from '@heliogram/smpp'
import type { Move } from '../messages/answer.ts'
import type { Handover } from '../messages/handover.ts'
import { codeOfSubmitStatus } from '../messages/taxonomy.ts'

/** What became of one segment, in the words of the ledger. */
export type SegmentEnd =
  | { state: 'accepted' | 'refused'; status: number }
  | { state: 'unknown'; reason: string }
  | { state: 'released' }

/** A message on a link, until the last of its segments has ended. */
export interface Try {
  readonly handover: Handover
  readonly intentAt: Date
  open: number
  readonly ends: SegmentEnd[]
}

/** In the words of the ledger: no bytes out means it did not happen, no answer means that nobody knows. */
export function readOutcome(outcome: Outcome): SegmentEnd {
  switch (outcome.kind) {
    case 'response':
      return { state: outcome.status === 0 ? 'accepted' : 'refused', status: outcome.status }
    case 'timeout':
      return { state: 'unknown', reason: 'the carrier did not answer in time' }
    case 'closed':
      return outcome.written
        ? { state: 'unknown', reason: 'the session ended before the answer' }
        : { state: 'released' }
    default:
      return outcome satisfies never
  }
}

// A carrier that is busy is asked again soon (the pace of its link has slowed already); one with a fault ever later, up to a minute.
const throttleRetryMs = 1000
const retryMsMax = 60_000

/**
 * How a message moves when all its segments have ended. An unknown segment holds the message, whatever the others say; a refusal for
 * good ends it; a passing one brings it back for the segments that are still open; else what was not written goes back at once.
 */
export function decideMove(
  { handover, ends }: Pick<Try, 'handover' | 'ends'>,
  random: () => number = Math.random,
): Move {
  const unknown = ends.find((end) => end.state === 'unknown')
  if (unknown) return move('unconfirmed', { errorCode: 'outcome_unknown', errorRaw: unknown.reason })
  const refused = ends.flatMap((end) => (end.state === 'refused' ? [end.status] : []))
  const final = refused.find((status) => classifyStatus(status) === 'permanent')
  if (final !== undefined)
    return move('rejected', { errorCode: codeOfSubmitStatus(final), errorRaw: statusName(final) })
  const [passing] = refused
  if (passing !== undefined) {
    const base =
      classifyStatus(passing) === 'retry_link' ? throttleRetryMs : Math.min(retryMsMax, 1000 * 2 ** handover.try)
    return move('queued', { retryAfterMs: Math.round(base * (0.8 + 0.4 * random())) })
  }
  if (ends.some((end) => end.state === 'released')) return move('queued', {})
  return move('sent', {})
}

function move(to: Move['to'], rest: Partial<Move>): Move {
  return { to, retryAfterMs: null, errorCode: null, errorRaw: null, ...rest }
}
