/**
 * A pace: at most `capacity` segments in any second, evenly spread at `rate`. A whole pace has a capacity of `rate + 1`; if several processes share
 * one, their capacities are parts of it (see shares.ts). A link's pace also includes the slow-down for a throttling carrier. Time is monotonic
 * milliseconds, passed in.
 */

// Catch-up of a stalled event loop, in milliseconds of the pace; the bound of any second still holds.
const catchUpMs = 100
// A second, and a millisecond for the clocks.
const secondMs = 1001
// Multiplicative decrease, slow increase (as TCP): halved at once, back to full in about half a minute.
const decrease = 0.5
export const recoverPerSecond = 0.025
const slowestFraction = 0.02
// A window of refusals is one signal of the carrier: it counts once.
const slowDownEveryMs = 1000

/** Segments in any second of a whole pace. */
export const capacityOf = (rate: number): number => Math.floor(rate) + 1

export class Pace {
  #rate = 0
  #fraction = 1
  #changedAt = 0
  #slowedAt = -Infinity
  /** The even schedule: segments written at this time, and the next is due after their share of time. */
  #notedAt = 0
  #noted = 0
  /** Segments in any second: the one this many back must be a second old before the next goes. */
  #capacity = 0
  /**
   * Times of the last segments, in a ring of the largest capacity so far: if it falls and rises within a second, all segments of that second count.
   */
  #times = new Float64Array(0)
  #at = 0
  /** The last ones that are noted and not written yet. */
  #fresh = 0

  constructor(rate: number, capacity: number = capacityOf(rate)) {
    this.set(rate, capacity)
  }

  /** Changes the pace; segments of the last second still count. */
  set(rate: number, capacity: number = capacityOf(rate)): void {
    this.#rate = capacity === 0 ? 0 : rate
    this.#capacity = capacity
    const before = this.#times
    if (before.length >= capacity) return
    // Oldest first, right-aligned.
    const times = new Float64Array(capacity).fill(-Infinity)
    for (let back = 1; back <= before.length; back++)
      times[capacity - back] = before[(this.#at - back + before.length) % before.length] ?? -Infinity
    this.#times = times
    this.#at = 0
  }

  rate(now: number): number {
    return this.#rate * this.fraction(now)
  }

  get isNone(): boolean {
    return this.#rate === 0
  }

  /** When the next segment is due on the even schedule of the present pace. */
  #nextAt(now: number): number {
    return this.#noted === 0 ? 0 : this.#notedAt + (this.#noted * 1000) / this.rate(now)
  }

  /** Time of the segment that must be a second old before the next goes. */
  get #lastButCapacity(): number {
    const at = this.#at - this.#capacity
    return this.#times[at < 0 ? at + this.#times.length : at] ?? -Infinity
  }

  isDue(now: number): boolean {
    return this.#rate > 0 && now >= this.#nextAt(now) && this.#lastButCapacity <= now - secondMs
  }

  /** Records a segment that goes now, or several as one; the caller has asked `isDue`. */
  note(now: number, segments: number = 1): void {
    this.#notedAt = Math.max(this.#nextAt(now), now - catchUpMs)
    this.#noted = segments
    for (let n = 0; n < Math.min(segments, this.#times.length); n++) {
      this.#times[this.#at] = now
      if (++this.#at === this.#times.length) this.#at = 0
    }
    this.#fresh = Math.min(this.#fresh + segments, this.#times.length)
  }

  /** The segments noted since the last call are written only now: their second counts from here. */
  written(now: number): void {
    const { length } = this.#times
    for (let back = 1; back <= this.#fresh; back++) this.#times[(this.#at - back + length) % length] = now
    this.#fresh = 0
  }

  /** Takes one segment's turn; false: not yet. */
  take(now: number): boolean {
    if (!this.isDue(now)) return false
    this.note(now)
    return true
  }

  /** Milliseconds until the next turn; 0: now, Infinity: this process has no part. */
  wait(now: number): number {
    if (this.#rate === 0) return Infinity
    return Math.max(0, this.#nextAt(now) - now, this.#lastButCapacity + secondMs - now)
  }

  /** Segments that fall due within so many milliseconds; at least one unless there is no part. */
  ahead(now: number, ms: number): number {
    return this.#rate === 0 ? 0 : Math.max(1, Math.ceil((this.rate(now) * ms) / 1000))
  }

  /** The carrier throttled us. False: it just did before, or the pace is at its minimum. */
  slowDown(now: number): boolean {
    if (now - this.#slowedAt < slowDownEveryMs) return false
    this.#slowedAt = now
    const before = this.fraction(now)
    this.slowTo(Math.max(slowestFraction, before * decrease), now)
    return this.fraction(now) < before
  }

  /** Slows down to this fraction, unless it is slower already: the limit that another process, or an earlier one, got. */
  slowTo(fraction: number, now: number): void {
    if (fraction >= this.fraction(now)) return
    this.#fraction = fraction
    this.#changedAt = now
  }

  /** Part of the pace left by the carrier's last refusals, 0 to 1. */
  fraction(now: number): number {
    return this.#fraction >= 1 ? 1 : Math.min(1, this.#fraction + ((now - this.#changedAt) / 1000) * recoverPerSecond)
  }

  /** Whether the carrier has slowed this link down. */
  isSlowed(now: number): boolean {
    return this.fraction(now) < 1
  }
}
