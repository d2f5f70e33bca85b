/**
 * Waits for events: one query a tick for all watchers, and none without watchers. A NOTIFY for each event would make every commit of the
 * pipeline wait for one lock.
 */
import type { Db } from '../ground/db/db.ts'
import { ApiError } from '../ground/base/errors.ts'
import { isUnavailable } from '../ground/db/failure.ts'
import type { Log } from '../ground/db/log.ts'
import { readNewest, type Place } from './events-store.ts'

/** Join before reading, so that events that settle after the read are not missed. */
export interface Watcher {
  /** The account's newest event at the last tick, if any: a read that begins now sees all up to it. */
  readonly newest: Place | undefined
  /** True when the account may have events that no earlier read saw; false after `timeoutMs`, or after `wake`. */
  next(timeoutMs: number): Promise<boolean>
  /** Resolves `next` now. */
  wake(): void
  leave(): void
}

interface Watched {
  watchers: Set<{ isStale: boolean; wake: () => void }>
  newest: Place | undefined
  /** A tick has run since the first watcher joined. */
  isKnown: boolean
}

interface WatchOptions {
  db: Db
  log: Log
  tickMs?: number
  accountMax?: number
  totalMax?: number
}

/** One per process; ticks while there are watchers. */
export class Watch {
  readonly #options: Required<WatchOptions>
  readonly #accounts = new Map<string, Watched>()
  #count = 0
  #timer: NodeJS.Timeout | null = null
  isClosing = false

  constructor(options: WatchOptions) {
    this.#options = { tickMs: 200, accountMax: 32, totalMax: 1000, ...options }
  }

  get count(): number {
    return this.#count
  }

  /** @throws ApiError `rate_limited` if the account, or all together, have too many watchers. */
  join(accountId: string): Watcher {
    const { accountMax, totalMax } = this.#options
    const watched = this.#accounts.get(accountId) ?? { watchers: new Set(), newest: undefined, isKnown: false }
    if (watched.watchers.size >= accountMax || this.#count >= totalMax)
      throw new ApiError('rate_limited', {
        detail: `An account can wait for events ${accountMax} times at once.`,
        retryAfterSeconds: 1,
      })
    this.#accounts.set(accountId, watched)
    this.#count++
    const own = { isStale: false, wake: () => {} }
    watched.watchers.add(own)
    this.#timer ??= setTimeout(() => void this.#tick(), this.#options.tickMs)
    return {
      get newest() {
        return watched.newest
      },
      next: (timeoutMs) =>
        new Promise<boolean>((resolve) => {
          const answer = (): void => {
            clearTimeout(timer)
            own.wake = () => {}
            const { isStale } = own
            own.isStale = false
            resolve(isStale)
          }
          const timer = setTimeout(answer, Math.max(0, timeoutMs))
          own.wake = answer
          if (own.isStale || this.isClosing) answer()
        }),
      wake: () => own.wake(),
      leave: () => {
        if (!watched.watchers.delete(own)) return
        own.wake()
        this.#count--
        if (watched.watchers.size === 0) this.#accounts.delete(accountId)
      },
    }
  }

  /** Ends all waits, and later ones at once. */
  close(): void {
    this.isClosing = true
    if (this.#timer) clearTimeout(this.#timer)
    for (const { watchers } of this.#accounts.values()) for (const watcher of watchers) watcher.wake()
  }

  async #tick(): Promise<void> {
    try {
      const newest = await readNewest(this.#options.db, [...this.#accounts.keys()])
      for (const [accountId, watched] of this.#accounts) {
        const now = newest.get(accountId)
        // Events from before the first tick may have settled after the read.
        if (watched.isKnown && now?.id === watched.newest?.id) continue
        watched.newest = now
        watched.isKnown = true
        for (const watcher of watched.watchers) {
          watcher.isStale = true
          watcher.wake()
        }
      }
    } catch (error) {
      // Watchers find out by themselves that the database is down.
      if (!isUnavailable(error)) this.#options.log.error({ error }, 'looking for new events failed')
    }
    const isOver = this.#count === 0 || this.isClosing
    this.#timer = isOver ? null : setTimeout(() => void this.#tick(), this.#options.tickMs)
  }
}
