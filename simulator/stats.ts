import { readPart, type TextPdu } from '@heliogram/smpp'
import { RecentMap } from './recent.ts'

export interface Counters {
  submits: number
  accepted: number
  refused: number
  throttled: number
  /** Neither taken nor refused: not answered, or the connection ended. */
  ignored: number
  /** Accepted, without duplicates. */
  distinct: number
  /** Accepted again: same destination, same text, same part. */
  duplicates: number
  binds: number
  bindsRefused: number
  receiptsDue: number
  receiptsSent: number
  receiptsAnswered: number
  repliesTyped: number
  repliesSent: number
  repliesAnswered: number
  redelivered: number
  /** deliver_sm given up: refused for good, repeated too often, or too many held. */
  dropped: number
}

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
 * Whether the same part of the same text went to the same destination within the last `window` submits. The concatenation reference is ignored: a
 * text under a new one is the same text.
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
