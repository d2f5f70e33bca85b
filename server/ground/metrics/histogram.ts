/**
 * Times counted in buckets: one increment an observation. Four buckets to a doubling, so that a percentile is known within a tenth, from
 * half a millisecond to three days. What was seen lately is kept apart from what was seen before.
 */

// The last one ends at 2^29 ms, six days.
const bucketCount = 121

/** The longest time of a bucket, in milliseconds. */
const endMsOf = (bucket: number): number => 2 ** ((bucket - 4) / 4)

/** How many times lie where: a bucket, its count, another bucket, its count, and so on. */
export type Sparse = readonly number[]

/** What callers see of times. */
export interface Percentiles {
  p50_ms: number
  p95_ms: number
  p99_ms: number
  /** Times that they were taken of. */
  count: number
}

/** The times of one thing, since the start and lately. */
export class Histogram {
  /** Of all times, in milliseconds. */
  sumMs = 0
  #current = new Uint32Array(bucketCount)
  #last = new Uint32Array(bucketCount)
  /** What came before those two. */
  readonly #older = new Float64Array(bucketCount)

  /** Counts a time in milliseconds. One below zero, as of two clocks, counts as none. */
  observe(ms: number): void {
    const bucket = ms > 0.5 ? Math.min(bucketCount - 1, Math.ceil(4 * Math.log2(ms)) + 4) : 0
    this.#current[bucket] = (this.#current[bucket] ?? 0) + 1
    if (ms > 0) this.sumMs += ms
  }

  /** Begins a new period; lately is the one under way and the one before it. */
  turn(): void {
    const last = this.#last
    for (let i = 0; i < bucketCount; i++) this.#older[i] = (this.#older[i] ?? 0) + (last[i] ?? 0)
    this.#last = this.#current
    this.#current = last.fill(0)
  }

  /** What was seen lately. */
  recent(): Sparse {
    const sparse: number[] = []
    for (let i = 0; i < bucketCount; i++) {
      const count = (this.#current[i] ?? 0) + (this.#last[i] ?? 0)
      if (count > 0) sparse.push(i, count)
    }
    return sparse
  }

  /** How many times were at most so long, since the start; exact where it is a power of two. */
  countUpTo(ms: number): number {
    let count = 0
    for (let i = 0; i < bucketCount && endMsOf(i) <= ms; i++) count += this.#all(i)
    return count
  }

  /** How many there were since the start. */
  get count(): number {
    return this.countUpTo(Infinity)
  }

  #all(i: number): number {
    return (this.#current[i] ?? 0) + (this.#last[i] ?? 0) + (this.#older[i] ?? 0)
  }
}

/** Puts together what several saw. */
export function mergeSparse(parts: readonly Sparse[]): Sparse {
  const counts = new Map<number, number>()
  for (const part of parts)
    for (let i = 0; i + 1 < part.length; i += 2)
      counts.set(part[i] ?? 0, (counts.get(part[i] ?? 0) ?? 0) + (part[i + 1] ?? 0))
  return [...counts].sort(([a], [b]) => a - b).flat()
}

/** The percentiles of what was seen; null where it is nothing. */
export function percentilesOf(sparse: Sparse): Percentiles | null {
  let count = 0
  for (let i = 1; i < sparse.length; i += 2) count += sparse[i] ?? 0
  if (count === 0) return null
  return { p50_ms: at(sparse, count * 0.5), p95_ms: at(sparse, count * 0.95), p99_ms: at(sparse, count * 0.99), count }
}

/** The middle of the bucket that has the nth time, to three digits: more is not known. */
function at(sparse: Sparse, nth: number): number {
  let seen = 0
  for (let i = 0; i + 1 < sparse.length; i += 2) {
    seen += sparse[i + 1] ?? 0
    if (seen >= nth) return Number((endMsOf(sparse[i] ?? 0) / 2 ** 0.125).toPrecision(3))
  }
  return 0
}
