/** Opt-out lists in files, from and for other systems. Files are read like those of contacts. */
import { textOfCell } from '../ground/http/csv.ts'
import { invalid, type FieldError } from '../ground/base/errors.ts'
import { openTurns } from '../ground/http/turns.ts'
import { chunkBytes, type ReadChunk } from '../ground/tables/bytes.ts'
import { EncodingProbe } from '../ground/tables/encoding.ts'
import { readFirstRows } from '../ground/tables/first-rows.ts'
import {
  findLayout,
  findNames,
  numberColumnOf,
  refuseBytes,
  refuseEncoding,
  refuseFile,
  type FoundLayout,
} from '../ground/tables/layout.ts'
import { plainName } from '../ground/tables/names.ts'
import { readCsv } from '../ground/tables/source.ts'
import type { RowFault, SourceRow } from '../ground/tables/source-row.ts'
import { openWorkbook, readSheet } from '../ground/tables/workbook.ts'
import { ZipError } from '../ground/tables/zip.ts'
import { FaultGroups, type FaultGroup } from '../ground/tables/fault-groups.ts'
import { readImportedNumber, type ImportedNumber, type PhoneFault, type Repair } from '../ground/numbers/imported.ts'
import { ColumnDoubt, findDoubt, type Doubt } from '../ground/numbers/national.ts'
import { readNumber } from '../ground/numbers/number.ts'
import type { OptOutInput } from './opt-out.ts'

/** Most rows of one import: some ten seconds of work. */
export const optOutRowsMax = 100_000
const reasonLengthMax = 500
// Characters of a value in an error.
const valueMax = 40

export interface ListError {
  line: number
  value: string
  code: PhoneFault['code'] | RowFault['code'] | 'invalid_type' | 'unknown_field'
  detail: string
  suggestion?: string
}

export interface Detected {
  encoding: string | null
  delimiter: string | null
  sheet: string | null
  /** 0: there are no names. */
  header_line: number
  number_column: string
}

/** A list as read: each number once. `total` counts its rows, repeated ones too. */
export interface ReadList {
  total: number
  people: OptOutInput[]
  /** Rows that repeat earlier numbers. */
  duplicates: number
  errors: ListError[]
  faults: FaultGroup[]
  repairs: Partial<Record<Repair, number>>
  /** Cells with more than a number, whose number was used: the count, and the line of the first. */
  cut: { count: number; line: number }
  detected: Detected | null
  /** Of a file; for advice. */
  table: { header: string[]; targets: (string | null)[]; otherNumbers: number[] } | null
  doubt: Doubt | null
}

export interface ListOptions {
  defaultCountry: string | null
  /** Of the content type. */
  charset?: string | null
  encoding?: string | undefined
  delimiter?: string | undefined
  headerLine?: number | undefined
  /** For names of columns `number`, `reason` or null. */
  mapping?: Record<string, string | null>
}

interface ListRow {
  line: number
  /** Of all its columns with numbers; empty cells are left out if another has one. */
  numbers: string[]
  reason: string
  /** Why the row is unreadable, although its number may be. */
  fault?: RowFault
  /** About its part of the column. */
  doubt?: Doubt | null
}

/** The columns of an export; a file with all of them is an export, and its numbers have their country codes. */
export const exportColumns = ['number', 'reason', 'source', 'created_at'] as const

const hasNumber = /(?:\p{Nd}[^\p{L}]*){7}/u
const reasonNames = ['reason', 'optoutreason', 'unsubscribereason', 'grund', 'motif', 'motivo', 'причина']

/**
 * Reads CSV or a workbook with named columns, or one number a line without them. Every number in it is opted out, even if the rest of its line is
 * invalid. @throws ApiError `validation_failed` if the file as a whole is unreadable.
 */
export async function readFileList(bytes: Buffer, options: ListOptions): Promise<ReadList> {
  const read: ReadChunk = (position) => {
    const piece = bytes.subarray(position * chunkBytes, (position + 1) * chunkBytes)
    return Promise.resolve(piece.length === 0 ? null : piece)
  }
  const isWorkbook = bytes.subarray(0, 4).toString('latin1') === 'PK\u0003\u0004'
  try {
    return await (isWorkbook ? readWorkbookList(read, bytes.length, options) : readCsvList(read, bytes, options))
  } catch (error) {
    throw error instanceof ZipError ? invalid(refuseFile(error.message)) : error
  }
}

