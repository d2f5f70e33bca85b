/** Lists of words in a field of text: parted by lines, spaces or commas. */
export const linesOf = (text: string): string[] => text.split(/[\s,]+/).filter((one) => one !== '')

/** Text of a moment in a field `datetime-local`, which knows no time zone: that of this browser. */
export function localTime(date: Date): string {
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 16)
}

/** The moment that such a field says, for the API; undefined where it is empty. */
export const momentOf = (text: string): string | undefined => (text === '' ? undefined : new Date(text).toISOString())

/** The number in a field that may not be empty: an empty one is sent as none, which the API refuses, and not as 0, which may do harm. */
export const numberFrom = (text: string): number => (text.trim() === '' ? NaN : Number(text))

/** The first moment behind a day (UTC) of an address; what is no day stays as it is, for the API to refuse. */
export function endOfDay(day: string): string {
  const start = Date.parse(`${day}T00:00:00Z`)
  return Number.isNaN(start) ? day : new Date(start + 86_400_000).toISOString()
}
