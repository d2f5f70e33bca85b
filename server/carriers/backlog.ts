/** How much waits in the queue, counted now and then: for the estimate of a message that is queued now. */
import type { Db } from '../db/db.ts'
import type { Lane } from '../messages/claim.ts'
import type { MessageType } from '../messages/message.ts'
import type { LinkKeeper } from './keeper.ts'
import { rankOf } from './lanes.ts'

// What each lower type gets beside a flood of the others (see line.ts).
const leastShare = 0.05
// A count reads the whole queue: it may take this part of the time.
const restFactor = 20

/** What a message is, as far as its turn depends on it; what is not known counts for the worst. */
export interface Newcomer {
  type: MessageType
  accountId?: string | undefined
  carrierId?: string | undefined
  /** Segments of its account and type that go before it, where it is in line already; by default all that wait. */
  ahead?: number | undefined
}

export class Backlog {
  readonly #db: Db
  readonly #keeper: LinkKeeper
  #lanes: readonly Lane[] = []
  /** Segments by lane. */
  #segments = new Map<string, number>()
  #countedAt = performance.now()
  #nextAt = -Infinity
  #isCounting = false

  constructor(db: Db, keeper: LinkKeeper) {
    this.#db = db
    this.#keeper = keeper
  }

  /** Takes note of the lanes that have something in them, and counts it unless it was counted just now. */
  count(lanes: readonly Lane[], now: number): void {
    this.#lanes = lanes
    if (lanes.length === 0) {
      this.#segments.clear()
      this.#countedAt = now
    } else if (now >= this.#nextAt && !this.#isCounting) {
      this.#isCounting = true
      this.#read()
        // A count that failed is an old estimate; who needs the database says that it is away.
        .catch(() => {})
        .finally(() => {
          this.#isCounting = false
        })
    }
  }

  async #read(): Promise<void> {
    const startedAt = performance.now()
    try {
      const { rows } = await this.#db.query<{ laneId: string; segments: number }>({
        name: 'count-queue',
        text: `select lane_id as "laneId", sum(segments)::int as segments from queue group by lane_id`,
      })
      this.#segments = new Map(rows.map(({ laneId, segments }) => [laneId, segments]))
      this.#countedAt = startedAt
    } finally {
      const endedAt = performance.now()
      this.#nextAt = endedAt + (endedAt - startedAt) * restFactor
    }
  }

  /**
   * Milliseconds until a message that is queued now is submitted; null while no link that could take it is up. Before it go all of a
   * higher type, its account's of its own type, and as many of each other account's: accounts take turns.
   */
  wait({ type, accountId, carrierId, ahead }: Newcomer): number | null {
    const pace = this.#paceOf(carrierId)
    if (pace === 0) return null
    const rank = rankOf(type)
    let before = 0
    let own = 0
    let behind = 0
    const others = new Map<string, number>()
    for (const lane of this.#lanes) {
      if (carrierId !== undefined && lane.carrierId !== null && lane.carrierId !== carrierId) continue
      const segments = this.#segments.get(lane.id) ?? 0
      if (rankOf(lane.type) < rank) before += segments
      else if (lane.type !== type) behind += segments
      else if (accountId === undefined || lane.accountId === accountId) own += segments
      else others.set(lane.accountId, (others.get(lane.accountId) ?? 0) + segments)
    }
    own = Math.min(own, ahead ?? Infinity)
    const turns = [...others.values()].reduce((sum, segments) => sum + Math.min(segments, own), 0)
    const since = ahead === undefined ? performance.now() - this.#countedAt : 0
    // The lower types have their twentieth beside what goes before them.
    const seconds = Math.min(
      (before + own + turns) / (behind > 0 ? pace * (1 - leastShare) : pace),
      rank > 0 && before > 0 ? (own + turns) / (pace * leastShare) : Infinity,
    )
    const ms = seconds * 1000
    const limit = accountId === undefined ? Infinity : this.#keeper.limits.paceOf(accountId, type)
    return Math.max(0, Math.max(ms, (own / limit) * 1000) - since)
  }

  /** Segments a second of the links that are up anywhere, of one carrier or of all. */
  #paceOf(carrierId: string | undefined): number {
    return this.#keeper.leased.reduce(
      (sum, link) =>
        this.#keeper.isUp(link) && (carrierId === undefined || link.carrierId === carrierId)
          ? sum + link.pace * link.fraction
          : sum,
      0,
    )
  }
}
