/** Reads a rate card, JSON or CSV, and reports all faults at once. */
import type { FieldError } from '../ground/base/errors.ts'
import { isCountry } from '../ground/numbers/number.ts'
import { readAmount } from '../ground/base/money.ts'
import { isTime } from '../ground/http/validate.ts'
import { readTableRows, readTexts, rowsOfCsv, rowsOfJson, type TableRow } from '../carriers/operator-table.ts'
import type { Rate } from './rate.ts'

/** Some aggregators publish a price for each of the world's networks. */
export const ratesMax = 100_000

const fields = ['country', 'prefix', 'amount', 'currency', 'effective_from'] as const
type Field = (typeof fields)[number]

/** @throws ApiError `validation_failed` with up to 100 faults. */
export const readRateTable = (rows: readonly unknown[]): Promise<Rate[]> => readRates(rowsOfJson(rows, 'rates'))

/** Reads a CSV file whose first line names the columns. @throws ApiError `validation_failed`; faults name the line, counted from 1. */
export const readRateCsv = (text: string): Promise<Rate[]> => readRates(rowsOfCsv(text, 'rates', ratesMax))

function readRates(rows: Iterable<TableRow> | Promise<Iterable<TableRow>>): Promise<Rate[]> {
  const seen = new Set<string>()
  let currency: string | null = null
  return readTableRows(rows, (row, faults) => {
    const rate = readRow(row, faults)
    if (!rate) return null
    const key = `${rate.destination} ${rate.effectiveFrom.getTime()}`
    if (seen.has(key)) faults.push({ pointer: '', code: 'invalid_value', detail: 'is already in an earlier row' })
    seen.add(key)
    currency ??= rate.price.currency
    if (currency !== rate.price.currency) {
      const detail = `must be ${currency} as in the first row: a card has one currency`
      faults.push({ pointer: 'currency', code: 'invalid_value', detail })
    }
    return rate
  })
}

/** Adds faults with the field as pointer. Null: the row is not a rate. */
function readRow(row: unknown, faults: FieldError[]): Rate | null {
  const texts = readTexts(row, fields, faults)
  if (!texts) return null
  const fault = (pointer: Field, code: FieldError['code'], detail: string): void =>
    void faults.push({ pointer, code, detail })
  const { amount, currency, effective_from: from } = texts
  if (amount === undefined) fault('amount', 'required', 'is required')
  else if (!/^\d{1,9}(\.\d{1,6})?$/.test(amount))
    fault('amount', 'invalid_format', 'must be an amount with a point and at most 6 decimals, such as 0.00790')
  if (currency === undefined) fault('currency', 'required', 'is required')
  else if (!/^[A-Z]{3}$/.test(currency)) fault('currency', 'invalid_format', 'must be an ISO 4217 code, such as USD')
  // Times before 1970 count as always, like no time: PostgreSQL has no year 0.
  const effectiveFrom = new Date(from === undefined ? 0 : Math.max(0, Date.parse(from)))
  if (from !== undefined && !isTime(/^[\d-]{10}$/.test(from) ? `${from}T00:00:00Z` : from))
    fault('effective_from', 'invalid_format', 'must be an RFC 3339 time, or a date, which starts in UTC')
  const destination = readDestination(texts, fault)
  if (faults.length > 0 || amount === undefined || currency === undefined || destination === null) return null
  return { destination, effectiveFrom, price: { amount: readAmount(amount), currency } }
}

/** Everywhere, if a row names neither a country nor a prefix. */
function readDestination(
  { country, prefix }: Partial<Record<Field, string>>,
  fault: (pointer: Field, code: FieldError['code'], detail: string) => void,
): string | null {
  if (prefix !== undefined) {
    const digits = prefix.replace(/^\+/, '')
    // A country beside a prefix is for readers: the prefix is more specific.
    if (/^[1-9]\d{0,14}$/.test(digits)) return digits
    fault('prefix', 'invalid_format', 'must be the first digits of numbers with the calling code, such as 4477')
    return null
  }
  if (country === undefined || country === '*') return '*'
  const code = country.toUpperCase()
  if (isCountry(code)) return code
  fault('country', 'invalid_value', 'must be an ISO 3166-1 alpha-2 country, such as GB, or * for everywhere')
  return null
}
