/** The memory queue of one endpoint, so that endpoints do not wait for each other; or of one replay, so that it does not delay new posts. */
import type { DuePost, Posting } from '../events/events.ts'
import type { Endpoint, EndpointKey } from './endpoint.ts'
import { renderTogether, type Rendered } from './envelope.ts'
import type { Claim } from './outbox.ts'
import { createWindow, type PostWindow } from './window.ts'

/** A post that is leased to this node. Times are of `performance.now()`. */
export interface Queued {
  posting: Posting
  /** The size of its body, for the limit. */
  characters: number
  /** The latest start at which it ends within the lease. */
  startBy: number
  queuedAt: number
}

export interface Taken extends Queued, Rendered {}

/** One queue. Only the dispatcher changes its state. */
export interface PostLane extends EndpointKey {
  /** The endpoint's id, or that of a replay to it (`Posting.endpointId`). */
  id: string
  isReplay: boolean
  queue: Queued[]
  window: PostWindow
  inFlight: number
  /** Most events of a POST. */
  postMax: number
  /** The outbox has, or may have, due rows that did not fit here. */
  hasBacklog: boolean
  /** The posts dequeued last are dropped: the endpoint is disabled, or was while they were queued. */
  isDropping: boolean
  isReading: boolean
  usedAt: number
  /** Checks again when a batch has waited long enough. */
  timer: NodeJS.Timeout | null
  claimFrom: Date | null
  claimFromUntil: number
}

// A healthy endpoint holds about a second of posts; a failing one only those it can begin before the leases lapse.
const queueMax = 1024
const quickQueueMax = 4096
// A replay runs beside new posts, takes little of the receiver's time, and stops soon after a cancel.
const replayWindowMax = 8
const replayQueueMax = 256
// Claims begin where the last one found rows, less this for clocks that differ; now and then from the very beginning.
const claimSlackMs = 5000
const claimFromMs = 10_000

// The size of a body before it is rendered: typical for an event of a message.
const unrenderedCharacters = 1500

export function charactersOf({ payload }: Posting): number {
  return typeof payload === 'string' ? payload.length : unrenderedCharacters
}

export function createLane(posting: DuePost, windowMax: number): PostLane {
  const { endpointId: id, targetId = id } = posting
  const isReplay = targetId !== id
  return {
    id,
    endpointId: targetId,
    accountId: posting.accountId,
    isCallback: posting.url !== null,
    isReplay,
    queue: [],
    window: createWindow(isReplay ? Math.min(replayWindowMax, windowMax) : windowMax),
    inFlight: 0,
    postMax: 1,
    hasBacklog: false,
    isDropping: false,
    isReading: false,
    usedAt: performance.now(),
    timer: null,
    claimFrom: null,
    claimFromUntil: 0,
  }
}

/** Posts that can begin at once. */
export const beginMax = (lane: PostLane): number => lane.window.size * lane.postMax

/** Free places; for an endpoint without a lane those of an empty one. `isScarce`: leave memory to others. */
export function roomIn(lane: PostLane | undefined, isScarce: boolean): number {
  if (!lane) return queueMax
  const perSecond = isScarce ? 0 : lane.window.perSecond * lane.postMax
  const most = lane.isReplay ? replayQueueMax : Math.min(Math.max(queueMax, Math.floor(perSecond)), quickQueueMax)
  // Posts to be dropped are claimed by hundreds: by twos half a million took an hour, and new ones waited behind them.
  const isQuick = lane.window.isHealthy || lane.isDropping
  return Math.max(0, (isQuick ? most : Math.min(most, beginMax(lane) * 2)) - lane.queue.length)
}

/** Milliseconds that a batch still waits for more events; 0: send it now. */
export function waitMsOf(lane: PostLane, endpoint: Endpoint): number {
  const { batch } = endpoint
  const [first] = lane.queue
  if (!batch || !first || lane.queue.length >= batch.eventsMax) return 0
  return Math.max(0, Math.ceil(first.queuedAt + batch.waitMs - performance.now()))
}

/** Dequeues the posts of one POST. */
export function takeTogether(lane: PostLane, endpoint: Endpoint): Taken[] {
  const payloads = renderTogether(endpoint, lane.queue)
  const [payload = ''] = payloads
  // The usual case without copying the rest.
  const only = payloads.length === 1 ? lane.queue.shift() : undefined
  if (only) return [{ ...only, payload }]
  return lane.queue.splice(0, payloads.length).map((queued, i) => ({ ...queued, payload: payloads[i] ?? '' }))
}

/** The claim of a lane, or of an endpoint without one: `limit` rows at most. */
export function claimFor(endpointId: string, lane: PostLane | undefined, limit: number): Claim {
  const isFromStart = !lane || performance.now() > lane.claimFromUntil
  return { endpointId, limit, from: isFromStart ? null : lane.claimFrom }
}

/** Saves the start of the next claim and whether more may be due; `held` rows were found and postponed. */
export function noteClaimed(lane: PostLane, claim: Claim, claimed: readonly { dueAt: Date }[], held: number): void {
  lane.hasBacklog = claimed.length + held >= claim.limit
  const [first] = claimed
  if (!first) return
  lane.claimFrom = new Date(first.dueAt.getTime() - claimSlackMs)
  if (claim.from === null) lane.claimFromUntil = performance.now() + claimFromMs
}
