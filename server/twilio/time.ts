/** Reads a date, or an ISO 8601 time (with T or a blank), in UTC if no zone is given; null if it is neither. */
export function readTwilioTime(text: string): Date | null {
  const [, day, time] = /^(\d{4}-\d\d-\d\d)(?:[T ](.+))?$/.exec(text) ?? []
  if (day === undefined) return null
  const zone = time === undefined || /(?:Z|[+-]\d\d:?\d\d)$/i.test(time) ? '' : 'Z'
  const read = new Date(time === undefined ? day : `${day}T${time}${zone}`)
  return Number.isNaN(read.getTime()) ? null : read
}
