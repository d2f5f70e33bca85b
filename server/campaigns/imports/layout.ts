/** The first line of a CSV file: its delimiter, and which column fills which field. */
import { parse } from 'csv-parse/sync'
import type { FieldError } from '../../errors.ts'
import { attributeLimits } from '../contact.ts'
import type { CsvLayout } from './store.ts'

/** Names under which a field is found, in lower case without punctuation; the first is its own. */
const synonyms = {
  phone_number: [
    'phonenumber',
    'phone',
    'mobile',
    'msisdn',
    'to',
    'mobilenumber',
    'mobilephone',
    'cell',
    'cellphone',
    'cellnumber',
    'telephone',
    'telephonenumber',
    'tel',
    'phoneno',
    'mobileno',
    'number',
    'recipient',
    'destination',
    'contactnumber',
    'whatsapp',
    'gsm',
    'telefon',
    'telefono',
    'téléphone',
    'handy',
    'handynummer',
  ],
  first_name: ['firstname', 'first', 'givenname', 'forename', 'vorname', 'prénom'],
  last_name: ['lastname', 'last', 'surname', 'familyname', 'nachname'],
  external_id: ['externalid', 'id', 'customerid', 'userid', 'contactid', 'reference', 'ref'],
  language: ['language', 'lang', 'locale'],
  country: ['country', 'countrycode'],
  timezone: ['timezone', 'tz'],
  tags: ['tags', 'tag', 'labels'],
  consent: ['consent', 'consentstatus', 'optin'],
} as const satisfies Record<string, readonly string[]>

const fieldOf = new Map<string, string>(
  Object.entries(synonyms).flatMap(([field, names]) => names.map((name) => [name, field] as const)),
)
// The column of our own file of bad rows, which people correct and send again.
const ignored = new Set(['error'])
const delimiters = [',', ';', '\t', '|']

/** Longest row of any format, in bytes: twice the fields of a contact at their largest. */
export const rowBytesMax = 65_536

/** Why a file cannot be read at all, seen from its first bytes; null where it can. */
export function refuseBytes(bytes: Buffer): string | null {
  if (bytes.length === 0) return 'must not be empty'
  const start = bytes.subarray(0, 4).toString('latin1')
  if (start.startsWith('PK\u0003\u0004'))
    return 'must be text, and this is a workbook or an archive; export it as CSV in UTF-8'
  if (start.startsWith('\u001f\u008b')) return 'must not be compressed'
  if (start.startsWith('\u00ff\u00fe') || start.startsWith('\u00fe\u00ff'))
    return 'must be UTF-8, and this is UTF-16; save it as UTF-8'
  // One stray NUL is a bad row; a file full of them is no text.
  const head = bytes.subarray(0, 4096)
  let nuls = 0
  for (const byte of head) if (byte === 0) nuls++
  return nuls > head.length / 64 ? 'must be text in UTF-8' : null
}

/**
 * Reads the layout from the first bytes of a CSV file. `isWhole` says that there are no more.
 * Returns field errors where the file cannot be imported: it has no header, no column of numbers, or no rows.
 */
export function readLayout(bytes: Buffer, isWhole: boolean): CsvLayout | FieldError[] {
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '')
  const end = endOfRecord(text)
  if (end === -1 && !isWhole) return refuse(`must begin with a line of column names of at most ${rowBytesMax} bytes`)
  const line = end === -1 ? text : text.slice(0, end)
  if (line.length > rowBytesMax) return refuse(`must begin with a line of column names of at most ${rowBytesMax} bytes`)
  // What was no UTF-8 has been decoded to U+FFFD.
  if (line.includes('\0') || line.includes('\uFFFD')) return refuse('must be UTF-8; save it as UTF-8 and send it again')
  const delimiter = delimiterOf(line)
  const rows: string[][] = parse(line, { delimiter, relax_quotes: true, skip_empty_lines: true })
  const header = (rows[0] ?? []).map((name) => name.trim())
  if (header.length === 0) return refuse('must have a line of column names and then rows')
  const layout = mapColumns(header, delimiter)
  if (Array.isArray(layout)) return layout
  if (isWhole && (end === -1 || text.slice(end).trim() === ''))
    return refuse('must have rows behind its line of column names')
  return layout
}

function mapColumns(header: string[], delimiter: string): CsvLayout | FieldError[] {
  const targets: (string | null)[] = []
  // An exact name wins over a synonym wherever it stands; of several synonyms the first column does.
  const exact = new Set(
    header
      .map(plain)
      .filter((name) => isOwnName(name))
      .map((name) => fieldOf.get(name)),
  )
  for (const name of header) {
    const key = plain(name)
    const field = fieldOf.get(key)
    if (field && !targets.includes(field) && (isOwnName(key) || !exact.has(field))) targets.push(field)
    else if (key === '' || ignored.has(key)) targets.push(null)
    else targets.push(`attributes.${name.replace(/^attributes\./, '')}`)
  }
  if (!targets.includes('phone_number'))
    return refuse(
      `must have a column of numbers, named phone_number, phone, mobile, msisdn or to; it has ${shorten(header.join(', '))}`,
    )
  const attributes = targets.filter((target) => target?.startsWith('attributes.'))
  const twice = attributes.find((target, at) => attributes.indexOf(target) !== at)
  if (twice) return refuse(`must not have two columns named ${shorten(twice.slice(11))}`)
  const long = attributes.find((target) => Array.from(target ?? '').length > 11 + attributeLimits.name)
  if (long)
    return refuse(`must name columns with at most ${attributeLimits.name} characters; see ${shorten(long.slice(11))}`)
  if (attributes.length > attributeLimits.count)
    return refuse(
      `must have at most ${attributeLimits.count} columns that are no fields of a contact; it has ${attributes.length}`,
    )
  return { delimiter, header, targets }
}

const refuse = (detail: string): FieldError[] => [
  { pointer: '#', code: 'invalid_format', detail: `The file ${detail}.` },
]

const plain = (name: string): string =>
  name
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\p{Nd}]/gu, '')

const isOwnName = (name: string): boolean => Object.values(synonyms).some((names) => names[0] === name)

const shorten = (text: string): string => (text.length > 200 ? `${text.slice(0, 200)}…` : text)

/** Where the first record ends: the first line break outside quotes behind the first character that is no line break; or -1. */
function endOfRecord(text: string): number {
  let isQuoted = false
  let hasText = false
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (char === '"') isQuoted = !isQuoted
    const isBreak = char === '\n' || char === '\r'
    if (isBreak && !isQuoted && hasText) return at
    if (!isBreak) hasText = true
  }
  return -1
}

/** The delimiter that a header line has most of, outside quotes; a comma where it has none. */
function delimiterOf(line: string): string {
  const bare = line.replace(/"[^"]*"/g, '')
  const counts = delimiters.map((delimiter) => bare.split(delimiter).length)
  return delimiters[counts.indexOf(Math.max(...counts))] ?? ','
}
