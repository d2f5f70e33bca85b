/** What has been started, and how it is stopped. */
import type { Logger } from 'pino'

// A stop that takes longer than the longest drain (30 s of answers, 15 s of posts) is stuck.
const stopMsMax = 60_000

/** What has been started, in order; closed in the opposite one. */
export class Started {
  readonly #closers: { name: string; close: () => unknown }[] = []
  #stopping: Promise<void> | null = null
  /** Monotonic milliseconds; null while nobody has asked to stop. */
  stoppingSince: number | null = null

  add<T>(name: string, thing: T, close: (thing: T) => unknown): T {
    this.#closers.push({ name, close: () => close(thing) })
    return thing
  }

  /** Closes everything once, when the start is over; what fails to close does not keep the rest open. */
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
    // What is half started could not be told what to close: a PostgreSQL would stay behind.
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
