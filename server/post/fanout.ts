/**
 * Posts what is due. A post comes by a short cut, `offer`: after the commit that made it, leased to this node already. It falls back on
 * `claims.ts`: a claim from the outbox takes retries, posts that did not fit, and those of another node. From then on:
 *
 *   queued in its endpoint's lane ─▶ posted, as the lane's window allows ─▶ ended (row gone, or due again later; one attempt)
 *
 * What cannot begin well before its lease ends is forgotten here and claimed again. A crash at any point leaves a leased row,
 * which is free again when the lease ends: at least one post of each event, and never two at a time.
 */
import { now, nowMs } from '../ground/db/clock.ts'
import type { Db } from '../ground/db/db.ts'
import type { Log } from '../ground/db/log.ts'
import { Sweeper } from '../ground/base/sweeps.ts'
import { postLeaseSeconds, type DuePost, type Outbox, type Posting } from '../events/events.ts'
import { newId, timeOfId } from '../ground/base/ids.ts'
import type { Meter } from '../ground/metrics/meter.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import { Background } from './background.ts'
import { Claims } from './claims.ts'
import type { TakeAnswer } from './asked.ts'
import type { Destinations } from './destination.ts'
import { Endpoints, type Endpoint } from './endpoint.ts'
import { wrap } from './envelope.ts'
import { createHealth, type Health } from './health.ts'
import { beginMax, charactersOf, createLane, roomIn, takeTogether, waitMsOf } from './lane.ts'
import type { PostLane, Queued, Taken } from './lane.ts'
import type { Ended } from './ended.ts'
import type { PostResult } from './exchange.ts'
import { Poster, targetOf } from './post.ts'
import { Receiver, receiverOrigin } from './receiver.ts'
import { postsDue } from './outbox.ts'
import { createSaver, type Saver } from './save.ts'
import { retryDelayMs, retryDelaysMs } from './schedule.ts'

export interface DispatcherOptions {
  db: Db
  /** For ends without a retry (`SaverPools`); by default `db`. */
  endsDb?: Db
  vault: Vault
  log: Log
  /** A new id for each start of a process. */
  nodeId: string
  destinations: Destinations
  /** Whether this node may still post what is leased to it (see `Node.isFresh`). */
  mayPost?: () => boolean
  timeoutMs?: number
  retryDelaysMs?: readonly number[]
  disableAfterMs?: number
  pollMs?: number
  /** Most concurrent posts to one endpoint. */
  windowMax?: number
  /** Most concurrent posts beyond the first of each endpoint. */
  inFlightMoreMax?: number
  /** Events are stored without texts (see `Outbox`). */
  hidesTexts?: boolean
  meter?: Meter
  takeAnswer?: TakeAnswer
}

const leaseMs = postLeaseSeconds * 1000
// Between the end of a post and the end of its lease: time to write the result.
const saveMarginMs = 10_000
// Most unwritten ends; above it no post begins (the database is away or slow).
const unsavedMax = 5000
// Posts in memory and the characters of their bodies; above either, a lane takes only the few it can begin at once.
const queuedMax = 20_000
const queuedCharactersMax = 8 * 1024 * 1024
const queuedAnywayMax = 8
const closeWithinMs = 15_000
const idleLaneMs = 60_000
const dayMs = 86_400_000

/** The dispatcher of one process: `start` it, `offer` it committed posts, `close` it. */
export class Dispatcher implements Outbox {
  readonly nodeId: string
  readonly hidesTexts: boolean
  readonly #options: Required<Omit<DispatcherOptions, 'endsDb' | 'meter' | 'hidesTexts' | 'takeAnswer'>>
  readonly #meter: Meter | undefined
  readonly #endpoints: Endpoints
  readonly #poster: Poster
  readonly #receiver: Receiver
  readonly #saver: Saver
  readonly #health: Health
  readonly #lanes = new Map<string, PostLane>()
  /** Lanes that wait only for `inFlightMoreMax`, in order of their turn. */
  readonly #waiting = new Set<PostLane>()
  readonly #claims: Claims
  readonly #background: Background
  #queued = 0
  #queuedCharacters = 0
  #inFlight = 0
  /** Concurrent posts beyond the first of each lane. */
  #inFlightMore = 0
  readonly #sweeper: Sweeper
  #isClosing = false

