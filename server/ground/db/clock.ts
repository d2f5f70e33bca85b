/**
 * The database's time decides what is due or expired. A machine with a wrong clock then neither expires messages at once nor delays them
 * for days, and its ids belong to the same day as everyone's.
 */
import type { Queryable } from './db.ts'

// Synchronized clocks differ by less.
const slackMs = 1000

/** A database time, and the monotonic time of the same moment. Null: unknown. */
let known: { ms: number; at: number } | null = null

/** Milliseconds since 1970 by the database's last known clock, else by this machine's. */
export function nowMs(): number {
  return known === null ? Date.now() : Math.floor(known.ms + performance.now() - known.at)
}

export const now = (): Date => new Date(nowMs())

/** The date of a monotonic time (`performance.now()`): always the same, so that simultaneous writes agree. */
export const dateOf = (at: number): Date =>
  new Date(Math.floor(known === null ? Date.now() - (performance.now() - at) : known.ms + at - known.at))

/**
 * Follows the database's clock by a `now()` that was requested at a monotonic time. Ignores differences within the round trip. Returns the
 * milliseconds by which this machine's clock is behind; negative: ahead.
 */
export function followClock(told: Date, askedAt: number): number {
  const answeredAt = performance.now()
  const ownMs = Date.now()
  known ??= { ms: ownMs, at: answeredAt }
  known.ms += missing(told.getTime(), known.ms + askedAt - known.at, known.ms + answeredAt - known.at)
  return missing(told.getTime(), ownMs - (answeredAt - askedAt), ownMs)
}

/** Returns to this machine's clock, for a process that switches databases. */
export function forgetClock(): void {
  known = null
}

/** Call it before any time is used. */
export async function readClock(db: Queryable): Promise<void> {
  const askedAt = performance.now()
  const { rows } = await db.query<{ now: Date }>('select now() as now')
  if (rows[0]) followClock(rows[0].now, askedAt)
}

/** The correction for a clock that read `first` at the request and `last` at the response; 0 if `told` is between. */
function missing(told: number, first: number, last: number): number {
  if (told > last + slackMs) return told - last
  return told < first - slackMs ? told - first : 0
}
