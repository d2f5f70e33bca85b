/**
 * Posts what is due. A post comes here in one of two ways: handed over after the commit that made it, leased to this node
 * already; or claimed from the outbox, when it is a retry, did not fit, or was another node's. From then on:
 *
 *   queued in its endpoint's lane ─▶ posted, as the lane's window allows ─▶ ended (row gone, or due again later; one attempt)
 *
 * What cannot begin well before its lease ends is forgotten here and claimed again. A crash at any point leaves a leased row,
 * which is free again when the lease ends: at least one post of each event, and never two at a time.
 */
import type { Db } from '../db/db.ts'
import { isRetryable } from '../db/failure.ts'
import type { Log } from '../db/log.ts'
import { postLeaseSeconds, type Outbox, type Posting } from '../events.ts'
import { newId, showId } from '../ids.ts'
import type { Meter } from '../meter.ts'
import type { Vault } from '../secrets.ts'
import type { Destinations } from './destination.ts'
import { Endpoints, type Endpoint } from './endpoint.ts'
import { createHealth, type Health } from './health.ts'
import { claimFor, createLane, noteClaimed, roomIn, type Lane } from './lane.ts'
import { claimPosts, findDueEndpoints, type Claim } from './outbox.ts'
import { Poster, targetOf, type PostResult } from './post.ts'
import { createSaver, type Saver } from './save.ts'
import { retryDelayMs, retryDelaysMs } from './schedule.ts'
import { sign } from './signature.ts'

/** What a dispatcher needs; what has a default is the contract's value, and changed by tests only. */
export interface DispatcherOptions {
  db: Db
  vault: Vault
  log: Log
  /** A new id for each start of a process. */
  nodeId: string
  destinations: Destinations
  timeoutMs?: number
  retryDelaysMs?: readonly number[]
  disableAfterMs?: number
  pollMs?: number
  /** Posts under way to one endpoint, at most. */
  windowMax?: number
  /** Posts under way beyond the first of each endpoint, at most. */
  inFlightMoreMax?: number
  meter?: Meter
}

const leaseMs = postLeaseSeconds * 1000
// Between the end of a post and the end of its lease: for writing down what came of it.
const saveMarginMs = 10_000
// Ends that wait to be written; beyond it nothing new begins (the database is away or slow).
const unsavedMax = 5000
// Posts in memory, at about 2 KB each; beyond it a lane takes no more than it can begin at once.
const queuedMax = 20_000
const closeWithinMs = 15_000
const idleLaneMs = 60_000
const dayMs = 86_400_000

/** The dispatcher of one process: `start` it, `offer` it what was committed, `close` it. */
export class Dispatcher implements Outbox {
  readonly nodeId: string
  readonly #options: Required<Omit<DispatcherOptions, 'meter'>>
  readonly #meter: Meter | undefined
  readonly #endpoints: Endpoints
  readonly #poster: Poster
  readonly #saver: Saver
  readonly #health: Health
  readonly #lanes = new Map<string, Lane>()
  /** Lanes that would post but for `inFlightMoreMax`, in the order of their turn. */
  readonly #waiting = new Set<Lane>()
  readonly #claimable = new Set<string>()
  readonly #background = new Set<Promise<void>>()
  #queued = 0
  #inFlight = 0
  /** Posts under way beyond the first of each lane. */
  #inFlightMore = 0
  #isClaiming = false
  #isClosing = false
  #poll: NodeJS.Timeout | null = null

