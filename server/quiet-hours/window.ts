/** Quiet hours in local time, with summer time. Pure. */

/** A daily span in minutes after midnight, without `end`; across midnight if `start` is later. They differ. */
export interface QuietWindow {
  start: number
  end: number
}

const minuteMs = 60_000
const dayMinutes = 1440
// The longest validity of a message (72 hours): after that it has expired.
const horizonMinutes = 3 * dayMinutes

/**
 * The first moment from `now` on outside quiet hours in all zones (one or more, of the IANA database); null: now. If the windows cover the
 * whole day, three days from now.
 */
export function quietUntil(now: Date, window: QuietWindow, zones: readonly string[]): Date | null {
  const begin = Math.floor(now.getTime() / minuteMs)
  const horizon = begin + horizonMinutes
  let at = begin
  while (at < horizon) {
    let next = at
    for (const zone of zones) next = Math.max(next, openFrom(at, window, clockOf(zone)))
    if (next === at) break
    at = Math.min(next, horizon)
  }
  return at === begin ? null : new Date(at * minuteMs)
}

/** Reads `21:30` as minutes after midnight. */
export function minutesOf(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5))
}

/** From minutes since 1970 to those of the day in a zone. */
type Clock = (minute: number) => number

const clocks = new Map<string, Clock>()
// There are some 600 zones, and many spellings of each by upper and lower case.
const clocksMax = 2000

/** One formatter per zone: creating one takes a hundred times as long as using it. */
function clockOf(timeZone: string): Clock {
  let clock = clocks.get(timeZone)
  if (!clock) {
    const format = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
    clock = (minute) => minutesOf(format.format(minute * minuteMs))
    if (clocks.size >= clocksMax) clocks.clear()
    clocks.set(timeZone, clock)
  }
  return clock
}

const isQuiet = (minute: number, { start, end }: QuietWindow): boolean =>
  start < end ? minute >= start && minute < end : minute >= start || minute < end

/** The first minute from `at` on that is not quiet by one clock. */
function openFrom(at: number, window: QuietWindow, clock: Clock): number {
  for (;;) {
    const minute = clock(at)
    if (!isQuiet(minute, window)) return at
    const end = at + modulo(window.end - minute)
    const change = firstChange(at, end, clock)
    if (change === null) return end
    at = change
  }
}

/** The first minute after `from`, up to `to`, at which the clock changes; null: none. Zones change at most once a day. */
function firstChange(from: number, to: number, clock: Clock): number | null {
  const start = clock(from)
  const isChanged = (at: number): boolean => modulo(clock(at) - start - (at - from)) !== 0
  if (!isChanged(to)) return null
  let [before, after] = [from, to]
  while (after - before > 1) {
    const middle = (before + after) >> 1
    if (isChanged(middle)) after = middle
    else before = middle
  }
  return after
}

const modulo = (minutes: number): number => ((minutes % dayMinutes) + dayMinutes) % dayMinutes
