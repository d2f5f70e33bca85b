/**
 * Short cut for outgoing HTTP: one connection to a receiver, with one POST at a time; falls back on undici (decision 0049). It reads answers that
 * come whole and are plain; from the first other answer on, undici has the connection, with all unread bytes.
 */
import type { Socket } from 'node:net'
import { Client, type buildConnector } from 'undici'
import { keepHeaders, readAnswer, type Answer } from './answer.ts'
import type { Exchange } from './exchange.ts'

export interface Request {
  path: string
  /** Names and values in turn. */
  headers: string[]
  body: string
}

/** A socket with a written request, and whether undici believes that it wrote it. */
interface Open {
  socket: Socket
  isTaken: boolean
}

/** The common options of connections to one destination. */
export interface Receiver {
  url: URL
  connect: buildConnector.connector
  /** An answer of it was not plain: its connections start with undici. */
  isUnusual: boolean
}

/** As in undici: how long a quiet connection is kept unless the receiver declares a time, of which two seconds are subtracted. */
const quietMs = 4000
const hintSlackMs = 2000

const reset = (): Error => Object.assign(new Error('the receiver has closed the connection'), { code: 'ECONNRESET' })

/** Opens with its first exchange, and again with the next after a close. */
export class Connection {
  readonly #receiver: Receiver
  #client: Client | null = null
  #socket: Socket | null = null
  #exchange: Exchange | null = null
  /** Null once written: waiting bodies would be most of what the garbage collector copies. */
  #request: Request | null = null
  #last: Answer | null = null
  #quietMs = quietMs
  #error: Error | null = null

  constructor(receiver: Receiver) {
    this.#receiver = receiver
  }

