import type { Series } from '@heliogram/sdk'
import { expect, test } from 'vitest'
import { healthOf } from './rates.ts'

const seriesOf = (succeeded: number[], failed: number[], buckets: [number, number][] = []): Series => ({
  object: 'series',
  by: 'webhook',
  id: 'whk_1',
  step_seconds: 60,
  since: '2026-11-28T12:00:00Z',
  until: '2026-11-28T13:00:00Z',
  counts: { succeeded, failed },
  latency: {
    response: { p50_ms: [], p95_ms: [], histogram: buckets.map(([up_to_ms, count]) => ({ up_to_ms, count })) },
  },
})

test('a webhook has a success rate, and the bucket of its 95th percentile', () => {
  const health = healthOf(
    seriesOf(
      [90, 5],
      [0, 5],
      [
        [16, 90],
        [64, 6],
        [512, 4],
      ],
    ),
  )
  expect(health).toMatchObject({ succeeded: 95, failed: 5, rate: 0.95, p95: 64 })
  expect(health.times).toEqual([Date.parse('2026-11-28T12:00:00Z'), Date.parse('2026-11-28T12:01:00Z')])
})

test('without posts there is no rate, and a long series has few cells, which lose nothing', () => {
  expect(healthOf(seriesOf([0], [0]))).toMatchObject({ rate: null, p95: null })
  const { steps } = healthOf(seriesOf(Array(1440).fill(1), Array(1440).fill(2)))
  expect(steps).toHaveLength(60)
  expect(steps[0]).toMatchObject({ succeeded: 24, failed: 48 })
})
