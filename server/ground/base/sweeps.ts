/** Periodic work. Each sweep may run in several processes at once, and may be missed for a while. */
import type { Db } from '../db/db.ts'
import type { Log } from '../db/log.ts'
import { isUnavailable } from '../db/failure.ts'

export const hourMs = 3_600_000

export interface Sweep {
  name: string
  everyMs: number
  /**
   * SQL for the time of the next work; null: there is none. One statement a second reads it for all sweeps of a pool, and this one then runs
   * at that time, and every `everyMs` while it is in the past. Absent: it runs every `everyMs`.
   */
  due?: string
  /**
   * With `due`: work comes in series. It runs every `everyMs` for ten seconds after its start, and after each run that returned true; then
   * once a second at most.
   */
  isInSeries?: true
  /** Long work stops between two pieces once `isOver` returns true: the process is stopping. */
  run: (isOver: () => boolean) => Promise<unknown>
}

// Otherwise a process restarted each hour would never run hourly sweeps.
const firstMs = 300_000
const lookMs = 1000
const seriesMs = 10_000

/** Runs each sweep one at a time, hourly ones first after five minutes; logs failures and continues. */
export class Sweeper {
  readonly #log: Log
  readonly #timers: NodeJS.Timeout[] = []
  readonly #running = new Map<string, Promise<void>>()
  readonly #planned: Planned[] = []
  #look: Look | null = null
  #isClosed = false

  constructor(log: Log) {
    this.#log = log
  }

  /** Call once. */
  start(sweeps: readonly Sweep[], db: Db): void {
    for (const sweep of sweeps) {
      if (sweep.due !== undefined) {
        this.#planned.push(new Planned(sweep, sweep.due, (run) => this.#turn(sweep.name, run)))
        continue
      }
      const turn = (): void => this.#turn(sweep.name, sweep.run)
      if (sweep.everyMs > firstMs) this.#timers.push(setTimeout(turn, firstMs))
      this.#timers.push(setInterval(turn, sweep.everyMs))
    }
    if (this.#planned.length === 0) return
    this.#look = lookOf(db)
    this.#look.add(this.#planned, (error) => this.#report('what is due', error))
  }

  /** Starts no more sweeps, and waits for running ones. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const timer of this.#timers) clearInterval(timer)
    await this.#look?.remove(this.#planned)
    await Promise.all(this.#running.values())
  }

  #turn(name: string, run: Sweep['run']): void {
    if (!this.#running.has(name)) this.#running.set(name, this.#run(name, run))
  }

  async #run(name: string, run: Sweep['run']): Promise<void> {
    try {
      await run(() => this.#isClosed)
    } catch (error) {
      this.#report(name, error)
    } finally {
      this.#running.delete(name)
    }
  }

  #report(sweep: string, error: unknown): void {
    if (!isUnavailable(error)) this.#log.error({ sweep, error }, 'sweep failed')
  }
}

/** A sweep with `due`, and its next turn. */
class Planned {
  readonly due: string
  readonly #sweep: Sweep
  readonly #turn: (run: Sweep['run']) => void
  #startedAt = -Infinity
  #foundAt: number
  #timer: NodeJS.Timeout | undefined

  constructor(sweep: Sweep, due: string, turn: (run: Sweep['run']) => void) {
    this.due = due
    this.#sweep = sweep
    this.#turn = turn
    this.#foundAt = sweep.isInSeries ? performance.now() : -Infinity
  }

  /** Plans the next turn, if it comes before the look after the next. */
  plan(dueInMs: number): void {
    clearTimeout(this.#timer)
    const { everyMs, isInSeries } = this.#sweep
    const now = performance.now()
    const isSeries = now - this.#foundAt < seriesMs
    const paceMs = isInSeries && !isSeries ? Math.max(lookMs, everyMs) : everyMs
    // A timer may fire a moment before its time.
    const inMs = Math.max(0, isSeries ? 0 : Math.ceil(dueInMs) + 1, this.#startedAt + paceMs - now)
    if (inMs > 2 * lookMs) return
    this.#timer = setTimeout(() => {
      this.#startedAt = performance.now()
      this.#turn(async (isOver) => {
        if ((await this.#sweep.run(isOver)) === true) this.#foundAt = performance.now()
      })
      // Until the next look finds nothing.
      if (paceMs < lookMs) this.plan(paceMs)
    }, inMs)
  }

  stop(): void {
    clearTimeout(this.#timer)
  }
}

/** Reads for all sweeps of a pool what is due. */
class Look {
  readonly #db: Db
  #planned: readonly Planned[] = []
  /** Changes with the text: a connection knows each name with one text. */
  #version = 0
  #timer: NodeJS.Timeout | undefined
  #reading: Promise<void> | null = null

  constructor(db: Db) {
    this.#db = db
  }

  add(planned: readonly Planned[], report: (error: unknown) => void): void {
    this.#set([...this.#planned, ...planned])
    for (const one of planned) one.plan(Infinity)
    this.#timer ??= setInterval(() => {
      this.#reading ??= this.#read()
        .catch(report)
        .finally(() => (this.#reading = null))
    }, lookMs)
  }

  async remove(planned: readonly Planned[]): Promise<void> {
    this.#set(this.#planned.filter((one) => !planned.includes(one)))
    if (this.#planned.length === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
    }
    await this.#reading
    for (const one of planned) one.stop()
  }

  #set(planned: readonly Planned[]): void {
    this.#planned = planned
    this.#version++
  }

  /** Plans all sweeps. If the statement fails, all run: one expression that fails must not stop the other sweeps. */
  async #read(): Promise<void> {
    const planned = this.#planned
    const times = await this.#readTimes(planned).catch((error: unknown) => {
      for (const one of planned) one.plan(0)
      throw error
    })
    for (const [i, one] of planned.entries()) one.plan(times[i] ?? Infinity)
  }

  /** Milliseconds until the next work of each sweep. Each expression reads a few entries of an index. */
  async #readTimes(planned: readonly Planned[]): Promise<(number | null)[]> {
    const { rows } = await this.#db.query<{ dueInMs: (number | null)[] }>({
      name: `what is due ${this.#version}`,
      text: `select array[
        ${planned.map(({ due }) => `1000 * extract(epoch from (${due}) - now())`).join(',\n        ')}
      ]::float8[] as "dueInMs"`,
    })
    return rows[0]?.dueInMs ?? []
  }
}

const looks = new WeakMap<Db, Look>()

function lookOf(db: Db): Look {
  const look = looks.get(db) ?? new Look(db)
  looks.set(db, look)
  return look
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
