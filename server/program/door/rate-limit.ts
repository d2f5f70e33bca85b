/**
 * Request limits of credentials: a token bucket each, reported in every response (draft-ietf-httpapi-ratelimit-headers). A check costs no
 * query and hardly any garbage; processes share limits by demand (rate-shares.ts).
 */
import { ApiError } from '../../ground/base/errors.ts'

/** Seconds' worth of requests in a full bucket. */
const burstSeconds = 2
// A bucket unused for so long is full, and can be recreated.
const forgetMs = 60_000
// More than most limits have; larger values are rendered each time.
const textsMax = 1024

const texts: string[] = []

/** `RateLimit` for the remaining requests; `t` is when there are more. */
function textOf(left: number): string {
  if (left >= textsMax) return `"api";r=${left};t=1`
  return (texts[left] ??= `"api";r=${left};t=1`)
}

/** One credential's requests at this process. */
export class Bucket {
  /** `RateLimit-Policy`. */
  readonly policy: string
  readonly perSecond: number
  /** Requests since the last turn of `RateShares`, refused ones too. */
  asked = 0
  usedAt: number
  readonly #quota: number
  #share = 1
  #tokens: number
  #at: number

  constructor(perSecond: number, now: number) {
    this.perSecond = perSecond
    // A quota is a whole number: less than one a second becomes one in several.
    this.#quota = Math.max(1, Math.floor(perSecond))
    this.policy = `"api";q=${this.#quota};w=${perSecond < 1 ? Math.ceil(1 / perSecond) : 1}`
    this.#tokens = this.#full
    this.usedAt = this.#at = now
  }

  /** Takes a request, if one is left. `now` is monotonic milliseconds. */
  take(now: number): boolean {
    this.asked++
    this.usedAt = now
    this.#fill(now)
    if (this.#tokens < 1) return false
    this.#tokens--
    return true
  }

  /** `RateLimit`: the remaining quota of a second. */
  get state(): string {
    const left = Math.min(this.#quota, Math.floor(this.#tokens))
    return left > 0 ? textOf(left) : `"api";r=0;t=${Math.max(1, Math.ceil(this.waitSeconds))}`
  }

  get waitSeconds(): number {
    return Math.max(0, 1 - this.#tokens) / (this.perSecond * this.#share)
  }

  /** This process's share of the limit, above 0 and at most 1. */
  get share(): number {
    return this.#share
  }

  setShare(share: number, now: number): void {
    this.#fill(now)
    this.#share = share
    this.#tokens = Math.min(this.#tokens, this.#full)
  }

  get #full(): number {
    return Math.max(1, this.perSecond * burstSeconds * this.#share)
  }

  #fill(now: number): void {
    this.#tokens = Math.min(this.#full, this.#tokens + ((now - this.#at) / 1000) * this.perSecond * this.#share)
    this.#at = now
  }
}

export class RateLimiter {
  /** By id of a key or user. */
  readonly buckets: Map<string, Bucket> = new Map()
  readonly #perSecond: number

  /** `perSecond`: the default of accounts without their own limit. */
  constructor(perSecond: number) {
    this.#perSecond = perSecond
  }

  /** A credential's bucket; a changed limit starts a full one. */
  of({ id, apiPerSecond }: { id: string; apiPerSecond?: number | null }, now: number): Bucket {
    const perSecond = apiPerSecond ?? this.#perSecond
    let bucket = this.buckets.get(id)
    if (bucket?.perSecond !== perSecond) this.buckets.set(id, (bucket = new Bucket(perSecond, now)))
    return bucket
  }

  /** Deletes unused buckets. Call it periodically. */
  forget(now: number): void {
    for (const [id, bucket] of this.buckets) if (now - bucket.usedAt > forgetMs) this.buckets.delete(id)
  }
}

/** The refusal of a request above the limit; `policy` is its name in the headers. */
export function tooMany(waitSeconds: number, policy: string, detail: string): ApiError {
  // The quota-exceeded problem of the draft has this member.
  return new ApiError('rate_limited', {
    detail,
    retryAfterSeconds: waitSeconds,
    members: { 'violated-policies': [policy] },
  })
}
