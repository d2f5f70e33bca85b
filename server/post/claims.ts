/** Claims for lanes that run low: all concurrent requests together, one statement at a time. */
import type { DuePost, Posting } from '../events/events.ts'
import { postLeaseSeconds } from '../events/events.ts'
import type { Db } from '../ground/db/db.ts'
import { claimFor, noteClaimed, type PostLane } from './lane.ts'
import { claimPosts, findDueEndpoints, type Claim, type OutboxKey } from './outbox.ts'

export interface ClaimsOptions {
  db: Db
  nodeId: string
  /** The lane of an endpoint or replay, if there is one yet. */
  peek: (id: string) => PostLane | undefined
  /** Free memory, in posts, of the lane, or of an endpoint without one. */
  roomFor: (lane: PostLane | undefined) => number
  laneOf: (posting: DuePost) => PostLane
  /** Takes over claimed posts; `askedAt` is the earliest start of their leases (`performance.now()`). */
  take: (postings: Posting[], askedAt: number) => void
  /** Called if the event is gone. */
  drop: (key: OutboxKey) => void
  /** Runs a round without a waiting caller. */
  inBackground: (work: Promise<void>) => void
}

// Maximum of rows in one claim, and minimum for each endpoint with room: their events are in memory at once. At least the most events of a POST
// (200), or a lane that batches would never have its turn.
const rowsMax = 500
const partMin = 8

export class Claims {
  readonly #options: ClaimsOptions
  readonly #wanted = new Set<string>()
  #isClosing = false
  #isScheduled = false
  isRunning = false

  constructor(options: ClaimsOptions) {
    this.#options = options
  }

  /** Adds the lanes with due posts. Returns whether there are any. */
  async find(): Promise<boolean> {
    const due = await findDueEndpoints(this.#options.db)
    this.note(due)
    return due.length > 0
  }

  /** Adds lanes to the next round. */
  note(ids: Iterable<string>): void {
    for (const id of ids) this.#wanted.add(id)
  }

  /** Claims for a lane soon, together with all others of this turn. */
  soon(id: string): void {
    this.#wanted.add(id)
    if (this.isRunning || this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#options.inBackground(this.run())
    })
  }

  close(): void {
    this.#isClosing = true
  }

  /** Claims for all noted lanes, and again for those noted meanwhile. */
  async run(): Promise<void> {
    if (this.isRunning) return
    this.isRunning = true
    try {
      while (this.#wanted.size > 0 && !this.#isClosing) {
        const claims = this.#nextClaims()
        if (claims.length > 0) await this.#claim(claims)
      }
    } finally {
      this.isRunning = false
    }
  }

  /** Takes the next lanes. Each gets its share of one claim, and at least what it takes in one POST. */
  #nextClaims(): Claim[] {
    const { peek, roomFor } = this.#options
    const part = Math.max(partMin, Math.floor(rowsMax / this.#wanted.size))
    const claims: Claim[] = []
    let rows = 0
    for (const id of this.#wanted) {
      const lane = peek(id)
      const limit = Math.min(roomFor(lane), Math.max(part, lane?.postMax ?? 0))
      if (rows + limit > rowsMax) break
      this.#wanted.delete(id)
      if (limit === 0) continue
      rows += limit
      claims.push(claimFor(id, lane, limit))
    }
    return claims
  }

  async #claim(claims: Claim[]): Promise<void> {
    const { db, nodeId, peek, laneOf, take, drop } = this.#options
    const askedAt = performance.now()
    const { rows, held } = await claimPosts(db, nodeId, postLeaseSeconds, claims)
    const byLane = Map.groupBy(rows, (row) => row.endpointId)
    const postings: Posting[] = []
    for (const { payload, ...row } of rows) {
      // Events are kept for 30 days and tried for less than 4.
      if (payload === null) drop(row)
      else postings.push({ ...row, payload })
    }
    for (const claim of claims) {
      const claimed = byLane.get(claim.endpointId) ?? []
      const lane = claimed[0] ? laneOf(claimed[0]) : peek(claim.endpointId)
      const heldCount = held.get(claim.endpointId) ?? 0
      if (lane) noteClaimed(lane, claim, claimed, heldCount)
      // A lane that got nothing would not be claimed for again, although rows may be free behind the held ones.
      if (heldCount >= claim.limit) this.#wanted.add(claim.endpointId)
    }
    take(postings, askedAt)
  }
}
