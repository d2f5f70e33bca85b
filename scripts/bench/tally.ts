/** The message numbers seen in a run: how often, and when first. */

/** Correct if `distinct` is the run's size and the others are 0. */
export type Counts = { distinct: number; duplicates: number; strays: number }

/** Numbers are `base` … `base + size - 1`; `firstMs` is the first time given to `note`, by `number - base`. */
export type Tally = Counts & { base: number; size: number; firstMs: Float64Array; lastMs: number }

export function createTally(base: number, size: number): Tally {
  return { base, size, firstMs: new Float64Array(size), lastMs: 0, distinct: 0, duplicates: 0, strays: 0 }
}

/** A number of another run, or none (-1), is a stray. */
export function note(tally: Tally, number: number, atMs: number): void {
  const index = number - tally.base
  if (index < 0 || index >= tally.size) tally.strays += 1
  else if (tally.firstMs[index] !== 0) tally.duplicates += 1
  else {
    tally.firstMs[index] = atMs
    tally.lastMs = atMs
    tally.distinct += 1
  }
}

export function countsOf({ distinct, duplicates, strays }: Tally): Counts {
  return { distinct, duplicates, strays }
}

/** Fixed digits of a message number in texts and addresses, so that all requests of a run have the same length. */
export const numberDigits = 8

/** Returns -1 unless there are digits at `offset`. */
export function readNumber(bytes: Buffer, offset: number): number {
  let number = 0
  for (let at = offset; at < offset + numberDigits; at++) {
    const digit = (bytes[at] ?? 0) - 0x30
    if (digit < 0 || digit > 9) return -1
    number = number * 10 + digit
  }
  return number
}

/** The q-th quantile (0–1), nearest rank; NaN of no values. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(q * sorted.length) - 1))] ?? NaN
}
