/** A short cache of callers by secret, so that a busy client costs no query per request. */

import { ApiError } from '../ground/base/errors.ts'

/** Also the longest time for which a secret revoked by another process still works here. */
const memoryMs = 5_000
// About 5 MB; the oldest goes first, and each miss costs one query.
const rememberedMax = 10_000

/** `expiresInMs` is null if the secret never expires. */
interface Found<Known> {
  known: Known
  expiresInMs: number | null
}

/** One per kind of secret and process. Uses a monotonic clock, so a wrong wall clock locks nobody out. */
export class KnownCallers<Known> {
  readonly #lookUp: (secret: string) => Promise<Found<Known>>
  readonly #remembered = new Map<string, { known: Known; untilMs: number }>()
  // Concurrent requests with one secret share its look-up.
  readonly #lookups = new Map<string, Promise<Known>>()
  #epoch = 0

  /** `lookUp` throws an ApiError to refuse a secret; only accepted ones are cached. */
  constructor(lookUp: (secret: string) => Promise<Found<Known>>) {
    this.#lookUp = lookUp
  }

  /** No promise if the caller is cached. `refuse` may throw before the look-up of a secret not accepted lately. `isSure` skips the cache. */
  find(secret: string, refuse?: () => void, isSure: boolean = false): Known | Promise<Known> {
    const remembered = this.#remembered.get(secret)
    if (!isSure && remembered !== undefined && performance.now() < remembered.untilMs) return remembered.known
    const underWay = this.#lookups.get(secret)
    if (underWay) return underWay
    // Failures of others at the same address do not stop a caller accepted recently.
    if (remembered === undefined) refuse?.()
    const lookup = this.#find(secret).finally(() => this.#lookups.delete(secret))
    this.#lookups.set(secret, lookup)
    return lookup
  }

  async #find(secret: string): Promise<Known> {
    const startedMs = performance.now()
    const startedIn = this.#epoch
    const { known, expiresInMs } = await this.#lookUp(secret).catch((error: unknown) => {
      if (error instanceof ApiError) this.#remembered.delete(secret)
      throw error
    })
    this.#remembered.delete(secret)
    if (startedIn === this.#epoch) {
      if (this.#remembered.size >= rememberedMax) this.#remembered.delete(this.#remembered.keys().next().value ?? '')
      this.#remembered.set(secret, { known, untilMs: startedMs + Math.min(memoryMs, expiresInMs ?? memoryMs) })
    }
    return known
  }

  /** Clears the cache: call it after every revocation here. Other processes follow within five seconds. */
  forget(): void {
    this.#epoch++
    this.#remembered.clear()
    this.#lookups.clear()
  }
}
