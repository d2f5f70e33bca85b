import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Histogram, mergeSparse, percentilesOf } from './histogram.ts'

const times = fc.array(fc.double({ min: 0.5, max: 300_000_000, noNaN: true }), { minLength: 1, maxLength: 200 })

describe('times', () => {
  it('have percentiles within a tenth of the true ones', () => {
    fc.assert(
      fc.property(times, (values) => {
        const sorted = values.toSorted((a, b) => a - b)
        const seen = percentilesOf(fill(values).recent())
        for (const [part, ms] of [
          [0.5, seen?.p50_ms],
          [0.95, seen?.p95_ms],
          [0.99, seen?.p99_ms],
        ] as const) {
          const exact = sorted[Math.ceil(sorted.length * part) - 1] ?? 0
          // The middle of a bucket 19 % wide, to three digits.
          expect(Math.abs((ms ?? 0) / exact - 1)).toBeLessThan(0.1)
        }
        expect(seen?.count).toBe(values.length)
      }),
    )
  })

  it('of several processes add up to those of a single one', () => {
    fc.assert(
      fc.property(times, times, (left, right) => {
        expect(mergeSparse([fill(left).recent(), fill(right).recent()])).toEqual(fill([...left, ...right]).recent())
      }),
    )
  })

  it('are counted exactly up to a power of two, in any period', () => {
    fc.assert(
      fc.property(times, fc.nat({ max: 28 }), fc.array(fc.boolean()), (values, exponent, turns) => {
        const histogram = new Histogram()
        for (const [i, ms] of values.entries()) {
          histogram.observe(ms)
          if (turns[i]) histogram.turn()
        }
        const bound = 2 ** exponent
        expect(histogram.countUpTo(bound)).toBe(values.filter((ms) => ms <= bound).length)
        expect(histogram.count).toBe(values.length)
      }),
    )
  })

  it('are recent until the second period ends, and counted forever', () => {
    const histogram = fill([5, 7])
    histogram.turn()
    expect(percentilesOf(histogram.recent())?.count).toBe(2)
    histogram.turn()
    expect(percentilesOf(histogram.recent())).toBeNull()
    expect(histogram.count).toBe(2)
    expect(histogram.sumMs).toBe(12)
  })

  it('below zero, from two clocks, and beyond a week are in the outermost buckets', () => {
    const histogram = fill([-3, 0, 1e12, Infinity])
    expect(histogram.count).toBe(4)
    expect(histogram.countUpTo(1)).toBe(2)
  })
})

function fill(values: readonly number[]): Histogram {
  const histogram = new Histogram()
  for (const ms of values) histogram.observe(ms)
  return histogram
}
