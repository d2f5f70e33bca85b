/** Reads one row of a file: a contact, or all its errors. */
import { isUnstorable } from '../ground/http/body.ts'
import { ApiError, type FieldError, type FieldErrorCode } from '../ground/base/errors.ts'
import { buildValidators } from '../ground/http/validate.ts'
import { readContact } from '../contacts/read.ts'
import type { NewContact } from '../contacts/store.ts'
import { readCells, type CellFault } from './cells.ts'
import type { TableLayout } from './columns.ts'
import type { RowError } from './errors.ts'
import { countryOf, isCountry } from '../ground/numbers/number.ts'
import { readImportedNumber, type PhoneFault, type Repair } from '../ground/numbers/imported.ts'
import type { RowSchema } from './row-schema.ts'
import type { SourceRow } from '../ground/tables/source-row.ts'
import type { ImportOptions } from './store.ts'

export type ReadRow = GoodRow | BadRow

interface GoodRow {
  contact: NewContact
  repair: Repair | null
  /** Other numbers in the cell. */
  others?: readonly string[]
  /** A cell held NULL or similar. */
  hasNulls?: boolean
}

interface BadRow {
  errors: RowError[]
  /** The number that the row opts out, even if the row has other errors. */
  out: string | null
}

// The longest value that an error repeats; the file of bad rows has the whole row.
const valueMax = 200

/** Errors name the column of the file, or the field if the file has no columns. */
export type RowReader = (row: SourceRow, options: ImportOptions) => ReadRow

/** The errors of an object by the schema; true if it has none. */
type Check = ReturnType<ReturnType<typeof buildValidators>>

/** Compiles the schema at the first row. */
export function createRowReader(schema: RowSchema): RowReader {
  const check = buildValidators({})({ schema: schema.input })
  return (row, options) => readRow(row, options, schema, check)
}

function readRow(row: SourceRow, options: ImportOptions, schema: RowSchema, check: Check): ReadRow {
  const { line, record, fault } = row
  const { table } = options
  const whole = (code: FieldErrorCode, detail: string, general = detail): ReadRow => {
    const out = table ? outOf(fault ? row.cells : (record as string[]), table, options) : null
    const more = out === null ? '' : outAllTheSame
    const words = { detail: detail + more, general: general + more }
    return { errors: [{ line, code, column: null, value: null, ...words, suggestion: null }], out }
  }
  if (fault) return whole(fault.code, fault.detail, fault.general)
  if (table && (record as string[]).some(isDamaged))
    return whole('invalid_characters', 'must be UTF-8 without NUL; save the file as UTF-8 and send it again')
  // Cells behind the last column mean a text without its quotes, which shifts all cells behind it. In a workbook they are notes.
  if (table?.delimiter && hasCellsBehind(record as string[], table.header.length))
    return whole(
      'invalid_format',
      `has more cells than the file has columns (${table.header.length}); put quotes around a cell with ${nameOf(table.delimiter)} in it`,
    )
  const faults: (FieldError & { general?: string })[] = []
  const cells = table ? readCells(record as string[], table, faults) : null
  const input = cells ? cells.input : rename(fieldsOf(record, schema), options.mapping)
  const inCells = [...(cells?.faults ?? []), ...unsolvedOf(row, table)]
  if (!isObject(input)) return whole('invalid_format', 'must be an object with the fields of a contact')
  faults.push(...faultsOf(input, check))
  // The lenient reader judges numbers, including empty cells.
  let phoneFault: PhoneFault | null = null
  let repair: Repair | null = null
  let others: readonly string[] = []
  let out: string | null = null
  const isExport = table ? table.isExport : isContact(record)
  const read = readContact(input, (text) => {
    const phone = readImportedNumber(text, homeOf(input, options), isExport, options.doubt)
    if ('number' in phone) {
      repair = phone.repair
      others = phone.others
      if (saysOut(input)) out = phone.number
      return phone
    }
    phoneFault = phone
    if (phone.found !== undefined && saysOut(input)) out = phone.found
    return { code: 'invalid_phone_number', detail: phone.detail }
  })
  const known = new Set(faults.map((one) => one.pointer))
  for (const error of read.errors) {
    if (known.has(error.pointer)) continue
    faults.push(
      error.pointer === '#/phone_number' && phoneFault
        ? { pointer: error.pointer, ...orOther(phoneFault, row, options) }
        : error,
    )
  }
  if (faults.length === 0 && inCells.length === 0 && read.contact) {
    // An export states the country of every contact, even if it is only derived from the number.
    const isDerived = isExport && read.contact.country === countryOf(read.contact.phoneNumber)
    if (isDerived || cells?.hasDialCode) read.contact.country = null
    return {
      contact: read.contact,
      repair,
      ...(others.length > 0 && { others }),
      ...(cells?.hasNulls && { hasNulls: true }),
    }
  }
  const errors: RowError[] = [
    ...inCells.map((one) => locateCell(one, row, table)),
    ...faults.map((one) => locate(one, row, input, options)).filter(({ column }) => isFirst(column, inCells, table)),
  ]
  const last = errors.at(-1)
  if (last && saysOut(input)) {
    const more = out === null ? stillIn : outAllTheSame
    if (last.general !== undefined) last.general += more
    last.detail += more
  }
  return { errors, out }
}

/** The country for a row's number: its own, else the request's. */
function homeOf(input: object, { defaultCountry }: ImportOptions): string | null {
  const own = 'country' in input && typeof input.country === 'string' ? input.country : ''
  return isCountry(own) ? own : defaultCountry
}

