import { expect, it } from 'vitest'
import { isTimezone, timeIn } from './timezone.ts'

it('knows the zones of the IANA database, in any case, and no other short names', () => {
  for (const zone of ['Europe/London', 'europe/london', 'UTC', 'GB', 'CET', 'cet', 'EST5EDT', 'Pacific/Kiritimati'])
    expect([zone, isTimezone(zone)]).toEqual([zone, true])
  // The runtime takes these for Dhaka, Harare, Apia, Puerto Rico and Los Angeles.
  for (const zone of ['BST', 'CAT', 'MIT', 'prt', 'PST', 'CEST', '+01:00', 'Mars/Base', ''])
    expect([zone, isTimezone(zone)]).toEqual([zone, false])
})

const clockOf = (timeZone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })

it('says when a zone’s clock shows a time', () => {
  for (const zone of Intl.supportedValuesOf('timeZone'))
    for (const time of ['2026-01-15 12:00:00', '2026-03-29 12:00:00', '2026-07-15 23:59:59', '2026-10-25 12:00:00'])
      expect([zone, clockOf(zone).format(timeIn(Date.parse(`${time}Z`), zone))]).toEqual([zone, time])
})

it.each([
  ['before it is put forward', '2026-03-29T01:59', 'Europe/Berlin', '2026-03-29T00:59'],
  ['that is left out', '2026-03-29T02:30', 'Europe/Berlin', '2026-03-29T01:30'],
  ['after it was put forward', '2026-03-29T03:00', 'Europe/Berlin', '2026-03-29T01:00'],
  ['before it is put back', '2026-10-25T01:59', 'Europe/Berlin', '2026-10-24T23:59'],
  ['that comes twice', '2026-10-25T02:30', 'Europe/Berlin', '2026-10-25T01:30'],
  ['after it was put back', '2026-10-25T03:00', 'Europe/Berlin', '2026-10-25T02:00'],
  ['left out in the west', '2026-03-08T02:30', 'America/New_York', '2026-03-08T07:30'],
  ['that comes twice in the west', '2026-11-01T01:30', 'America/New_York', '2026-11-01T06:30'],
  ['of half an hour', '2026-04-05T01:45', 'Australia/Lord_Howe', '2026-04-04T15:15'],
])('knows a time %s', (_, local, zone, expected) => {
  expect(
    timeIn(Date.parse(`${local}Z`), zone)
      .toISOString()
      .slice(0, 16),
  ).toBe(expected)
})
