import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatAbsoluteTime, formatRelativeTime, parseTime } from './time.ts'

const NOW = new Date('2026-01-31T12:00:00Z')

test('writes an absolute time in UTC', () => {
  expect(formatAbsoluteTime(new Date('2026-11-21T01:02:03.456Z'))).toBe('261121010203400+')
})

test('writes a relative time, rounded up', () => {
  expect(formatRelativeTime(-1)).toBe('000000000000000R')
  expect(formatRelativeTime(86_399_000)).toBe('000000235959000R')
  expect(formatRelativeTime(0)).toBe('000000000000000R')
  expect(formatRelativeTime(90_000)).toBe('000000000130000R')
  expect(formatRelativeTime(2 * 86_400_000 + 3_600_001)).toBe('000002010001000R')
  expect(formatRelativeTime(1e12)).toBe('000099000000000R')
})

test.each([
  ['261121010203400+', '2026-11-21T01:02:03.400Z'],
  ['261121030203008+', '2026-11-21T01:02:03.000Z'],
  ['261120210203016-', '2026-11-21T01:02:03.000Z'],
  ['000001020304000R', '2026-02-01T14:03:04.000Z'],
  ['010200000000000R', '2027-03-31T12:00:00.000Z'],
  ['261231235959948+', '2026-12-31T11:59:59.900Z'],
  ['260101000000048-', '2026-01-01T12:00:00.000Z'],
])('reads %s', (text, expected) => {
  expect(parseTime(text, NOW)?.toISOString()).toBe(expected)
})

test.each([
  '',
  '2611210102034',
  'abcdefabcdef000+',
  // Out of range: month, day, hour, minute, second, and more than twelve hours from UTC.
  '260021010203400+',
  '261321010203400+',
  '261100010203400+',
  '260230010203400+',
  '261131010203400+',
  '261121240203400+',
  '261121016003400+',
  '261121010260400+',
  '261121010203449+',
])('does not read %j', (text) => {
  expect(parseTime(text, NOW)).toBeUndefined()
})

test('reads back its own output, to a tenth of a second', () => {
  const within = { min: new Date('2000-01-01T00:00:00Z'), max: new Date('2099-12-31T23:59:59Z'), noInvalidDate: true }
  fc.assert(
    fc.property(fc.date(within), (date) => {
      const tenths = new Date(Math.floor(date.getTime() / 100) * 100)
      expect(parseTime(formatAbsoluteTime(date), NOW)).toEqual(tenths)
    }),
  )
})
