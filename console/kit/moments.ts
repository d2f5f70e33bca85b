/** Moments of the API, and what people choose in fields of days and times. What is no moment stays as it is, for the API to refuse. */

/** What a field `datetime-local` shows for a moment: the time of this browser's time zone. */
export function localTime(date: Date): string {
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 16)
}

/** The moment that such a field says (`2026-12-01T09:00`). */
export function momentOf(local: string): string {
  const moment = new Date(local)
  return Number.isNaN(moment.getTime()) ? local : moment.toISOString()
}

/** The moment at which a day of this browser's time zone begins, or the one after it. */
export function momentOfDay(day: string, isAfter = false): string {
  const moment = new Date(`${day}T00:00:00`)
  if (Number.isNaN(moment.getTime())) return day
  if (isAfter) moment.setDate(moment.getDate() + 1)
  return moment.toISOString()
}

/** The first moment behind a day of UTC. */
export function endOfDay(day: string): string {
  const start = Date.parse(`${day}T00:00:00Z`)
  return Number.isNaN(start) ? day : new Date(start + 86_400_000).toISOString()
}
