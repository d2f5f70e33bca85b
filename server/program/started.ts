import type { Logger } from 'pino'

// Longer than the longest drain (30 s of responses, 15 s of posts): the stop is stuck.
const stopMsMax = 60_000

/** Started parts, in order; closed in reverse. */
export class Started {
  readonly #closers: { name: string; close: () => unknown }[] = []
  #stopping: Promise<void> | null = null
  /** Monotonic milliseconds; null until a stop request. */
  stoppingSince: number | null = null

  add<T>(name: string, thing: T, close: (thing: T) => unknown): T {
    this.#closers.push({ name, close: () => close(thing) })
    return thing
  }

  /** Closes everything once, after the start is over; a failure does not keep the rest open. */
  stop(log: Logger | null, starting: Promise<void>): Promise<void> {
    this.stoppingSince ??= performance.now()
    this.#stopping ??= this.#stop(log, starting)
    return this.#stopping
  }

  async #stop(log: Logger | null, starting: Promise<void>): Promise<void> {
    let closing = 'the start'
    setTimeout(() => {
      log?.error({ part: closing }, 'a part did not stop in time')
      process.exit(1)
    }, stopMsMax).unref()
    // A partial start does not know yet what to close: a PostgreSQL could be left running.
    await Promise.allSettled([starting])
    for (const { name, close } of this.#closers.toReversed()) {
      closing = name
      try {
        await close()
      } catch (error) {
        log?.error({ part: name, error }, 'a part did not stop cleanly')
      }
    }
  }
}
