/** How an import and its upload go on: as fast as it can while nobody sends, in small steps with rests between them while somebody does. */
import { setTimeout as sleep } from 'node:timers/promises'

/** Rows of a batch while nobody sends. Measured: 1000 are a tenth slower, 10,000 no faster; more takes memory and makes progress coarser. */
export const batchRows = 2500
/** Rows of a batch while somebody sends: a statement of a few milliseconds, which is what a send may have to wait for. */
export const stepRows = 250
// Of the time a fifth is worked: one of two cores is then free nine tenths of it, and so is the log.
const restsPerWork = 4
// Where a step takes long, the machine is busy with more than sends and this: an import is not to be starved by what it cannot help.
const restMsMax = 250
// Whoever sends once a second is somebody who sends.
const calmMs = 1000

/** The steps of one thread, or of one upload; `countAccepted` is how many messages this process has accepted. */
export class Stride {
  readonly #countAccepted: () => number
  #seen: number
  #sentAt = -Infinity

  constructor(countAccepted: () => number = () => 0) {
    this.#countAccepted = countAccepted
    this.#seen = countAccepted()
  }

  /** Whether messages have been accepted within the last second. */
  get isBesideSends(): boolean {
    const accepted = this.#countAccepted()
    const now = performance.now()
    if (accepted !== this.#seen) this.#sentAt = now
    this.#seen = accepted
    return now - this.#sentAt < calmMs
  }

  /** Whether so many rows are a batch. */
  isWhole(rows: number): boolean {
    return rows >= batchRows || (rows > 0 && rows % stepRows === 0 && this.isBesideSends)
  }

  /** Rests after work of `workMs`; not at all while nobody sends. */
  async rest(workMs: number): Promise<void> {
    if (workMs > 0 && this.isBesideSends) await sleep(Math.min(workMs * restsPerWork, restMsMax))
  }
}
