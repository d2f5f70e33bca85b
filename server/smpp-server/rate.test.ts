import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Rate } from './rate.ts'

test('a client never gets more than a second of its pace and what time has added', () => {
  const step = fc.record({ waitMs: fc.integer({ min: 0, max: 400 }), segments: fc.integer({ min: 1, max: 3 }) })
  fc.assert(
    fc.property(fc.double({ min: 3, max: 500, noNaN: true }), fc.array(step, { maxLength: 200 }), (pace, steps) => {
      let now = 0
      let taken = 0
      const rate = new Rate(pace, now)
      for (const { waitMs, segments } of steps) {
        now += waitMs
        if (rate.take(segments, now)) taken += segments
        expect(taken).toBeLessThanOrEqual(pace + (pace * now) / 1000 + 1e-6)
      }
    }),
  )
})

test('a message longer than a second of its pace is taken alone, and paid for', () => {
  const rate = new Rate(2, 0)
  expect(rate.take(5, 0)).toBe(true)
  expect(rate.take(1, 1900)).toBe(false)
  expect(rate.take(1, 2001)).toBe(true)
})

test('a pace applies from when it is set', () => {
  const rate = new Rate(1, 0)
  expect([rate.take(1, 0), rate.take(1, 0)]).toEqual([true, false])
  rate.setPace(100)
  expect(rate.take(50, 500)).toBe(true)
})

test('a pace below one a second holds one, and no more', () => {
  const rate = new Rate(0.5, 0)
  expect([rate.take(1, 0), rate.take(1, 0), rate.take(1, 1999), rate.take(1, 2000)]).toEqual([true, false, false, true])
  expect([rate.take(1, 1_000_000), rate.take(1, 1_000_000)]).toEqual([true, false])
})
