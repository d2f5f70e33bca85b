/** Reads an operator's table of mappings, JSON or CSV, into rows, and reports all errors at once. */
import { ESME } from '@heliogram/smpp'
import { isUnstorable, unstorable } from '../ground/http/body.ts'
import { invalid, type FieldError } from '../ground/base/errors.ts'
import { handlingOf, handlings, messageErrors, type MessageErrorCode } from '../message/taxonomy.ts'
import { canonicalErr, canonicalStatus, canonicalWord } from './mapping.ts'
import { mappingKinds, type Mapping } from './store.ts'
import { readTableRows, readTexts, rowsOfCsv, rowsOfJson, type TableRow } from '../carriers/operator-table.ts'

/** Most rows of one table: aggregators publish some hundreds of codes. */
export const mappingsMax = 5000
const wordMax = 64
const noteMax = 500

const fields = ['kind', 'stat', 'code', 'error', 'handling', 'note'] as const
type Field = (typeof fields)[number]

/** @throws ApiError `validation_failed` with all errors, up to 100. */
export const readTable = (rows: readonly unknown[], isSmpp: boolean): Promise<Mapping[]> =>
  readMappings(rowsOfJson(rows, 'mappings'), isSmpp)

/** Reads a CSV file whose first line names the columns. @throws ApiError `validation_failed`; errors name the line, counted from 1. */
export const readCsvTable = (text: string, isSmpp: boolean): Promise<Mapping[]> =>
  readMappings(rowsOfCsv(text, 'mappings', mappingsMax), isSmpp)

/** The key of one row, from the query of a DELETE, in canonical form. @throws ApiError `validation_failed`. */
export function readKeys(
  query: { kind?: Mapping['kind']; stat?: string; code?: string },
  isSmpp: boolean,
): Partial<Pick<Mapping, 'kind' | 'stat' | 'code'>> {
  const { kind, stat, code } = query
  if (kind === undefined && (stat !== undefined || code !== undefined))
    throw invalid([{ pointer: '?kind', code: 'required', detail: 'is required with stat and code' }])
  if (kind === undefined) return {}
  if (stat === undefined && code === undefined) return { kind }
  const readCode = kind === 'receipt' ? canonicalErr(code ?? '') : readSubmitCode(code ?? '', isSmpp)
  if (readCode === null)
    throw invalid([{ pointer: '?code', ...(code ? wrongStatus : { code: 'required', detail: 'is required' }) }])
  return { kind, stat: canonicalWord(stat ?? ''), code: readCode }
}

function readMappings(rows: Iterable<TableRow> | Promise<Iterable<TableRow>>, isSmpp: boolean): Promise<Mapping[]> {
  const seen = new Set<string>()
  return readTableRows(rows, (row, faults) => {
    const mapping = readRow(row, isSmpp, faults)
    if (!mapping || faults.length > 0) return null
    const key = `${mapping.kind} ${mapping.stat} ${mapping.code}`
    if (seen.has(key)) faults.push({ pointer: 'code', code: 'invalid_value', detail: 'is already in an earlier row' })
    seen.add(key)
    return mapping
  })
}

const wrongStatus = {
  code: 'invalid_format',
  detail: 'must be a command_status in hexadecimal (0x00000458) or by name (ESME_RTHROTTLED)',
} as const

/** Reads one row; adds errors to `faults`, with the field as pointer. */
function readRow(row: unknown, isSmpp: boolean, faults: FieldError[]): Mapping | null {
  const texts = readTexts(row, fields, faults)
  if (!texts) return null
  const fault = (pointer: Field, code: FieldError['code'], detail: string, suggestion?: string): void =>
    void faults.push({ pointer, code, detail, ...(suggestion !== undefined && { suggestion }) })

  const kind = mappingKinds.find((one) => one === texts.kind)
  if (!kind) fault('kind', texts.kind === undefined ? 'required' : 'invalid_value', 'must be submit or receipt')
  const error = readError(texts.error, fault)
  const handling = handlings.find((one) => one === texts.handling)
  if (texts.handling !== undefined && !handling)
    fault('handling', 'invalid_value', `must be one of ${handlings.join(', ')}`)
  if ((texts.note?.length ?? 0) > noteMax) fault('note', 'too_long', `must have at most ${noteMax} characters`)
  if (texts.note !== undefined && isUnstorable(texts.note)) fault('note', 'invalid_characters', unstorable)
  for (const field of ['stat', 'code'] as const)
    if (texts[field] !== undefined && !/^[!-~]{0,64}$/.test(texts[field].trim()))
      fault(field, 'invalid_format', `must have at most ${wordMax} visible ASCII characters without spaces`)
  // A stat that is no text still counts as present.
  const { stat = faults.some(({ pointer }) => pointer === 'stat') ? '?' : '' } = texts
  const key = kind && readKey(kind, { ...texts, stat }, isSmpp, fault)
  if (!key || !error) return null
  return { kind, ...key, error, handling: handling ?? handlingOf(error), note: texts.note ?? null }
}

type Fault = (pointer: Field, code: FieldError['code'], detail: string, suggestion?: string) => void

function readError(text: string | undefined, fault: Fault): MessageErrorCode | null {
  if (text !== undefined && Object.hasOwn(messageErrors, text)) return text as MessageErrorCode
  const codes = Object.keys(messageErrors).join(', ')
  fault('error', text === undefined ? 'required' : 'invalid_value', `must be one of ${codes}`)
  return null
}

function readKey(
  kind: Mapping['kind'],
  { stat = '', code = '' }: Partial<Record<Field, string>>,
  isSmpp: boolean,
  fault: Fault,
): Pick<Mapping, 'stat' | 'code'> | null {
  if (kind === 'receipt') {
    if (stat === '' && code === '') fault('code', 'required', 'needs a stat, a code or both for a receipt')
    return { stat: canonicalWord(stat), code: canonicalErr(code) }
  }
  if (stat !== '') fault('stat', 'invalid_value', 'is only for receipts')
  if (code === '') {
    fault('code', 'required', 'is required')
    return null
  }
  const read = readSubmitCode(code.trim(), isSmpp)
  if (read !== null) return { stat: '', code: read }
  const decimal = /^\d{1,10}$/.test(code) && Number(code) > 0 ? canonicalStatus(Number(code)) : undefined
  fault('code', wrongStatus.code, wrongStatus.detail, decimal)
  return null
}

/** The code of a refused submit: for SMPP a command_status except ROK, for HTTP any word; null if invalid. */
function readSubmitCode(text: string, isSmpp: boolean): string | null {
  if (!isSmpp) return text === '' ? null : text
  const named = Object.entries(ESME).find(([name]) => text === `ESME_${name}` || text === name)?.[1]
  const status = named ?? (/^0x[0-9a-f]{1,8}$/i.test(text) ? Number(text) : 0)
  return status === 0 ? null : canonicalStatus(status)
}

export function renderMapping(mapping: Mapping, isDefault: boolean): Record<string, unknown> {
  const { kind, stat, code, error, handling, note } = mapping
  return {
    kind,
    stat: stat === '' ? null : stat,
    code: code === '' ? null : code,
    error,
    handling,
    title: messageErrors[error]?.title ?? error,
    advice: messageErrors[error]?.advice ?? '',
    note,
    default: isDefault,
  }
}
