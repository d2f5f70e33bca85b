/**
 * How much of an account may wait: what goes in four hours at its pace. More is refused at once instead of being late without a word.
 * Counted by the clock, so that a send costs no query; between two counts this process adds what it accepts.
 */
import { Refresher } from '../ground/base/refresher.ts'
import type { MessageType } from '../message/message.ts'
import type { QueueCount } from '../queue/count.ts'

/** The longest queue, as the settings show it. */
export const maxQueueSeconds = 14_400
// In the order in which they go.
const types = ['otp', 'transactional', 'marketing'] as const satisfies readonly MessageType[]
// Between two counts; a long queue is counted less often.
const everyMs = 2000

interface Waiting {
  /** Segments a second. */
  pace: number
  /** Segments by type. */
  segments: Record<MessageType, number>
}

export class QueueCap {
  readonly #queue: QueueCount
  readonly #refresher: Refresher
  #accounts = new Map<string, Waiting>()
  /** The count that these are of. */
  #countedAt = -Infinity

  constructor(queue: QueueCount) {
    this.#queue = queue
    this.#refresher = new Refresher(() => queue.look(), everyMs)
  }

  start(): Promise<void> {
    return this.#refresher.start()
  }

  close(): Promise<void> {
    return this.#refresher.close()
  }

  /** Seconds until so many segments more have room in line; null: they have. */
  wait(accountId: string, type: MessageType, segments: number): number | null {
    const waiting = this.#waitingOf(accountId)
    if (!waiting) return null
    const over = before(waiting, type) + segments - waiting.pace * maxQueueSeconds
    return over > 0 ? over / waiting.pace : null
  }

  /** Notes what was queued since the last count. */
  add(accountId: string, type: MessageType, segments: number): void {
    const waiting = this.#waitingOf(accountId)
    if (waiting) waiting.segments[type] += segments
  }

  #waitingOf(accountId: string): Waiting | undefined {
    if (this.#countedAt !== this.#queue.countedAt) this.#sumUp()
    return this.#waitingAt(accountId, this.#queue.paceOf(accountId))
  }

  #waitingAt(accountId: string, pace: number | null): Waiting | undefined {
    let waiting = this.#accounts.get(accountId)
    if (!waiting && pace !== null)
      this.#accounts.set(accountId, (waiting = { pace, segments: { otp: 0, transactional: 0, marketing: 0 } }))
    return waiting
  }

  #sumUp(): void {
    this.#countedAt = this.#queue.countedAt
    this.#accounts = new Map()
    for (const { accountId, type, segments, pace } of this.#queue.lanes.values()) {
      const waiting = this.#waitingAt(accountId, pace)
      if (waiting) waiting.segments[type] += segments
    }
  }
}

/** Segments that go before a message of a type, or with it: a broadcast does not fill the line of codes. */
function before({ segments }: Waiting, type: MessageType): number {
  let sum = 0
  for (const one of types) {
    sum += segments[one]
    if (one === type) break
  }
  return sum
}
