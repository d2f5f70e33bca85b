/** One POST: bounded in time and size, without redirects, to addresses that are allowed; every end of it is one closed word. */
import type { Dispatcher } from 'undici'
import { Connections } from './connections.ts'
import { DestinationError, type Destinations } from './destination.ts'
import { readRetryAfter } from './schedule.ts'

/** How an attempt ended. `status`: answered, but not with 2xx. `gone`: 410, nothing more is to be sent. `too_large`: headers that nobody reads. */
export type Outcome =
  | 'ok'
  | 'status'
  | 'redirect'
  | 'gone'
  | 'timeout'
  | 'refused'
  | 'reset'
  | 'dns'
  | 'tls'
  | 'private_address'
  | 'not_allowed'
  | 'too_large'
  | 'protocol'

/** What came of a POST. */
export interface PostResult {
  outcome: Outcome
  statusCode: number | null
  /** The answer's headers as a JSON object, without what belongs to the connection; null: no answer, or too many. */
  responseHeaders: string | null
  /** The first 4 KiB of the answer's body. */
  responseHead: string | null
  /** Until the request was on its way: looking up the name, connecting, TLS; 0 over an open connection. Null: it never was. */
  connectMs: number | null
  /** From then to the head of the answer. */
  firstByteMs: number | null
  durationMs: number
  retryAfterMs: number | null
}

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

const responseMax = 64 * 1024
const responseHeadMax = 4 * 1024
const responseHeadersMax = 4 * 1024
const connectTimeoutMs = 10_000

interface PosterOptions {
  destinations: Destinations
  /** For the whole of a POST, from connecting to the last byte of the answer. */
  timeoutMs: number
}

/** Posts over keep-alive connections; bounding how many at a time is the caller's part. */
export class Poster {
  readonly #timeoutMs: number
  readonly #connections: Connections

  constructor({ destinations, timeoutMs }: PosterOptions) {
    this.#timeoutMs = timeoutMs
    this.#connections = new Connections(destinations.connector(Math.min(connectTimeoutMs, timeoutMs)))
  }

  /** Posts a body and calls `done` exactly once, never in this turn. `headers` are names and values in turn. */
  post(target: Target, headers: string[], body: string, done: (result: PostResult) => void): void {
    const startedAt = performance.now()
    let statusCode: number | null = null
    let retryAfterMs: number | null = null
    let responseHeaders: string | null = null
    let connectMs: number | null = null
    let firstByteMs: number | null = null
    let head: Buffer | null = null
    let size = 0
    let request: Dispatcher.DispatchController | null = null
    let isOver = false
    const finish = (outcome: Outcome): void => {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      // PostgreSQL's text takes every character but NUL.
      const responseHead = head && head.length > 0 ? head.toString('utf8').replaceAll('\0', '\uFFFD') : null
      const durationMs = Math.round(performance.now() - startedAt)
      done({
        outcome,
        statusCode,
        responseHeaders,
        responseHead,
        connectMs,
        firstByteMs,
        durationMs,
        retryAfterMs,
      })
    }
    // Aborting also covers a request that is still waiting for its connection: it is never written then.
    const abort = (outcome: Outcome): void => {
      finish(outcome)
      request?.abort(new Error(outcome))
    }
    const connection = this.#connections.take(target.origin)
    const timer = setTimeout(() => abort('timeout'), this.#timeoutMs)
    let isGivenBack = false
    // Not before undici has done with it, or it meets its next request where it asserts that it has none; and a turn later, in which it
    // hears of a receiver that closes after its answer.
    const over = (outcome: Outcome): void => {
      if (isGivenBack) return
      isGivenBack = true
      setImmediate(() => {
        this.#connections.giveBack(connection)
        finish(outcome)
      })
    }
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(controller) {
        request = controller
        connectMs = Math.round(performance.now() - startedAt)
        if (isOver) controller.abort(new Error('timeout'))
      },
      onResponseStart(_controller, status, given) {
        statusCode = status
        firstByteMs = Math.max(0, Math.round(performance.now() - startedAt) - (connectMs ?? 0))
        responseHeaders = keepHeaders(given)
        if (status === 429 || status === 503) retryAfterMs = readRetryAfter(onlyValue(given['retry-after']))
      },
      onResponseData(_controller, chunk) {
        if (size < responseHeadMax) {
          const part = chunk.subarray(0, responseHeadMax - size)
          head = head ? Buffer.concat([head, part]) : Buffer.from(part)
        }
        size += chunk.length
        // Its status has been told; how much it says besides makes nothing of it undone.
        if (size > responseMax) abort(outcomeOfStatus(statusCode ?? 0))
      },
      onResponseEnd: () => over(outcomeOfStatus(statusCode ?? 0)),
      onResponseError: (_controller, error) => over(outcomeOfError(error)),
    }
    connection.client.dispatch({ path: target.path, method: 'POST', headers, body }, handler)
  }

  /** Destroys all connections; what is under way ends as `reset`. Resolves when all of it has ended. */
  async close(): Promise<void> {
    await this.#connections.close()
    await new Promise((resolve) => setImmediate(resolve))
  }
}

// Of the connection, or a credential that the receiver gave us.
const unkept = new Set(['connection', 'date', 'keep-alive', 'set-cookie', 'transfer-encoding'])

function keepHeaders(headers: Record<string, string | string[] | undefined>): string | null {
  const kept = Object.entries(headers).filter(([name]) => !unkept.has(name))
  const text = JSON.stringify(Object.fromEntries(kept)).replaceAll('\\u0000', '\\ufffd')
  return text.length <= responseHeadersMax ? text : null
}

function onlyValue(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value
}

function outcomeOfStatus(status: number): Outcome {
  if (status >= 200 && status < 300) return 'ok'
  if (status >= 300 && status < 400) return 'redirect'
  return status === 410 ? 'gone' : 'status'
}

function outcomeOfError(error: Error): Outcome {
  if (error instanceof DestinationError) return error.fault
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  switch (code) {
    case 'ECONNREFUSED':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'EADDRNOTAVAIL':
      return 'refused'
    case 'ETIMEDOUT':
    case 'UND_ERR_CONNECT_TIMEOUT':
      return 'timeout'
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'dns'
    case 'UND_ERR_HEADERS_OVERFLOW':
      return 'too_large'
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
    case 'UND_ERR_DESTROYED':
    case 'UND_ERR_CLOSED':
      return 'reset'
    default:
      break
  }
  // OpenSSL's and Node's own words for a bad certificate or handshake.
  if (/^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_MISMATCH|EPROTO$)/.test(code)) return 'tls'
  return 'protocol'
}
