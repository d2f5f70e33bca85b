import { expect, test } from 'vitest'
import { momentIn, presetsOf, wallTime } from './schedule.ts'

test('a wall time is the moment at which the clocks of its zone show it', () => {
  expect(momentIn('Asia/Kolkata', '2026-11-28T09:00')).toBe('2026-11-28T03:30:00.000Z')
  expect(momentIn('America/New_York', '2026-07-01T09:00')).toBe('2026-07-01T13:00:00.000Z')
  expect(momentIn('Europe/Berlin', '2026-10-25T12:00')).toBe('2026-10-25T11:00:00.000Z')
  expect(wallTime(new Date('2026-11-28T03:30:00Z'), 'Asia/Kolkata')).toBe('2026-11-28T09:00')
})

test('a time or zone that nobody knows stays for the API to refuse', () => {
  expect(momentIn('UTC', 'soon')).toBe('soon')
  expect(momentIn('Mars/Olympus', '2026-11-28T09:00')).toBe('2026-11-28T09:00')
})

test('presets are of the zone: its tomorrow can be another day than ours', () => {
  const saturday = new Date('2026-11-28T23:30:00Z')
  expect(presetsOf(saturday, 'UTC')).toEqual([
    { name: 'In an hour', local: '2026-11-29T00:30' },
    { name: 'Tomorrow 9:00', local: '2026-11-29T09:00' },
    { name: 'Monday 9:00', local: '2026-11-30T09:00' },
  ])
  // It is Sunday there already, and tomorrow is Monday.
  expect(presetsOf(saturday, 'Asia/Tokyo').map(({ local }) => local)).toEqual(['2026-11-29T09:30', '2026-11-30T09:00'])
})
