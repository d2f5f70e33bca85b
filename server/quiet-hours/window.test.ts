import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { minutesOf, quietUntil, type QuietWindow } from './window.ts'

const night: QuietWindow = { start: minutesOf('21:00'), end: minutesOf('08:00') }

describe('quiet hours', () => {
  it('begin with their first minute and end after their last', () => {
    expect(until('2026-06-10T20:59:59.999Z', ['UTC'])).toBeNull()
    expect(until('2026-06-10T21:00:00Z', ['UTC'])).toBe('2026-06-11T08:00:00.000Z')
    expect(until('2026-06-11T07:59:59.999Z', ['UTC'])).toBe('2026-06-11T08:00:00.000Z')
    expect(until('2026-06-11T08:00:00Z', ['UTC'])).toBeNull()
    const noon = { start: minutesOf('12:00'), end: minutesOf('14:30') }
    expect(until('2026-06-11T13:00:00Z', ['UTC'], noon)).toBe('2026-06-11T14:30:00.000Z')
    expect(until('2026-06-11T23:00:00Z', ['UTC'], noon)).toBeNull()
  })

  it('follow summer time in both hemispheres, also in the night of the change', () => {
    // Berlin: 02:00 becomes 03:00 on 29 March 2026, and 03:00 becomes 02:00 on 25 October.
    expect(until('2026-03-28T20:00:00Z', ['Europe/Berlin'])).toBe('2026-03-29T06:00:00.000Z')
    expect(until('2026-10-24T19:00:00Z', ['Europe/Berlin'])).toBe('2026-10-25T07:00:00.000Z')
    // Sydney: summer time begins on 4 October 2026 and ends on 5 April.
    expect(until('2026-10-03T11:00:00Z', ['Australia/Sydney'])).toBe('2026-10-03T21:00:00.000Z')
    expect(until('2026-04-04T10:00:00Z', ['Australia/Sydney'])).toBe('2026-04-04T22:00:00.000Z')
  })

  it('end when the clock jumps over their end', () => {
    const early = { start: minutesOf('01:00'), end: minutesOf('02:30') }
    expect(until('2026-03-29T00:30:00Z', ['Europe/Berlin'], early)).toBe('2026-03-29T01:00:00.000Z')
  })

  it('apply while they are in any of several zones', () => {
    const zones = ['America/New_York', 'America/Los_Angeles', 'Pacific/Honolulu']
    // 17:00 in New York, 11:00 in Honolulu.
    expect(until('2026-07-01T21:00:00Z', zones)).toBeNull()
    // 21:00 in New York; 08:00 in Honolulu is 14:00 there.
    expect(until('2026-07-02T01:00:00Z', zones)).toBe('2026-07-02T18:00:00.000Z')
  })

  it('that leave no moment of the day last for three days, when everything has expired', () => {
    const zones = ['Pacific/Auckland', 'Europe/London']
    expect(until('2026-07-01T12:00:00Z', zones, { start: 8 * 60, end: 7 * 60 })).toBe('2026-07-04T12:00:00.000Z')
  })
})

// Half and quarter hours, a summer time of half an hour, changes at midnight, both hemispheres, and none.
const zones = [
  'UTC',
  'Europe/London',
  'Europe/Berlin',
  'America/New_York',
  'America/St_Johns',
  'America/Havana',
  'America/Santiago',
  'America/Asuncion',
  'Africa/Casablanca',
  'Africa/Cairo',
  'Asia/Beirut',
  'Asia/Gaza',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Asia/Tehran',
  'Australia/Adelaide',
  'Australia/Lord_Howe',
  'Pacific/Chatham',
  'Pacific/Apia',
  'Pacific/Kiritimati',
  'Pacific/Honolulu',
]
const minuteMs = 60_000
const formats = new Map(
  zones.map((timeZone) => [
    timeZone,
    new Intl.DateTimeFormat('en-US', { timeZone, hour: 'numeric', minute: 'numeric', hourCycle: 'h23' }),
  ]),
)

/** A slow oracle: Intl's parts, minute by minute. */
function isQuietIn(zone: string, at: number, { start, end }: QuietWindow): boolean {
  const parts = formats.get(zone)?.formatToParts(at) ?? []
  const part = (type: string): number => Number(parts.find((one) => one.type === type)?.value)
  const minute = part('hour') * 60 + part('minute')
  return start < end ? minute >= start && minute < end : minute >= start || minute < end
}

/** The days around every clock change between 2010 and 2030, as [zone, time]. */
const changes = zones.flatMap((zone) => {
  const found: [string, number][] = []
  const offset = (at: number): string => formats.get(zone)?.format(at) ?? ''
  for (let at = Date.UTC(2010, 0, 1); at < Date.UTC(2030, 0, 1); at += 86_400_000)
    if (offset(at) !== offset(at + 86_400_000)) found.push([zone, at])
  return found
})

const window = fc
  .record({ start: fc.integer({ min: 0, max: 1439 }), end: fc.integer({ min: 0, max: 1439 }) })
  .filter(({ start, end }) => start !== end)

function check(now: number, hours: QuietWindow, all: readonly string[]): void {
  const answer = quietUntil(new Date(now), hours, all)
  const isQuiet = (at: number): boolean => all.some((zone) => isQuietIn(zone, at, hours))
  expect(answer !== null, 'quiet now').toBe(isQuiet(now))
  if (!answer) return
  const end = answer.getTime()
  expect(end).toBeGreaterThan(now)
  // Samples, to save time, but every minute just before the end.
  for (let at = now; at < end; at += 7 * minuteMs) expect(isQuiet(at), new Date(at).toISOString()).toBe(true)
  for (let back = 1; back < 12; back++)
    if (end - back * minuteMs > now) expect(isQuiet(end - back * minuteMs)).toBe(true)
  if (end - now < 3 * 86_400_000 - minuteMs) expect(isQuiet(end), answer.toISOString()).toBe(false)
}

describe('the end of quiet hours', () => {
  it('agrees with Intl minute by minute, around changes of the clock', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...changes),
        fc.integer({ min: -30 * 3_600_000, max: 40 * 3_600_000 }),
        window,
        ([zone, day], shift, hours) => check(day + shift, hours, [zone]),
      ),
      { numRuns: 1500 },
    )
  })

  it('agrees with Intl at any time in any few zones', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: Date.UTC(2010, 0, 1), max: Date.UTC(2030, 0, 1) }),
        window,
        fc.uniqueArray(fc.constantFrom(...zones), { minLength: 1, maxLength: 3 }),
        check,
      ),
      { numRuns: 800 },
    )
  })
})

const until = (now: string, zones: string[], window = night): string | null =>
  quietUntil(new Date(now), window, zones)?.toISOString() ?? null
