/** The response of the fast path: replaces Fastify's reply for handlers, with a single write to the socket. */
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { nowMs } from '../../ground/db/clock.ts'

/** Idle seconds of a connection, as elsewhere (`app.ts`). */
export const keepAliveSeconds = 65

const broken = /[^\t -~]/

/** Rendered fields by their object: a route's guard has the same ones in all responses. */
const linesOf = new WeakMap<Readonly<Record<string, string>>, string>()

/** The part of `FastifyReply` that routes with `isFast`, their hooks and `ground/http/failures.ts` use; it behaves the same. */
export class Answer {
  sent = false
  statusCode = 200
  /** Called once, with the status. */
  noteSent: ((status: number) => void) | null = null
  /** Fields that were set together and come first; names in lower case. */
  #common: Readonly<Record<string, string>> | null = null
  /** Alternating names, in lower case like Fastify's, and values. */
  readonly #fields: string[] = []
  readonly #socket: Socket
  readonly #isLast: () => boolean
  readonly #onSent: () => void

  /** `isLast`: the connection ends after it. `onSent` is called once. */
  constructor(socket: Socket, isLast: () => boolean, onSent: () => void) {
    this.#socket = socket
    this.#isLast = isLast
    this.#onSent = onSent
  }

  code(status: number): this {
    this.statusCode = status
    return this
  }

  /** @throws TypeError for an invalid value. */
  header(name: string, value: string | number): this {
    const text = checked(name, String(value))
    const key = name.toLowerCase()
    if (this.#common && key in this.#common) this.#takeApart(this.#common)
    const at = this.#find(key)
    if (at < 0) this.#fields.push(key, text)
    else this.#fields[at + 1] = text
    return this
  }

  headers(fields: Record<string, string>): this {
    if (this.#common || this.#fields.length > 0) for (const name in fields) this.header(name, fields[name] ?? '')
    else {
      if (!linesOf.has(fields)) linesOf.set(fields, render(fields))
      this.#common = fields
    }
    return this
  }

  hasHeader(name: string): boolean {
    return this.getHeader(name) !== undefined
  }

  getHeader(name: string): string | undefined {
    const key = name.toLowerCase()
    const at = this.#find(key)
    return at < 0 ? this.#common?.[key] : this.#fields[at + 1]
  }

  removeHeader(name: string): this {
    const key = name.toLowerCase()
    if (this.#common && key in this.#common) this.#takeApart(this.#common)
    const at = this.#find(key)
    if (at >= 0) this.#fields.splice(at, 2)
    return this
  }

  #find(key: string): number {
    for (let at = 0; at < this.#fields.length; at += 2) if (this.#fields[at] === key) return at
    return -1
  }

  /** Converts the common fields before one of them changes. */
  #takeApart(common: Readonly<Record<string, string>>): void {
    this.#common = null
    this.#fields.unshift(...Object.entries(common).flat())
  }

  /** Writes the response; objects as JSON. Does nothing if the client is gone. */
  send(payload: string | object): this {
    if (this.sent) return this
    const body = typeof payload === 'string' ? payload : JSON.stringify(payload)
    const bytes = Buffer.byteLength(body)
    const type = this.getHeader('content-type') ?? 'application/json'
    if (!type.includes('charset')) this.header('content-type', `${type}; charset=utf-8`)
    const fields = this.#fields
    let text = `HTTP/1.1 ${this.statusCode} ${STATUS_CODES[this.statusCode] ?? ''}\r\n${this.#common ? linesOf.get(this.#common) : ''}`
    for (let at = 0; at < fields.length; at += 2) text += `${fields[at]}: ${fields[at + 1]}\r\n`
    const connection = this.#isLast() ? 'close' : `keep-alive\r\nKeep-Alive: timeout=${keepAliveSeconds}`
    text += `content-length: ${bytes}\r\nDate: ${dateNow()}\r\nConnection: ${connection}\r\n\r\n${body}`
    this.sent = true
    if (this.#socket.writable) this.#socket.write(text, bytes === body.length ? 'latin1' : 'utf8')
    this.noteSent?.(this.statusCode)
    this.#onSent()
    return this
  }
}

/** @throws TypeError for an invalid value. */
function render(fields: Readonly<Record<string, string>>): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}: ${checked(name, value)}\r\n`)
    .join('')
}

function checked(name: string, value: string): string {
  if (broken.test(value)) throw new TypeError(`the header ${name} has characters that none may have`)
  return value
}

const date = { text: '', untilMs: 0 }

/** IMF-fixdate (RFC 9110 §5.6.7), rendered once a second. */
function dateNow(): string {
  const ms = nowMs()
  if (ms >= date.untilMs || ms < date.untilMs - 1000) {
    date.text = new Date(ms).toUTCString()
    date.untilMs = ms - (ms % 1000) + 1000
  }
  return date.text
}
