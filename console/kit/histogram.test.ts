import { expect, test } from 'vitest'
import { bucketsOf } from './histogram.tsx'

test('times are buckets with the median and the 95th percentile marked', () => {
  const found = bucketsOf([
    { up_to_ms: 32, count: 40 },
    { up_to_ms: 64, count: 40 },
    { up_to_ms: 128, count: 0 },
    { up_to_ms: 2048, count: 20 },
  ])
  expect(found.buckets.map(({ title }) => title)).toEqual(['≤ 32 ms', '≤ 64 ms', '≤ 128 ms', '≤ 2 s'])
  expect(found.marks).toEqual({ 1: 'p50', 3: 'p95' })
})

test('one bucket has both marks, and no times have none', () => {
  expect(bucketsOf([{ up_to_ms: 1, count: 3 }]).marks).toEqual({ 0: 'p50, p95' })
  expect(bucketsOf([])).toEqual({ buckets: [], marks: {} })
})
