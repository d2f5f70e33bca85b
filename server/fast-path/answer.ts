/** The answer of the fast path: what Fastify's reply does for the handlers of its routes, written with one call of the socket. */
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { nowMs } from '../db/clock.ts'

/** For so long a connection may say nothing between two requests, as everywhere (`app.ts`). */
export const keepAliveSeconds = 65

const broken = /[^\t -~]/

/** As much of `FastifyReply` as the routes with `isFast`, their hooks and `requests/failures.ts` use; it behaves alike. */
export class Answer {
  sent = false
  statusCode = 200
  /** Fastify's answers name their fields in lower case. */
  readonly #fields: Record<string, string> = {}
  readonly #socket: Socket
  readonly #isLast: () => boolean
  readonly #onSent: () => void

  /** `isLast`: the connection ends behind it. `onSent` is called once. */
  constructor(socket: Socket, isLast: () => boolean, onSent: () => void) {
    this.#socket = socket
    this.#isLast = isLast
    this.#onSent = onSent
  }

  code(status: number): this {
    this.statusCode = status
    return this
  }

  /** @throws TypeError where a value would not be one field's. */
  header(name: string, value: string | number): this {
    const text = String(value)
    if (broken.test(text)) throw new TypeError(`the header ${name} has characters that none may have`)
    this.#fields[name.toLowerCase()] = text
    return this
  }

  headers(fields: Record<string, string>): this {
    for (const name in fields) this.header(name, fields[name] ?? '')
    return this
  }

  hasHeader(name: string): boolean {
    return name.toLowerCase() in this.#fields
  }

  getHeader(name: string): string | undefined {
    return this.#fields[name.toLowerCase()]
  }

  removeHeader(name: string): this {
    delete this.#fields[name.toLowerCase()]
    return this
  }

  /** Writes the answer; an object as JSON. Who has gone away meanwhile gets none. */
  send(payload: string | object): this {
    if (this.sent) return this
    const body = typeof payload === 'string' ? payload : JSON.stringify(payload)
    const bytes = Buffer.byteLength(body)
    let text = `HTTP/1.1 ${this.statusCode} ${STATUS_CODES[this.statusCode] ?? ''}\r\n`
    const type = this.#fields['content-type'] ?? 'application/json'
    this.#fields['content-type'] = type.includes('charset') ? type : `${type}; charset=utf-8`
    for (const name in this.#fields) text += `${name}: ${this.#fields[name]}\r\n`
    const connection = this.#isLast() ? 'close' : `keep-alive\r\nKeep-Alive: timeout=${keepAliveSeconds}`
    text += `content-length: ${bytes}\r\nDate: ${dateNow()}\r\nConnection: ${connection}\r\n\r\n${body}`
    this.sent = true
    if (this.#socket.writable) this.#socket.write(text, bytes === body.length ? 'latin1' : 'utf8')
    this.#onSent()
    return this
  }
}

const date = { text: '', untilMs: 0 }

/** IMF-fixdate (RFC 9110 §5.6.7), made once a second. */
function dateNow(): string {
  const ms = nowMs()
  if (ms >= date.untilMs || ms < date.untilMs - 1000) {
    date.text = new Date(ms).toUTCString()
    date.untilMs = ms - (ms % 1000) + 1000
  }
  return date.text
}
