import { expect, test } from 'vitest'
import { readRetryAfter, retryDelayMs, retryDelaysMs } from './schedule.ts'

test('tries ten times in 75.6 hours', () => {
  const middle = () => 0.5
  const waits = Array.from({ length: 9 }, (_, i) => retryDelayMs(i + 1, null, retryDelaysMs, middle))
  expect(waits).toEqual(retryDelaysMs)
  expect(retryDelaysMs.reduce((sum, ms) => sum + ms, 0) / 3_600_000).toBeCloseTo(75.58, 1)
  expect(retryDelayMs(10, null)).toBeNull()
  expect(retryDelayMs(10, 1000)).toBeNull()
})

test('jitters each wait by a fifth at most', () => {
  expect(retryDelayMs(1, null, retryDelaysMs, () => 0)).toBe(4000)
  expect(retryDelayMs(1, null, retryDelaysMs, () => 1)).toBe(6000)
})

test('waits as long as the receiver asks, up to a day', () => {
  expect(retryDelayMs(1, 60_000)).toBe(60_000)
  expect(retryDelayMs(2, 1000)).toBeGreaterThan(200_000)
  expect(retryDelayMs(1, 10 ** 12)).toBe(86_400_000)
})

test.each([
  ['120', 120_000],
  ['0', 0],
  ['Wed, 21 Oct 2015 07:28:10 GMT', 10_000],
  ['Wed, 21 Oct 2015 07:27:00 GMT', 0],
  ['soon', null],
  ['-1', null],
  [undefined, null],
])('reads a Retry-After of %s', (value, expected) => {
  expect(readRetryAfter(value, Date.parse('2015-10-21T07:28:00Z'))).toBe(expected)
})
