/** Detects files of national numbers without a country. */
import { ColumnDoubt, findDoubt, type Doubt } from '../ground/numbers/national.ts'
import { countryOfCode, isCountry } from '../ground/numbers/number.ts'
import { tryJson } from '../ground/base/json.ts'
import type { FoundLayout } from '../ground/tables/layout.ts'
import type { TableLayout } from './columns.ts'
import type { AskedOptions, ImportOptions } from './store.ts'
import type { SourceRow } from '../ground/tables/source-row.ts'

export function doubtOfTable(
  { sample }: Pick<FoundLayout, 'sample'>,
  table: TableLayout,
  { defaultCountry }: AskedOptions,
): { doubt?: Doubt } {
  const doubt = defaultCountry === null ? findDoubt(cellsOf(sample, table)) : null
  return doubt ? { doubt } : {}
}

/** Rows of JSON in the sample. */
export const recordsMax = 200

export function doubtOfRecords(records: readonly unknown[], asked: AskedOptions): { doubt?: Doubt } {
  const doubt = asked.defaultCountry === null ? findDoubt(numbersOf(records, asked)) : null
  return doubt ? { doubt } : {}
}

/** Cells whose country is unknown. */
function cellsOf(rows: readonly string[][], { targets, isExport }: TableLayout): string[] {
  if (isExport) return []
  const [numberAt, countryAt] = [targets.indexOf('phone_number'), targets.indexOf('country')]
  const hasCountry = (cell: string): boolean => isCountry(cell.trim().toUpperCase()) || countryOfCode(cell) !== null
  return rows.filter((row) => !hasCountry(row[countryAt] ?? '')).map((row) => row[numberAt] ?? '')
}

function numbersOf(records: readonly unknown[], { mapping }: AskedOptions): string[] {
  const name = Object.keys(mapping).find((one) => mapping[one] === 'phone_number') ?? 'phone_number'
  return records.flatMap((record) => {
    if (typeof record !== 'object' || record === null || !Object.hasOwn(record, name)) return []
    const { [name]: number, country, object } = record as Record<string, unknown>
    const isWhole = object === 'contact' || (typeof country === 'string' && isCountry(country))
    return typeof number === 'string' && !isWhole ? [number] : []
  })
}

/** The first rows of JSON lines; lines that are not JSON are skipped. */
export const recordsIn = (head: Buffer, encoding: string): unknown[] =>
  new TextDecoder(encoding)
    .decode(head)
    .split('\n', recordsMax)
    .map(tryJson)
    .filter((record) => record !== undefined)

/** Gives the options for each piece of a file, with the doubt about its rows. */
export function openOptions(options: ImportOptions): (rows: readonly SourceRow[]) => ImportOptions {
  const { table, defaultCountry, doubt = null } = options
  if (defaultCountry !== null) return () => options
  const column = new ColumnDoubt(doubt)
  return (rows) => {
    const records = rows.filter(({ fault }) => !fault).map(({ record }) => record)
    const found = column.about(table ? cellsOf(records as string[][], table) : numbersOf(records, options))
    return found ? { ...options, doubt: found } : options
  }
}
