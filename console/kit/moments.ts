/** Times of the API and of date fields. Invalid ones stay unchanged, for the API to refuse. */

/** For `datetime-local`, in the browser's time zone. */
export function localTime(date: Date): string {
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 16)
}

/** From `datetime-local` (`2026-12-01T09:00`). */
export function momentOf(local: string): string {
  const moment = new Date(local)
  return Number.isNaN(moment.getTime()) ? local : moment.toISOString()
}

/** The start of a day in the browser's time zone, or of the next day. */
export function momentOfDay(day: string, isAfter = false): string {
  const moment = new Date(`${day}T00:00:00`)
  if (Number.isNaN(moment.getTime())) return day
  if (isAfter) moment.setDate(moment.getDate() + 1)
  return moment.toISOString()
}

/** The end of a UTC day, exclusive. */
export function endOfDay(day: string): string {
  const start = Date.parse(`${day}T00:00:00Z`)
  return Number.isNaN(start) ? day : new Date(start + 86_400_000).toISOString()
}
