/**
 * Limits the queue of an account to four hours at its pace. More is refused at once, because it would be late without notice. A timer
 * counts, so that a send costs no query; between two counts this process adds the messages it accepts.
 */
import { Refresher } from '../ground/base/refresher.ts'
import type { MessageType } from '../message/message.ts'
import type { QueueCount } from '../queue/count.ts'

export const maxQueueSeconds = 14_400
// In sending order.
const types = ['otp', 'transactional', 'marketing'] as const satisfies readonly MessageType[]
// Between two counts; long queues are counted less often.
const everyMs = 2000

interface Waiting {
  /** Segments per second. */
  pace: number
  segments: Record<MessageType, number>
}

export class QueueCap {
  readonly #queue: QueueCount
  readonly #refresher: Refresher
  #accounts = new Map<string, Waiting>()
  /** The count on which these figures are based. */
  #countedAt = -Infinity

  constructor(queue: QueueCount) {
    this.#queue = queue
    this.#refresher = new Refresher(() => queue.look())
  }

  start(): Promise<void> {
    return this.#refresher.start(everyMs)
  }

  close(): Promise<void> {
    return this.#refresher.close()
  }

  /** Seconds until this many more segments have room; null if they have room now. */
  wait(accountId: string, type: MessageType, segments: number): number | null {
    const waiting = this.#waitingOf(accountId)
    if (!waiting) return null
    const over = before(waiting, type) + segments - waiting.pace * maxQueueSeconds
    return over > 0 ? over / waiting.pace : null
  }

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

/** Segments that go before a message of this type, or with it: a broadcast must not fill the queue of codes. */
function before({ segments }: Waiting, type: MessageType): number {
  let sum = 0
  for (const one of types) {
    sum += segments[one]
    if (one === type) break
  }
  return sum
}