  constructor(options: DispatcherOptions) {
    this.#meter = options.meter
    this.#options = {
      timeoutMs: 15_000,
      retryDelaysMs,
      disableAfterMs: 5 * dayMs,
      pollMs: 250,
      windowMax: 128,
      inFlightMoreMax: 256,
      ...options,
    }
    const { db, vault, nodeId, log, destinations, timeoutMs, disableAfterMs } = this.#options
    if (timeoutMs + saveMarginMs >= leaseMs) throw new Error(`timeoutMs must be below ${leaseMs - saveMarginMs}`)
    this.nodeId = nodeId
    this.#endpoints = new Endpoints(db, vault)
    this.#poster = new Poster({ destinations, timeoutMs })
    this.#saver = createSaver(db, nodeId, log)
    this.#health = createHealth({ db, log, endpoints: this.#endpoints, outbox: this, disableAfterMs })
  }

  /** Begins to look for due posts. */
  start(): void {
    this.#lookIn(0)
  }

  /** Takes over posts that are committed and leased to this node. */
  offer(postings: Posting[]): void {
    if (postings.length > 0) this.#take(postings, (posting) => Date.now() - posting.dueAt.getTime())
  }

  /** Ends what is under way, for 15 seconds at most, and gives back the rest. */
  async close(): Promise<void> {
    this.#isClosing = true
    if (this.#poll) clearTimeout(this.#poll)
    for (const lane of this.#lanes.values())
      for (const { posting } of lane.queue.splice(0)) this.#saver.release(posting)
    const until = performance.now() + closeWithinMs
    while ((this.#inFlight > 0 || this.#isClaiming) && performance.now() < until)
      await new Promise((resolve) => setTimeout(resolve, 5))
    await this.#poster.close()
    await Promise.all(this.#background)
    await this.#saver.drain()
  }

  #take(postings: Posting[], ageMs: (posting: Posting) => number): void {
    const now = performance.now()
    const lanes = new Set<Lane>()
    for (const posting of postings) {
      const lane = this.#laneOf(posting)
      lane.usedAt = now
      const isFull = roomIn(lane) === 0 || (this.#queued >= queuedMax && lane.queue.length >= lane.window.size)
      if (this.#isClosing || isFull) {
        lane.hasBacklog = true
        this.#saver.release(posting)
      } else {
        const startBy = now + leaseMs - Math.max(0, ageMs(posting)) - this.#options.timeoutMs - saveMarginMs
        this.#queued++
        lane.queue.push({ posting, startBy })
        lanes.add(lane)
      }
    }
    for (const lane of lanes) this.#pump(lane)
  }

  /** Begins as many posts of a lane as may be under way. */
  #pump(lane: Lane): void {
    while (lane.queue.length > 0 && this.#mayBegin(lane)) {
      const endpoint = this.#endpoints.peek(lane.endpointId)
      if (endpoint === undefined) return this.#read(lane)
      const queued = lane.queue.shift()
      if (!queued) return
      this.#queued--
      if (queued.startBy < performance.now()) lane.hasBacklog = true
      else this.#begin(lane, endpoint, queued.posting)
    }
    if (lane.hasBacklog && lane.queue.length < lane.window.size) this.#claimSoon(lane)
  }

  #mayBegin(lane: Lane): boolean {
    if (this.#isClosing || lane.inFlight >= lane.window.size || this.#saver.unsaved >= unsavedMax) return false
    // The first post of an endpoint always may: however many others hang, they hold up nobody.
    const hasTurn = lane.inFlight === 0 || this.#inFlightMore < this.#options.inFlightMoreMax
    if (!hasTurn) this.#waiting.add(lane)
    return hasTurn
  }

  /** Reads the lane's endpoint. Where there is none any more, drops what was queued before the reading: only that is surely older. */
  #read(lane: Lane): void {
    if (lane.isReading) return
    lane.isReading = true
    const count = lane.queue.length
    this.#inBackground(
      this.#endpoints.read(lane).finally(() => {
        lane.isReading = false
      }),
      (isThere) => {
        const dropped = isThere ? [] : lane.queue.splice(0, count)
        this.#queued -= dropped.length
        for (const { posting } of dropped) this.#saver.drop(posting)
        this.#pump(lane)
      },
    )
  }

  #begin(lane: Lane, endpoint: Endpoint, posting: Posting): void {
    const startedAt = new Date()
    const timestamp = Math.floor(startedAt.getTime() / 1000)
    const id = showId('evt', posting.eventId)
    const signature = sign(endpoint.keys, id, timestamp, posting.payload)
    const signed = ['webhook-id', id, 'webhook-timestamp', String(timestamp), 'webhook-signature', signature]
    const target = endpoint.target ?? targetOf(posting.url ?? '')
    if (lane.inFlight++ > 0) this.#inFlightMore++
    this.#inFlight++
    this.#poster.post(target, endpoint.headers.concat(signed), posting.payload, (result) =>
      this.#end(lane, endpoint, posting, startedAt, result),
    )
  }

  #end(lane: Lane, endpoint: Endpoint, posting: Posting, startedAt: Date, result: PostResult): void {
    if (--lane.inFlight > 0) this.#inFlightMore--
    this.#inFlight--
    const { outcome, statusCode, responseHead, durationMs } = result
    const isOk = outcome === 'ok'
    lane.window.note(isOk, durationMs, lane.queue.length === 0)
    this.#meter?.notePost(outcome, durationMs)
    const isFinal = isOk || outcome === 'gone'
    const retryMs = isFinal ? null : retryDelayMs(posting.try, result.retryAfterMs, this.#options.retryDelaysMs)
    const attemptId = newId()
    this.#saver.end({ posting, attemptId, startedAt, outcome, statusCode, responseHead, durationMs, retryMs })
    const noted = this.#health.note(lane, endpoint, outcome)
    if (noted) this.#inBackground(noted)
    const [next] = this.#waiting
    if (next) {
      this.#waiting.delete(next)
      this.#pump(next)
    }
    this.#pump(lane)
  }

  /** The poll: finds what nobody handed over, and sweeps. Backs off where it costs: a tenth of one connection's time at most. */
  async #look(): Promise<void> {
    const startedAt = performance.now()
    try {
      for (const id of await findDueEndpoints(this.#options.db)) this.#claimable.add(id)
    } catch (error) {
      if (!isRetryable(error)) this.#options.log.error({ error }, 'looking for due posts failed')
    }
    const now = performance.now()
    // Not awaited: an endpoint with a backlog keeps claims going, and must not keep the others from being found.
    this.#inBackground(this.#claim())
    for (const lane of this.#lanes.values()) {
      this.#pump(lane)
      const isIdle = lane.queue.length === 0 && lane.inFlight === 0 && now - lane.usedAt > idleLaneMs
      if (isIdle) this.#lanes.delete(lane.endpointId)
    }
    if (this.#isClosing) return
    this.#lookIn(Math.max(this.#options.pollMs, 10 * (now - startedAt)))
  }

  #lookIn(delayMs: number): void {
    this.#poll = setTimeout(() => this.#inBackground(this.#look()), delayMs)
  }

  /** Claims for a lane whose queue runs low, together with all others that say so in this turn. */
  #claimSoon(lane: Lane): void {
    this.#claimable.add(lane.endpointId)
    if (this.#isClaiming || this.#claimable.size > 1) return
    setImmediate(() => this.#inBackground(this.#claim()))
  }

  /** Claims for all endpoints that were noted, and again for those noted meanwhile: one statement at a time. */
  async #claim(): Promise<void> {
    if (this.#isClaiming) return
    this.#isClaiming = true
    try {
      while (this.#claimable.size > 0 && !this.#isClosing) {
        const claims = [...this.#claimable].map((id) => claimFor(id, this.#lanes.get(id)))
        this.#claimable.clear()
        const possible = claims.filter((claim) => claim.limit > 0)
        if (possible.length > 0) await this.#claimBatch(possible)
      }
    } finally {
      this.#isClaiming = false
    }
  }

  async #claimBatch(claims: Claim[]): Promise<void> {
    const askedAt = performance.now()
    const rows = await claimPosts(this.#options.db, this.nodeId, postLeaseSeconds, claims)
    const byEndpoint = Map.groupBy(rows, (row) => row.endpointId)
    const postings: Posting[] = []
    for (const { payload, ...row } of rows) {
      // Events are kept for 30 days and tried for less than 4.
      if (payload === null) this.#saver.drop(row)
      else postings.push({ ...row, payload })
    }
    for (const claim of claims) {
      const claimed = byEndpoint.get(claim.endpointId) ?? []
      const lane = claimed[0] ? this.#laneOf(claimed[0]) : this.#lanes.get(claim.endpointId)
      if (lane) noteClaimed(lane, claim, claimed)
    }
    this.#take(postings, () => performance.now() - askedAt)
  }

  #laneOf(posting: Omit<Posting, 'payload'>): Lane {
    let lane = this.#lanes.get(posting.endpointId)
    if (!lane) this.#lanes.set(posting.endpointId, (lane = createLane(posting, this.#options.windowMax)))
    return lane
  }

  /** Runs what nobody waits for. The poll tries again whatever depends on it. */
  #inBackground<T>(work: Promise<T>, then: (result: T) => void = () => {}): void {
    const noted = work
      .then(then, (error: unknown) => {
        if (!isRetryable(error)) this.#options.log.error({ error }, 'work on webhooks failed')
      })
      .finally(() => this.#background.delete(noted))
    this.#background.add(noted)
  }
}
