/** Detects files of national numbers without a country. */
import { findDoubt, type Doubt } from '../ground/numbers/national.ts'
import { isCountry } from '../ground/numbers/number.ts'
import { tryJson } from '../ground/base/json.ts'
import type { FoundLayout } from '../ground/tables/layout.ts'
import type { TableLayout } from './columns.ts'
import type { AskedOptions, ImportOptions } from './store.ts'
import type { SourceRow } from '../ground/tables/source-row.ts'

export function doubtOfTable(
  { sample }: Pick<FoundLayout, 'sample'>,
  { targets, isExport }: TableLayout,
  asked: AskedOptions,
): { doubt?: Doubt } {
  if (asked.defaultCountry !== null || isExport) return {}
  const [numberAt, countryAt] = [targets.indexOf('phone_number'), targets.indexOf('country')]
  const rows = sample.filter((row) => !isCountry((row[countryAt] ?? '').trim().toUpperCase()))
  const doubt = findDoubt(rows.map((row) => row[numberAt] ?? ''))
  return doubt ? { doubt } : {}
}

/** Rows of JSON in the sample. */
export const recordsMax = 200

export function doubtOfRecords(
  records: readonly unknown[],
  { defaultCountry, mapping }: AskedOptions,
): { doubt?: Doubt } {
  if (defaultCountry !== null) return {}
  const name = Object.keys(mapping).find((one) => mapping[one] === 'phone_number') ?? 'phone_number'
  const numbers = records.flatMap((record) => {
    if (typeof record !== 'object' || record === null || !Object.hasOwn(record, name)) return []
    const { [name]: number, country, object } = record as Record<string, unknown>
    const isWhole = object === 'contact' || (typeof country === 'string' && isCountry(country))
    return typeof number === 'string' && !isWhole ? [number] : []
  })
  const doubt = findDoubt(numbers)
  return doubt ? { doubt } : {}
}

/** The first rows of JSON lines; lines that are not JSON are skipped. */
export const recordsIn = (head: Buffer, encoding: string): unknown[] =>
  new TextDecoder(encoding)
    .decode(head)
    .split('\n', recordsMax)
    .map(tryJson)
    .filter((record) => record !== undefined)

/** Options with the doubt of these rows, which may differ from the first rows of the file; null if there are too few of them to tell. */
export function optionsOf(options: ImportOptions, rows: readonly SourceRow[]): ImportOptions | null {
  const { table, doubt, defaultCountry } = options
  if (doubt || defaultCountry !== null || rows.length < recordsMax) return null
  const records = rows.filter(({ fault }) => !fault).map(({ record }) => record)
  const found = table
    ? doubtOfTable({ sample: records as string[][] }, table, options)
    : doubtOfRecords(records, options)
  return { ...options, ...found }
}
