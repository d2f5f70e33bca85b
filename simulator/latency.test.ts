import { expect, it } from 'vitest'
import { parseLatency } from './latency.ts'

it.each([
  ['30', { p50: 30, p99: 30 }, 30, 30],
  ['20-120', { p50: 32.5, p99: 117 }, 20, 120],
  ['uniform:20-120', { p50: 70, p99: 119 }, 20, 120],
  ['exponential:40', { p50: 40, p99: 266 }, 0, 3_600_000],
  ['lognormal:40-900', { p50: 40, p99: 900 }, 0, 3_600_000],
])('%s has the given percentiles', (text, { p50, p99 }, min, max) => {
  const measured = measure(text)
  expect(Math.abs(measured.p50 / p50 - 1)).toBeLessThan(0.15)
  expect(Math.abs(measured.p99 / p99 - 1)).toBeLessThan(0.3)
  expect(measured.min).toBeGreaterThanOrEqual(min)
  expect(measured.max).toBeLessThanOrEqual(max)
})

it.each([
  '',
  '-1',
  '1.5',
  '20-10',
  'soon',
  'uniform:20',
  'exponential:1-2',
  'lognormal:0-9',
  'lognormal:9',
  'normal:1-2',
])('%j is not a latency', (text) => {
  expect(parseLatency(text)).toBeNull()
})

function measure(text: string): { p50: number; p99: number; min: number; max: number } {
  const pick = parseLatency(text)
  const picked = Float64Array.from({ length: 20_000 }, () => pick?.() ?? Number.NaN).toSorted()
  const at = (share: number): number => picked[Math.floor(share * (picked.length - 1))] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99), min: at(0), max: at(1) }
}
