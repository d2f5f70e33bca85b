/** Work of the dispatcher that nobody waits for. The poll tries again whatever depends on it. */
import { isPassing } from '../db/failure.ts'
import type { Log } from '../db/log.ts'
import { Repeated } from '../repeated.ts'

export class Background {
  readonly #running = new Set<Promise<void>>()
  readonly #failures: Repeated

  constructor(log: Log) {
    this.#failures = new Repeated((error, times) => log.error({ error, times }, 'work on webhooks failed'))
  }

  run<T>(work: Promise<T>, then: (result: T) => void = () => {}): void {
    const noted = work
      .then(then, (error: unknown) => {
        if (!isPassing(error)) this.#failures.note(error)
      })
      .finally(() => this.#running.delete(noted))
    this.#running.add(noted)
  }

  /** Resolves when what runs now has ended, and tells what failed. */
  async drain(): Promise<void> {
    await Promise.all(this.#running)
    this.#failures.flush()
  }
}