async function readWorkbookList(read: ReadChunk, size: number, options: ListOptions): Promise<ReadList> {
  const { rows, sheet } = await readFirstRows(read, size)
  const found = findNames(rows, wantedOf(options))
  if (!found) throw invalid(refuseFile(`must have rows in its first sheet, which is ${sheet}`))
  const columns = columnsOf(found, options)
  const behind = readSheet(await openWorkbook(read, size))
  return readTable(behind, found, columns, options, { encoding: null, delimiter: null, sheet })
}

async function readCsvList(read: ReadChunk, bytes: Buffer, options: ListOptions): Promise<ReadList> {
  const probe = new EncodingProbe(options.encoding ?? options.charset ?? null)
  probe.add(bytes)
  probe.end()
  const { encoding, undecided } = probe
  const refusal = refuseBytes(bytes, encoding)
  if (refusal) throw invalid(refuseFile(refusal))
  if (undecided) throw invalid(refuseEncoding(undecided))
  const head = new TextDecoder(encoding).decode(bytes.subarray(0, chunkBytes))
  const found = findLayout(head, bytes.length <= chunkBytes, wantedOf(options))
  if (Array.isArray(found)) throw invalid(found)
  const columns = columnsOf(found, options)
  const { header, headerLine, delimiter } = found
  const shape = { columns: header.length, numberAt: columns.at }
  const rows = readCsv(read, encoding, delimiter ?? ',', headerLine, shape)
  return readTable(rows, found, columns, options, { encoding, delimiter, sheet: null })
}

const wantedOf = ({ mapping = {}, delimiter, headerLine }: ListOptions) => ({
  mapped: Object.keys(mapping),
  isKnown: (name: string) => reasonNames.includes(plainName(name)),
  delimiter,
  headerLine,
})

function columnsOf(found: FoundLayout, { mapping = {} }: ListOptions): { at: number; others: number[] } {
  const missing = Object.keys(mapping).filter((name) => !found.header.includes(name))
  const faults = missing.map((name): FieldError => ({
    pointer: '?mapping',
    code: 'invalid_value',
    detail: `the file has no column ${name.slice(0, valueMax)}`,
  }))
  const columns = numberColumnOf(found, 'number', mapping)
  if (faults.length > 0 || Array.isArray(columns))
    throw invalid([...faults, ...(Array.isArray(columns) ? columns : [])])
  return columns
}

async function readTable(
  pieces: AsyncIterable<SourceRow[]>,
  { header, headerLine, sample }: FoundLayout,
  { at, others }: { at: number; others: number[] },
  { defaultCountry, mapping = {} }: ListOptions,
  detected: Pick<Detected, 'encoding' | 'delimiter' | 'sheet'>,
): Promise<ReadList> {
  const isExport = exportColumns.every((name) => header.includes(name))
  const isReason = (name: string): boolean =>
    Object.hasOwn(mapping, name) ? mapping[name] === 'reason' : reasonNames.includes(plainName(name))
  const reasonAt = header.findIndex(isReason)
  // A reason after all other columns keeps its commas, even without quotes.
  const reasonOf = (cells: readonly string[]): string =>
    detected.delimiter !== null && reasonAt === header.length - 1 && cells.length > header.length
      ? cells.slice(reasonAt).join(detected.delimiter)
      : textOfCell(cells[reasonAt] ?? '')
  const namedOf = (cells: readonly string[]): string[] =>
    [at, ...others].map((one) => cells[one] ?? '').filter((one) => one.trim() !== '')
  const hasCountry = defaultCountry !== null || isExport
  let doubt = hasCountry ? null : findDoubt(sample.flatMap(namedOf))
  const doubts = new ColumnDoubt(doubt)
  const rows: ListRow[] = []
  for await (const piece of pieces) {
    const found = piece
      .filter(({ line }) => line > headerLine)
      .map(({ line, record, fault, cells = fault ? [] : (record as string[]) }) => {
        // A line can have more numbers than the file has columns; after a reason they are part of it.
        const surplus =
          reasonAt === header.length - 1 ? [] : cells.slice(header.length).filter((one) => hasNumber.test(one))
        const filled = [...namedOf(cells), ...surplus]
        const reason = reasonAt === -1 ? '' : reasonOf(cells)
        return { line, numbers: filled.length > 0 ? filled : [''], reason, ...(fault && { fault }) }
      })
    if (rows.length + found.length > optOutRowsMax)
      throw invalid(refuseFile(`must have at most ${optOutRowsMax} rows; send the rest in another file`))
    const about = hasCountry ? null : doubts.about(found.flatMap(({ numbers }) => numbers))
    doubt ??= about
    for (const row of found) rows.push({ ...row, doubt: about })
  }
  if (rows.length === 0) throw invalid(refuseFile('must have at least one row'))
  const column = header[at] ?? ''
  const list = await readRows(
    rows,
    column,
    (row) => row,
    (number, { doubt: about = null }) => readImportedNumber(number, defaultCountry, isExport, about),
  )
  const targets = header.map((_, i) => (i === at ? 'number' : i === reasonAt ? 'reason' : null))
  const table = { header, targets, otherNumbers: others }
  return { ...list, detected: { ...detected, header_line: headerLine, number_column: column }, table, doubt }
}

