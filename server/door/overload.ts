/**
 * Whether this process has more to do than it does: then requests are refused at the door, before their bodies are read, instead of late
 * or one by one. Looked at by the clock; a request reads one field.
 */
import type { Log } from '../db/log.ts'
import { ApiError } from '../errors.ts'

/** Something that can be too much: says what, or null. Called ten times a second. */
export type Probe = (now: number) => string | null

const everyMs = 100
// A turn of the event loop this late means that answers are.
const lateMs = 500
// A single late turn is a collection of garbage, or a machine that slept.
const lateTurns = 3

export class Overload {
  /** What to answer while there is too much; null: come in. */
  refusal: ApiError | null = null
  #probes: readonly Probe[] = []
  readonly #log: Log
  #lookedAt = performance.now()
  #late = 0
  #timer: NodeJS.Timeout | null = null

  constructor(log: Log) {
    this.#log = log
  }

  /** `probes` are asked in their order. */
  start(probes: readonly Probe[]): void {
    this.#probes = probes
    this.#lookedAt = performance.now()
    this.#timer = setInterval(() => this.look(performance.now()), everyMs)
    this.#timer.unref()
  }

  close(): void {
    if (this.#timer) clearInterval(this.#timer)
  }

  /** Looks at everything; called by the clock. */
  look(now: number): void {
    this.#late = now - this.#lookedAt > everyMs + lateMs ? this.#late + 1 : 0
    this.#lookedAt = now
    const reason = this.#late >= lateTurns ? 'this process is busy' : this.#probe(now)
    if (reason !== null) {
      if (this.refusal === null) this.#log.warn({ reason }, 'overloaded: requests are refused')
      this.refusal = new ApiError('unavailable', { detail: `Too much at once: ${reason}.`, retryAfterSeconds: 1 })
    } else if (this.refusal !== null) {
      this.refusal = null
      this.#log.info({}, 'no longer overloaded')
    }
  }

  #probe(now: number): string | null {
    for (const probe of this.#probes) {
      const reason = probe(now)
      if (reason !== null) return reason
    }
    return null
  }
}

// Messages that wait for their commit: a second's worth of a fast database, and some 20 MB.
const acceptsMax = 5000
// A commit that takes longer has stopped: what comes now would only wait behind it.
const stalledMs = 1000

/** Whether too much waits to be accepted, or has waited for too long. */
export function probeAccepts(accepts: { readonly waiting: number; readonly stalledMs: number }): Probe {
  return () => {
    if (accepts.waiting > acceptsMax) return 'too many messages wait to be stored'
    return accepts.stalledMs > stalledMs ? 'the database is slow' : null
  }
}

interface PoolLike {
  readonly waitingCount: number
  readonly options: { max: number }
}

// Statements that wait for a connection, for each of them: four that take their usual millisecond are nothing.
const waitingPerConnection = 4
const waitingMs = 1000

/** Whether so many have waited for a connection, for so long, that the database does not keep up. */
export function probePool(pool: PoolLike): Probe {
  let since: number | null = null
  return (now) => {
    const isCrowded = pool.waitingCount > pool.options.max * waitingPerConnection
    since = isCrowded ? (since ?? now) : null
    return since !== null && now - since >= waitingMs ? 'the database is slow' : null
  }
}
