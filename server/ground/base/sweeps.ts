/** Periodic work. Each sweep may run in several processes at once, and may be missed for a while. */
import type { Db } from '../db/db.ts'
import type { Log } from '../db/log.ts'
import { isUnavailable } from '../db/failure.ts'

export const hourMs = 3_600_000

export interface Sweep {
  name: string
  everyMs: number
  /**
   * SQL for the time of the next work; null: there is none. One statement a second reads it for all sweeps, and this one then runs at that time,
   * and every `everyMs` while it is in the past. Absent: it runs every `everyMs`.
   */
  due?: string
  /** Long work stops between two pieces once `isOver` returns true: the process is stopping. */
  run: (isOver: () => boolean) => Promise<unknown>
}

// Otherwise a process restarted each hour would never run hourly sweeps.
const firstMs = 300_000
const lookMs = 1000
const lookName = 'what is due'

/** A sweep with `due`, and its next turn. */
interface Planned {
  sweep: Sweep
  startedAt: number
  timer: NodeJS.Timeout | undefined
}

/** Runs each sweep one at a time, hourly ones first after five minutes; logs failures and continues. */
export class Sweeper {
  readonly #log: Log
  readonly #timers: NodeJS.Timeout[] = []
  readonly #running = new Map<string, Promise<void>>()
  #planned: Planned[] = []
  #isClosed = false

  constructor(log: Log) {
    this.#log = log
  }

  /** Call once. */
  start(sweeps: readonly Sweep[], db: Db): void {
    for (const sweep of sweeps) {
      if (sweep.due !== undefined) {
        this.#planned.push({ sweep, startedAt: -Infinity, timer: undefined })
        continue
      }
      if (sweep.everyMs > firstMs) this.#timers.push(setTimeout(() => this.#turn(sweep), firstMs))
      this.#timers.push(setInterval(() => this.#turn(sweep), sweep.everyMs))
    }
    if (this.#planned.length === 0) return
    const look: Sweep = { name: lookName, everyMs: lookMs, run: () => this.#look(db) }
    this.#timers.push(setInterval(() => this.#turn(look), lookMs))
  }

  /** Starts no more sweeps, and waits for running ones. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const timer of this.#timers) clearInterval(timer)
    await this.#running.get(lookName)
    for (const { timer } of this.#planned) clearTimeout(timer)
    await Promise.all(this.#running.values())
  }

  /** Plans all sweeps. If the statement fails, all run: one expression that fails must not stop the other sweeps. */
  async #look(db: Db): Promise<void> {
    const times = await this.#readTimes(db).catch((error: unknown) => {
      for (const planned of this.#planned) this.#plan(planned, 0)
      throw error
    })
    for (const [i, planned] of this.#planned.entries()) this.#plan(planned, times[i] ?? Infinity)
  }

  /** Milliseconds until the next work of each sweep. Each expression reads one entry of an index. */
  async #readTimes(db: Db): Promise<(number | null)[]> {
    const { rows } = await db.query<{ dueInMs: (number | null)[] }>({
      name: lookName,
      text: `select array[
        ${this.#planned.map(({ sweep }) => `1000 * extract(epoch from (${sweep.due}) - now())`).join(',\n        ')}
      ]::float8[] as "dueInMs"`,
    })
    return rows[0]?.dueInMs ?? []
  }

  /** Plans the next turn, if it comes before the look after the next. */
  #plan(planned: Planned, dueInMs: number): void {
    const { sweep, startedAt } = planned
    clearTimeout(planned.timer)
    const restMs = startedAt + sweep.everyMs - performance.now()
    // A timer may fire a moment before its time.
    const inMs = Math.max(0, Math.ceil(dueInMs) + 1, restMs)
    if (inMs > 2 * lookMs) return
    planned.timer = setTimeout(() => {
      planned.startedAt = performance.now()
      this.#turn(sweep)
      // Until the next look finds nothing.
      if (sweep.everyMs < lookMs) this.#plan(planned, sweep.everyMs)
    }, inMs)
  }

  #turn(sweep: Sweep): void {
    if (!this.#running.has(sweep.name)) this.#running.set(sweep.name, this.#run(sweep))
  }

  async #run({ name, run }: Sweep): Promise<void> {
    try {
      await run(() => this.#isClosed)
    } catch (error) {
      if (!isUnavailable(error)) this.#log.error({ sweep: name, error }, 'sweep failed')
    } finally {
      this.#running.delete(name)
    }
  }
}

/**
 * Repeats bounded work until it finds less than its bound, or `isOver`: half a million messages that expire at once take minutes, and a
 * stop waits for one piece only.
 */
export async function untilDone(
  isOver: () => boolean,
  limit: number,
  work: (limit: number) => Promise<number>,
): Promise<void> {
  while ((await work(limit)) >= limit && !isOver());
}

export const inPieces = (
  name: string,
  everyMs: number,
  limit: number,
  work: (limit: number) => Promise<number>,
  due?: string,
): Sweep => ({
  name,
  everyMs,
  ...(due !== undefined && { due }),
  run: (isOver) => untilDone(isOver, limit, work),
})

/** Repeats work until it finds nothing, or for a limited time: the rest waits for the next turn, and a stop waits for this one. */
export async function forAWhile(ms: number, work: () => Promise<number>): Promise<void> {
  const end = performance.now() + ms
  while ((await work()) > 0 && performance.now() < end);
}
