/** A link that only other processes can bind: its slots are left to them, and tried again now and then. Pure. */

/** What is remembered of a link for that. */
export interface Rest {
  /** Start of the time without a session here, in monotonic milliseconds; null: it has one, or does not run. */
  lostAt: number | null
  /** End of the rest, and the version at its start: a changed link is tried at once. */
  until: number
  version: string
  /** Length of the last rest. */
  ms: number
}

interface Life {
  sessions: number
  isUpElsewhere: boolean
  version: string
}

// Longer than a carrier keeps a dead session, and than the first dials take together.
export const restAfterMs = 60_000
const shortestMs = 300_000
const longestMs = 3_600_000

export const noRest: Rest = { lostAt: null, until: -Infinity, version: '', ms: 0 }

/** Whether its slots are left to others now; never if no other process has it bound. */
export const isResting = ({ until, version }: Rest, life: Omit<Life, 'sessions'> | null, now: number): boolean =>
  now < until && life !== null && life.isUpElsewhere && life.version === version

/** The state after a look at a link. It rests if `until` is in the future: after a minute in vain, twice as long each time. */
export function lookAtLife(rest: Rest, { sessions, isUpElsewhere, version }: Life, now: number, afterMs: number): Rest {
  if (sessions > 0) return noRest
  const lostAt = rest.lostAt ?? now
  if (!isUpElsewhere || now - lostAt < afterMs) return { ...rest, lostAt }
  const ms = Math.min(longestMs, Math.max(shortestMs, rest.ms * 2))
  return { lostAt: null, until: now + ms, version, ms }
}
