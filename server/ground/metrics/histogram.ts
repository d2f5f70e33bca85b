/**
 * Counts times in buckets: one increment an observation. Four buckets to a doubling, so that a percentile is known within a tenth, from
 * half a millisecond to three days. Recent times are separate from earlier ones.
 */

// The last one ends at 2^29 ms, six days.
export const bucketCount = 121

/** In milliseconds. */
const endMsOf = (bucket: number): number => 2 ** ((bucket - 4) / 4)

/** Alternating buckets and counts. */
export type Sparse = readonly number[]

export interface Percentiles {
  p50_ms: number
  p95_ms: number
  p99_ms: number
  /** Number of times. */
  count: number
}

/** Times since the start, and recent ones. */
export class Histogram {
  /** Of all times, in milliseconds. */
  sumMs = 0
  #current = new Uint32Array(bucketCount)
  #last = new Uint32Array(bucketCount)
  /** Times before these two periods. */
  readonly #older = new Float64Array(bucketCount)

  /** In milliseconds. Negative times, from two clocks, count as none. */
  observe(ms: number): void {
    const bucket = ms > 0.5 ? Math.min(bucketCount - 1, Math.ceil(4 * Math.log2(ms)) + 4) : 0
    this.#current[bucket] = (this.#current[bucket] ?? 0) + 1
    if (ms > 0) this.sumMs += ms
  }

  /** Begins a new period; recent means the current one and the one before it. */
  turn(): void {
    const last = this.#last
    for (let i = 0; i < bucketCount; i++) this.#older[i] = (this.#older[i] ?? 0) + (last[i] ?? 0)
    this.#last = this.#current
    this.#current = last.fill(0)
  }

  /** Numbers in all buckets since the start. */
  addTo(counts: Float64Array): void {
    for (let i = 0; i < bucketCount; i++) counts[i] = (counts[i] ?? 0) + this.#all(i)
  }

  recent(): Sparse {
    const sparse: number[] = []
    for (let i = 0; i < bucketCount; i++) {
      const count = (this.#current[i] ?? 0) + (this.#last[i] ?? 0)
      if (count > 0) sparse.push(i, count)
    }
    return sparse
  }

  /** Times of at most `ms` since the start; exact for powers of two. */
  countUpTo(ms: number): number {
    let count = 0
    for (let i = 0; i < bucketCount && endMsOf(i) <= ms; i++) count += this.#all(i)
    return count
  }

  get count(): number {
    return this.countUpTo(Infinity)
  }

  #all(i: number): number {
    return (this.#current[i] ?? 0) + (this.#last[i] ?? 0) + (this.#older[i] ?? 0)
  }
}

/** Merges the histograms of all processes. */
export function mergeSparse(parts: readonly Sparse[]): Sparse {
  const counts = new Map<number, number>()
  for (const part of parts)
    for (let i = 0; i + 1 < part.length; i += 2)
      counts.set(part[i] ?? 0, (counts.get(part[i] ?? 0) ?? 0) + (part[i + 1] ?? 0))
  return [...counts].sort(([a], [b]) => a - b).flat()
}

/** A count for each bucket, up to the last with any. */
export function denseOf(sparse: Sparse = []): number[] {
  const dense = Array.from({ length: (sparse.at(-2) ?? -1) + 1 }, () => 0)
  for (let i = 0; i + 1 < sparse.length; i += 2) dense[sparse[i] ?? 0] = sparse[i + 1] ?? 0
  return dense
}

export const sparseOf = (dense: readonly number[]): Sparse =>
  dense.flatMap((count, bucket) => (count > 0 ? [bucket, count] : []))

/** Counts by powers of two, from the first with any to the last. */
export function histogramOf(sparse: Sparse): { up_to_ms: number; count: number }[] {
  const powers = denseOf(sparse).reduce<number[]>((all, count, bucket) => {
    const power = Math.ceil(bucket / 4)
    all[power] = (all[power] ?? 0) + count
    return all
  }, [])
  const shown = powers.map((count, power) => ({ up_to_ms: 2 ** (power - 1), count }))
  return shown.slice(shown.findIndex(({ count }) => count > 0))
}

/** Null without times. */
export function percentilesOf(sparse: Sparse): Percentiles | null {
  let count = 0
  for (let i = 1; i < sparse.length; i += 2) count += sparse[i] ?? 0
  if (count === 0) return null
  return { p50_ms: at(sparse, count * 0.5), p95_ms: at(sparse, count * 0.95), p99_ms: at(sparse, count * 0.99), count }
}

/** The middle of the nth time's bucket, to three digits. */
function at(sparse: Sparse, nth: number): number {
  let seen = 0
  for (let i = 0; i + 1 < sparse.length; i += 2) {
    seen += sparse[i + 1] ?? 0
    if (seen >= nth) return Number((endMsOf(sparse[i] ?? 0) / 2 ** 0.125).toPrecision(3))
  }
  return 0
}
