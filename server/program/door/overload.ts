/**
 * Detects overload of this process: then requests are refused before their bodies are read, instead of late or one by one. Checked by a
 * timer that runs while requests come; a request reads one field.
 */
import type { Log } from '../../ground/db/log.ts'
import { ApiError } from '../../ground/base/errors.ts'

/** Returns the reason of an overload, or null. Called ten times a second. */
export type Probe = (now: number) => string | null

const everyMs = 100
// It looks for so long after a request.
const watchTurns = 5
// If the event loop is this late, so are responses.
const lateMs = 500
// A single late turn can be garbage collection, or a machine that slept.
const lateTurns = 3
// Our own CPU part of a late turn. Below it the machine is busy otherwise, and refusals would not help.
const ownPart = 0.5

export class Overload {
  #refusal: ApiError | null = null
  #probes: readonly Probe[] | null = null
  readonly #log: Log
  #lookedAt = performance.now()
  /** Milliseconds of CPU that this thread had used by then. */
  #usedMs = 0
  #late = 0
  #timer: NodeJS.Timeout | null = null
  #turnsLeft = 0

  constructor(log: Log) {
    this.#log = log
  }

  /** The response during overload; null: none. */
  get refusal(): ApiError | null {
    this.#turnsLeft = watchTurns
    if (this.#timer === null) this.#watch()
    return this.#refusal
  }

  /** `probes` are called in order. */
  start(probes: readonly Probe[]): void {
    this.#probes = probes
  }

  close(): void {
    this.#probes = null
    this.#rest()
  }

  #watch(): void {
    if (this.#probes === null) return
    this.#lookedAt = performance.now()
    this.#usedMs = readUsedMs()
    this.#timer = setInterval(() => {
      this.look(performance.now())
      if (--this.#turnsLeft <= 0 && this.#refusal === null) this.#rest()
    }, everyMs)
    this.#timer.unref()
  }

  #rest(): void {
    if (this.#timer) clearInterval(this.#timer)
    this.#timer = null
  }

  /** Called by the timer. `usedMs`: CPU time of this thread. */
  look(now: number, usedMs: number = readUsedMs()): void {
    const tookMs = now - this.#lookedAt
    const isOurs = usedMs - this.#usedMs >= tookMs * ownPart
    this.#late = tookMs > everyMs + lateMs && isOurs ? this.#late + 1 : 0
    this.#lookedAt = now
    this.#usedMs = usedMs
    const reason = this.#late >= lateTurns ? 'this process is busy' : this.#probe(now)
    if (reason !== null) {
      if (this.#refusal === null) this.#log.warn({ reason }, 'overloaded: requests are refused')
      this.#refusal = new ApiError('unavailable', {
        detail: `The service is overloaded: ${reason}.`,
        retryAfterSeconds: 1,
      })
    } else if (this.#refusal !== null) {
      this.#refusal = null
      this.#log.info({}, 'no longer overloaded')
    }
  }

  #probe(now: number): string | null {
    for (const probe of this.#probes ?? []) {
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
// A slower commit with a long queue means that the database cannot keep up. With a short queue the machine may be busy otherwise, and late
// responses are better than refusals.
const stalledMs = 1000
const behindMin = 500
// Commits have stopped: more requests would only wait.
const stoppedMs = 5000

/** Whether too many messages wait for accept, or for too long. */
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

// Waiting statements per connection: four of the usual millisecond are harmless.
const waitingPerConnection = 4
const waitingMs = 1000

/** Whether the queue for connections is so long, for so long, that the database cannot keep up. */
export function probePool(pool: PoolLike): Probe {
  let since: number | null = null
  return (now) => {
    const isCrowded = pool.waitingCount > pool.options.max * waitingPerConnection
    since = isCrowded ? (since ?? now) : null
    return since !== null && now - since >= waitingMs ? 'the database is slow' : null
  }
}
