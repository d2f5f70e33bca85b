/** Work of the dispatcher without a waiting caller. The poll retries dependent work. */
import { isPassing } from '../ground/db/failure.ts'
import type { Log } from '../ground/db/log.ts'
import { showId } from '../ground/base/ids.ts'
import { Repeated } from '../ground/http/repeated.ts'
import type { EndpointKey } from './endpoint.ts'

// A line of the log must stay readable.
const namesMax = 20

export class Background {
  readonly #running = new Set<Promise<void>>()
  readonly #failures: Repeated
  /** Endpoints with unreported failures. */
  readonly #endpoints = new Set<string>()

  constructor(log: Log) {
    this.#failures = new Repeated((error, times) => {
      log.error({ error, times, endpoints: [...this.#endpoints] }, 'work on webhooks failed')
      this.#endpoints.clear()
    })
  }

  /** `key`: the endpoint it is for, if any. */
  run<T>(work: Promise<T>, then: (result: T) => void = () => {}, key: EndpointKey | null = null): void {
    const noted = work
      .then(then, (error: unknown) => {
        if (isPassing(error)) return
        if (key && this.#endpoints.size < namesMax) this.#endpoints.add(nameOf(key))
        this.#failures.note(error)
      })
      .finally(() => this.#running.delete(noted))
    this.#running.add(noted)
  }

  /** Resolves when the running work has ended, and logs failures. */
  async drain(): Promise<void> {
    await Promise.all(this.#running)
    this.#failures.flush()
  }
}

/** A webhook; or the account, whose callback addresses share a secret. */
const nameOf = ({ accountId, endpointId, isCallback }: EndpointKey): string =>
  isCallback ? showId('acc', accountId) : showId('whk', endpointId)
