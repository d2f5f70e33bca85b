/**
 * What time it is for the database: what is due, expired or over is so by its clock. A machine whose own clock is wrong, or jumps, neither
 * accepts messages that are over at once nor lets them wait for days, and its ids are those of the day that it is for all others.
 */
import type { Queryable } from './db.ts'

// Clocks that are kept differ by less.
const slackMs = 1000

/** A time of the database, and the monotonic time at which it was that. Null: it was not asked yet. */
let known: { ms: number; at: number } | null = null

/** Milliseconds since 1970 by the clock of the database as it was told last; by that of this machine before. */
export function nowMs(): number {
  return known === null ? Date.now() : Math.floor(known.ms + performance.now() - known.at)
}

/** The same as a date. */
export const now = (): Date => new Date(nowMs())

/** The date of a monotonic time (`performance.now()`): the same whenever it is asked, so that what was written at once is not apart. */
export const dateOf = (at: number): Date =>
  new Date(Math.floor(known === null ? Date.now() - (performance.now() - at) : known.ms + at - known.at))

/**
 * Follows the clock of the database by an answer with its `now()`, which was asked for at a monotonic time. What may only be the way of
 * question and answer changes nothing. Returns by how many milliseconds the clock of this machine is behind; below zero: it is ahead.
 */
export function followClock(told: Date, askedAt: number): number {
  const answeredAt = performance.now()
  const ownMs = Date.now()
  known ??= { ms: ownMs, at: answeredAt }
  known.ms += missing(told.getTime(), known.ms + askedAt - known.at, known.ms + answeredAt - known.at)
  return missing(told.getTime(), ownMs - (answeredAt - askedAt), ownMs)
}

/** Goes by the clock of this machine again: for a process that turns to another database. */
export function forgetClock(): void {
  known = null
}

/** Asks the database for its time. To be called before anything is made of it. */
export async function readClock(db: Queryable): Promise<void> {
  const askedAt = performance.now()
  const { rows } = await db.query<{ now: Date }>('select now() as now')
  if (rows[0]) followClock(rows[0].now, askedAt)
}

/** What is to be added to a clock that showed a first time at a question and a last one at its answer; nothing where `told` is between them. */
function missing(told: number, first: number, last: number): number {
  if (told > last + slackMs) return told - last
  return told < first - slackMs ? told - first : 0
}
