/** Lists of opt-outs in files: what comes from another system, and what goes to one. */
import { textOfCell } from '../../csv.ts'
import { readCsv } from '../../csv-read.ts'
import { invalid } from '../../errors.ts'
import { openTurns } from '../../requests/turns.ts'
import type { OptOutInput } from './opt-out.ts'
import { readImportedNumber, type ImportedNumber, type PhoneFault } from '../numbers/imported.ts'

/** Most rows of one import: some ten seconds of work. */
export const optOutRowsMax = 100_000
const reasonLengthMax = 500
// As much as an error repeats of what was given.
const valueMax = 40

/** A row that was not taken. */
export interface ListError {
  line: number
  value: string
  code: 'required' | 'scientific_notation' | 'invalid_phone_number' | 'invalid_type' | 'unknown_field'
  detail: string
  suggestion?: string
}

/** A list as it was read: each number once. `total` counts its rows, repeated ones too. */
export interface ReadList {
  total: number
  people: OptOutInput[]
  errors: ListError[]
}

interface ListRow {
  line: number
  number: string
  reason: string
}

/** The columns of an export; with all of them a file is one, and its numbers have their country codes. */
export const exportColumns = ['number', 'reason', 'source', 'created_at'] as const

/** What the column of numbers is called in the exports of others. */
const numberNames = /^(number|phone|phone[ _-]?number|mobile|msisdn|to|recipient)$/i

/**
 * Reads CSV with a header (`number`, and `reason` if there is one), or one number a line without one. The delimiter is found, and numbers are
 * read as in an import of contacts: with a default country national ones too.
 * @throws ApiError `validation_failed` where the file as a whole cannot be read.
 */
export async function readCsvList(text: string, defaultCountry: string | null = null): Promise<ReadList> {
  const refuse = (detail: string) => invalid([{ pointer: '#', code: 'invalid_format', detail: `The file ${detail}.` }])
  let records: CsvRecord[]
  try {
    const options = {
      bom: true,
      delimiter: delimitersOf(text),
      info: true,
      relax_column_count: true,
      // ="15551234567" has its quotes inside.
      relax_quotes: true,
      skip_empty_lines: true,
      skip_records_with_empty_values: true,
    }
    records = await readCsv(text, options, optOutRowsMax + 1)
  } catch (error) {
    throw refuse(`is not CSV: ${error instanceof Error ? error.message : String(error)}`)
  }
  const header = records[0]?.record.map(textOfCell) ?? []
  const named = header.findIndex((name) => numberNames.test(name))
  const isExport = exportColumns.every((name) => header.includes(name))
  const read = (number: string): ImportedNumber | PhoneFault => readImportedNumber(number, defaultCountry, isExport)
  const isHeaderless = named === -1 && header.length === 1 && 'number' in read(header[0] ?? '')
  if (named === -1 && !isHeaderless) throw refuse('must have a first line that names a column `number`')
  const reasonAt = header.findIndex((name) => /^reason$/i.test(name))
  const rows = (isHeaderless ? records : records.slice(1)).map(({ record, info }) => ({
    line: info.lines,
    number: record[isHeaderless ? 0 : named] ?? '',
    reason: reasonAt === -1 ? '' : textOfCell(record[reasonAt] ?? ''),
  }))
  if (rows.length === 0) throw refuse('must have rows')
  if (rows.length > optOutRowsMax) throw refuse(`must have at most ${optOutRowsMax} rows; send the rest in another`)
  return readRows(rows, (row) => row, read)
}

interface CsvRecord {
  record: string[]
  info: { lines: number }
}

/** The delimiter that stands in the first line most often; all of them where none does. */
function delimitersOf(text: string): string[] {
  const [line = ''] = /\S[^\r\n]*/.exec(text) ?? []
  const counts = [',', ';', '\t', '|'].map((one) => ({ one, count: line.split(one).length }))
  const most = Math.max(...counts.map(({ count }) => count))
  return counts.filter(({ count }) => count === most).map(({ one }) => one)
}

/**
 * Reads the rows of a JSON body, whatever they are; their lines count from 1. Digits have their country code, as in all JSON; what is written
 * otherwise is read as in a file.
 */
export function readJsonList(rows: readonly unknown[], defaultCountry: string | null = null): Promise<ReadList> {
  const read = (number: string): ImportedNumber | PhoneFault => readImportedNumber(number, defaultCountry, true)
  return readRows(rows, (row, at) => readJsonRow(row, at + 1), read)
}

function readJsonRow(row: unknown, line: number): ListRow | ListError {
  const refuse = (code: ListError['code'], detail: string, value: unknown): ListError => ({
    line,
    value: (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).slice(0, valueMax),
    code,
    detail,
  })
  if (typeof row !== 'object' || row === null || Array.isArray(row))
    return refuse('invalid_type', 'must be an object with a number', row)
  const { number, reason, ...others } = row as Record<string, unknown>
  const [unknown] = Object.keys(others)
  if (unknown !== undefined)
    return refuse('unknown_field', `has ${unknown.slice(0, valueMax)}, which is no field here`, number)
  if (number === undefined || number === null) return refuse('required', 'is required', '')
  if (typeof number !== 'string') return refuse('invalid_type', 'must be a string', number)
  if (reason !== undefined && reason !== null && typeof reason !== 'string')
    return refuse('invalid_type', 'has a reason that is no string', number)
  return { line, number, reason: reason ?? '' }
}

async function readRows<T>(
  rows: readonly T[],
  readRow: (row: T, at: number) => ListRow | ListError,
  readText: (number: string) => ImportedNumber | PhoneFault,
): Promise<ReadList> {
  const people = new Map<string, OptOutInput>()
  const errors: ListError[] = []
  const giveWay = openTurns()
  for (const [at, given] of rows.entries()) {
    await giveWay()
    const row = readRow(given, at)
    if ('code' in row) {
      errors.push(row)
      continue
    }
    const { line, number, reason } = row
    const read = readText(number)
    if ('number' in read) {
      for (const one of [read.number, ...read.others])
        if (!people.has(one)) people.set(one, { number: one, reason: storableReason(reason) || null })
    } else if (number.trim() === '') errors.push({ line, value: '', code: 'required', detail: 'is required' })
    else errors.push({ line, value: number.slice(0, valueMax), ...read })
  }
  return { total: rows.length, people: [...people.values()], errors }
}

/** As much of a reason as is kept, with U+FFFD for what cannot be stored: nobody stays in for what somebody wrote beside the number. */
function storableReason(reason: string): string {
  const characters = Array.from(reason.trim().slice(0, 2 * reasonLengthMax)).slice(0, reasonLengthMax)
  return characters.join('').toWellFormed().replaceAll('\0', '\uFFFD')
}
