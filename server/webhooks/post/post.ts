/** POSTs: bounded in time and size, without redirects, to addresses that are allowed. */
import { Connections } from './connections.ts'
import type { Destinations } from './destination.ts'
import { Exchange, type PostResult } from './exchange.ts'

/** Where a POST goes. */
export interface Target {
  origin: string
  path: string
}

/** The target of a URL; a fragment stays here. */
export function targetOf(url: string): Target {
  const { origin, pathname, search } = new URL(url)
  return { origin, path: pathname + search }
}

const connectTimeoutMs = 10_000

interface PosterOptions {
  destinations: Destinations
  /** For the whole of a POST, from connecting to the last byte of the answer. */
  timeoutMs: number
}

/** Posts over keep-alive connections, which keep the process up until it is closed; bounding how many at a time is the caller's part. */
export class Poster {
  readonly #timeoutMs: number
  readonly #connections: Connections

  constructor({ destinations, timeoutMs }: PosterOptions) {
    this.#timeoutMs = timeoutMs
    this.#connections = new Connections(destinations.connector(Math.min(connectTimeoutMs, timeoutMs)))
  }

  /** Posts a body and calls `done` exactly once, never in this turn. `headers` are names and values in turn. */
  post({ origin, path }: Target, headers: string[], body: string, done: (result: PostResult) => void): void {
    const taken = this.#connections.take(origin)
    const exchange = new Exchange(this.#timeoutMs, {
      onRested: () => this.#connections.giveBack(taken),
      onDone: done,
    })
    taken.connection.begin(exchange, { path, headers, body })
  }

  /** Destroys all connections; what is under way ends as `reset`. Resolves when all of it has ended. */
  async close(): Promise<void> {
    await this.#connections.close()
    await new Promise((resolve) => setImmediate(resolve))
  }
}
