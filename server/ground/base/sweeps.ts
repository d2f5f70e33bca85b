/** Periodic work. Each sweep may run in several processes at once, and may be missed for a while. */
import type { Log } from '../db/log.ts'
import { isUnavailable } from '../db/failure.ts'

export const hourMs = 3_600_000

export interface Sweep {
  name: string
  everyMs: number
  /** Long work stops between two pieces once `isOver` returns true: the process is stopping. */
  run: (isOver: () => boolean) => Promise<unknown>
}

// Otherwise a process restarted each hour would never run hourly sweeps.
const firstMs = 300_000

/** Runs each sweep one at a time, hourly ones first after five minutes; logs failures and continues. */
export class Sweeper {
  readonly #log: Log
  readonly #timers: NodeJS.Timeout[] = []
  readonly #running = new Map<string, Promise<void>>()
  #isClosed = false

  constructor(log: Log) {
    this.#log = log
  }

  start(sweeps: Sweep[]): void {
    for (const sweep of sweeps) {
      const turn = (): void => {
        if (!this.#running.has(sweep.name)) this.#running.set(sweep.name, this.#run(sweep))
      }
      if (sweep.everyMs > firstMs) this.#timers.push(setTimeout(turn, firstMs))
      this.#timers.push(setInterval(turn, sweep.everyMs))
    }
  }

  /** Starts no more sweeps, and waits for running ones. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const timer of this.#timers) clearInterval(timer)
    await Promise.all(this.#running.values())
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
): Sweep => ({
  name,
  everyMs,
  run: (isOver) => untilDone(isOver, limit, work),
})

/** Repeats work until it finds nothing, or for a limited time: the rest waits for the next turn, and a stop waits for this one. */
export async function forAWhile(ms: number, work: () => Promise<number>): Promise<void> {
  const end = performance.now() + ms
  while ((await work()) > 0 && performance.now() < end);
}
