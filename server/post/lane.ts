/** What waits in memory for one endpoint, so that no endpoint waits for another; and for one replay, so that it delays nothing fresh. */
import type { DuePost, Posting } from '../events/events.ts'
import type { Endpoint, EndpointKey } from './endpoint.ts'
import { renderTogether, type Rendered } from './envelope.ts'
import type { Claim } from './outbox.ts'
import { createWindow, type PostWindow } from './window.ts'

/** A post that is leased to this node. Times are of `performance.now()`. */
export interface Queued {
  posting: Posting
  /** What its body counts for. */
  characters: number
  /** Until when it may begin so that it ends within the lease. */
  startBy: number
  queuedAt: number
}

/** A post that was taken off its queue. */
export interface Taken extends Queued, Rendered {}

/** One queue. Its state is changed by the dispatcher only. */
export interface PostLane extends EndpointKey {
  /** The endpoint's id, or that of a replay to it (`Posting.endpointId`). */
  id: string
  isReplay: boolean
  queue: Queued[]
  window: PostWindow
  inFlight: number
  /** Events that a POST takes, at most. */
  postMax: number
  /** There are, or may be, due rows in the outbox that did not fit here. */
  hasBacklog: boolean
  /** What was taken off the queue last is not posted: its endpoint is disabled, or was when it waited. */
  isDropping: boolean
  isReading: boolean
  usedAt: number
  /** Looks again when a batch has waited long enough. */
  timer: NodeJS.Timeout | null
  claimFrom: Date | null
  claimFromUntil: number
}

// A healthy endpoint holds what it takes in about a second; a failing one only what it can begin before the leases lapse.
const queueMax = 1024
const quickQueueMax = 4096
// A replay goes beside what is fresh, takes little of the receiver's time, and stops soon when it is canceled.
const replayWindowMax = 8
const replayQueueMax = 256
// Claims begin where the last one found rows, less this for clocks that differ; now and then from the very beginning.
const claimSlackMs = 5000
const claimFromMs = 10_000

// What a body counts for that is not rendered yet: that of an event about a message of usual length.
const unrenderedCharacters = 1500

/** What the body of a post counts for in memory. */
export function charactersOf({ payload }: Posting): number {
  return typeof payload === 'string' ? payload.length : unrenderedCharacters
}

/** An empty lane. */
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

/** How many posts can be begun at once. */
export const beginMax = (lane: PostLane): number => lane.window.size * lane.postMax

/** How many more posts fit; an endpoint without a lane would get an empty one. `isScarce`: memory is to be left to the others. */
export function roomIn(lane: PostLane | undefined, isScarce: boolean): number {
  if (!lane) return queueMax
  const perSecond = isScarce ? 0 : lane.window.perSecond * lane.postMax
  const most = lane.isReplay ? replayQueueMax : Math.min(Math.max(queueMax, Math.floor(perSecond)), quickQueueMax)
  // What waits for nothing but to be dropped is claimed by hundreds: by twos half a million took an hour, and what is fresh waited behind it.
  const isQuick = lane.window.isHealthy || lane.isDropping
  return Math.max(0, (isQuick ? most : Math.min(most, beginMax(lane) * 2)) - lane.queue.length)
}

/** Milliseconds that a batch still waits for more events; 0: what is there goes. */
export function waitMsOf(lane: PostLane, endpoint: Endpoint): number {
  const { batch } = endpoint
  const [first] = lane.queue
  if (!batch || !first || lane.queue.length >= batch.eventsMax) return 0
  return Math.max(0, Math.ceil(first.queuedAt + batch.waitMs - performance.now()))
}

/** Takes from the queue what goes into one POST. */
export function takeTogether(lane: PostLane, endpoint: Endpoint): Taken[] {
  const payloads = renderTogether(endpoint, lane.queue)
  const [payload = ''] = payloads
  // The usual case without a new array of what is left.
  const only = payloads.length === 1 ? lane.queue.shift() : undefined
  if (only) return [{ ...only, payload }]
  return lane.queue.splice(0, payloads.length).map((queued, i) => ({ ...queued, payload: payloads[i] ?? '' }))
}

/** What to claim for a lane, or for an endpoint that has none yet: `limit` rows at most. */
export function claimFor(endpointId: string, lane: PostLane | undefined, limit: number): Claim {
  const isFromStart = !lane || performance.now() > lane.claimFromUntil
  return { endpointId, limit, from: isFromStart ? null : lane.claimFrom }
}

/** Remembers where the next claim begins and whether there may be more; `held` rows were met and put off. */
export function noteClaimed(lane: PostLane, claim: Claim, claimed: readonly { dueAt: Date }[], held: number): void {
  lane.hasBacklog = claimed.length + held >= claim.limit
  const [first] = claimed
  if (!first) return
  lane.claimFrom = new Date(first.dueAt.getTime() - claimSlackMs)
  if (claim.from === null) lane.claimFromUntil = performance.now() + claimFromMs
}
