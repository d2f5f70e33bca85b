import { expect, test } from 'vitest'
import { startOfDay } from './day.ts'

const start = (zone: string | undefined, now: string, daysBefore = 0): string =>
  new Date(startOfDay(zone, Date.parse(now), daysBefore)).toISOString()

test.each([
  ['UTC', '2026-11-28T12:00:00Z', '2026-11-28T00:00:00.000Z'],
  ['Asia/Kolkata', '2026-11-28T12:00:00Z', '2026-11-27T18:30:00.000Z'],
  ['America/Los_Angeles', '2026-11-28T02:00:00Z', '2026-11-27T08:00:00.000Z'],
  // Clocks changed at two in the morning of that day.
  ['Europe/Berlin', '2026-03-29T12:00:00Z', '2026-03-28T23:00:00.000Z'],
  ['Europe/Berlin', '2026-10-25T12:00:00Z', '2026-10-24T22:00:00.000Z'],
])('the day begins at midnight in %s at %s', (zone, now, wanted) => {
  expect(start(zone, now)).toBe(wanted)
})

test('yesterday begins at its own midnight, also across months and changes of clocks', () => {
  expect(start('UTC', '2026-12-01T12:00:00Z', 1)).toBe('2026-11-30T00:00:00.000Z')
  expect(start('Europe/Berlin', '2026-03-30T12:00:00Z', 1)).toBe('2026-03-28T23:00:00.000Z')
})
