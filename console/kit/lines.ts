/** Lists of words in a field of text: parted by lines, spaces or commas. */
export const linesOf = (text: string): string[] => text.split(/[\s,]+/).filter((one) => one !== '')

/** Text of a moment in a field `datetime-local`, which knows no time zone: that of this browser. */
export function localTime(date: Date): string {
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 16)
}

/** The moment that such a field says, for the API; undefined where it is empty. */
export const momentOf = (text: string): string | undefined => (text === '' ? undefined : new Date(text).toISOString())
