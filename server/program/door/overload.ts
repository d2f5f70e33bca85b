/**
 * Whether this process has more to do than it does: then requests are refused at the door, before their bodies are read, instead of late
 * or one by one. Looked at by the clock; a request reads one field.
 */
import type { Log } from '../../ground/db/log.ts'
import { ApiError } from '../../ground/base/errors.ts'

/** Something that can be too much: says what, or null. Called ten times a second. */
export type Probe = (now: number) => string | null

const everyMs = 100
// A turn of the event loop this late means that answers are.
const lateMs = 500
// A single late turn is a collection of garbage, or a machine that slept.
const lateTurns = 3
// Of a late turn that is our own work. Less is a machine that is busy with others: a refusal would make nothing faster.
const ownPart = 0.5

export class Overload {
  /** What to answer while there is too much; null: come in. */
  refusal: ApiError | null = null
  #probes: readonly Probe[] = []
  readonly #log: Log
  #lookedAt = performance.now()
  /** Milliseconds of processor that this thread had used by then. */
  #usedMs = 0
  #late = 0
  #timer: NodeJS.Timeout | null = null

  constructor(log: Log) {
    this.#log = log
  }

  /** `probes` are asked in their order. */
  start(probes: readonly Probe[]): void {
    this.#probes = probes
    this.#lookedAt = performance.now()
    this.#usedMs = readUsedMs()
    this.#timer = setInterval(() => this.look(performance.now()), everyMs)
    this.#timer.unref()
  }

  close(): void {
    if (this.#timer) clearInterval(this.#timer)
  }

  /** Looks at everything; called by the clock. `usedMs`: processor time of this thread. */
  look(now: number, usedMs: number = readUsedMs()): void {
    const tookMs = now - this.#lookedAt
    const isOurs = usedMs - this.#usedMs >= tookMs * ownPart
    this.#late = tookMs > everyMs + lateMs && isOurs ? this.#late + 1 : 0
    this.#lookedAt = now
    this.#usedMs = usedMs
    const reason = this.#late >= lateTurns ? 'this process is busy' : this.#probe(now)
    if (reason !== null) {
      if (this.refusal === null) this.#log.warn({ reason }, 'overloaded: requests are refused')
      this.refusal = new ApiError('unavailable', {
        detail: `The service is overloaded: ${reason}.`,
        retryAfterSeconds: 1,
      })
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

function readUsedMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

// Messages that wait for their commit: a second's worth of a fast database, and some 20 MB.
const acceptsMax = 5000
// A commit that takes longer while so many wait behind it is one that does not keep up. Where few wait it may be a machine that is busy with
// others, and they are answered late instead of refused.
const stalledMs = 1000
const behindMin = 500
// That has stopped: what comes now would only wait behind it.
const stoppedMs = 5000

/** Whether too much waits to be accepted, or has waited for too long. */
export function probeAccepts(accepts: { readonly waiting: number; readonly stalledMs: number }): Probe {
  return () => {
    if (accepts.waiting > acceptsMax) return 'too many messages wait to be stored'
    const isBehind = accepts.stalledMs > stalledMs && accepts.waiting > behindMin
    return isBehind || accepts.stalledMs > stoppedMs ? 'the database is slow' : null
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
