import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Pace } from './pace.ts'

/** Sends as fast as the pace allows on a clock that ticks irregularly; returns the times. */
function run(pace: Pace, ticks: number[], totalMs: number): number[] {
  const sent: number[] = []
  let now = 1000
  for (let i = 0; now < 1000 + totalMs; i++) {
    while (pace.take(now)) sent.push(now)
    now += ticks[i % ticks.length] ?? 1
  }
  return sent
}

test('no second holds more than the rate and one', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 500 }),
      fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 20 }),
      (rate, ticks) => {
        const sent = run(new Pace(rate), ticks, 5000)
        return sent.every((at, i) => (sent[i + rate + 1] ?? Infinity) - at >= 1000)
      },
    ),
    { numRuns: 200 },
  )
})

test.for([10, 100, 1000])('a minute at %i a second is within one percent', (rate) => {
  const sent = run(new Pace(rate), [1, 1, 2, 1, 5], 60_000)
  expect(Math.abs(sent.length - rate * 60)).toBeLessThanOrEqual(rate * 0.6 + 1)
})

test('the wait is as long as the next turn is away', () => {
  const pace = new Pace(10)
  expect(pace.take(1000)).toBe(true)
  expect(pace.take(1000)).toBe(false)
  expect(pace.take(1000 + pace.wait(1000))).toBe(true)
})

test('a throttled link slows down at once and recovers slowly', () => {
  const pace = new Pace(100)
  pace.slowDown(0)
  pace.slowDown(0)
  expect(pace.rate(0)).toBe(25)
  expect(pace.isSlowed(0)).toBe(true)
  expect(pace.rate(10_000)).toBeCloseTo(50)
  expect(pace.rate(120_000)).toBe(100)
  expect(pace.isSlowed(120_000)).toBe(false)
})
