/** One POST and its result, as its connection reports them: bounded in time and size, and ended once. */
import type { GivenAnswer } from './asked.ts'
import { outcomeOfError, outcomeOfStatus, type Outcome } from './outcome.ts'
import { readRetryAfter } from './schedule.ts'

export interface PostResult {
  outcome: Outcome
  statusCode: number | null
  /** The answer's headers as a JSON object, without those of the connection; null: no answer, or too many. */
  responseHeaders: string | null
  /** The first 4 KiB of the answer's body. */
  responseHead: string | null
  /** Time until the request was sent: DNS, connecting, TLS; 0 over an open connection. Null: never sent. */
  connectMs: number | null
  /** From then to the head of the answer. */
  firstByteMs: number | null
  durationMs: number
  retryAfterMs: number | null
  /** The answer's body up to 64 KiB, if requested. */
  answer?: Pick<GivenAnswer, 'body' | 'isWhole'>
  /** The answer could not be acted on for now: retry the post. */
  isUndone?: true
}

interface Ends {
  /** The connection is free: called once, a turn after the receiver's last bytes, since it may close after them. */
  onRested(): void
  /** Called once, never in the turn in which the exchange began. */
  onDone(result: PostResult): void
}

const responseMax = 64 * 1024
const responseHeadMax = 4 * 1024

/** Created by the poster, driven by its connection. */
export class Exchange {
  /** Ends the exchange; its connection sets this, and calls `failed` at the end. */
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

  /** The result was reported; write nothing more for it. */
  get isOver(): boolean {
    return this.#isOver
  }

  began(): void {
    this.#connectMs ??= this.#ms()
  }

  answered(status: number, headers: string | null, retryAfter: string | undefined): void {
    this.#status = status
    this.#firstByteMs = Math.max(0, this.#ms() - (this.#connectMs ?? 0))
    this.#headers = headers
    if (status === 429 || status === 503) this.#retryAfterMs = readRetryAfter(retryAfter)
  }

  took(chunk: Buffer): void {
    if (this.#size < this.#keptMax) {
      const part = chunk.subarray(0, this.#keptMax - this.#size)
      this.#head = this.#head ? Buffer.concat([this.#head, part]) : Buffer.from(part)
    }
    this.#size += chunk.length
    if (this.#size > responseMax) this.end('too_large')
  }

  completed(): void {
    this.#isWhole = true
    this.#rest('protocol')
  }

  failed(error: Error): void {
    this.#rest(outcomeOfError(error))
  }

  /** Ends it before the receiver has answered; also if it still waits for a connection: then it is never written. */
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

  /** A received status is the result: a 2xx with a long, late or cut body must not be posted again. */
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
