/** Times as that API is given them. */

/** A day, or a time as of ISO 8601 (a blank may stand for the T), of UTC where no zone is named; null for what is none. */
export function readTwilioTime(text: string): Date | null {
  const [, day, time] = /^(\d{4}-\d\d-\d\d)(?:[T ](.+))?$/.exec(text) ?? []
  if (day === undefined) return null
  const zone = time === undefined || /(?:Z|[+-]\d\d:?\d\d)$/i.test(time) ? '' : 'Z'
  const read = new Date(time === undefined ? day : `${day}T${time}${zone}`)
  return Number.isNaN(read.getTime()) ? null : read
}
