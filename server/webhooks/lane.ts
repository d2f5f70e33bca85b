/** What waits in memory for one endpoint, so that no endpoint waits for another. */
import type { Posting } from '../events.ts'
import type { EndpointKey } from './endpoint.ts'
import type { Claim } from './outbox.ts'
import { createWindow, type Window } from './window.ts'

/** A post that is leased to this node, and until when it may begin so that it ends within the lease (`performance.now()`). */
export interface Queued {
  posting: Posting
  startBy: number
}

/** One endpoint's queue. Its state is changed by the dispatcher only. */
export interface Lane extends EndpointKey {
  queue: Queued[]
  window: Window
  inFlight: number
  /** There are, or may be, due rows in the outbox that did not fit here. */
  hasBacklog: boolean
  isReading: boolean
  usedAt: number
  claimFrom: Date | null
  claimFromUntil: number
}

// A healthy endpoint takes about a second's worth; a failing one only what it can begin before the leases lapse.
const queueMax = 1024
const claimMax = 500
// Claims begin where the last one found rows, less this for clocks that differ; now and then from the very beginning.
const claimSlackMs = 5000
const claimFromMs = 10_000

/** An empty lane. */
export function createLane(posting: Omit<Posting, 'payload'>, windowMax: number): Lane {
  return {
    endpointId: posting.endpointId,
    accountId: posting.accountId,
    isCallback: posting.url !== null,
    queue: [],
    window: createWindow(windowMax),
    inFlight: 0,
    hasBacklog: false,
    isReading: false,
    usedAt: performance.now(),
    claimFrom: null,
    claimFromUntil: 0,
  }
}

/** How many more posts fit. */
export function roomIn(lane: Lane): number {
  return Math.max(0, (lane.window.isHealthy ? queueMax : lane.window.size * 2) - lane.queue.length)
}

/** What to claim for a lane, or for an endpoint that has none yet. */
export function claimFor(endpointId: string, lane: Lane | undefined): Claim {
  const isFromStart = !lane || performance.now() > lane.claimFromUntil
  return {
    endpointId,
    limit: Math.min(claimMax, lane ? roomIn(lane) : claimMax),
    from: isFromStart ? null : lane.claimFrom,
  }
}

/** Remembers where the next claim begins and whether there may be more. */
export function noteClaimed(lane: Lane, claim: Claim, claimed: readonly { dueAt: Date }[]): void {
  lane.hasBacklog = claimed.length >= claim.limit
  const [first] = claimed
  if (!first) return
  lane.claimFrom = new Date(first.dueAt.getTime() - claimSlackMs)
  if (claim.from === null) lane.claimFromUntil = performance.now() + claimFromMs
}
