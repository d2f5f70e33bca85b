/** What has to be looked at by the clock. Each sweep is safe to run in several processes at once and to miss for a while. */
import type { Log } from '../db/log.ts'
import { isUnavailable } from '../db/failure.ts'

export const hourMs = 3_600_000

/** One thing to do every so often. */
export interface Sweep {
  name: string
  everyMs: number
  /** What may take long ends between two pieces once `isOver` says so: the process is to stop. */
  run: (isOver: () => boolean) => Promise<unknown>
}

// A process that is started again each hour would never do what is to be done each hour.
const firstMs = 300_000

/** Runs sweeps, each one at a time, those of an hour for the first time after five minutes; a failure is logged and the next turn comes all the same. */
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

  /** Starts no more turns and waits for those under way. */
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

/** Repeats a bounded piece of work until it finds less than its bound, or `isOver`: half a million messages that expire at once take minutes, and a stop waits for the piece alone. */
export async function untilDone(
  isOver: () => boolean,
  limit: number,
  work: (limit: number) => Promise<number>,
): Promise<void> {
  while ((await work(limit)) >= limit && !isOver());
}

/** A sweep that repeats `untilDone`. */
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

/** Repeats a piece of work until it finds nothing, or for so long: what is left waits for the next turn, and a stop waits for this one. */
export async function forAWhile(ms: number, work: () => Promise<number>): Promise<void> {
  const end = performance.now() + ms
  while ((await work()) > 0 && performance.now() < end);
}
