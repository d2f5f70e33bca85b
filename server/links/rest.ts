/** A link that this process cannot bind and others can: its slots are left to them, and tried for again now and then. Pure. */

/** What is remembered of a link for that. */
export interface Rest {
  /** Since when it has no session here, in monotonic milliseconds; null: it has one, or does not run. */
  lostAt: number | null
  /** Until when its slots are left to others, and what it was started from then: changed, it is tried at once. */
  until: number
  version: string
  /** How long it was the last time. */
  ms: number
}

/** How it is with a link. */
interface Life {
  sessions: number
  isUpElsewhere: boolean
  version: string
}

// Longer than a carrier takes to forget a session that died, and than the first dials take together.
export const restAfterMs = 60_000
const shortestMs = 300_000
const longestMs = 3_600_000

export const noRest: Rest = { lostAt: null, until: -Infinity, version: '', ms: 0 }

/** Whether its slots are left to others now; not where nobody else has it bound. */
export const isResting = ({ until, version }: Rest, life: Omit<Life, 'sessions'> | null, now: number): boolean =>
  now < until && life !== null && life.isUpElsewhere && life.version === version

/** What is remembered once a link was looked at. It rests from now on where `until` lies ahead: after a minute in vain, twice as long each time. */
export function lookAtLife(rest: Rest, { sessions, isUpElsewhere, version }: Life, now: number, afterMs: number): Rest {
  if (sessions > 0) return noRest
  const lostAt = rest.lostAt ?? now
  if (!isUpElsewhere || now - lostAt < afterMs) return { ...rest, lostAt }
  const ms = Math.min(longestMs, Math.max(shortestMs, rest.ms * 2))
  return { lostAt: null, until: now + ms, version, ms }
}
