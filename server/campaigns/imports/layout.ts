/** The first lines of a text file: its delimiter, and the names of its columns. */
import { textOfCell } from '../../csv.ts'
import type { FieldError } from '../../errors.ts'
import { mapColumns, refuseFile, type Mapping, type Targets } from './columns.ts'
import { CsvReader } from './csv.ts'
import type { Encoding } from './encoding.ts'
import { rowCharactersMax } from './source-row.ts'

/** How a table is read, known from its first rows. */
export interface TableLayout {
  /** Null for a workbook. */
  delimiter: string | null
  /** Column names as in the file, in order. */
  header: string[]
  targets: Targets
  /** An export of ours; absent in those that were stored by another version: they were read as others. */
  isExport?: boolean
  /** Records before the first row: the header, and what Excel writes before it. */
  recordsBefore: number
}

const delimiters = [',', ';', '\t', '|']
// A list of numbers and nothing else is what people paste; its first line is a row.
const bareNumber = /^'?\+?[\d ().-]{7,24}$/

/** Why a file is no text at all, seen from its first bytes; null where it may be. */
export function refuseBytes(bytes: Buffer, encoding: Encoding): string | null {
  if (bytes.length === 0) return 'must not be empty'
  const start = bytes.subarray(0, 4).toString('latin1')
  if (start === '\u00d0\u00cf\u0011\u00e0')
    return 'must be CSV or a workbook of today (.xlsx), and this is one of before 2007 or has a password; save it anew'
  if (start.startsWith('%PDF')) return 'must be CSV or a workbook, and this is a PDF document'
  if (encoding.startsWith('utf-16')) return null
  // One stray NUL is a bad row; a file full of them is no text.
  const head = bytes.subarray(0, 4096)
  let controls = 0
  for (const byte of head) if (byte < 9 || (byte > 13 && byte < 32)) controls++
  return controls > 1 + head.length / 64 ? 'must be text' : null
}

/**
 * Reads the layout from the first text of a CSV file. `isWhole` says that there is no more of it.
 * Returns field errors where the file cannot be imported: it has no header, no column of numbers, or no rows.
 */
export function readLayout(
  text: string,
  isWhole: boolean,
  mapping: Mapping = {},
  pointer = '?mapping',
): TableLayout | FieldError[] {
  const told = /^\s*sep=(.)\r?\n/i.exec(text)
  const body = told ? text.slice(told[0].length) : text
  if (isWhole && body.trim() === '') return refuseFile('must not be empty')
  // Rows of blank cells are none; what they are separated by says nothing of the others.
  const start = Math.max(body.search(/[^\s,;|]/), 0)
  // What is no text of the encoding has been decoded to U+FFFD.
  const line = firstLine(body.slice(Math.max(body.lastIndexOf('\n', start), body.lastIndexOf('\r', start)) + 1))
  if (line.includes('\0') || line.includes('\uFFFD'))
    return refuseFile('must begin with a line of column names, in UTF-8, UTF-16 or Windows-1252')
  const delimiter = told?.[1] ?? delimiterOf(line)
  const [first, second] = new CsvReader(delimiter).read(body, isWhole)
  if (!first && isWhole) return refuseFile('must not be empty')
  if (!first || first.fault)
    return refuseFile(`must begin with a line of column names of at most ${rowCharactersMax} characters`)
  const { header, isBare } = readNames(first.record as string[])
  const mapped = mapColumns(header, mapping, pointer)
  if (Array.isArray(mapped)) return mapped
  if (!second && !isBare && isWhole) return refuseFile('must have rows behind its line of column names')
  return { delimiter, header, ...mapped, recordsBefore: (told ? 1 : 0) + (isBare ? 0 : 1) }
}

/** The names of columns, from the first row; of a plain list of numbers it is one of its rows. */
export function readNames(cells: readonly string[]): { header: string[]; isBare: boolean } {
  const names = cells.map(textOfCell)
  const isBare = names.length === 1 && bareNumber.test(names[0] ?? '')
  return { header: isBare ? ['phone_number'] : names, isBare }
}

/** The first line, quoted line breaks included. */
function firstLine(text: string): string {
  const match = /^(?:"(?:[^"]|"")*"|[^"\r\n])*/.exec(text.slice(0, rowCharactersMax))
  return match?.[0] ?? ''
}

/** The delimiter that a header line has most of, outside quotes; a comma where it has none. */
function delimiterOf(line: string): string {
  const bare = line.replace(/"[^"]*"/g, '')
  const counts = delimiters.map((delimiter) => bare.split(delimiter).length)
  return delimiters[counts.indexOf(Math.max(...counts))] ?? ','
}
