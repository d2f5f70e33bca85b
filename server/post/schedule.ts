/** The retry schedule of failed posts. */
import { nowMs } from '../ground/db/clock.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** Waits after each failed attempt, in milliseconds; 10 attempts in 75.6 hours (Standard Webhooks 1.0, "Deliverability and reliability"). */
export const retryDelaysMs: readonly number[] = [
  5000,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  14 * hourMs,
  20 * hourMs,
  24 * hourMs,
]

// A receiver may delay a retry, but not beyond the longest wait that we promise.
const retryAfterMaxMs = 24 * hourMs

/**
 * Milliseconds to wait after failed attempt number `tried` (from 1), or null after the last. ±20 % jitter separates posts that failed together; never
 * less than the receiver requested.
 */
export function retryDelayMs(
  tried: number,
  retryAfterMs: number | null,
  delaysMs: readonly number[] = retryDelaysMs,
  random: () => number = Math.random,
): number | null {
  const delayMs = delaysMs[tried - 1]
  if (delayMs === undefined) return null
  const jittered = Math.round(delayMs * (0.8 + 0.4 * random()))
  return Math.max(jittered, Math.min(retryAfterMs ?? 0, retryAfterMaxMs))
}

/** Milliseconds in a `Retry-After`: seconds or an HTTP date (RFC 9110 §10.2.3); null if absent or invalid. */
export function readRetryAfter(value: string | undefined, now: number = nowMs()): number | null {
  if (value === undefined) return null
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000
  const at = value.endsWith(' GMT') ? Date.parse(value) : Number.NaN
  return Number.isNaN(at) ? null : Math.max(0, at - now)
}
