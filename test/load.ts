/** A client under load that keeps books: every request with its outcome, repeated with its key until there is one. */
import type { Static } from 'typebox'
import type { SendBody as SendSchema } from '../server/message/send-schema.ts'
import type { Client, Sent } from './client.ts'
import type { Request } from './conservation.ts'

type SendBody = Static<typeof SendSchema>

/** A reproducible random source (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

export interface LoadOptions {
  client: Client
  rate: number
  recipient: (n: number) => string
  random: () => number
  onUnknown?: (n: number) => 'hold' | 'resend'
  /** Number of the first message. Default 0. */
  from?: number
}

// More would make the client the bottleneck.
const workers = 40
const keyPrefix = 'load-'
const pauseMs = 50

export class Load {
  readonly requests: Request[] = []
  readonly refusals = new Map<number, number>()
  /** Retryable responses without a Retry-After or a problem document. */
  readonly impolite: string[] = []
  readonly #options: LoadOptions
  #begun: number
  #isOver = false
  readonly #running: Promise<void>[]

  constructor(options: LoadOptions) {
    this.#options = options
    this.#begun = options.from ?? 0
    const startedAt = performance.now()
    this.#running = Array.from({ length: workers }, () => this.#work(startedAt))
  }

  get accepted(): number {
    return this.requests.filter((request) => request.id !== null).length
  }

  /** Starts no more messages; resolves when each has its response. */
  async finish(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#running)
  }

  async #work(startedAt: number): Promise<void> {
    const { rate, from = 0 } = this.#options
    while (!this.#isOver) {
      if (this.#begun - from >= ((performance.now() - startedAt) / 1000) * rate) await pause(5)
      else await this.send()
    }
  }

  /** Repeats one message with its key until the response is definite. Returns its id; null if its recipient has opted out. */
  async send(changes: Partial<SendBody> = {}): Promise<string | null> {
    const { client, recipient, random, onUnknown } = this.#options
    const n = this.#begun++
    const key = `${keyPrefix}${n}`
    const policy = onUnknown && { on_unknown: onUnknown(n) }
    const body = { to: recipient(n), message: textOf(`m${n}`, random() < 0.2), ...policy, ...changes }
    for (;;) {
      const answer = await client
        .call<Sent>('POST', '/v1/messages/send', body, { 'idempotency-key': key })
        .catch(() => null)
      this.requests.push({ key, id: answer?.status === 202 ? answer.body.id : null })
      if (answer?.status === 202) return answer.body.id
      if (answer?.body.code === 'recipient_opted_out') return null
      if (answer) this.#noteRefusal(answer.status, answer.headers, answer.body)
      await pause(pauseMs)
    }
  }

  #noteRefusal(status: number, headers: Headers, problem: Sent): void {
    this.refusals.set(status, (this.refusals.get(status) ?? 0) + 1)
    const isPolite =
      headers.get('content-type')?.startsWith('application/problem+json') &&
      (status !== 503 || (Number(headers.get('retry-after')) > 0 && problem.code === 'unavailable'))
    if (!isPolite) this.impolite.push(`${status} ${JSON.stringify(problem)}`)
  }
}

export const isOfLoad = (text: string): boolean => /^m\d/.test(text)

export const isKeyOfLoad = (key: string): boolean => key.startsWith(keyPrefix)

/** Each segment begins with the text's unique word. */
export function textOf(tag: string, isLong: boolean): string {
  // 153 septets per segment of a long text (3GPP TS 23.040 §9.2.3.24.1).
  return isLong ? `${tag} `.padEnd(153, '.') + `${tag} is long` : `${tag} is short`
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
