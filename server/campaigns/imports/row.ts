/** One row of a file: a contact, or everything that is wrong with it. */
import { isUnstorable } from '../../body.ts'
import { ApiError, type FieldError } from '../../errors.ts'
import { buildValidators } from '../../validate.ts'
import { consentStatuses, ContactInput, readContact } from '../contact.ts'
import type { NewContact } from '../contacts.ts'
import { readImportedNumber, type PhoneFault } from './phone.ts'
import type { SourceRow } from './records.ts'
import type { ImportOptions, RowError } from './store.ts'

/** What a row is. */
export type ReadRow = { contact: NewContact } | { errors: RowError[] }

type Fault = { pointer: string; code: FieldError['code'] | PhoneFault['code']; detail: string; suggestion?: string }

// The very schema of POST /v1/campaigns/{campaign}/contacts, so that a row is right exactly when the request would be.
const check = buildValidators({})({ schema: ContactInput })

// Longest value that an error repeats; the whole row is in the file of bad rows.
const valueMax = 200

/** Reads a row. Its errors name the column of the file, or the field where the file has no columns. */
export function readRow(row: SourceRow, options: ImportOptions): ReadRow {
  const { line, record, fault } = row
  const whole = (code: string, detail: string): ReadRow => ({
    errors: [{ line, code, column: null, value: null, detail, suggestion: null }],
  })
  if (fault) return whole(fault.code, fault.detail)
  const { csv } = options
  if (csv && (record as string[]).some(isDamaged))
    return whole('invalid_characters', 'must be UTF-8 without NUL; save the file as UTF-8 and send it again')
  const input = csv ? readCells(record as string[], csv.targets) : record
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    return whole('invalid_format', 'must be an object with the fields of a contact')
  const faults = faultsOf(input)
  // What a number looks like in a file is for the lenient reader to say, also where its cell is empty.
  let phoneFault: PhoneFault | null = null
  const read = readContact(input, (text) => {
    const phone = readImportedNumber(text, options.defaultCountry)
    if ('number' in phone) return phone
    phoneFault = phone
    return { code: 'invalid_phone_number', detail: phone.detail }
  })
  const known = new Set(faults.map((one) => one.pointer))
  for (const error of read.errors) {
    if (known.has(error.pointer)) continue
    faults.push(
      error.pointer === '#/phone_number' && phoneFault
        ? { pointer: error.pointer, ...(phoneFault as PhoneFault) }
        : error,
    )
  }
  if (faults.length === 0 && read.contact) return { contact: read.contact }
  return { errors: faults.map((one) => locate(one, row, input, options)) }
}

const isDamaged = (cell: string): boolean => cell.includes('\uFFFD') || isUnstorable(cell)

function faultsOf(input: object): Fault[] {
  const result = check(input)
  if (result === true) return []
  if (result.error instanceof ApiError) return [...(result.error.options.errors ?? [])]
  throw result.error
}

/** Cells as the fields of a contact; empty ones say nothing, so that an update leaves what is there. */
function readCells(cells: string[], targets: (string | null)[]): Record<string, unknown> {
  const input: Record<string, unknown> = { phone_number: '' }
  // Columns may be named `__proto__`.
  const attributes = Object.create(null) as Record<string, string>
  for (const [at, target] of targets.entries()) {
    // Our own files escape what a spreadsheet would run as a formula; the apostrophe is not the person's.
    const cell = (cells[at] ?? '').trim().replace(/^'(?=[=+\-@\t\r])/, '')
    if (target === null || cell === '') continue
    if (target === 'tags') input['tags'] = splitTags(cell)
    else if (target === 'consent') input['consent'] = { status: readConsent(cell) }
    else if (target === 'country') input['country'] = cell.toUpperCase()
    else if (target.startsWith('attributes.')) attributes[target.slice(11)] = cell
    else input[target] = cell
  }
  if (Object.keys(attributes).length > 0) input['attributes'] = attributes
  return input
}

const splitTags = (cell: string): string[] => [
  ...new Set(
    cell
      .split(/[,;|]/)
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ''),
  ),
]

function readConsent(cell: string): string {
  const word = cell.toLowerCase().replace(/[\s-]+/g, '_')
  return consentStatuses.find((status) => status === word) ?? cell
}

/** The error with its place in the file. */
function locate(fault: Fault, row: SourceRow, input: object, { csv }: ImportOptions): RowError {
  const steps = fault.pointer
    .split('/')
    .slice(1)
    .map((step) => decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~'))
  const target = steps[0] === 'attributes' && steps[1] !== undefined ? `attributes.${steps[1]}` : (steps[0] ?? null)
  const at = csv && target !== null ? csv.targets.indexOf(target) : -1
  const value = csv
    ? (row.record as string[])[at]
    : steps[0] === undefined
      ? undefined
      : (input as Record<string, unknown>)[steps[0]]
  return {
    line: row.line,
    code: fault.code,
    column: csv ? (csv.header[at] ?? target) : steps.join('.') || null,
    value:
      value === undefined
        ? null
        : (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, valueMax).toWellFormed(),
    detail: fault.detail,
    suggestion: fault.suggestion ?? null,
  }
}
