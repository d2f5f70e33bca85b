/** How much a client may submit: a bucket of segments that fills at its pace and holds a second's worth, one at least. */
export class Rate {
  #pace: number
  #tokens: number
  #at: number

  constructor(pace: number, now: number = performance.now()) {
    this.#pace = pace
    this.#tokens = Math.max(1, pace)
    this.#at = now
  }

  /** Changes the pace; what was taken stays taken. */
  setPace(pace: number): void {
    this.#pace = pace
  }

  /** Takes so many segments, or none. A message longer than a second's worth goes when the bucket is full, and leaves a debt. */
  take(segments: number, now: number = performance.now()): boolean {
    const full = Math.max(1, this.#pace)
    this.#tokens = Math.min(full, this.#tokens + ((now - this.#at) / 1000) * this.#pace)
    this.#at = now
    if (this.#tokens < Math.min(segments, full)) return false
    this.#tokens -= segments
    return true
  }
}
