import { expect, test } from 'vitest'
import { formatTick, tellStep } from './chart-times.ts'

const noon = Date.parse('2026-11-28T12:00:10Z')

test('ticks a day apart are dates, closer ones are times, in the given zone', () => {
  expect(formatTick(noon, 86_400, 'UTC')).toContain('28')
  expect(formatTick(noon, 10, 'UTC')).toMatch(/12:00:10/)
  expect(formatTick(noon, 600, 'Europe/Berlin')).toMatch(/^(1|13):00/)
})

test('the text of a step is as exact as the step is long', () => {
  expect(tellStep(noon, 10_000, 'UTC')).toMatch(/12:00:10/)
  expect(tellStep(noon, 60_000, 'UTC')).not.toMatch(/:10/)
  expect(tellStep(noon, 3_600_000, 'UTC')).toMatch(/28/)
  expect(tellStep(noon, 86_400_000, 'UTC')).not.toMatch(/12:00/)
})
