/**
 * A connection on the fast path: one request after the other, each read whole and answered, until something comes that is none of ours.
 * Then the connection is Node's, with all that it has not read, for good.
 */
import type { Socket } from 'node:net'
import { outsideAccounts } from '../../ground/db/scoped.ts'
import { Answer, keepAliveSeconds } from './answer.ts'
import type { Whole } from './read.ts'

/** What stands around a connection. */
export interface Around {
  /** What has come: a request, `more` where it is not all there, or null where it is Node's. */
  read(bytes: Buffer): Whole | 'more' | null
  /** Answers a request, now or later; never throws. */
  serve(whole: Whole, socket: Socket, answer: Answer): void
  /** Gives the socket to Node's HTTP server, as if it had just been made; the connection is over. */
  handOver(connection: Connection, socket: Socket): void
  /** No request is taken any more behind those that are under way. */
  readonly isClosing: boolean
}

/** Who has said nothing, or half a request, for so long is left to Node, which ends it in its own time (`app.ts`, `ground/http/slow.ts`). */
const quietMs = 10_000

/** Who reads no answers is not read either: Node's server closes it when its time is over. */
const unreadBytesMax = 262_144

/** Clients send a head and its body in one piece or two. What trickles is Node's, which watches how long it takes and reads no byte twice. */
const piecesMax = 3

/** Begins to read a connection; it goes by the name of its socket alone. */
export class Connection {
  readonly #socket: Socket
  readonly #around: Around
  /** What came and is not read: half a request, or one behind that which is being answered. */
  #waiting: Buffer | null = null
  /** In how many pieces that came. */
  #pieces = 0
  #isBusy = false
  #isNew = true
  /** Has been quiet between two requests once. */
  #isIdle = false
  #hasEnded = false

  constructor(socket: Socket, around: Around) {
    this.#socket = socket
    this.#around = around
    socket.on('data', this.#onData).on('end', this.#onEnd).on('error', this.#onError).on('timeout', this.#onQuiet)
    socket.setTimeout(quietMs)
  }

  /** Ends it, where nothing is being answered; behind that it ends by itself (`isClosing`). */
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
    // One is read at a time, so that more than the next need not be kept.
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
    // Busy for ever: nothing is taken behind an answer that was the last.
    if (this.#around.isClosing || this.#hasEnded) return void this.#socket.end(() => this.#socket.destroySoon())
    this.#isBusy = false
    const waiting = this.#waiting
    if (waiting === null) return
    // What is next is of nobody yet, and may be Node's for good: not of the account that was just answered.
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
