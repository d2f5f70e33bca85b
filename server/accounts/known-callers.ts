/** A short memory of who came with which secret, so that a busy client costs no query a request. */

import { ApiError } from '../ground/base/errors.ts'

/** How long a caller is remembered: the longest time for which what was revoked elsewhere still works here. */
const memoryMs = 5_000
// About 5 MB; the oldest goes first, and a forgotten caller costs one query.
const rememberedMax = 10_000

/** What was found behind a secret; `expiresInMs`: until it is worth nothing (null: nobody knows of an end). */
interface Found<Known> {
  known: Known
  expiresInMs: number | null
}

/** Remembers by secret. One a kind of secret and process. Time is a monotonic clock's, so a wrong wall clock locks nobody out. */
export class KnownCallers<Known> {
  readonly #lookUp: (secret: string) => Promise<Found<Known>>
  readonly #remembered = new Map<string, { known: Known; untilMs: number }>()
  // Requests that come while a secret is looked up wait for that look-up.
  readonly #lookups = new Map<string, Promise<Known>>()
  #epoch = 0

  /** `lookUp` throws an ApiError where a secret lets nobody in: only who was let in is remembered. */
  constructor(lookUp: (secret: string) => Promise<Found<Known>>) {
    this.#lookUp = lookUp
  }

  /**
   * Who comes with a secret; not a promise when it is remembered. `refuse` is asked before a secret that was not let in lately is
   * looked up, and throws where it should not be. `isSure`: memory is not enough.
   */
  find(secret: string, refuse?: () => void, isSure: boolean = false): Known | Promise<Known> {
    const remembered = this.#remembered.get(secret)
    if (!isSure && remembered !== undefined && performance.now() < remembered.untilMs) return remembered.known
    const underWay = this.#lookups.get(secret)
    if (underWay) return underWay
    // Who was let in lately is looked up again whatever others from there do.
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

  /** Forgets everybody: call it after anything was revoked here. Other processes follow within five seconds. */
  forget(): void {
    this.#epoch++
    this.#remembered.clear()
    this.#lookups.clear()
  }
}
