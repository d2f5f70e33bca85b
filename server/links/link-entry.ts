/** What a process knows of a link, whether or not it runs it. */
import type { CarrierLink } from './carrier-link.ts'
import { leaseSeconds, marginMs, noGrant, noReport, type Held, type LeasedLink } from './leases.ts'
import { capacityOf, Pace } from './pace.ts'
import { isResting, lookAtLife, noRest, restAfterMs, type Rest } from './rest.ts'
import { takeGrant } from './shares.ts'
import type { LinkReport } from './carrier-store.ts'

export interface Entry {
  /** What the last turn said; of other processes it is as old as that. Null: nothing yet. */
  leased: LeasedLink | null
  link: CarrierLink | null
  /** What the link was started from, or could not be. */
  version: string
  /** Whether it is left to other processes, which can bind it. */
  rest: Rest
  /** Why it could not be started or bound, and when; of the last time. */
  fault: Pick<LinkReport, 'lastError' | 'lastErrorAt'>
  /** Survives the link, and so does the slow-down that it knows. */
  readonly pace: Pace
  slots: ReadonlyMap<number, string>
  /** Slots whose sessions drain, and those that are to be given back. */
  readonly dropping: Set<number>
  free: number[]
  grant: Held['grant']
  isClosing: boolean
  /** When its link had been stopped, in monotonic milliseconds. */
  stoppedAt: number
  renewedAt: number
  reported: string
  /** `submitted` at each turn of the last minute, for its rate. */
  history: { at: number; submitted: number }[]
}

// A lease of ten seconds is renewed this often while there is nothing else to write.
const renewMs = 3000
const rateMs = 60_500
const leaseMs = leaseSeconds * 1000 - marginMs

export function makeEntry(): Entry {
  return {
    leased: null,
    link: null,
    version: '',
    rest: noRest,
    fault: { lastError: null, lastErrorAt: null },
    pace: new Pace(0, 0),
    slots: new Map(),
    dropping: new Set(),
    free: [],
    grant: noGrant,
    isClosing: false,
    stoppedAt: -Infinity,
    renewedAt: -Infinity,
    reported: '',
    history: [],
  }
}

/** The slots in which sessions are to be: one that was let go during a turn is given back with the next, and not dialled again meanwhile. */
export const slotsOf = ({ slots, free }: Entry): number[] => [...slots.keys()].filter((slot) => !free.includes(slot))

/** What its link may write to, and how long. */
export const leaseOf = (entry: Entry): { slots: number[]; untilMs: number } => ({
  slots: slotsOf(entry),
  untilMs: entry.renewedAt + leaseMs,
})

/** Until when the first of the leases of sessions runs, in monotonic milliseconds; null: this process has no session. */
export function leasedUntil(all: Iterable<Entry>): number | null {
  const held = [...all].filter(({ leased, link }) => leased?.kind === 'smpp' && link !== null)
  return held.length === 0 ? null : Math.min(...held.map((entry) => leaseOf(entry).untilMs))
}

/** Whether its link has been tried in vain long enough to be left to others, which have it; notes how it is. */
export function isInVain(entry: Entry, leased: LeasedLink, now: number, afterMs: number = restAfterMs): boolean {
  // One over HTTP has no session that a carrier could refuse.
  if (leased.kind === 'http' || entry.link === null) return false
  entry.rest = lookAtLife(entry.rest, { ...leased, sessions: entry.link.sessions }, now, afterMs)
  return entry.rest.until > now
}

/** Whether its link could not be started from what its rows say now. */
export const isBroken = ({ link, version, leased }: Entry): boolean =>
  link === null && version !== '' && version === leased?.version

/** A link as its lease statement needs it. */
export function heldOf(entry: Entry, now: number): Held {
  const report = reportOf(entry, now)
  const reported = JSON.stringify(report)
  const isDue = reported !== entry.reported || now - entry.renewedAt >= renewMs
  entry.reported = reported
  return {
    slots: entry.slots,
    free: [...entry.free],
    // What could not be started is not wanted until it changes.
    wants: !entry.isClosing && !isBroken(entry) && !isResting(entry.rest, entry.leased, now),
    grant: entry.grant,
    report,
    isDue,
  }
}

function reportOf(entry: Entry, now: number): LinkReport {
  const { link, history, pace, fault } = entry
  const fraction = pace.fraction(now)
  const isTold = isBroken(entry) || isResting(entry.rest, entry.leased, now)
  if (!link) return { ...noReport, fraction, ...(isTold && fault) }
  history.push({ at: now, submitted: link.submitted })
  while (now - (history[0]?.at ?? now) > rateMs) history.shift()
  const [first = { at: now, submitted: 0 }] = history
  const seconds = (now - first.at) / 1000
  return {
    state: link.state,
    sessions: link.sessions,
    windowMax: link.windowMax,
    inFlight: link.inFlight,
    pace: link.pace,
    fraction,
    rate: seconds >= 1 ? (link.submitted - first.submitted) / seconds : 0,
    lastEnquireLinkAt: link.lastEnquireAt,
    lastError: link.lastError,
    lastErrorAt: link.lastErrorAt,
  }
}

/** Takes over what was decided. */
export function applyLease(entry: Entry, leased: LeasedLink, now: number): void {
  entry.leased = leased
  // What was given back is not ours any more, or again; a turn that failed has given nothing back.
  const isSame = (slot: number): boolean => entry.slots.has(slot) && entry.slots.get(slot) === leased.slots.get(slot)
  entry.free = entry.free.filter(isSame)
  for (const slot of entry.dropping) if (!isSame(slot)) entry.dropping.delete(slot)
  entry.slots = leased.slots
  entry.grant = takeGrant(entry.grant, leased.grant, performance.now())
  if (leased.isRenewed) entry.renewedAt = now
  entry.pace.set((leased.pace * leased.grant.used) / capacityOf(leased.pace), leased.grant.used)
  entry.pace.slowTo(leased.fraction, now)
}
