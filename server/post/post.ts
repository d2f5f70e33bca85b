/** POSTs: bounded in time and size, without redirects, to permitted addresses. */
import type { Asked, TakeAnswer } from './asked.ts'
import { Connections } from './connections.ts'
import type { Destinations } from './destination.ts'
import { Exchange, type PostResult } from './exchange.ts'

export interface Target {
  origin: string
  path: string
}

/** Without the fragment. */
export function targetOf(url: string): Target {
  const { origin, pathname, search } = new URL(url)
  return { origin, path: pathname + search }
}

const connectTimeoutMs = 10_000

interface PosterOptions {
  destinations: Destinations
  /** For the whole POST, from connecting to the last byte of the answer. */
  timeoutMs: number
  /** Absent: answers are not read. */
  takeAnswer?: TakeAnswer | undefined
}

/** Posts over keep-alive connections, which keep the process up until closed; the caller limits concurrency. */
export class Poster {
  readonly #timeoutMs: number
  readonly #connections: Connections
  readonly #takeAnswer: TakeAnswer | undefined

  constructor({ destinations, timeoutMs, takeAnswer }: PosterOptions) {
    this.#takeAnswer = takeAnswer
    this.#timeoutMs = timeoutMs
    this.#connections = new Connections(destinations.connector(Math.min(connectTimeoutMs, timeoutMs)))
  }

  /**
   * Posts a body and calls `done` exactly once, never in this turn. `headers` are names and values in turn. With `asked`, the answer is acted on
   * first.
   */
  post(
    { origin, path }: Target,
    headers: string[],
    body: string,
    done: (result: PostResult) => void,
    asked: Asked | null = null,
  ): void {
    const taken = this.#connections.take(origin)
    const take = asked && this.#takeAnswer
    const ends = {
      onRested: () => this.#connections.giveBack(taken),
      onDone: take ? (result: PostResult) => void this.#read(take, asked, result).then(done) : done,
    }
    const exchange = new Exchange(this.#timeoutMs, ends, Boolean(take))
    taken.connection.begin(exchange, { path, headers, body })
  }

  /** Never rejects: `take` logs its own failures. */
  async #read(take: TakeAnswer, asked: Asked, { answer, ...result }: PostResult): Promise<PostResult> {
    if (result.outcome !== 'ok' || !answer) return result
    const { 'content-type': type } = JSON.parse(result.responseHeaders ?? '{}') as Record<string, string | string[]>
    const contentType = typeof type === 'string' ? type : null
    return take(asked, { ...answer, contentType }).then(
      () => result,
      () => ({ ...result, isUndone: true }),
    )
  }

  /** Destroys all connections; running posts end as `reset`. Resolves when all have ended. */
  async close(): Promise<void> {
    await this.#connections.close()
    await new Promise((resolve) => setImmediate(resolve))
  }
}
