/** Tables that an operator writes, JSON or CSV: rows of named texts, with all faults of all rows at once. */
import { readCsv } from '../ground/http/csv-read.ts'
import { invalid, type FieldError } from '../ground/base/errors.ts'
import { pointTo } from '../ground/http/body.ts'
import { openTurns } from '../ground/http/turns.ts'

// Enough to correct a table; a wrong column would otherwise be reported thousands of times.
const faultsMax = 100

export interface TableRow {
  row: unknown
  pointer: string
  /** Appended to every fault of the row. */
  place: string
}

export function* rowsOfJson(rows: readonly unknown[], member: string): Generator<TableRow> {
  for (const [i, row] of rows.entries()) yield { row, pointer: `#/${member}/${i}`, place: '' }
}

/** The first line names the columns. @throws ApiError `validation_failed` if it is not CSV, or has too many rows. */
export async function rowsOfCsv(text: string, member: string, rowsMax: number): Promise<Iterable<TableRow>> {
  let records: CsvRow[]
  try {
    const options = {
      bom: true,
      columns: (header: string[]) => header.map((name) => name.trim().toLowerCase()),
      delimiter: [',', ';', '\t'],
      info: true,
      skip_empty_lines: true,
      trim: true,
    }
    records = await readCsv(text, options, rowsMax)
  } catch (error) {
    const detail = `is not a CSV file: ${error instanceof Error ? error.message : ''}`
    throw invalid([{ pointer: '#', code: 'invalid_format', detail }])
  }
  if (records.length > rowsMax)
    throw invalid([{ pointer: '#', code: 'too_long', detail: `must have at most ${rowsMax} rows` }])
  return rowsOfRecords(records, member)
}

interface CsvRow {
  record: Record<string, string>
  info: { lines: number }
}

function* rowsOfRecords(records: readonly CsvRow[], member: string): Generator<TableRow> {
  for (const [i, { record, info }] of records.entries())
    yield {
      // An empty cell is a missing value.
      row: Object.fromEntries(Object.entries(record).filter(([, value]) => value !== '')),
      pointer: `#/${member}/${i}`,
      place: ` (line ${info.lines})`,
    }
}

/** `read` adds a row's faults, with the field as pointer (none: the row). @throws ApiError `validation_failed` with every fault, up to 100. */
export async function readTableRows<T>(
  inputs: Iterable<TableRow> | Promise<Iterable<TableRow>>,
  read: (row: unknown, faults: FieldError[]) => T | null,
): Promise<T[]> {
  const faults: FieldError[] = []
  const found: T[] = []
  const giveWay = openTurns()
  for (const { row, pointer, place } of await inputs) {
    await giveWay()
    const own: FieldError[] = []
    const one = read(row, own)
    if (one !== null) found.push(one)
    // For a field that is not text, no other fault is reported, and it does not count as missing.
    const untold = new Set(own.filter(({ code }) => code === 'invalid_type').map(({ pointer }) => pointer))
    for (const fault of own.filter(({ code, pointer }) => code === 'invalid_type' || !untold.has(pointer)))
      faults.push({
        ...fault,
        pointer: fault.pointer === '' ? pointer : pointTo(pointer, fault.pointer),
        detail: fault.detail + place,
      })
    if (faults.length >= faultsMax) break
  }
  if (faults.length > 0) throw invalid(faults.slice(0, faultsMax))
  return found
}

/** The texts of a row by field; null if it is not an object. */
export function readTexts<Field extends string>(
  row: unknown,
  fields: readonly Field[],
  faults: FieldError[],
): Partial<Record<Field, string>> | null {
  if (typeof row !== 'object' || row === null || Array.isArray(row)) {
    faults.push({ pointer: '', code: 'invalid_type', detail: 'must be an object' })
    return null
  }
  const texts: Partial<Record<Field, string>> = {}
  for (const [name, value] of Object.entries(row)) {
    const field = fields.find((one) => one === name)
    if (!field) faults.push({ pointer: name, code: 'unknown_field', detail: 'is not a known field' })
    else if (value === null) continue
    else if (typeof value !== 'string') faults.push({ pointer: name, code: 'invalid_type', detail: 'must be a string' })
    else texts[field] = value
  }
  return texts
}
