/** A token bucket of segments: fills at the client's pace and holds one second's worth, at least one. */
export class Rate {
  #pace: number
  #tokens: number
  #at: number

  constructor(pace: number, now: number = performance.now()) {
    this.#pace = pace
    this.#tokens = Math.max(1, pace)
    this.#at = now
  }

  /** Keeps the current level. */
  setPace(pace: number): void {
    this.#pace = pace
  }

  /** Takes all segments, or none. A message longer than one second's worth needs a full bucket, and leaves a debt. */
  take(segments: number, now: number = performance.now()): boolean {
    const full = Math.max(1, this.#pace)
    this.#tokens = Math.min(full, this.#tokens + ((now - this.#at) / 1000) * this.#pace)
    this.#at = now
    if (this.#tokens < Math.min(segments, full)) return false
    this.#tokens -= segments
    return true
  }
}
