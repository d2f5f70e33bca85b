/**
 * A connection on the fast path: reads and answers whole requests, one by one, until one is not supported. Then Node's server takes the
 * connection, with all unread octets, for good.
 */
import type { Socket } from 'node:net'
import { outsideAccounts } from '../../ground/db/scoped.ts'
import { Answer, keepAliveSeconds } from './answer.ts'
import type { Whole } from './read.ts'

export interface Around {
  /** A whole request, `more` if it is incomplete, or null for Node's server. */
  read(bytes: Buffer): Whole | 'more' | null
  /** Answers a request, now or later; never throws. */
  serve(whole: Whole, socket: Socket, answer: Answer): void
  /** Gives the socket to Node's HTTP server as a new one; the connection is over. */
  handOver(connection: Connection, socket: Socket): void
  /** No further requests are taken. */
  readonly isClosing: boolean
}

/** An idle connection, or half a request, goes to Node after this time, which ends it by its own limits (`app.ts`, `ground/http/slow.ts`). */
const quietMs = 10_000

/** A client that reads no responses is not read either: Node's server closes it after its timeout. */
const unreadBytesMax = 262_144

/** Clients send a head and its body in one piece or two. Slow senders go to Node, which limits their time and reads no byte twice. */
const piecesMax = 3

/** Reads a connection; only its socket refers to it. */
export class Connection {
  readonly #socket: Socket
  readonly #around: Around
  /** Unread octets: half a request, or one after the current request. */
  #waiting: Buffer | null = null
  /** Pieces of the unread octets. */
  #pieces = 0
  #isBusy = false
  #isNew = true
  /** Has been idle between requests once. */
  #isIdle = false
  #hasEnded = false

  constructor(socket: Socket, around: Around) {
    this.#socket = socket
    this.#around = around
    socket.on('data', this.#onData).on('end', this.#onEnd).on('error', this.#onError).on('timeout', this.#onQuiet)
    socket.setTimeout(quietMs)
  }

  /** Ends the connection if idle; otherwise it ends after the response (`isClosing`). */
  close(): void {
    if (!this.#isBusy) this.#socket.destroySoon()
  }

  readonly #onData = (bytes: Buffer): void => {
    if (this.#isIdle) {
      this.#isIdle = false
      this.#socket.setTimeout(quietMs)
    }
    const all = this.#waiting ? Buffer.concat([this.#waiting, bytes]) : bytes
    if (!this.#isBusy) {
      this.#pieces = this.#waiting ? this.#pieces + 1 : 1
      return this.#pieces > piecesMax ? this.#handOver(all) : this.#take(all)
    }
    this.#waiting = all
    // Reads one at a time, so that at most the next request is kept.
    this.#socket.pause()
  }

  #take(bytes: Buffer): void {
    this.#waiting = null
    const whole = this.#socket.writableLength > unreadBytesMax ? null : this.#around.read(bytes)
    if (whole === null) return this.#handOver(bytes)
    this.#isNew = false
    if (whole === 'more') {
      this.#waiting = bytes
      return
    }
    this.#isBusy = true
    const isLast = (): boolean => this.#around.isClosing || this.#hasEnded
    this.#around.serve(whole, this.#socket, new Answer(this.#socket, isLast, this.#onSent))
  }

  readonly #onSent = (): void => {
    // Stays busy: no request follows the last response.
    if (this.#around.isClosing || this.#hasEnded) return void this.#socket.end(() => this.#socket.destroySoon())
    this.#isBusy = false
    const waiting = this.#waiting
    if (waiting === null) return
    // The next request may be another account's, or go to Node for good: leave the current account's context.
    outsideAccounts(() => {
      this.#socket.resume()
      this.#take(waiting)
    })
  }

  readonly #onEnd = (): void => {
    this.#hasEnded = true
    if (!this.#isBusy) this.#socket.destroySoon()
  }

  readonly #onError = (): void => {
    this.#socket.destroy()
  }

  readonly #onQuiet = (): void => {
    if (this.#isBusy) return
    if (this.#isNew || this.#waiting) this.#handOver(this.#waiting)
    else if (this.#isIdle) this.#socket.destroy()
    else {
      this.#isIdle = true
      this.#socket.setTimeout(keepAliveSeconds * 1000 - quietMs)
    }
  }

  #handOver(bytes: Buffer | null): void {
    const socket = this.#socket
    this.#waiting = null
    socket.off('data', this.#onData).off('end', this.#onEnd).off('error', this.#onError).off('timeout', this.#onQuiet)
    socket.setTimeout(0)
    socket.pause()
    this.#around.handOver(this, socket)
    if (bytes) socket.unshift(bytes)
    socket.resume()
  }
}
