/** Filters of merge fields: a closed list, each linear in the value. */

/** Changes a value; null: it cannot, and the value counts as missing. */
export type Filter = (value: string) => string | null

export type Argument = string | number

type MakeFilter = (args: readonly Argument[], language: string) => Filter | string

/** Filters by name; each returns a fault of its arguments, if any. `default` is part of the language itself. */
export const filters: ReadonlyMap<string, MakeFilter> = new Map<string, MakeFilter>([
  ['upper', plain(upper)],
  ['lower', plain((value, language) => value.toLocaleLowerCase(language))],
  ['capitalize', plain(capitalize)],
  ['title', plain(title)],
  ['trim', plain((value) => value.trim())],
  ['truncate', truncate],
  ['date', date],
])

/** Names of our filters in other template languages. */
export const otherNames: ReadonlyMap<string, string> = new Map([
  ['upcase', 'upper'],
  ['uppercase', 'upper'],
  ['downcase', 'lower'],
  ['lowercase', 'lower'],
  ['capitalise', 'capitalize'],
  ['titlecase', 'title'],
  ['strip', 'trim'],
  ['fallback', 'default'],
  ['or', 'default'],
])

// Languages with case rules of their own (Unicode, SpecialCasing.txt); without them, conversion is faster.
const ownCases = /^(az|el|hy|lt|tr)\b/i

function plain(change: (value: string, language?: string) => string): MakeFilter {
  return (args, language) => {
    if (args.length > 0) return 'takes no argument'
    const own = ownCases.test(language) ? language : undefined
    return (value) => change(value, own)
  }
}

function upper(value: string, language?: string): string {
  return language === undefined ? value.toUpperCase() : value.toLocaleUpperCase(language)
}

/** Only the first character changes: McDonald stays McDonald. */
function capitalize(value: string, language?: string): string {
  const first = String.fromCodePoint(value.codePointAt(0) ?? 0)
  return value === '' ? '' : upper(first, language) + value.slice(first.length)
}

function title(value: string, language?: string): string {
  return value.replace(/\p{L}[\p{L}\p{M}'’]*/gu, (word) => capitalize(word.toLocaleLowerCase(language), language))
}

/** Counts characters as a reader does, the ending included. */
function truncate([length, ending = '...']: readonly Argument[]): Filter | string {
  if (typeof length !== 'number' || typeof ending !== 'string')
    return 'takes a length and optionally an ending, as in truncate: 20, "..."'
  const room = length - countCharacters(ending)
  if (room < 0) return `has an ending that is longer than ${length}`
  return (value) => {
    // A string has at least as many units as characters: most values need no segmentation.
    if (value.length <= length) return value
    const characters = splitCharacters(value)
    return characters.length <= length ? value : characters.slice(0, room).join('') + ending
  }
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })
const splitCharacters = (value: string): string[] =>
  /^[\x20-\x7e]*$/.test(value) ? value.split('') : Array.from(graphemes.segment(value), ({ segment }) => segment)
const countCharacters = (value: string): number => splitCharacters(value).length

/** A date (RFC 3339, time and zone optional), shown in its own zone. */
interface Moment {
  /** The local time as if it were UTC. */
  clock: Date
  hasTime: boolean
}

const two = (value: number): string => String(value).padStart(2, '0')
const hour12 = (clock: Date): number => clock.getUTCHours() % 12 || 12

/** Parts of a date format (the letters of C's strftime); `time` marks those that need a time of day. */
const dateParts: Readonly<Record<string, { time?: true; show: (clock: Date, language: string) => string }>> = {
  Y: { show: (clock) => String(clock.getUTCFullYear()) },
  y: { show: (clock) => two(clock.getUTCFullYear() % 100) },
  m: { show: (clock) => two(clock.getUTCMonth() + 1) },
  d: { show: (clock) => two(clock.getUTCDate()) },
  e: { show: (clock) => String(clock.getUTCDate()) },
  B: { show: (clock, language) => nameOf(clock, language, { month: 'long' }) },
  b: { show: (clock, language) => nameOf(clock, language, { month: 'short' }) },
  A: { show: (clock, language) => nameOf(clock, language, { weekday: 'long' }) },
  a: { show: (clock, language) => nameOf(clock, language, { weekday: 'short' }) },
  H: { time: true, show: (clock) => two(clock.getUTCHours()) },
  I: { time: true, show: (clock) => String(hour12(clock)) },
  M: { time: true, show: (clock) => two(clock.getUTCMinutes()) },
  p: { time: true, show: (clock) => (clock.getUTCHours() < 12 ? 'AM' : 'PM') },
  '%': { show: () => '%' },
}

// Creating a formatter takes 50 µs, using one 1 µs. Each takes 30 KB, and the number of language tags is unlimited.
const formattersMax = 500
const formatters = new Map<string, Intl.DateTimeFormat>()

function nameOf(clock: Date, language: string, options: Intl.DateTimeFormatOptions): string {
  const key = `${language} ${JSON.stringify(options)}`
  let formatter = formatters.get(key)
  if (!formatter) {
    if (formatters.size >= formattersMax) formatters.clear()
    formatter = new Intl.DateTimeFormat(language, { ...options, timeZone: 'UTC' })
    formatters.set(key, formatter)
  }
  return formatter.format(clock)
}

function date([format, ...more]: readonly Argument[], language: string): Filter | string {
  if (typeof format !== 'string' || more.length > 0) return 'takes a format, as in date: "%d/%m/%Y"'
  const pieces = format.split(/(%.?)/su)
  const unknown = pieces.find((piece, i) => i % 2 === 1 && !Object.hasOwn(dateParts, piece.slice(1)))
  if (unknown !== undefined) return `does not support ${unknown}; use %${Object.keys(dateParts).join(' %')}`
  const needsTime = pieces.some((piece, i) => i % 2 === 1 && dateParts[piece.slice(1)]?.time)
  return (value) => {
    const moment = readMoment(value.trim())
    if (!moment || (needsTime && !moment.hasTime)) return null
    return pieces
      .map((piece, i) => (i % 2 === 1 ? (dateParts[piece.slice(1)]?.show(moment.clock, language) ?? '') : piece))
      .join('')
  }
}

function readMoment(value: string): Moment | null {
  const [, year, month, day, hour, minute] =
    /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::\d\d(?:\.\d+)?)?(?:[Zz]|[+-]\d\d:?\d\d)?)?$/.exec(value) ?? []
  if (year === undefined) return null
  const clock = new Date(`${year}-${month}-${day}T${hour ?? '00'}:${minute ?? '00'}:00Z`)
  // Node.js reads 30 February as 1 March.
  if (Number.isNaN(clock.getTime()) || clock.getUTCDate() !== Number(day)) return null
  return { clock, hasTime: hour !== undefined }
}
