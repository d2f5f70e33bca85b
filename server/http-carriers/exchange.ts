/** One request to a carrier, and above all whether the carrier can have seen it. */
import { Pool, type Dispatcher } from 'undici'
import type { InAnswer, OutRequest } from './adapter.ts'

export type Exchange =
  | { kind: 'answered'; answer: InAnswer }
  /** No byte was written. */
  | { kind: 'unsent'; reason: string }
  /** The carrier may have read it; there is no answer. */
  | { kind: 'lost'; reason: string }
  /** It cannot be written as HTTP, such as a header with a line break. */
  | { kind: 'invalid'; reason: string }

const connectTimeoutMs = 10_000
// Answers have some hundred bytes; longer ones are pages of a proxy.
const bodyMax = 256 * 1024

interface ExchangerOptions {
  /** For the whole request, from connecting to the last byte of the answer. */
  timeoutMs: number
  connectionsMax: number
}

/** Keeps connections alive. Redirects are not followed: an API has none, and they would leak secrets. */
export class Exchanger {
  readonly #options: ExchangerOptions
  readonly #pools = new Map<string, Pool>()

  constructor(options: ExchangerOptions) {
    this.#options = options
  }

  exchange({ method, url, headers, body }: OutRequest): Promise<Exchange> {
    const address = URL.parse(url)
    // A fault of the settings: every message would fail the same way.
    if (!address) return Promise.resolve({ kind: 'unsent', reason: 'its address is none' })
    const { origin, pathname, search } = address
    return new Promise((resolve) => {
      let request: Dispatcher.DispatchController | null = null
      let answer: { status: number; headers: InAnswer['headers'] } | null = null
      const chunks: Buffer[] = []
      let size = 0
      let isOver = false
      const finish = (exchange: Exchange): void => {
        if (isOver) return
        isOver = true
        clearTimeout(timer)
        resolve(exchange)
      }
      // A status that was read counts, even if the body was cut.
      const end = (reason: string): void => {
        if (answer) finish({ kind: 'answered', answer: { ...answer, body: Buffer.concat(chunks).toString('utf8') } })
        else finish({ kind: request ? 'lost' : 'unsent', reason })
      }
      const abort = (reason: string): void => {
        end(reason)
        request?.abort(new Error(reason))
      }
      const timer = setTimeout(() => abort('timeout'), this.#options.timeoutMs)
      const handler: Dispatcher.DispatchHandler = {
        // Called on an open connection, before the first byte.
        onRequestStart(controller) {
          if (isOver) controller.abort(new Error('timeout'))
          else request = controller
        },
        onResponseStart(_controller, status, responseHeaders) {
          if (status < 200) return
          const single = Object.entries(responseHeaders).map(([name, value]) => [name, String(value)])
          answer = { status, headers: Object.fromEntries(single) as Record<string, string> }
        },
        onResponseData(_controller, chunk) {
          size += chunk.length
          if (size <= bodyMax) chunks.push(chunk)
          else abort('too large')
        },
        onResponseEnd: () => end('ended'),
        onResponseError(_controller, error) {
          const code = codeOf(error)
          if (!request && /^UND_ERR_(INVALID_ARG|NOT_SUPPORTED)$/.test(code))
            finish({ kind: 'invalid', reason: error.message })
          else end(code === '' ? error.message : code)
        },
      }
      const sent = { 'user-agent': 'heliogram', 'accept-encoding': 'identity', ...headers }
      this.#poolOf(origin).dispatch({ path: pathname + search, method, headers: sent, body }, handler)
    })
  }

  /** Destroys all connections; requests in flight are lost, or unsent. */
  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy()))
    this.#pools.clear()
  }

  #poolOf(origin: string): Pool {
    const known = this.#pools.get(origin)
    if (known) return known
    const { timeoutMs, connectionsMax } = this.#options
    const pool = new Pool(origin, {
      connections: connectionsMax,
      pipelining: 1,
      allowH2: false,
      connect: { timeout: Math.min(connectTimeoutMs, timeoutMs) },
      // The one timer of `exchange` covers these.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    this.#pools.set(origin, pool)
    return pool
  }
}

const codeOf = (error: Error): string => ('code' in error && typeof error.code === 'string' ? error.code : '')
