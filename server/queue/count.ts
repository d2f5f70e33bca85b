/** Counts the queue from time to time, for estimates and for the limit of the queue. */
import type { Db } from '../ground/db/db.ts'
import type { MessageType } from '../message/message.ts'

// A count reads the whole queue, and rests this many times its duration. The shorter of the last two durations counts: a stall says nothing
// about the queue, and half a second of it would freeze estimates for half a minute. There is no other bound: a queue of millions takes a
// second to count, and hours to send.
const restFactor = 50

export interface CountedLane {
  id: string
  accountId: string
  type: MessageType
  segments: number
  /** Segments a second: the account's own pace, or that of all carriers together; null: no limit. */
  pace: number | null
}

/** One per process. */
export class QueueCount {
  readonly #db: Db
  #lanes: ReadonlyMap<string, CountedLane> = new Map()
  /** By account with a pace of its own; null for all others. */
  #paces: ReadonlyMap<string | null, number | null> = new Map()
  #countedAt = -Infinity
  #tookMs = 0
  #nextAt = -Infinity
  #counting: Promise<void> | null = null

  constructor(db: Db) {
    this.#db = db
  }

  get lanes(): ReadonlyMap<string, CountedLane> {
    return this.#lanes
  }

  /** Segments a second of an account, even if its lanes are empty; null: no limit, or not counted yet. */
  paceOf(accountId: string): number | null {
    return this.#paces.get(accountId) ?? this.#paces.get(null) ?? null
  }

  /** In monotonic milliseconds. */
  get countedAt(): number {
    return this.#countedAt
  }

  /** Counts unless the last count is recent. A failure keeps the old count; other users of the database report that it is down. */
  async look(now: number = performance.now()): Promise<void> {
    if (now >= this.#nextAt) await this.count().catch(() => {})
  }

  /** Concurrent calls share a count. */
  count(): Promise<void> {
    this.#counting ??= this.#read().finally(() => (this.#counting = null))
    return this.#counting
  }

  async #read(): Promise<void> {
    const startedAt = performance.now()
    try {
      const { rows } = await this.#db.query<CountedLane | { id: null; accountId: string | null; pace: number | null }>({
        name: 'count-queue',
        text: `
          with waiting as materialized (
            select lane_id as id, sum(segments)::float8 as segments from queue group by lane_id
          )
          select w.id, l.account_id as "accountId", l.type, w.segments, null::float8 as pace
          from waiting w
          left join backlogs b on b.id = w.id
          join lanes l on l.id = coalesce(b.lane_id, w.id)
          union all
          select null, a.id, null, null, least(a.pace, coalesce(s.enabled, s.all))::float8
          from (select sum(pace) filter (where enabled) as enabled, sum(pace) as all from carriers where not is_test) s
          cross join (
            select null::uuid as id, null as pace
            union all
            select id, pace from accounts where pace is not null
          ) a`,
      })
      const lanes = rows.filter((row) => row.id !== null)
      this.#paces = new Map(rows.flatMap(({ id, accountId, pace }) => (id === null ? [[accountId, pace]] : [])))
      this.#lanes = new Map(lanes.map((lane) => [lane.id, { ...lane, pace: this.paceOf(lane.accountId) }]))
      this.#countedAt = startedAt
    } finally {
      const endedAt = performance.now()
      const tookMs = endedAt - startedAt
      this.#nextAt = endedAt + Math.min(tookMs, this.#tookMs) * restFactor
      this.#tookMs = tookMs
    }
  }
}
