import type { ResponseName } from './pdu.ts'

/** Highest sequence_number; the next one is 1 again. SMPP 3.4 §5.1.4. */
export const SEQUENCE_MAX = 0x7fffffff

export interface Batch {
  /** Monotonic clock. */
  readonly atMs: number
  isWritten: boolean
}

export interface Outstanding<C> {
  readonly sequence: number
  readonly context: C
  /** The one response, besides generic_nack, that may answer it. */
  readonly answeredBy: ResponseName
  readonly batch: Batch
}

const SLOTS_MIN = 16

/**
 * The unanswered requests of one session, each in the ring slot of the low bits of its sequence number: an eighth of the cost of a Map. Expired
 * ones are remembered for a while, so that a late answer still finds its context.
 */
export class Window<C> {
  size = 0
  /** A power of two long, and at most half full. */
  #slots: (Outstanding<C> | undefined)[] = emptySlots<C>(SLOTS_MIN)
  readonly #expired = new Map<number, Outstanding<C>>()
  readonly #expiredMax: number
  #sequence: number

  /** `first` is the first sequence number; tests set it to reach the wrap. */
  constructor(expiredMax: number, first: number = 1) {
    this.#expiredMax = expiredMax
    this.#sequence = first - 1
  }

  /** Takes the next sequence number that is not in use and whose slot is free. */
  nextSequence(): number {
    let sequence = this.#sequence
    do {
      sequence = sequence >= SEQUENCE_MAX ? 1 : sequence + 1
    } while (
      this.#slots[this.#slotOf(sequence)] !== undefined ||
      (this.#expired.size > 0 && this.#expired.has(sequence))
    )
    this.#sequence = sequence
    return sequence
  }

  add(request: Outstanding<C>): void {
    if (2 * (this.size + 1) > this.#slots.length) this.#widen()
    this.#slots[this.#slotOf(request.sequence)] = request
    this.size++
  }

  /** Removes the request that this response answers; undefined if there is none. */
  answer(sequence: number, response: ResponseName): Outstanding<C> | undefined {
    const request = this.#slots[this.#slotOf(sequence)]
    if (request === undefined || request.sequence !== sequence || !isAnswer(request, response)) return undefined
    this.#remove(request)
    return request
  }

  /** Removes the expired request that this response answers. */
  answerLate(sequence: number, response: ResponseName): Outstanding<C> | undefined {
    const request = this.#expired.get(sequence)
    if (request === undefined || !isAnswer(request, response)) return undefined
    this.#expired.delete(sequence)
    return request
  }

  /** Expires requests sent at or before `atMs`, oldest first. */
  expire(atMs: number, onExpired: (context: C) => void): void {
    if (this.size === 0) return
    for (const request of this.#oldestFirst()) {
      if (request.batch.atMs > atMs) return
      // A callback may have closed the session.
      if (this.#slots[this.#slotOf(request.sequence)] !== request) continue
      this.#remove(request)
      this.#remember(request)
      onExpired(request.context)
    }
  }

  drain(onDrained: (request: Outstanding<C>) => void): void {
    const requests = this.#oldestFirst()
    this.#slots = emptySlots<C>(SLOTS_MIN)
    this.size = 0
    this.#expired.clear()
    for (const request of requests) onDrained(request)
  }

  #slotOf(sequence: number): number {
    return sequence & (this.#slots.length - 1)
  }

  #remove({ sequence }: Outstanding<C>): void {
    this.#slots[this.#slotOf(sequence)] = undefined
    this.size--
  }

  #widen(): void {
    const requests = this.#slots
    this.#slots = emptySlots<C>(2 * requests.length)
    for (const request of requests) {
      if (request !== undefined) this.#slots[this.#slotOf(request.sequence)] = request
    }
  }

  /** Numbers are issued in order, so the oldest is furthest behind the last. */
  #oldestFirst(): Outstanding<C>[] {
    const age = ({ sequence }: Outstanding<C>): number => (this.#sequence - sequence + SEQUENCE_MAX) % SEQUENCE_MAX
    return this.#slots.filter((request) => request !== undefined).sort((a, b) => age(b) - age(a))
  }

  #remember(request: Outstanding<C>): void {
    this.#expired.set(request.sequence, request)
    if (this.#expired.size <= this.#expiredMax) return
    for (const oldest of this.#expired.keys()) {
      this.#expired.delete(oldest)
      return
    }
  }
}

function emptySlots<C>(count: number): (Outstanding<C> | undefined)[] {
  return Array.from({ length: count })
}

function isAnswer(request: Outstanding<unknown>, response: ResponseName): boolean {
  return request.answeredBy === response || response === 'generic_nack'
}