  /** Begins an exchange; the previous one has `rested`. */
  begin(exchange: Exchange, request: Request): void {
    if (this.#client || this.#receiver.isUnusual || !isWritable(request))
      return this.#beginByUndici(exchange, request, null)
    this.#exchange = exchange
    this.#request = request
    exchange.cancel = (error) => this.#cancel(exchange, error)
    // After a turn of the loop, which reports what came meanwhile: a close, or unsolicited bytes. The first callback may run in the present turn,
    // after its sockets were read.
    if (this.#socket) setImmediate(() => setImmediate(() => this.#goOn(exchange)))
    else this.#connect(exchange)
  }

  /** Ends the exchange with an error; resolves afterwards. */
  async destroy(): Promise<void> {
    const error = reset()
    if (this.#exchange) this.#cancel(this.#exchange, error)
    this.#socket?.destroy()
    await this.#client?.destroy(error)
  }

  close(): void {
    this.#socket?.destroy()
    void this.#client?.close()
  }

  #goOn(exchange: Exchange): void {
    if (exchange !== this.#exchange) return
    // It closes later in the turn.
    if (this.#socket?.destroyed) this.#socket = null
    if (this.#socket) this.#write(this.#socket, exchange)
    else this.#connect(exchange)
  }

  #connect(exchange: Exchange): void {
    const { host, hostname, protocol, port } = this.#receiver.url
    this.#receiver.connect({ host, hostname, protocol, port }, (...[error, socket]) => {
      // Its exchange has ended meanwhile.
      if (exchange !== this.#exchange) return void socket?.on('error', () => {}).destroy()
      if (!socket) return this.#fail(error ?? reset())
      this.#socket = socket
      this.#error = null
      this.#last = null
      this.#quietMs = quietMs
      socket.on('data', this.#onData).on('end', this.#onEnd).on('error', this.#onError).on('timeout', this.#onQuiet)
      socket.once('close', () => this.#onClose(socket)).setTimeout(quietMs)
      this.#write(socket, exchange)
    })
  }

  #write(socket: Socket, exchange: Exchange): void {
    if (!this.#request) return
    const { path, headers, body } = this.#request
    this.#request = null
    exchange.began()
    const bytes = Buffer.byteLength(body)
    let head = `POST ${path} HTTP/1.1\r\nhost: ${this.#receiver.url.host}\r\nconnection: keep-alive\r\n`
    for (let i = 0; i < headers.length; i += 2) head += `${headers[i]}: ${headers[i + 1]}\r\n`
    head += `content-length: ${bytes}\r\n\r\n`
    if (bytes === body.length) return void socket.write(head + body, 'latin1')
    socket.cork()
    socket.write(head, 'latin1')
    socket.write(body, 'utf8')
    socket.uncork()
  }

  readonly #onData = (bytes: Buffer): void => {
    const [socket, exchange] = [this.#socket, this.#exchange]
    if (!socket) return
    // Unsolicited bytes do not answer the next request.
    if (!exchange || this.#request) return this.#drop(socket)
    const answer = readAnswer(bytes, this.#last)
    if (!answer) return this.#handOver(socket, exchange, bytes)
    exchange.answered(answer.status, answer.headers, answer.retryAfter)
    if (answer.bodyBytes > 0) exchange.took(bytes.subarray(answer.head.length))
    this.#last = answer
    this.#exchange = null
    const kept = answer.keepsForMs === null ? quietMs : answer.keepsForMs - hintSlackMs
    // An answer may come before the request has gone completely.
    if (kept <= 0 || socket.writableLength > 0) this.#drop(socket)
    else if (kept !== this.#quietMs) socket.setTimeout((this.#quietMs = kept))
    exchange.completed()
  }

  readonly #onEnd = (): void => {
    if (this.#socket) this.#drop(this.#socket)
  }

  readonly #onError = (error: Error): void => {
    this.#error = error
  }

  readonly #onQuiet = (): void => {
    if (this.#socket && !this.#exchange) this.#drop(this.#socket)
  }

  #onClose(socket: Socket): void {
    if (socket !== this.#socket) return
    this.#socket = null
    if (!this.#request) this.#fail(this.#error ?? reset())
  }

  /** Ends the use of a socket; a waiting exchange learns it by `close`. */
  #drop(socket: Socket): void {
    if (!this.#exchange || this.#request) this.#socket = null
    socket.destroy()
  }

  #fail(error: Error): void {
    const exchange = this.#exchange
    this.#exchange = null
    this.#request = null
    exchange?.failed(error)
  }

  #cancel(exchange: Exchange, error: Error): void {
    if (exchange !== this.#exchange) return
    if (!this.#request) {
      this.#socket?.destroy()
      this.#socket = null
    }
    this.#fail(error)
  }

  /**
   * Gives the socket to undici as it was before the answer was read. For undici it is new, so undici writes a request on it, in one call if there is
   * no body: that write is discarded, since the request has been written.
   */
  #handOver(socket: Socket, exchange: Exchange, bytes: Buffer): void {
    this.#receiver.isUnusual = true
    this.#exchange = null
    this.#socket = null
    socket.off('data', this.#onData).off('end', this.#onEnd).off('error', this.#onError).off('timeout', this.#onQuiet)
    socket.setTimeout(0)
    socket.pause()
    const open = { socket, isTaken: false }
    socket.write = () => {
      Reflect.deleteProperty(socket, 'write')
      open.isTaken = true
      // Before further bytes can come, and after this write: an answer before its request would be invalid.
      process.nextTick(() => socket.unshift(bytes))
      return true
    }
    this.#beginByUndici(exchange, { path: '/', headers: [], body: '' }, open)
  }

  #beginByUndici(exchange: Exchange, { path, headers, body }: Request, open: Open | null): void {
    if (!this.#client) {
      const { url, connect } = this.#receiver
      let first = open?.socket
      this.#socket?.destroy()
      this.#client = new Client(url, {
        connect: (options, callback) => {
          const socket = first
          first = undefined
          // undici expects a connection after this turn only.
          if (socket) queueMicrotask(() => callback(null, socket))
          // Lost before undici wrote anything: a substitute request must not be written elsewhere.
          else if (open && !open.isTaken) queueMicrotask(() => callback(reset(), null))
          else connect(options, callback)
        },
        // The poster's one timer covers these.
        pipelining: 1,
        headersTimeout: 0,
        bodyTimeout: 0,
      })
    }
    let abort: ((error: Error) => void) | null = null
    exchange.cancel = (error) => abort?.(error)
    this.#client.dispatch(
      { path, method: 'POST', headers, body },
      {
        onRequestStart(controller) {
          abort = (error) => controller.abort(error)
          exchange.began()
          if (exchange.isOver) controller.abort(new Error('timeout'))
        },
        onResponseStart(_controller, status, given) {
          // Another one follows (RFC 9110 §15.2).
          if (status < 200) return
          const { 'retry-after': retryAfter } = given
          exchange.answered(
            status,
            keepHeaders(Object.entries(given)),
            Array.isArray(retryAfter) ? retryAfter[0] : retryAfter,
          )
        },
        onResponseData: (_controller, chunk) => exchange.took(chunk),
        onResponseEnd: () => exchange.completed(),
        onResponseError: (_controller, error) => exchange.failed(error),
      },
    )
  }
}

/** A path and a value that stay on one line of the request. */
const path = /^\/[!-~]*$/
const value = /^[ -~]*$/
/** RFC 9110 §5.6.2. Fields about the end of a request or its connection are ours. */
const name =
  /^(?!(?:host|connection|content-length|expect|keep-alive|te|trailer|transfer-encoding|upgrade)$)[!#$%&'*+.^_`|~0-9a-z-]+$/i

/** Results by name. */
const names = new Map<string, boolean>()
const namesMax = 1000

/** undici writes or refuses all other requests. */
function isWritable(request: Request): boolean {
  const { headers } = request
  if (!path.test(request.path) || headers.length % 2 > 0) return false
  return headers.every((text, i) => (i % 2 > 0 ? value.test(text) : isName(text)))
}

function isName(text: string): boolean {
  let isFine = names.get(text)
  if (isFine === undefined) {
    if (names.size >= namesMax) names.clear()
    names.set(text, (isFine = name.test(text)))
  }
  return isFine
}
