/** Finds a table's layout from its first rows: delimiter, column names, and number column. */
import { textOfCell } from '../http/csv.ts'
import type { FieldError } from '../base/errors.ts'
import { CsvReader } from './csv.ts'
import { findNumberColumn, findNumbers, isNumberName, looksLikeNumber } from './number-column.ts'
import { rowCharactersMax, type SourceRow } from './source-row.ts'

export interface Layout {
  /** Null for a workbook. */
  delimiter: string | null
  /** In order, as in the file. */
  header: string[]
  /** The line of the names, before the rows; 0 if there are none. */
  headerLine: number
}

/** A layout, with the rows from which it was found. */
export interface FoundLayout extends Layout {
  sample: string[][]
}

/** The columns to find, and the caller's options. */
export interface Wanted {
  /** Columns that the caller maps by name. */
  mapped: readonly string[]
  isKnown: (name: string) => boolean
  delimiter?: string | undefined
  /** The line of the names. */
  headerLine?: number | undefined
}

const delimiters = [',', ';', '\t', '|']
// Pasted lists have numbers only; their first line is a row.
const bareNumber = /^'?\+?[\d ().-]{7,24}$/
export const sampleRowsMax = 200
// As much as two rows may have: enough of others.
const textMax = 2 * rowCharactersMax
// Titles and notes above the names of a report have some ten lines.
const headerRowsMax = 40

/** A file that cannot be read at all. */
export const refuseFile = (detail: string, suggestion?: string): FieldError[] => [
  { pointer: '#', code: 'invalid_format', detail: `The file ${detail}.`, ...(suggestion && { suggestion }) },
]

const byteOrderMark = /^(?:\u00ef\u00bb\u00bf|\u00ff\u00fe|\u00fe\u00ff)/