  constructor(options: DispatcherOptions) {
    this.#meter = options.meter
    this.#options = {
      mayPost: () => true,
      timeoutMs: 15_000,
      retryDelaysMs,
      disableAfterMs: 5 * dayMs,
      pollMs: 250,
      windowMax: 128,
      inFlightMoreMax: 256,
      ...options,
    }
    const { db, vault, nodeId, log, destinations, timeoutMs, disableAfterMs } = this.#options
    this.#background = new Background(log)
    this.#sweeper = new Sweeper(log)
    if (timeoutMs + saveMarginMs >= leaseMs) throw new Error(`timeoutMs must be below ${leaseMs - saveMarginMs}`)
    this.nodeId = nodeId
    this.hidesTexts = options.hidesTexts ?? false
    this.#endpoints = new Endpoints(db, vault)
    this.#poster = new Poster({ destinations, timeoutMs, takeAnswer: options.takeAnswer })
    this.#receiver = new Receiver(db, vault)
    this.#saver = createSaver({ db, endsDb: options.endsDb ?? db }, nodeId, log)
    this.#health = createHealth({ db, log, endpoints: this.#endpoints, outbox: this, disableAfterMs })
    this.#claims = new Claims({
      db,
      nodeId,
      peek: (id) => this.#lanes.get(id),
      roomFor: (lane) => this.#roomFor(lane),
      laneOf: (posting) => this.#laneOf(posting),
      take: (postings, askedAt) => this.#take(postings, () => performance.now() - askedAt),
      drop: (key) => this.#saver.drop(key),
      inBackground: (work) => this.#background.run(work),
    })
  }

  /** Starts the search for due posts. */
  start(): void {
    const { db, pollMs } = this.#options
    const run = (): Promise<boolean> => this.#look()
    this.#sweeper.start([{ name: 'posts', everyMs: pollMs, isInSeries: true, due: postsDue, run }], db)
  }

  /** The short cut: takes posts that are committed and leased to this node. */
  offer(postings: Posting[]): void {
    if (postings.length > 0) this.#take(postings, (posting) => nowMs() - posting.dueAt.getTime())
  }

  /** Lets running posts end for up to 15 seconds, and gives back the rest. */
  async close(): Promise<void> {
    this.#isClosing = true
    this.#claims.close()
    await this.#sweeper.close()
    for (const lane of this.#lanes.values()) {
      if (lane.timer) clearTimeout(lane.timer)
      for (const queued of lane.queue.splice(0)) this.#release(queued)
    }
    const until = performance.now() + closeWithinMs
    while ((this.#inFlight > 0 || this.#claims.isRunning) && performance.now() < until)
      await new Promise((resolve) => setTimeout(resolve, 5))
    await this.#poster.close()
    await this.#background.drain()
    await this.#saver.drain()
  }

  #take(postings: Posting[], ageMs: (posting: Posting) => number): void {
    const now = performance.now()
    const lanes = new Set<PostLane>()
    for (const posting of postings) {
      const lane = this.#laneOf(posting)
      lane.usedAt = now
      if (this.#isClosing || this.#roomFor(lane) === 0) {
        lane.hasBacklog = true
        this.#saver.release(posting)
      } else {
        const startBy = now + leaseMs - Math.max(0, ageMs(posting)) - this.#options.timeoutMs - saveMarginMs
        this.#queued++
        const characters = charactersOf(posting)
        this.#queuedCharacters += characters
        lane.queue.push({ posting, characters, startBy, queuedAt: now })
        lanes.add(lane)
      }
    }
    for (const lane of lanes) this.#pump(lane)
  }

  /** Free memory, in posts, of a lane, or of an endpoint without one. */
  #roomFor(lane: PostLane | undefined): number {
    if (!this.#options.mayPost()) return 0
    const used = Math.max(this.#queued / queuedMax, this.#queuedCharacters / queuedCharactersMax)
    const room = roomIn(lane, used >= 0.5)
    if (used < 1) return room
    if (!lane) return queuedAnywayMax
    const anyway = Math.min(Math.max(queuedAnywayMax, lane.postMax), beginMax(lane))
    return Math.max(0, Math.min(room, anyway - lane.queue.length))
  }

  /** Subtracts a dequeued post from memory. */
  #forget({ posting, characters }: Queued): Posting {
    this.#queued--
    this.#queuedCharacters -= characters
    return posting
  }

  #release(queued: Queued): void {
    this.#saver.release(this.#forget(queued))
  }

  /** Begins posts of a lane up to its window. */
  #pump(lane: PostLane): void {
    while (lane.queue.length > 0 && this.#mayBegin(lane)) {
      const endpoint = this.#endpoints.peek(lane.endpointId)
      if (endpoint === undefined) return this.#read(lane)
      lane.postMax = endpoint.batch?.eventsMax ?? 1
      const waitMs = waitMsOf(lane, endpoint)
      if (waitMs > 0) {
        this.#pumpLater(lane, waitMs)
        break
      }
      const taken = takeTogether(lane, endpoint).filter((one) => this.#admits(lane, endpoint, one))
      if (taken.length > 0) this.#begin(lane, endpoint, taken)
    }
    if (lane.hasBacklog && lane.queue.length < beginMax(lane)) this.#claims.soon(lane.id)
  }

  /** Whether a dequeued post may go now. */
  #admits(lane: PostLane, endpoint: Endpoint, taken: Taken): boolean {
    const posting = this.#forget(taken)
    if (taken.startBy < performance.now()) {
      lane.hasBacklog = true
      return false
    }
    if (
      endpoint.postsSinceMs > 0 &&
      posting.targetId === undefined &&
      timeOfId(posting.eventId) < endpoint.postsSinceMs
    ) {
      lane.isDropping = true
      this.#saver.drop(posting)
      return false
    }
    return true
  }

  #pumpLater(lane: PostLane, waitMs: number): void {
    lane.timer ??= setTimeout(() => {
      lane.timer = null
      this.#pump(lane)
    }, waitMs)
  }

  #mayBegin(lane: PostLane): boolean {
    const isFull = lane.inFlight >= lane.window.size || this.#saver.unsaved >= unsavedMax
    // A frozen process wakes up, and others have taken its leases.
    if (this.#isClosing || isFull || !this.#options.mayPost()) return false
    // The first post of an endpoint is always admitted, so that others that hang do not delay it.
    const hasTurn = lane.inFlight === 0 || this.#inFlightMore < this.#options.inFlightMoreMax
    if (!hasTurn) this.#waiting.add(lane)
    return hasTurn
  }

  /** Reads the lane's endpoint. If it is gone, drops only posts queued before the read, because only those are surely older. */
  #read(lane: PostLane): void {
    if (lane.isReading) return
    lane.isReading = true
    const count = lane.queue.length
    this.#background.run(
      this.#endpoints.read(lane).finally(() => {
        lane.isReading = false
      }),
      (isThere) => {
        const dropped = isThere ? [] : lane.queue.splice(0, count)
        if (!isThere) lane.isDropping = true
        for (const queued of dropped) this.#saver.drop(this.#forget(queued))
        this.#pump(lane)
      },
      lane,
    )
  }

  #begin(lane: PostLane, endpoint: Endpoint, taken: Taken[]): void {
    const startedAt = now()
    lane.isDropping = false
    const { headers, body, batchId, mark, asked } = wrap(endpoint, taken, startedAt)
    const posts = taken.map(({ posting }) => posting)
    const target = endpoint.target ?? targetOf(posts[0]?.url ?? '')
    if (lane.inFlight++ > 0) this.#inFlightMore++
    this.#inFlight++
    const done = (result: PostResult): void => {
      if (--lane.inFlight > 0) this.#inFlightMore--
      this.#inFlight--
      const sent = { startedAt, url: target.origin + target.path + mark, batchId, result }
      const noted = this.#health.note(lane, endpoint, result.outcome)
      const isGone = result.outcome === 'gone'
      // A 410 ends the endpoint's posts, unless it has another address by now, which then gets them.
      if (noted) this.#background.run(noted, (isOver) => isGone && this.#save(endpoint, posts, sent, isOver), lane)
      if (!noted || !isGone) this.#save(endpoint, posts, sent, isGone || (result.outcome === 'ok' && !result.isUndone))
      this.#goOn(lane, result)
    }
    if (target.origin === receiverOrigin) void this.#receiver.take(lane, endpoint, headers, body).then(done)
    else this.#poster.post(target, headers, body, done, asked)
  }

  #save(
    endpoint: Endpoint,
    posts: DuePost[],
    sent: Pick<Ended, 'startedAt' | 'url' | 'batchId' | 'result'>,
    isFinal: boolean,
  ): void {
    const { headerNames, isOrdered } = endpoint
    // Events that failed together are retried together.
    const random = Math.random()
    for (const post of posts) {
      const delaysMs = this.#options.retryDelaysMs
      const retryMs = isFinal ? null : retryDelayMs(post.try, sent.result.retryAfterMs, delaysMs, () => random)
      this.#saver.end({ post, attemptId: newId(), headerNames, retryMs, ...sent }, isOrdered)
    }
  }

  #goOn(lane: PostLane, result: PostResult): void {
    lane.window.note(result.outcome === 'ok', result.durationMs, lane.queue.length === 0)
    this.#meter?.notePost(lane, result)
    const [next] = this.#waiting
    if (next) {
      this.#waiting.delete(next)
      this.#pump(next)
    }
    this.#pump(lane)
  }

  /** Finds posts that were not handed over. Returns whether there are any. */
  async #look(): Promise<boolean> {
    try {
      return await this.#claims.find()
    } finally {
      const now = performance.now()
      // Not awaited: an endpoint with a backlog keeps claims running, and must not delay the search for others.
      this.#background.run(this.#claims.run())
      for (const lane of this.#lanes.values()) {
        this.#pump(lane)
        const isIdle = lane.queue.length === 0 && lane.inFlight === 0 && now - lane.usedAt > idleLaneMs
        if (isIdle) this.#lanes.delete(lane.id)
      }
    }
  }

  #laneOf(posting: DuePost): PostLane {
    let lane = this.#lanes.get(posting.endpointId)
    if (!lane) this.#lanes.set(posting.endpointId, (lane = createLane(posting, this.#options.windowMax)))
    return lane
  }
}
