import type { Faults } from './faults.ts'

export class Throttle {
  readonly #faults: Readonly<Faults>
  #second = 0
  #submits = 0

  constructor(faults: Readonly<Faults>) {
    this.#faults = faults
  }

  /** Counts a submit, and returns whether it exceeds the limits. */
  isOver(): boolean {
    const { submitsPerSecondMax, throttleRatio } = this.#faults
    if (submitsPerSecondMax > 0 && this.#count() > submitsPerSecondMax) return true
    return throttleRatio > 0 && Math.random() < throttleRatio
  }

  #count(): number {
    const second = Math.floor(performance.now() / 1_000)
    if (second !== this.#second) this.#submits = 0
    this.#second = second
    return ++this.#submits
  }
}
