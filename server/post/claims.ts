/** Claims for lanes that run low: all that ask at one time together, one statement at a time. */
import type { DuePost, Posting } from '../events/events.ts'
import { postLeaseSeconds } from '../events/events.ts'
import type { Db } from '../ground/db/db.ts'
import { claimFor, noteClaimed, type PostLane } from './lane.ts'
import { claimPosts, type Claim, type OutboxKey } from './outbox.ts'

/** What claims are made for. */
export interface ClaimsOptions {
  db: Db
  nodeId: string
  /** The lane of an endpoint or replay, if there is one yet. */
  peek: (id: string) => PostLane | undefined
  /** How many more posts the lane, or an endpoint without one, may have in memory now. */
  roomFor: (lane: PostLane | undefined) => number
  laneOf: (posting: DuePost) => PostLane
  /** Takes over what was claimed; `askedAt` is when the leases can have begun at the earliest (`performance.now()`). */
  take: (postings: Posting[], askedAt: number) => void
  /** The event is gone. */
  drop: (key: OutboxKey) => void
  /** Runs a round that nobody waits for. */
  inBackground: (work: Promise<void>) => void
}

// Rows of one claim, at most, and of each of its endpoints, at least where it has room: their events are in memory at once. No less than the
// most events of a POST (200), or a lane that batches would never have its turn.
const rowsMax = 500
const partMin = 8

/** The claims of one dispatcher. */
export class Claims {
  readonly #options: ClaimsOptions
  readonly #wanted = new Set<string>()
  #isClosing = false
  #isScheduled = false
  isRunning = false

  constructor(options: ClaimsOptions) {
    this.#options = options
  }

  /** Notes lanes for the next round. */
  note(ids: Iterable<string>): void {
    for (const id of ids) this.#wanted.add(id)
  }

  /** Claims for a lane soon, together with all others that say so in this turn. */
  soon(id: string): void {
    this.#wanted.add(id)
    if (this.isRunning || this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#options.inBackground(this.run())
    })
  }

  /** Begins nothing more. */
  close(): void {
    this.#isClosing = true
  }

  /** Claims for all lanes that were noted, and again for those noted meanwhile. */
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

  /** Takes off those whose turn it is. Each gets its part of what one claim may read, and no less than it takes in one POST. */
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
      // Nobody would ask again for a lane that got nothing: behind those that are held may be some that are not.
      if (heldCount >= claim.limit) this.#wanted.add(claim.endpointId)
    }
    take(postings, askedAt)
  }
}
