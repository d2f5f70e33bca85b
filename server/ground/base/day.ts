/** Windows of limits: a day in an account's zone, and an hour. Pure. */

/** Its end is excluded. */
export interface Span {
  startsAt: Date
  endsAt: Date
}

const minuteMs = 60_000
const hourMs = 3_600_000

export function hourAt(at: Date): Span {
  const start = Math.floor(at.getTime() / hourMs) * hourMs
  return { startsAt: new Date(start), endsAt: new Date(start + hourMs) }
}

const days = new Map<string, Span>()
// There are some 600 zones, and more spellings of them.
const daysMax = 2000

/** The calendar day around a time in an IANA zone: 23 to 25 hours. Caches the last day of each zone. */
export function dayAt(timeZone: string, at: Date): Span {
  const known = days.get(timeZone)
  if (known && known.startsAt <= at && at < known.endsAt) return known
  const format = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' })
  const minute = Math.floor(at.getTime() / minuteMs)
  const today = format.format(at)
  const isToday = (one: number): boolean => format.format(one * minuteMs) === today
  // A day and a half away is another day in every zone, after any clock change.
  const span = {
    startsAt: new Date(edge(minute - 36 * 60, minute, (one) => !isToday(one)) * minuteMs),
    endsAt: new Date(edge(minute, minute + 36 * 60, isToday) * minuteMs),
  }
  if (days.size >= daysMax) days.clear()
  days.set(timeZone, span)
  return span
}

/** The first number of a span for which `holds` is false: it is true for the first, and false for the last. */
function edge(first: number, last: number, holds: (one: number) => boolean): number {
  let [before, after] = [first, last]
  while (after - before > 1) {
    const middle = (before + after) >> 1
    if (holds(middle)) before = middle
    else after = middle
  }
  return after
}
