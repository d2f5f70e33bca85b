import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Agenda } from './agenda.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => vi.useRealTimers())

it('does what is due at once, and the rest in order, at most a slot late', () => {
  const agenda = new Agenda()
  const done: string[] = []
  const put = (delayMs: number): void =>
    agenda.after(delayMs, () => void done.push(`${delayMs} by ${Math.ceil(performance.now() / 5) * 5}`))
  for (const delayMs of [12, 0, 3, 11, -1, 40]) put(delayMs)
  expect(done).toEqual(['0 by 0', '-1 by 0'])
  vi.advanceTimersByTime(4)
  expect(done).toHaveLength(2)
  vi.advanceTimersByTime(36)
  expect(done.slice(2)).toEqual(['3 by 5', '12 by 15', '11 by 15', '40 by 40'])
  expect(vi.getTimerCount()).toBe(0)
})

it('keeps one timer for everything in a slot', () => {
  const agenda = new Agenda()
  for (let n = 0; n < 1_000; n++) agenda.after(6 + (n % 4), () => {})
  expect(vi.getTimerCount()).toBe(1)
})

it('does nothing once it is closed', () => {
  const agenda = new Agenda()
  const work = vi.fn()
  agenda.after(10, work)
  agenda.close()
  expect(vi.getTimerCount()).toBe(0)
  agenda.after(0, work)
  agenda.after(5, work)
  vi.advanceTimersByTime(100)
  expect(work).not.toHaveBeenCalled()
})
