/**
 * How much of an account may wait: what goes in four hours at its pace. More is refused at once instead of being late without a word.
 * Counted by the clock, so that a send costs no query; between two counts this process adds what it accepts.
 */
import type { Db } from '../db/db.ts'
import type { MessageType } from './message.ts'

/** The longest queue, as the settings show it. */
export const maxQueueSeconds = 14_400
// In the order in which they go.
const types = ['otp', 'transactional', 'marketing'] as const satisfies readonly MessageType[]
// Between two counts; a long queue is counted less often, for a fiftieth of the time at most.
const everyMs = 2000
const restFactor = 50

interface Waiting {
  /** Segments a second. */
  pace: number
  /** Segments by type. */
  segments: Record<MessageType, number>
}

export class QueueCap {
  readonly #db: Db
  #accounts = new Map<string, Waiting>()
  #timer: NodeJS.Timeout | null = null
  #counting: Promise<void> | null = null
  #isClosed = false

  constructor(db: Db) {
    this.#db = db
  }

  start(afterMs: number = everyMs): void {
    this.#timer = setTimeout(() => {
      const startedAt = performance.now()
      // What was counted last serves while the database is away.
      this.#counting = this.count()
        .catch(() => {})
        .then(() => {
          if (!this.#isClosed) this.start(Math.max(everyMs, (performance.now() - startedAt) * restFactor))
        })
    }, afterMs)
    this.#timer.unref()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#timer) clearTimeout(this.#timer)
    await this.#counting
  }

  /** Seconds until so many segments more have room in line; null: they have. */
  wait(accountId: string, type: MessageType, segments: number): number | null {
    const waiting = this.#accounts.get(accountId)
    if (!waiting) return null
    const over = before(waiting, type) + segments - waiting.pace * maxQueueSeconds
    return over > 0 ? over / waiting.pace : null
  }

  /** Notes what was queued since the last count. */
  add(accountId: string, type: MessageType, segments: number): void {
    const waiting = this.#accounts.get(accountId)
    if (waiting) waiting.segments[type] += segments
  }

  /** Counts the queue. */
  async count(): Promise<void> {
    const { rows } = await this.#db.query<{ accountId: string; type: MessageType; segments: number; pace: number }>({
      name: 'count-for-cap',
      text: `
        with waiting as materialized (
          select lane_id, sum(segments)::float8 as segments from queue group by lane_id
        ), sold as materialized (
          select sum(pace) filter (where enabled) as enabled, sum(pace) as all from carriers where not is_test
        )
        select l.account_id as "accountId", l.type, sum(w.segments) as segments,
          least(a.pace, coalesce(s.enabled, s.all))::float8 as pace
        from waiting w
        left join backlogs b on b.id = w.lane_id
        join lanes l on l.id = coalesce(b.lane_id, w.lane_id)
        join accounts a on a.id = l.account_id
        cross join sold s
        where least(a.pace, coalesce(s.enabled, s.all)) is not null
        group by 1, 2, 4`,
    })
    this.#accounts = new Map()
    for (const { accountId, type, segments, pace } of rows) {
      let waiting = this.#accounts.get(accountId)
      if (!waiting)
        this.#accounts.set(accountId, (waiting = { pace, segments: { otp: 0, transactional: 0, marketing: 0 } }))
      waiting.segments[type] += segments
    }
  }
}

/** Segments that go before a message of a type, or with it: a broadcast does not fill the line of codes. */
function before({ segments }: Waiting, type: MessageType): number {
  let sum = 0
  for (const one of types) {
    sum += segments[one]
    if (one === type) break
  }
  return sum
}
