import { readPart, type TextPdu } from '@heliogram/smpp'
import { RecentMap } from './recent.ts'

/** Exact counters since the simulator started. */
export interface Counters {
  /** submit_sm read. */
  submits: number
  accepted: number
  /** Refused for good. */
  refused: number
  throttled: number
  /** Neither taken nor refused: not answered, or the connection ended instead. */
  ignored: number
  /** Accepted, of those that no other of the same destination and text went before. */
  distinct: number
  /** Accepted again: same destination, same text, same part. */
  duplicates: number
  /** Binds accepted, and refused. */
  binds: number
  bindsRefused: number
  receiptsDue: number
  receiptsSent: number
  receiptsAnswered: number
  repliesTyped: number
  repliesSent: number
  repliesAnswered: number
  /** deliver_sm sent more than once. */
  redelivered: number
  /** deliver_sm given up: refused for good, sent too often, or too many held. */
  dropped: number
}

/** Every counter at nothing. */
export function createCounters(): Counters {
  return {
    submits: 0,
    accepted: 0,
    refused: 0,
    throttled: 0,
    ignored: 0,
    distinct: 0,
    duplicates: 0,
    binds: 0,
    bindsRefused: 0,
    receiptsDue: 0,
    receiptsSent: 0,
    receiptsAnswered: 0,
    repliesTyped: 0,
    repliesSent: 0,
    repliesAnswered: 0,
    redelivered: 0,
    dropped: 0,
  }
}

/**
 * Answers whether the same part of the same text went to the same destination before, as far back as `window` submits.
 * The concatenation reference is left out: a text sent again under a new one is the same text.
 */
export function createDuplicateCheck(window: number): (destination: string, pdu: TextPdu) => boolean {
  const recent = new RecentMap<true>(window)
  return (destination, pdu) => {
    const { body, concatenation } = readPart(pdu)
    const key = `${destination} ${concatenation?.part ?? 1} ${body.toString('latin1')}`
    if (recent.get(key) === true) return true
    recent.set(key, true)
    return false
  }
}
