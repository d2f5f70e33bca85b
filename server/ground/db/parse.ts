import { types } from 'pg'

/** Array types have no name in pg; these are the OIDs of pg_type. */
const oids = {
  int8: 20,
  date: 1082,
  timestamp: 1114,
  timestamptz: 1184,
  textArray: 1009,
  int8Array: 1016,
  dateArray: 1182,
  timestampArray: 1115,
}

const parserOf = types.getTypeParser as (oid: number, format?: unknown) => (text: string) => unknown
const parseTextArray = parserOf(oids.textArray) as (text: string) => (string | null)[]

const ours = new Map<number, (text: string) => unknown>([
  [oids.int8, parseInt8],
  [oids.int8Array, (text) => parseTextArray(text).map((item) => (item === null ? null : parseInt8(item)))],
  [oids.date, (text) => text],
  [oids.timestamp, (text) => text],
  [oids.timestamptz, parseTimestamptz],
  [oids.dateArray, parseTextArray],
  [oids.timestampArray, parseTextArray],
])

/**
 * Parsers for pg's `types`: pg's own, except that int8 is a number (counts, sequences and money in minor units stay far below 2^53; beyond
 * it the query fails instead of rounding), and that date and timestamp without zone stay text, because pg would move them into this
 * machine's time zone.
 */
export const getTypeParser = ((oid: number, format?: unknown) =>
  (format === 'binary' ? undefined : ours.get(oid)) ?? parserOf(oid, format)) as typeof types.getTypeParser

const parseAnyTimestamptz = parserOf(oids.timestamptz) as (text: string) => Date

/** `2026-11-21 02:13:16.934+00`, as a session in UTC writes it: a message has eight of them, and pg's parser takes a microsecond each. */
function parseTimestamptz(text: string): Date {
  const digits = (from: number, to: number): number => {
    let value = 0
    for (let i = from; i < to; i++) value = value * 10 + text.charCodeAt(i) - 48
    return value
  }
  const end = text.length - 3
  if (text.charCodeAt(4) !== 45 || text.charCodeAt(end) !== 43 || !text.endsWith('00') || end < 19)
    return parseAnyTimestamptz(text)
  const fraction = end > 20 ? digits(20, Math.min(end, 23)) * 10 ** Math.max(0, 23 - end) : 0
  return new Date(
    Date.UTC(digits(0, 4), digits(5, 7) - 1, digits(8, 10), digits(11, 13), digits(14, 16), digits(17, 19), fraction),
  )
}

function parseInt8(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`${text} does not fit a number; select it as text`)
  return value
}
