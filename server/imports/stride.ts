/** The pace of an import and its upload: full speed while no messages are accepted, else small steps with rests. */
import { setTimeout as sleep } from 'node:timers/promises'

/** Rows of a batch at full speed. Measured: 1000 are a tenth slower, 10,000 no faster; more takes memory and makes progress coarser. */
export const batchRows = 2500
/** Rows of a batch beside sends: a statement of a few milliseconds, for which a send may have to wait. */
export const stepRows = 250
// One fifth of the time is work: then one of two cores, and the log, are free nine tenths of the time.
const restsPerWork = 4
// A slow step means that the machine is busy with other work, and no rest would help: the import must not starve.
const restMsMax = 250
// One send a second counts as sending.
const calmMs = 1000

export class Stride {
  readonly #countAccepted: () => number
  #seen: number
  #sentAt = -Infinity

  constructor(countAccepted: () => number = () => 0) {
    this.#countAccepted = countAccepted
    this.#seen = countAccepted()
  }

  /** Whether a message was accepted within the last second. */
  get isBesideSends(): boolean {
    const accepted = this.#countAccepted()
    const now = performance.now()
    if (accepted !== this.#seen) this.#sentAt = now
    this.#seen = accepted
    return now - this.#sentAt < calmMs
  }

  /** Whether this many rows make a batch. */
  isWhole(rows: number): boolean {
    return rows >= batchRows || (rows > 0 && rows % stepRows === 0 && this.isBesideSends)
  }

  /** Rests after work of `workMs`, if messages are being sent. */
  async rest(workMs: number): Promise<void> {
    if (workMs > 0 && this.isBesideSends) await sleep(Math.min(workMs * restsPerWork, restMsMax))
  }
}
