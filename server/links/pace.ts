/**
 * A pace: at most `capacity` segments in any second, evenly spread at `rate`. A whole pace has a capacity of `rate + 1`; where several
 * processes share one, their capacities are parts of that (see shares.ts). A link's pace also knows the slow-down that a throttling
 * carrier asks for. Time is monotonic milliseconds, handed in.
 */

// What a stalled event loop may catch up on at once, in milliseconds of the pace; the any-second bound holds all the same.
const catchUpMs = 100
// A second, and the millisecond that clocks are off.
const secondMs = 1001
// Multiplicative decrease, slow increase (as TCP): halve at once, back to full over about half a minute.
const decrease = 0.5
export const recoverPerSecond = 0.025
const slowestFraction = 0.02
// A window of refusals is one word of the carrier's: it is heard once.
const slowDownEveryMs = 1000

/** Segments in any second that a whole pace allows. */
export const capacityOf = (rate: number): number => Math.floor(rate) + 1

export class Pace {
  #rate = 0
  #fraction = 1
  #changedAt = 0
  #slowedAt = -Infinity
  /** The even schedule: so many segments were written at this time, and the next is due when they have had theirs. */
  #notedAt = 0
  #noted = 0
  /** Segments in any second: the last but so many must be a second old before the next goes. */
  #capacity = 0
  /**
   * Times of the last segments, a ring: of as many as the capacity was at most, for one that falls and rises within a second counts all that
   * went in it.
   */
  #times = new Float64Array(0)
  #at = 0
  /** How many of the last are noted and not written yet. */
  #fresh = 0

  constructor(rate: number, capacity: number = capacityOf(rate)) {
    this.set(rate, capacity)
  }

  /** Changes the pace; what went in the last second still counts. */
  set(rate: number, capacity: number = capacityOf(rate)): void {
    this.#rate = capacity === 0 ? 0 : rate
    this.#capacity = capacity
    const before = this.#times
    if (before.length >= capacity) return
    // Oldest first, to the right.
    const times = new Float64Array(capacity).fill(-Infinity)
    for (let back = 1; back <= before.length; back++)
      times[capacity - back] = before[(this.#at - back + before.length) % before.length] ?? -Infinity
    this.#times = times
    this.#at = 0
  }

  /** Segments a second that are allowed now. */
  rate(now: number): number {
    return this.#rate * this.fraction(now)
  }

  /** Whether this process has no part of it: nothing is ever due. */
  get isNone(): boolean {
    return this.#rate === 0
  }

  /** When the next segment is due on the even schedule of what the pace is now. */
  #nextAt(now: number): number {
    return this.#noted === 0 ? 0 : this.#notedAt + (this.#noted * 1000) / this.rate(now)
  }

  /** When the segment went that must be a second old before the next goes. */
  get #lastButCapacity(): number {
    const at = this.#at - this.#capacity
    return this.#times[at < 0 ? at + this.#times.length : at] ?? -Infinity
  }

  /** Whether a segment may go. */
  isDue(now: number): boolean {
    return this.#rate > 0 && now >= this.#nextAt(now) && this.#lastButCapacity <= now - secondMs
  }

  /** Notes a segment that goes now, or several as one; the caller has asked `isDue`. */
  note(now: number, segments: number = 1): void {
    this.#notedAt = Math.max(this.#nextAt(now), now - catchUpMs)
    this.#noted = segments
    for (let n = 0; n < Math.min(segments, this.#times.length); n++) {
      this.#times[this.#at] = now
      if (++this.#at === this.#times.length) this.#at = 0
    }
    this.#fresh = Math.min(this.#fresh + segments, this.#times.length)
  }

  /** Takes note that what was noted since the last time is written only now: from here its second counts. */
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

  /** Milliseconds until the next turn; 0: now, Infinity: this process has no part of it. */
  wait(now: number): number {
    if (this.#rate === 0) return Infinity
    return Math.max(0, this.#nextAt(now) - now, this.#lastButCapacity + secondMs - now)
  }

  /** Segments that fall due within so many milliseconds; at least one where there is a part at all. */
  ahead(now: number, ms: number): number {
    return this.#rate === 0 ? 0 : Math.max(1, Math.ceil((this.rate(now) * ms) / 1000))
  }

  /** The carrier refused for its rate. False: it has said so just now, or the pace is as slow as it gets. */
  slowDown(now: number): boolean {
    if (now - this.#slowedAt < slowDownEveryMs) return false
    this.#slowedAt = now
    const before = this.fraction(now)
    this.slowTo(Math.max(slowestFraction, before * decrease), now)
    return this.fraction(now) < before
  }

  /** Slows down to this fraction, unless it is slower already: what another process or an earlier one was told. */
  slowTo(fraction: number, now: number): void {
    if (fraction >= this.fraction(now)) return
    this.#fraction = fraction
    this.#changedAt = now
  }

  /** Part of the pace that the carrier's last refusals leave, 0 to 1. */
  fraction(now: number): number {
    return this.#fraction >= 1 ? 1 : Math.min(1, this.#fraction + ((now - this.#changedAt) / 1000) * recoverPerSecond)
  }

  /** Whether the carrier has slowed this link down. */
  isSlowed(now: number): boolean {
    return this.fraction(now) < 1
  }
}
