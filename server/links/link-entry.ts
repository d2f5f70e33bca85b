/** A process's knowledge of a link, running or not. */
import type { CarrierLink } from './carrier-link.ts'
import { leaseSeconds, marginMs, noGrant, noReport, type Held, type LeasedLink } from './leases.ts'
import { capacityOf, Pace } from './pace.ts'
import { isResting, lookAtLife, noRest, restAfterMs, type Rest } from './rest.ts'
import { takeGrant } from './shares.ts'
import type { LinkReport } from './carrier-store.ts'

export interface Entry {
  /** The result of the last turn, which is also the age of its data on other processes. Null: none yet. */
  leased: LeasedLink | null
  link: CarrierLink | null
  /** The version with which the link started, or failed to. */
  version: string
  /** Whether it is left to other processes, which can bind it. */
  rest: Rest
  /** The last failure to start or bind, and its time. */
  fault: Pick<LinkReport, 'lastError' | 'lastErrorAt'>
  readonly pace: Pace
  slots: ReadonlyMap<number, string>
  /** Slots whose sessions drain, and slots to release. */
  readonly dropping: Set<number>
  free: number[]
  grant: Held['grant']
  isClosing: boolean
  /** When its link stopped, in monotonic milliseconds. */
  stoppedAt: number
  renewedAt: number
  reported: string
  /** `submitted` at each turn of the last minute, for its rate. */
  history: { at: number; submitted: number }[]
}

// How often a lease of ten seconds is renewed if nothing else is to be written.
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

/** The slots that should have sessions: one released during a turn is given back by the next, and not dialled meanwhile. */
export const slotsOf = ({ slots, free }: Entry): number[] => [...slots.keys()].filter((slot) => !free.includes(slot))

export const leaseOf = (entry: Entry): { slots: number[]; untilMs: number } => ({
  slots: slotsOf(entry),
  untilMs: entry.renewedAt + leaseMs,
})

/** The first end of the leases of sessions, in monotonic milliseconds; null: this process has no session. */
export function leasedUntil(all: Iterable<Entry>): number | null {
  const held = [...all].filter(({ leased, link }) => leased?.kind === 'smpp' && link !== null)
  return held.length === 0 ? null : Math.min(...held.map((entry) => leaseOf(entry).untilMs))
}

/** Whether its link has failed here long enough to be left to other processes that have it; records its state. */
export function isInVain(entry: Entry, leased: LeasedLink, now: number, afterMs: number = restAfterMs): boolean {
  // An HTTP link has no session that a carrier could refuse.
  if (leased.kind === 'http' || entry.link === null) return false
  entry.rest = lookAtLife(entry.rest, { ...leased, sessions: entry.link.sessions }, now, afterMs)
  return entry.rest.until > now
}

export const isBroken = ({ link, version, leased }: Entry): boolean =>
  link === null && version !== '' && version === leased?.version

export function heldOf(entry: Entry, now: number): Held {
  const report = reportOf(entry, now)
  // These change all the time; nobody decides by them.
  const { rate: _, inFlight: __, lastEnquireLinkAt: ___, ...decisive } = report
  const reported = JSON.stringify(decisive)
  const isDue = reported !== entry.reported || now - entry.renewedAt >= renewMs
  entry.reported = reported
  return {
    slots: entry.slots,
    free: [...entry.free],
    // A link that could not start is not wanted until it changes.
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

export function applyLease(entry: Entry, leased: LeasedLink, now: number): void {
  entry.leased = leased
  // Released slots are no longer ours, or ours again; a failed turn has released nothing.
  const isSame = (slot: number): boolean => entry.slots.has(slot) && entry.slots.get(slot) === leased.slots.get(slot)
  entry.free = entry.free.filter(isSame)
  for (const slot of entry.dropping) if (!isSame(slot)) entry.dropping.delete(slot)
  entry.slots = leased.slots
  entry.grant = takeGrant(entry.grant, leased.grant, performance.now())
  if (leased.isRenewed) entry.renewedAt = now
  entry.pace.set((leased.pace * leased.grant.used) / capacityOf(leased.pace), leased.grant.used)
  entry.pace.slowTo(leased.fraction, now)
}
