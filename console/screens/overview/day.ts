/** Days of the account's time zone. */

/** The first moment of the day, in milliseconds since 1970; `daysBefore` 1: of yesterday. */
export function startOfDay(zone: string | undefined, nowMs: number, daysBefore = 0): number {
  const { year, month, day } = partsAt(zone, nowMs)
  const wanted = Date.UTC(year, month - 1, day - daysBefore)
  // The zone's distance from UTC at about that moment, then at the moment itself: clocks may change between.
  const about = wanted - distanceMs(zone, wanted)
  return wanted - distanceMs(zone, about)
}

/** How far the zone's clock is ahead of UTC. */
function distanceMs(zone: string | undefined, ms: number): number {
  const { year, month, day, hour, minute, second } = partsAt(zone, ms)
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(ms / 1000) * 1000
}

const clocks = new Map<string | undefined, Intl.DateTimeFormat>()

function partsAt(zone: string | undefined, ms: number) {
  const clock = clocks.get(zone) ?? new Intl.DateTimeFormat('en', { ...numeric, timeZone: zone })
  clocks.set(zone, clock)
  const parts = clock.formatToParts(ms)
  const of = (name: string): number => Number(parts.find(({ type }) => type === name)?.value)
  return {
    year: of('year'),
    month: of('month'),
    day: of('day'),
    hour: of('hour'),
    minute: of('minute'),
    second: of('second'),
  }
}

const numeric = {
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
  hourCycle: 'h23',
  calendar: 'gregory',
  numberingSystem: 'latn',
} as const