const asWorkbook = 'open it in a spreadsheet program and save it as .xlsx'
// By their first octets, of which those below a blank are controls; programs name some of them .xls or .csv.
const foreign: readonly [RegExp, string][] = [
  [
    /^\u00d0\u00cf[^ -\u00ff]\u00e0/,
    'a workbook from before 2007 (.xls) or with a password: save it as .xlsx without a password',
  ],
  [/^(?:<\?xml[^>]*>\s*)?(?:<\?mso[^>]*>\s*)?<(?:\w+:)?Workbook\b/, `an XML spreadsheet of 2003: ${asWorkbook}`],
  [
    /^(?:<\?xml[^>]*>\s*|<!--[^]*?-->\s*)*<(?:!doctype html|html|head|meta|body|table|style|div)\b/i,
    `an HTML page: ${asWorkbook}`,
  ],
  [/^MIME-Version:/i, `a web archive: ${asWorkbook}`],
  [/^<\?xml/, `XML: ${asWorkbook}`],
  [/^\{\\rtf/, `an RTF document: copy its table into a spreadsheet program and save it as .xlsx`],
  [/^%PDF/, 'a PDF document: export the list as CSV where it comes from'],
  [/^BEGIN:VCARD/i, 'a file of vCards: export the contacts as CSV'],
  [/^(?:\u0089PNG|\u00ff\u00d8\u00ff|GIF8|RIFF.{4}WEBP)/s, 'a picture: export the list as CSV where it comes from'],
  [/^(?:7z\u00bc\u00af|Rar!|[^ -\u00ff]\u008b)/, 'an archive: unpack it and send the file in it'],
  [/^SQLite format 3/, 'a database file: export the table as CSV'],
]

/** Why a file is not text, by its first bytes; null if it may be. */
export function refuseBytes(bytes: Buffer, encoding: string): string | null {
  if (bytes.length === 0) return 'must not be empty'
  // Without a byte order mark, and of UTF-16 every other octet.
  const start = bytes.subarray(0, 1024).toString('latin1').replace(byteOrderMark, '').replaceAll('\0', '').trimStart()
  const what = foreign.find(([pattern]) => pattern.test(start))?.[1]
  if (what !== undefined) return `must be CSV or a workbook (.xlsx), and this is ${what}`
  if (encoding.startsWith('utf-16')) return null
  // One stray NUL is a bad row; a file full of them is not text.
  const head = bytes.subarray(0, 4096)
  let controls = 0
  for (const byte of head) if (byte < 9 || (byte > 13 && byte < 32)) controls++
  return controls > 1 + head.length / 64 ? 'must be text' : null
}

/** For a file in an undecided encoding; names the options of its sender. */
export function refuseEncoding(undecided: readonly { encoding: string; line: string }[]): FieldError[] {
  if (undecided.length === 0)
    return refuseFile('is not UTF-8, and in no encoding that can be detected: save it as UTF-8, or set its `encoding`')
  const readings = undecided
    .slice(0, 3)
    .map(({ encoding, line }) => `${encoding} (${shorten(line.trim()).slice(0, 60)})`)
  return refuseFile(
    `is not UTF-8, and may be in ${readings.join(' or ')}: set its \`encoding\``,
    undecided[0]?.encoding,
  )
}

/** Finds the layout of a CSV file from its first text. `isWhole`: this is the whole file. Returns field errors without a layout. */
export function findLayout(text: string, isWhole: boolean, wanted: Wanted): FoundLayout | FieldError[] {
  const told = /^\s*sep=(.)\r?\n/i.exec(text)
  const body = (told ? text.slice(told[0].length) : text).slice(0, textMax)
  const isAll = isWhole && text.length <= textMax
  const linesBefore = told ? (told[0].match(/\n/g)?.length ?? 0) : 0
  if (isWhole && body.trim() === '') return refuseFile('must not be empty')
  const said = wanted.delimiter ?? told?.[1]
  const found = (said === undefined ? delimiters : [said]).map((delimiter) => {
    const rows = new CsvReader(delimiter).read(body, isAll).slice(0, sampleRowsMax)
    const lined = linesBefore > 0 ? rows.map((row) => ({ ...row, line: row.line + linesBefore })) : rows
    return { delimiter, rows: lined, names: findNames(lined, wanted) }
  })
  const best = found.toSorted((a, b) => scoreOf(b) - scoreOf(a))[0]
  const [first] = best?.rows ?? []
  if (!best || !first) {
    if (isWhole) return refuseFile('must not be empty')
    return refuseFile(`must have a line of column names of at most ${rowCharactersMax} characters`)
  }
  const { delimiter, rows, names } = best
  if (!names)
    return refuseFile(
      first.fault && rows.length === 1
        ? `must have a line of column names of at most ${rowCharactersMax} characters; its first line ${first.fault.detail}`
        : 'must have a line of column names',
    )
  // Octets that are invalid in the encoding have become U+FFFD.
  if (names.header.some((name) => name.includes('\0') || name.includes('\uFFFD')))
    return refuseFile('must have a readable line of column names: send it as UTF-8, or set its `encoding`')
  if (isAll && !rows.some(({ line }) => line > names.headerLine))
    return refuseFile(`must have at least one row after its line of column names${adviceOfData(names)}`)
  return { ...names, delimiter }
}

/** Scores a delimiter: first by whether names are found, then by rows with the most common number of cells. */
function scoreOf({ rows, names }: { rows: SourceRow[]; names: FoundLayout | null }): number {
  const counts = new Map<number, number>()
  for (const { record, fault } of rows) {
    const cells = fault ? 1 : (record as string[]).length
    if (cells > 1) counts.set(cells, (counts.get(cells) ?? 0) + 1)
  }
  const [most = 0] = [...counts.values()].sort((a, b) => b - a)
  const hasNumbers = names !== null && names.header.length > 1 && names.header.some(isNumberName)
  return (hasNumbers ? 1 : 0) + most / Math.max(1, rows.length)
}

/** Null if no row can be read. */
export function findNames(rows: readonly SourceRow[], wanted: Wanted): FoundLayout | null {
  const sound = rows.filter(({ fault, isHidden }) => !fault && !isHidden)
  const [first] = sound
  if (!first) return null
  const sampleFrom = (line: number): string[][] =>
    sound.filter((row) => row.line > line).map(({ record }) => record as string[])
  const cells = (first.record as string[]).map(textOfCell)
  if (wanted.headerLine === undefined && cells.length === 1 && bareNumber.test(cells[0] ?? ''))
    return { delimiter: null, header: ['phone_number'], headerLine: 0, sample: sampleFrom(0) }
  const named =
    wanted.headerLine === undefined ? bestNames(sound, wanted) : sound.find(({ line }) => line === wanted.headerLine)
  if (!named) return null
  return {
    delimiter: null,
    header: (named.record as string[]).map(textOfCell),
    headerLine: named.line,
    sample: sampleFrom(named.line),
  }
}

/** The row with most names; if none has any, the first that is half as wide as the widest, because titles are narrow. */
function bestNames(rows: readonly SourceRow[], wanted: Wanted): SourceRow | undefined {
  let best: { row: SourceRow; score: number } | null = null
  for (const row of rows.slice(0, headerRowsMax)) {
    const names = (row.record as string[]).map(textOfCell)
    const mapped = names.filter((name) => wanted.mapped.includes(name)).length
    const hasNumbers = names.some(isNumberName)
    if (mapped === 0 && (!hasNumbers || names.some(looksLikeNumber))) continue
    const score = mapped * 100 + (hasNumbers ? 10 : 0) + names.filter(wanted.isKnown).length
    if (!best || score > best.score) best = { row, score }
  }
  if (best) return best.row
  const width = ({ record }: SourceRow): number => (record as string[]).filter((cell) => cell.trim() !== '').length
  const widest = Math.max(...rows.slice(0, headerRowsMax).map(width))
  return rows.find((row) => width(row) * 2 >= widest)
}

/** Finds the number column, and others with numbers; `taken` are the caller's mappings. Returns field errors if there is none. */
export function numberColumnOf(
  { header, headerLine, sample }: FoundLayout,
  target: string,
  mapping: Readonly<Record<string, string | null>>,
): { at: number; others: number[] } | FieldError[] {
  const said = header.findIndex((name) => Object.hasOwn(mapping, name) && mapping[name] === target)
  const found = findNumberColumn(header, sample, (at) => !Object.hasOwn(mapping, header[at] ?? ''))
  if (said !== -1) return { at: said, others: [found.at, ...found.others].filter((at) => at !== null) }
  if (found.at !== null) return { at: found.at, others: found.others }
  const unnamed = findNumbers(header, sample).filter((at) => !Object.hasOwn(mapping, header[at] ?? ''))
  const [likely] = unnamed.map((at) => header[at] ?? '')
  const isNamed = likely !== undefined && likely !== ''
  const advice =
    adviceOfData({ header, headerLine }) ||
    (isNamed ? `; the cells of ${shorten(likely)} look like numbers: send the suggested \`mapping\`` : '')
  return refuseFile(
    `must have a column of numbers, named ${target}, phone, mobile, msisdn or to, or set by \`mapping\`; it has ${shorten(header.join(', '))}${advice}`,
    advice.includes('mapping') && likely !== undefined ? JSON.stringify({ ...mapping, [likely]: target }) : undefined,
  )
}

const adviceOfData = ({ header, headerLine }: Pick<Layout, 'header' | 'headerLine'>): string =>
  header.some(looksLikeNumber)
    ? `; line ${headerLine} looks like a row of data: add a line with the names of the columns before it`
    : ''

export const shorten = (text: string): string => (text.length > 200 ? `${text.slice(0, 200)}…` : text)