/**
 * Reads the rows of a JSON body of any form; their lines count from 1. Digits have their country code, as in all JSON; other spellings are read as in
 * a file.
 */
export async function readJsonList(rows: readonly unknown[], defaultCountry: string | null = null): Promise<ReadList> {
  const read = (number: string): ImportedNumber | PhoneFault => {
    if (!digitsOnly.test(number)) return readImportedNumber(number, defaultCountry, true)
    const strict = readNumber(number, defaultCountry)
    return 'number' in strict ? { number: strict.number, repair: null, others: [] } : strict
  }
  const list = await readRows(rows, null, (row, at) => readJsonRow(row, at + 1), read)
  return { ...list, detected: null, table: null, doubt: null }
}

const digitsOnly = /^[1-9]\d{6,14}$/

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
    return refuse('unknown_field', `has ${unknown.slice(0, valueMax)}, which is not a known field`, number)
  if (number === undefined || number === null) return refuse('required', 'is required', '')
  if (typeof number !== 'string') return refuse('invalid_type', 'must be a string', number)
  if (reason !== undefined && reason !== null && typeof reason !== 'string')
    return refuse('invalid_type', 'has a reason that is not a string', number)
  return { line, numbers: [number], reason: reason ?? '' }
}

async function readRows<T>(
  rows: readonly T[],
  column: string | null,
  readRow: (row: T, at: number) => ListRow | ListError,
  readText: (number: string, row: ListRow) => ImportedNumber | PhoneFault,
): Promise<Pick<ReadList, 'total' | 'people' | 'duplicates' | 'errors' | 'faults' | 'repairs' | 'cut'>> {
  const people = new Map<string, OptOutInput>()
  const errors: ListError[] = []
  const faults = new FaultGroups()
  const repairs: ReadList['repairs'] = {}
  const cut = { count: 0, line: 0 }
  let duplicates = 0
  const refuse = (error: ListError, general = error.detail, of = column): void => {
    errors.push(error)
    faults.add([{ ...error, column: of, general }])
  }
  const giveWay = openTurns()
  for (const [at, given] of rows.entries()) {
    await giveWay()
    const row = readRow(given, at)
    if ('code' in row) {
      refuse(row)
      continue
    }
    const { line, numbers, reason, fault } = row
    const cells = numbers.map((text) => ({ text, read: readText(text, row) }))
    const found = cells.flatMap(({ read }) =>
      'number' in read ? [read.number, ...read.others] : read.found === undefined ? [] : [read.found],
    )
    for (const { read } of cells)
      if ('number' in read) {
        if (read.repair) repairs[read.repair] = (repairs[read.repair] ?? 0) + 1
      } else if (read.found !== undefined && cut.count++ === 0) cut.line = line
    const added = new Set(found.filter((one) => !people.has(one)))
    if (found.length > 0 && added.size === 0) duplicates++
    for (const one of added) people.set(one, { number: one, reason: storableReason(reason) || null })
    if (found.length === 0 && fault) {
      const value = (numbers[0] ?? '').slice(0, valueMax)
      refuse({ line, value, code: fault.code, detail: fault.detail }, fault.general, null)
      continue
    }
    for (const { text, read } of cells) {
      // Words in a second column of numbers do not count as a missing number.
      if ('number' in read || read.found !== undefined || (found.length > 0 && !/\p{Nd}{3}/u.test(text))) continue
      const { code, detail, suggestion, general } = read
      const value = text.slice(0, valueMax)
      refuse({ line, value, code, detail, ...(suggestion !== undefined && { suggestion }) }, general)
    }
  }
  return { total: rows.length, people: [...people.values()], duplicates, errors, faults: faults.list(), repairs, cut }
}

/** The storable part of a reason, with U+FFFD for the rest: a bad reason must not prevent an opt-out. */
function storableReason(reason: string): string {
  const characters = Array.from(reason.trim().slice(0, 2 * reasonLengthMax)).slice(0, reasonLengthMax)
  return characters.join('').toWellFormed().replaceAll('\0', '\uFFFD')
}
