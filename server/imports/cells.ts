import { textOfCell } from '../ground/http/csv.ts'
import { ApiError, type FieldError, type FieldErrorCode } from '../ground/base/errors.ts'
import { consentStatuses } from '../message/consent.ts'
import { parseJson } from '../ground/http/body.ts'
import type { TableLayout } from './columns.ts'
import { readSign, saysOutClearly, type Sign } from './consent-words.ts'
import { countryOfCode } from '../ground/numbers/number.ts'

export interface CellFault {
  at: number
  code: FieldErrorCode
  detail: string
}

/** The fields in the cells of a row. */
export interface ReadCells {
  input: Record<string, unknown>
  faults: CellFault[]
  hasNulls: boolean
  /** The country is that of a calling code, which others may share. */
  hasDialCode: boolean
}

// Empty values of databases, programs and spreadsheets. `Null` is a surname, and `None` may be one.
const nullWords = /^(?:\\N|NULL|null|\(null\)|<null>|\[NULL\]|NaN|nan|undefined|[Nn]\/[Aa]|None)$/
const errorWords = /^#(?:N\/A|NV|REF!|BEZUG!|VALUE!|WERT!|NAME\?|DIV\/0!|NUM!|ZAHL!|NULL!|SPILL!|CALC!)$/

/** Empty cells are left out, so that an update keeps the old values. Adds unstorable cells to `wrong`. */
export function readCells(
  cells: readonly string[],
  { targets, watched = [] }: Pick<TableLayout, 'targets' | 'watched'>,
  wrong: FieldError[],
): ReadCells {
  const input: Record<string, unknown> = { phone_number: '' }
  const faults: CellFault[] = []
  const signs = new Set<Sign>()
  let hasNulls = false
  let hasDialCode = false
  // A column may be named `__proto__`.
  let attributes: Record<string, unknown> | null = null
  let consent: Record<string, unknown> | null = null
  for (let at = 0; at < targets.length; at++) {
    const target = targets[at]
    if (target === null || target === undefined) continue
    // The lenient reader handles prefixes of numbers.
    const cell = target === 'phone_number' ? (cells[at] ?? '') : textOfCell(cells[at] ?? '')
    if (cell === '') continue
    if (isNothing(cell, target)) {
      hasNulls = true
      continue
    }
    if (target === 'tags') input['tags'] = readTags(cell, wrong)
    else if (target === 'consent')
      consent = Object.assign({}, consent, readObject(cell, target, wrong) ?? { status: cell })
    else if (target === 'opted_out' || target === 'opted_in') {
      const sign = readSign(cell, target === 'opted_out' ? 'out' : 'in')
      if (sign === null) faults.push({ at, code: 'invalid_value', detail: notAnswer })
      else if (sign !== 'nothing') signs.add(sign)
    } else if (target.startsWith('consent_')) (consent ??= {})[target.slice(8)] = cell
    else if (target === 'country') {
      const dialled = countryOfCode(cell)
      input['country'] = dialled ?? cell.toUpperCase()
      hasDialCode = dialled !== null
    }
    // Most programs write locales with an underscore.
    else if (target === 'language') input['language'] = cell.replaceAll('_', '-')
    else if (target === 'attributes')
      attributes = Object.assign(attributes ?? emptyRecord(), readObject(cell, target, wrong) ?? { attributes: cell })
    else if (target.startsWith('attributes.')) (attributes ??= emptyRecord())[target.slice(11)] = cell
    else input[target] = cell
  }
  if (watched.some((at) => saysOutClearly(cells[at] ?? ''))) signs.add('out')
  if (attributes) input['attributes'] = attributes
  if (consent) consent['status'] = readConsent(consent['status'] ?? 'unknown')
  // One column with an opt-out is enough.
  if (signs.has('out')) (consent ??= {})['status'] = 'opted_out'
  else if (signs.has('in') && (consent?.['status'] ?? 'unknown') === 'unknown') (consent ??= {})['status'] = 'opted_in'
  if (consent) input['consent'] = consent
  return { input, faults, hasNulls, hasDialCode }
}

const notAnswer = 'must be yes, no, a date or empty; the row opts nobody in or out until you correct it'

function isNothing(cell: string, target: string): boolean {
  const text = cell.trim()
  if (text.length > 11) return false
  if (target === 'last_name' && text === 'None') return false
  // An error in the number's own cell is reported there.
  return nullWords.test(text) || (target !== 'phone_number' && errorWords.test(text))
}

const emptyRecord = (): Record<string, unknown> => Object.create(null) as Record<string, unknown>

/** Our own exports write attributes without a column, and tags and consents of bad rows, as JSON in one cell. */
function readJson(cell: string, target: string, faults: FieldError[]): unknown {
  if (!/^[[{]/.test(cell)) return undefined
  try {
    const { body, faults: wrong } = parseJson(Buffer.from(cell))
    faults.push(...wrong.map((one) => ({ ...one, pointer: `#/${target}${one.pointer.slice(1)}` })))
    return body
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}

/** The object in a cell of JSON; null if it has none. */
function readObject(cell: string, target: string, faults: FieldError[]): object | null {
  const value = readJson(cell, target, faults)
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null
}

/** Google Contacts writes `* myContacts ::: Patients`, with an asterisk before its own labels. */
function readTags(cell: string, faults: FieldError[]): unknown[] {
  const list = readJson(cell, 'tags', faults)
  if (Array.isArray(list)) return list
  const tags = cell.split(/:::|[,;|]/).map((tag) => tag.trim().replace(/^\* /, '').trim())
  return [...new Set(tags.filter((tag) => tag !== '' && tag !== '*'))]
}

function readConsent(status: unknown): unknown {
  if (typeof status !== 'string') return status
  const word = status.toLowerCase().replace(/[\s-]+/g, '_')
  const own = consentStatuses.find((one) => one === word)
  if (own) return own
  const sign = readSign(status, 'in')
  return sign === null ? status : sign === 'nothing' ? 'unknown' : (`opted_${sign}` as const)
}
