/** One try of a message on a link: adds up its segments' outcomes. Pure. */
import { statusName, type Outcome } from '@heliogram/smpp'
import type { Answer, Move } from '../ledger/answer.ts'
import type { Handover } from '../message/handover.ts'
import { failsEverywhere, type Reason } from '../message/taxonomy.ts'

/** The outcome of one segment, in the ledger's terms. */
export type SegmentEnd =
  | { state: 'accepted'; status: number | null }
  | Refusal
  | { state: 'unknown'; reason: string }
  /** No byte was written. */
  | { state: 'released' }

export interface Refusal {
  state: 'refused'
  /** command_status; null: the carrier speaks no SMPP. */
  status: number | null
  /** The carrier's code, in its spelling. */
  raw: string
  reason: Reason
  /** The carrier's requested delay; null: none. */
  retryAfterMs: number | null
}

/** A message on a link, until the last of its segments has ended. */
export interface Try {
  readonly handover: Handover
  readonly intentAt: Date
  open: number
  readonly ends: SegmentEnd[]
}

export function refusalOf(status: number, reason: Reason): Refusal {
  return { state: 'refused', status, raw: statusName(status), reason, retryAfterMs: null }
}

export function readOutcome(outcome: Outcome, reasonOf: (status: number) => Reason): SegmentEnd {
  switch (outcome.kind) {
    case 'response':
      return outcome.status === 0
        ? { state: 'accepted', status: 0 }
        : refusalOf(outcome.status, reasonOf(outcome.status))
    case 'timeout':
      return { state: 'unknown', reason: 'the carrier did not answer in time' }
    case 'closed':
      return outcome.written
        ? { state: 'unknown', reason: 'the session ended before the response' }
        : { state: 'released' }
    default:
      return outcome satisfies never
  }
}

/** Records the end of a segment. After the last one, returns how the message moves. */
export function endSegment(attempt: Try, end: SegmentEnd): Move | null {
  attempt.ends.push(end)
  return --attempt.open === 0 ? decideMove(attempt) : null
}

/** The end of a segment as the ledger writes it. */
export function answerOf(
  { handover, intentAt }: Pick<Try, 'handover' | 'intentAt'>,
  place: Pick<Answer, 'nodeId' | 'linkId' | 'segment' | 'isLate'>,
  end: SegmentEnd,
  carrierMessageId: string | null,
  move: Move | null,
  rawMessageId: string | null = null,
): Answer {
  return {
    nodeId: place.nodeId,
    linkId: place.linkId,
    segment: place.segment,
    isLate: place.isLate ?? false,
    accountId: handover.accountId,
    messageId: handover.id,
    segments: handover.segments,
    try: handover.try,
    state: end.state,
    carrierMessageId,
    rawMessageId,
    // Four unsigned octets in a signed column: `statusName` reads both.
    commandStatus: 'status' in end && end.status !== null ? end.status | 0 : null,
    intentAt,
    move,
  }
}

/** Whether a carrier already has some of its segments, so that the try covers only the rest. */
export const isRest = ({ pending, segments }: Handover): boolean => pending !== null && pending.length < segments

// A busy carrier is retried soon (its link's pace is reduced already); a faulty one after longer and longer waits, up to a minute.
const throttleRetryMs = 1000
const retryMsMax = 60_000

// After this many faults in a row a carrier comes after the others.
const faultsMax = 3

/**
 * How a message moves when all its segments have ended. An unknown segment holds the message, even if others were refused; a permanent refusal ends
 * it; a temporary one requeues it for its open segments; otherwise unwritten segments return at once. If the carrier has no segment, a refusal passes
 * the message to the next carrier of its chain instead: at once if permanent and not the recipient's fault, after some faults if temporary. A busy
 * carrier keeps it: others would be flooded.
 */
export function decideMove(
  { handover, ends }: Pick<Try, 'handover' | 'ends'>,
  random: () => number = Math.random,
): Move {
  const unknown = ends.find((end) => end.state === 'unknown')
  if (unknown) return move('unconfirmed', { errorCode: 'outcome_unknown', errorRaw: unknown.reason })
  const isPartlyTaken = ends.some((end) => end.state === 'accepted') || isRest(handover)
  const refused = ends.filter((end) => end.state === 'refused')
  const final = refused.find((end) => end.reason.handling === 'permanent')
  if (final) {
    const carrier = isPartlyTaken || failsEverywhere(final.reason.code) ? null : 'drop'
    return move('rejected', { carrier, errorCode: final.reason.code, errorRaw: final.raw })
  }
  const [passing] = refused
  if (passing) {
    const isBusy = passing.reason.handling === 'throttling'
    const base = isBusy ? throttleRetryMs : Math.min(retryMsMax, 1000 * 2 ** handover.try)
    return move('queued', {
      carrier: isPartlyTaken ? 'stay' : !isBusy && handover.try % faultsMax === 0 ? 'rotate' : null,
      retryAfterMs: Math.round(Math.max(base, passing.retryAfterMs ?? 0) * (0.8 + 0.4 * random())),
    })
  }
  if (ends.some((end) => end.state === 'released'))
    return move('queued', {
      carrier: isPartlyTaken ? 'stay' : null,
      isUnwritten: ends.every((end) => end.state === 'released'),
    })
  return move('sent', {})
}

function move(to: Move['to'], rest: Partial<Move>): Move {
  return { to, retryAfterMs: null, errorCode: null, errorRaw: null, ...rest }
}