/** The number that a row opts out although the row is unreadable as a whole; null if it does not. */
function outOf(cells: string[] | undefined, table: TableLayout, options: ImportOptions): string | null {
  if (!cells) return null
  const { input } = readCells(cells, table, [])
  if (!saysOut(input)) return null
  const phone = readImportedNumber(String(input['phone_number']), homeOf(input, options), table.isExport, options.doubt)
  return 'number' in phone ? phone.number : (phone.found ?? null)
}

/** Formulas in used columns whose results are not in the file. */
function unsolvedOf({ unsolved = [] }: SourceRow, table: TableLayout | undefined): CellFault[] {
  const read = unsolved.filter((at) => table && table.targets[at] !== null && table.targets[at] !== undefined)
  return read.map((at) => ({ at, code: 'invalid_format', detail: noResult }))
}

const noResult = 'is a formula without a stored result: open it in a spreadsheet and save it there, or save it as CSV'

/** The advice for an empty cell if another column of the row has a number. */
function orOther(
  fault: PhoneFault,
  { record }: SourceRow,
  { table, defaultCountry, doubt }: ImportOptions,
): PhoneFault {
  if (fault.code !== 'required' || !table) return fault
  const at = table.otherNumbers.find((one) => ((record as string[])[one] ?? '').trim() !== '')
  if (at === undefined) return fault
  const phone = readImportedNumber((record as string[])[at] ?? '', defaultCountry, false, doubt)
  return {
    code: 'required',
    detail: `is required; the row has a number in ${table.header[at] ?? ''}, which is not used`,
    ...('number' in phone && { suggestion: phone.number }),
  }
}

const locateCell = ({ at, code, detail }: CellFault, { line, record }: SourceRow, table?: TableLayout): RowError => ({
  line,
  code,
  column: table?.header[at] ?? null,
  value: ((record as string[])[at] ?? '').slice(0, valueMax).toWellFormed(),
  detail,
  suggestion: null,
})

/** Only the first fault of a cell is reported. */
const isFirst = (column: string | null, told: readonly CellFault[], table?: TableLayout): boolean =>
  !told.some(({ at }) => table?.header[at] === column)

const outAllTheSame = '; its number is opted out all the same'
const stillIn = '; the row opts nobody out until you correct it'

const saysOut = (input: object): boolean =>
  'consent' in input && isObject(input.consent) && 'status' in input.consent && input.consent.status === 'opted_out'

const hasCellsBehind = (cells: readonly string[], columns: number): boolean =>
  cells.length > columns && cells.slice(columns).some((cell) => cell.trim() !== '')

const nameOf = (delimiter: string): string => (delimiter === '\t' ? 'a tab' : delimiter)

const isDamaged = (cell: string): boolean => cell.includes('\uFFFD') || isUnstorable(cell)

function faultsOf(input: object, check: Check): FieldError[] {
  const result = check(input)
  if (result === true) return []
  if (result.error instanceof ApiError) return [...(result.error.options.errors ?? [])]
  throw result.error
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A row of JSON. A contact from a response or an export is read without its nulls and its read-only members. */
export function fieldsOf(record: unknown, { input, shown }: RowSchema): unknown {
  if (!isContact(record)) return record
  const isSaid = ([name, value]: [string, unknown]): boolean =>
    Object.hasOwn(input.properties, name) ? value !== null : !shown.includes(name)
  const said = Object.fromEntries(Object.entries(record).filter(isSaid))
  if (!('opted_out' in record) || record.opted_out !== true) return said
  return { ...said, consent: { ...(isObject(said['consent']) && said['consent']), status: 'opted_out' } }
}

const isContact = (record: unknown): record is object =>
  typeof record === 'object' && record !== null && 'object' in record && record.object === 'contact'

/** Renames the members of an object by the caller's mapping. */
function rename(record: unknown, mapping: ImportOptions['mapping']): unknown {
  if (!isObject(record)) return record
  const given = record as Record<string, unknown>
  const said = Object.entries(mapping).filter(([name]) => Object.hasOwn(given, name))
  if (said.length === 0) return record
  // All old names are removed before new ones are added, and fields before their members, so that two names can be swapped.
  const input = { ...given }
  for (const [name] of said) delete input[name]
  const isMember = (target: string | null): target is string => target?.startsWith('attributes.') === true
  for (const [name, target] of said) if (target !== null && !isMember(target)) input[target] = given[name]
  const { attributes = {} } = input
  const members = said.flatMap(([name, target]) => (isMember(target) ? [[target.slice(11), given[name]] as const] : []))
  // The schema refuses values that are not objects.
  if (members.length > 0 && isObject(attributes))
    input['attributes'] = { ...attributes, ...Object.fromEntries(members) }
  return input
}

function locate(
  fault: FieldError & { general?: string },
  row: SourceRow,
  input: object,
  { table }: ImportOptions,
): RowError {
  const steps = fault.pointer
    .split('/')
    .slice(1)
    .map((step) => decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~'))
  const [field = null, member] = steps
  const own = field === 'consent' && member === 'status' ? field : `${field}${field === 'consent' ? '_' : '.'}${member}`
  // Its own column, else the column of the field's members.
  const at =
    table && field !== null
      ? [own, field].map((target) => table.targets.indexOf(target)).find((index) => index !== -1)
      : undefined
  const value =
    at !== undefined
      ? (row.record as string[])[at]
      : table || field === null
        ? undefined
        : (input as Record<string, unknown>)[field]
  return {
    line: row.line,
    code: fault.code,
    column: (at !== undefined && table?.header[at]) || steps.join('.') || null,
    value:
      value === undefined
        ? null
        : (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, valueMax).toWellFormed(),
    detail: fault.detail,
    ...(fault.general !== undefined && { general: fault.general }),
    suggestion: fault.suggestion ?? null,
  }
}
