import type { ResponseName } from './pdu.ts'

/** Highest sequence_number; the next one is 1 again. SMPP 3.4 §5.1.4. */
export const SEQUENCE_MAX = 0x7fffffff

/** PDUs that are written together: one for every write to the socket. */
export interface Batch {
  /** Monotonic clock. */
  readonly atMs: number
  /** Whether the bytes were handed to the kernel. */
  isWritten: boolean
}

/** A request that was sent and not answered. */
export interface Outstanding<C> {
  readonly context: C
  /** The one response, besides generic_nack, that may answer it. */
  readonly answeredBy: ResponseName
  readonly batch: Batch
}

/**
 * The requests of one session that await an answer, in the order in which they were sent, under their sequence numbers.
 * Those that were given up stay known for a while, so that a late answer still finds its context.
 */
export class Window<C> {
  readonly #outstanding = new Map<number, Outstanding<C>>()
  readonly #expired = new Map<number, Outstanding<C>>()
  readonly #expiredMax: number
  #sequence: number

  /** `first` is the first sequence number to be used; 1 unless a test wants to see the wrap. */
  constructor(expiredMax: number, first: number = 1) {
    this.#expiredMax = expiredMax
    this.#sequence = first - 1
  }

  /** How many requests await an answer. */
  get size(): number {
    return this.#outstanding.size
  }

  /** Takes the next sequence number that no request of ours uses. */
  nextSequence(): number {
    do {
      this.#sequence = this.#sequence >= SEQUENCE_MAX ? 1 : this.#sequence + 1
    } while (this.#outstanding.has(this.#sequence) || this.#expired.has(this.#sequence))
    return this.#sequence
  }

  add(sequence: number, request: Outstanding<C>): void {
    this.#outstanding.set(sequence, request)
  }

  /** Takes out the request that this response answers; undefined when there is none. */
  answer(sequence: number, response: ResponseName): Outstanding<C> | undefined {
    return takeAnswered(this.#outstanding, sequence, response)
  }

  /** Takes out the given-up request that this response answers. */
  answerLate(sequence: number, response: ResponseName): Outstanding<C> | undefined {
    return takeAnswered(this.#expired, sequence, response)
  }

  /** Gives up what was sent at or before `atMs`, oldest first. Stops at the first that is younger, so it costs nothing when none is. */
  expire(atMs: number, onExpired: (context: C) => void): void {
    for (const [sequence, request] of this.#outstanding) {
      if (request.batch.atMs > atMs) return
      this.#outstanding.delete(sequence)
      this.#remember(sequence, request)
      onExpired(request.context)
    }
  }

  /** Empties the window for good, oldest first. */
  drain(onDrained: (request: Outstanding<C>) => void): void {
    const requests = [...this.#outstanding.values()]
    this.#outstanding.clear()
    this.#expired.clear()
    for (const request of requests) onDrained(request)
  }

  #remember(sequence: number, request: Outstanding<C>): void {
    this.#expired.set(sequence, request)
    if (this.#expired.size <= this.#expiredMax) return
    for (const oldest of this.#expired.keys()) {
      this.#expired.delete(oldest)
      return
    }
  }
}

function takeAnswered<C>(
  requests: Map<number, Outstanding<C>>,
  sequence: number,
  response: ResponseName,
): Outstanding<C> | undefined {
  const request = requests.get(sequence)
  if (request === undefined || (request.answeredBy !== response && response !== 'generic_nack')) return undefined
  requests.delete(sequence)
  return request
}
