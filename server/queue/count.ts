/** How much waits in the queue, counted now and then: for the estimate of a message that is queued now, and for how much may wait. */
import type { Db } from '../ground/db/db.ts'
import type { MessageType } from '../message/message.ts'

// A count reads the whole queue: it rests this many times as long as it took. The shorter of the last two says how long: one that a stall
// held up says nothing of the queue, and half a second of it would be half a minute in which estimates stand still. There is no other bound:
// a queue of millions takes a second to count, and hours to send.
const restFactor = 50

export interface CountedLane {
  id: string
  accountId: string
  type: MessageType
  segments: number
  /** Segments a second of the account: its own, or what the carriers together have; null: no bound. */
  pace: number | null
}

/** One a process. */
export class QueueCount {
  readonly #db: Db
  #lanes: ReadonlyMap<string, CountedLane> = new Map()
  /** Of accounts that have a pace of their own; of all others under null. */
  #paces: ReadonlyMap<string | null, number | null> = new Map()
  #countedAt = -Infinity
  /** How long the last count took. */
  #tookMs = 0
  #nextAt = -Infinity
  #counting: Promise<void> | null = null

  constructor(db: Db) {
    this.#db = db
  }

  /** The lanes that had something in them, by id. */
  get lanes(): ReadonlyMap<string, CountedLane> {
    return this.#lanes
  }

  /** Segments a second of an account, also where nothing of it waits; null: no bound, or not known yet. */
  paceOf(accountId: string): number | null {
    return this.#paces.get(accountId) ?? this.#paces.get(null) ?? null
  }

  /** When the count began, in monotonic milliseconds. */
  get countedAt(): number {
    return this.#countedAt
  }

  /** Counts, unless that was done just now. A count that failed is an old one; who needs the database says that it is away. */
  async look(now: number = performance.now()): Promise<void> {
    if (now >= this.#nextAt) await this.count().catch(() => {})
  }

  /** Counts, once at a time. */
  count(): Promise<void> {
    this.#counting ??= this.#read().finally(() => (this.#counting = null))
    return this.#counting
  }

  async #read(): Promise<void> {
    const startedAt = performance.now()
    try {
      const { rows: paces } = await this.#db.query<{ accountId: string | null; pace: number | null }>({
        name: 'read-paces',
        text: `
          select a.id as "accountId", least(a.pace, coalesce(s.enabled, s.all))::float8 as pace
          from (select sum(pace) filter (where enabled) as enabled, sum(pace) as all from carriers where not is_test) s
          cross join (
            select null::uuid as id, null as pace
            union all
            select id, pace from accounts where pace is not null
          ) a`,
      })
      const { rows } = await this.#db.query<Omit<CountedLane, 'pace'>>({
        name: 'count-queue',
        text: `
          with waiting as materialized (
            select lane_id as id, sum(segments)::float8 as segments from queue group by lane_id
          )
          select w.id, l.account_id as "accountId", l.type, w.segments
          from waiting w
          left join backlogs b on b.id = w.id
          join lanes l on l.id = coalesce(b.lane_id, w.id)`,
      })
      this.#paces = new Map(paces.map(({ accountId, pace }) => [accountId, pace]))
      this.#lanes = new Map(rows.map((lane) => [lane.id, { ...lane, pace: this.paceOf(lane.accountId) }]))
      this.#countedAt = startedAt
    } finally {
      const endedAt = performance.now()
      const tookMs = endedAt - startedAt
      this.#nextAt = endedAt + Math.min(tookMs, this.#tookMs) * restFactor
      this.#tookMs = tookMs
    }
  }
}
