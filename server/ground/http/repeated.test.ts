import { afterEach, expect, it, vi } from 'vitest'
import { Repeated } from './repeated.ts'

afterEach(() => {
  vi.useRealTimers()
})

it('logs the first at once, and the others a minute later, with the last of them', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  const told: [unknown, number][] = []
  const failures = new Repeated((last, times) => told.push([last, times]))
  failures.note('first')
  await vi.advanceTimersByTimeAsync(0)
  expect(told).toEqual([['first', 1]])
  for (let n = 1; n <= 1000; n++) {
    failures.note(`number ${n}`)
    await vi.advanceTimersByTimeAsync(59)
  }
  expect(told).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(1000)
  expect(told[1]).toEqual(['number 1000', 1000])
  failures.note('another')
  failures.flush()
  failures.flush()
  await vi.advanceTimersByTimeAsync(120_000)
  expect(told.slice(2)).toEqual([['another', 1]])
})
