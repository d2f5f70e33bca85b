/**
 * The pace of a link: at most `rate + 1` segments in any second, evenly spread, with the slow-down that a throttling carrier asks for.
 * Time is monotonic milliseconds, handed in.
 */

// What a stalled event loop may catch up on at once, in milliseconds of the pace; the any-second bound holds all the same.
const catchUpMs = 50
// Multiplicative decrease, slow increase (as TCP): halve at once, back to full over about half a minute.
const decrease = 0.5
const recoverPerSecond = 0.025
const slowestFraction = 0.02

export class Pace {
  #rate: number
  #fraction = 1
  #changedAt = 0
  /** When the next segment is due on the even schedule. */
  #nextAt = 0
  /** Times of the last `rate + 1` segments, a ring: the oldest must be a second old before the next goes. */
  #times: Float64Array
  #at = 0

  constructor(rate: number) {
    this.#rate = rate
    this.#times = new Float64Array(Math.max(1, Math.floor(rate)) + 1).fill(-Infinity)
  }

  /** Segments a second that are allowed now. */
  rate(now: number): number {
    return this.#rate * this.#fractionAt(now)
  }

  /** Takes one segment's turn; false: not yet. */
  take(now: number): boolean {
    const interval = 1000 / this.rate(now)
    if (now < this.#nextAt || (this.#times[this.#at] ?? -Infinity) > now - 1000) return false
    this.#nextAt = Math.max(this.#nextAt, now - catchUpMs) + interval
    this.#times[this.#at] = now
    this.#at = (this.#at + 1) % this.#times.length
    return true
  }

  /** Milliseconds until the next turn; 0: now. */
  wait(now: number): number {
    return Math.max(0, this.#nextAt - now, (this.#times[this.#at] ?? -Infinity) + 1000 - now)
  }

  /** The carrier refused for its rate. */
  slowDown(now: number): void {
    this.#fraction = Math.max(slowestFraction, this.#fractionAt(now) * decrease)
    this.#changedAt = now
  }

  /** Whether the carrier has slowed this link down. */
  isSlowed(now: number): boolean {
    return this.#fractionAt(now) < 1
  }

  #fractionAt(now: number): number {
    return this.#fraction >= 1 ? 1 : Math.min(1, this.#fraction + ((now - this.#changedAt) / 1000) * recoverPerSecond)
  }
}
