/** One POST and what comes of it, as the connection tells that has it: bounded in time and size, and over once. */
import type { GivenAnswer } from './asked.ts'
import { outcomeOfError, outcomeOfStatus, type Outcome } from './outcome.ts'
import { readRetryAfter } from './schedule.ts'

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
  /** The answer's body up to 64 KiB, where it was asked for. */
  answer?: Pick<GivenAnswer, 'body' | 'isWhole'>
  /** What the answer says could not be done for now: the post is to be tried again. */
  isUndone?: true
}

interface Ends {
  /** The connection is done with it: called once, a turn after the last word of the receiver, who may close behind it. */
  onRested(): void
  /** Called once, never in the turn in which the exchange began. */
  onDone(result: PostResult): void
}

const responseMax = 64 * 1024
const responseHeadMax = 4 * 1024

/** Made by who posts, told of by the connection. */
export class Exchange {
  /** Ends what is under way; the connection that has it says how, and that it `failed` in the end. */
  cancel: (error: Error) => void = () => {}
  readonly #ends: Ends
  readonly #startedAt = performance.now()
  readonly #timer: NodeJS.Timeout
  readonly #keptMax: number
  readonly #keepsAnswer: boolean
  #status: number | null = null
  #retryAfterMs: number | null = null
  #headers: string | null = null
  #connectMs: number | null = null
  #firstByteMs: number | null = null
  #head: Buffer | null = null
  #size = 0
  #isWhole = false
  #isOver = false
  #hasRested = false

  constructor(timeoutMs: number, ends: Ends, keepsAnswer: boolean = false) {
    this.#ends = ends
    this.#keepsAnswer = keepsAnswer
    this.#keptMax = keepsAnswer ? responseMax : responseHeadMax
    this.#timer = setTimeout(expire, timeoutMs, this)
  }

  /** Somebody has been told what came of it; nothing is to be written for it any more. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** The request is being written. */
  began(): void {
    this.#connectMs ??= this.#ms()
  }

  /** The head of the answer has come. */
  answered(status: number, headers: string | null, retryAfter: string | undefined): void {
    this.#status = status
    this.#firstByteMs = Math.max(0, this.#ms() - (this.#connectMs ?? 0))
    this.#headers = headers
    if (status === 429 || status === 503) this.#retryAfterMs = readRetryAfter(retryAfter)
  }

  /** A piece of the answer's body has come. */
  took(chunk: Buffer): void {
    if (this.#size < this.#keptMax) {
      const part = chunk.subarray(0, this.#keptMax - this.#size)
      this.#head = this.#head ? Buffer.concat([this.#head, part]) : Buffer.from(part)
    }
    this.#size += chunk.length
    if (this.#size > responseMax) this.end('too_large')
  }

  /** The answer is all there. */
  completed(): void {
    this.#isWhole = true
    this.#rest('protocol')
  }

  failed(error: Error): void {
    this.#rest(outcomeOfError(error))
  }

  /** Tells what came of it before the receiver has had its say; covers also what still waits for its connection, and is never written then. */
  end(outcome: Outcome): void {
    this.#finish(outcome)
    this.cancel(new Error(outcome))
  }

  #rest(outcome: Outcome): void {
    if (this.#hasRested) return
    this.#hasRested = true
    setImmediate(() => {
      this.#ends.onRested()
      this.#finish(outcome)
    })
  }

  /** A status that has been told is what came of it: a 2xx whose body is long, or late, or cut off, is none to be posted again. */
  #finish(otherwise: Outcome): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#ends.onDone({
      outcome: this.#status === null ? otherwise : outcomeOfStatus(this.#status),
      statusCode: this.#status,
      responseHeaders: this.#headers,
      // PostgreSQL's text takes every character but NUL.
      responseHead: this.#head ? this.#head.toString('utf8', 0, responseHeadMax).replaceAll('\0', '\uFFFD') : null,
      connectMs: this.#connectMs,
      firstByteMs: this.#firstByteMs,
      durationMs: this.#ms(),
      retryAfterMs: this.#retryAfterMs,
      ...(this.#keepsAnswer && { answer: { body: this.#head ?? Buffer.alloc(0), isWhole: this.#isWhole } }),
    })
  }

  #ms(): number {
    return Math.round(performance.now() - this.#startedAt)
  }
}

const expire = (exchange: Exchange): void => exchange.end('timeout')
