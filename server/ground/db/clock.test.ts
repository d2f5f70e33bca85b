import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type * as Clock from './clock.ts'

const start = Date.parse('2026-11-21T12:00:00Z')
const dayMs = 86_400_000
let clock: typeof Clock

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: start })
  vi.resetModules()
  clock = await import('./clock.ts')
})
afterEach(() => vi.useRealTimers())

it('the clock is this machine’s until the database is asked, and while both agree', () => {
  expect(clock.nowMs()).toBe(start)
  expect(ask(400)).toBe(0)
  expect(clock.nowMs()).toBe(Date.now())
})

it.each([30_000, 2 * dayMs, -30_000, -21 * dayMs])('the clock is the database’s, which is %i ms ahead', (aheadMs) => {
  const off = ask(aheadMs)
  expect(Math.abs(off - aheadMs)).toBeLessThan(1500)
  pass(5000)
  expect(Math.abs(clock.nowMs() - Date.now() - aheadMs)).toBeLessThan(1500)
  // The clock is unchanged.
  const before = clock.nowMs() - Date.now()
  ask(aheadMs)
  expect(clock.nowMs() - Date.now()).toBe(before)
})

it('a slow response does not move the clock', () => {
  expect(ask(0, 20_000)).toBe(0)
  expect(clock.nowMs()).toBe(start + 20_000)
})

it('the clock continues when this machine’s clock jumps', () => {
  ask(0)
  const before = clock.nowMs()
  vi.setSystemTime(start - 2 * dayMs)
  pass(1000)
  expect(clock.nowMs()).toBe(before + 1000)
  expect(ask(2 * dayMs)).toBeGreaterThan(dayMs)
})

it('the clock follows when the database’s clock is set', () => {
  ask(0)
  ask(dayMs)
  expect(Math.abs(clock.nowMs() - start - dayMs)).toBeLessThan(1500)
  ask(0)
  expect(Math.abs(clock.nowMs() - start)).toBeLessThan(1500)
})

it('the clock always gives the same date for a monotonic time', () => {
  vi.useRealTimers()
  const at = performance.now()
  clock.followClock(new Date(), at)
  const dates = new Set(Array.from({ length: 20_000 }, () => clock.dateOf(at).getTime()))
  expect([...dates]).toEqual([clock.dateOf(at).getTime()])
  expect(Math.abs(clock.dateOf(at).getTime() - Date.now())).toBeLessThan(60_000)
})

const pass = (ms: number): void => void vi.advanceTimersByTime(ms)

/** A database whose clock is ahead of ours, and which answers after some milliseconds. */
function ask(aheadMs: number, answerMs = 10): number {
  const [told, askedAt] = [new Date(Date.now() + aheadMs), performance.now()]
  pass(answerMs)
  return clock.followClock(told, askedAt)
}
