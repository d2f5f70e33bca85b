/** Quiet hours on the wall clocks of time zones, summer time and all. Pure. */

/** A span of every day in minutes after midnight, `end` not in it; over midnight where `start` is the later one. They differ. */
export interface QuietWindow {
  start: number
  end: number
}

const minuteMs = 60_000
const dayMinutes = 1440
// The longest validity of a message (72 hours): what would have to wait longer has expired.
const horizonMinutes = 3 * dayMinutes

/**
 * The first moment from `now` on when it is quiet in none of the zones (at least one, of the IANA database); null where it is not quiet
 * now. Where their windows leave no moment of the day, three days from now.
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
// There are some 600 zones, and as many spellings of each as letters can be large and small.
const clocksMax = 2000

/** One formatter a zone: making one takes a hundred times as long as using it. */
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

/** The first minute after `from` and up to `to` by which the clock was put forward or back; null: it runs on. Zones do that once a day at most. */
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
