/** Lists of opt-outs in files: what comes from another system, and what goes to one. */
import { parse } from 'csv-parse/sync'
import { invalid } from '../errors.ts'
import type { OptOutInput } from './opt-out.ts'
import { readNumber } from './number.ts'
import { undoSpreadsheet } from './number-written.ts'

/** Most rows of one import: some ten seconds of work. */
export const optOutRowsMax = 100_000
const reasonLengthMax = 500

/** A row that was not taken. */
export interface ListError {
  line: number
  value: string
  code: 'required' | 'invalid_phone_number'
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

/** What the column of numbers is called in the exports of others. */
const numberNames = /^(number|phone|phone[ _-]?number|mobile|msisdn|to|recipient)$/i

/**
 * Reads CSV with a header (`number`, and `reason` if there is one), or one number a line without one. The delimiter is found; what
 * spreadsheets put before numbers is taken away.
 * @throws ApiError `validation_failed` where the file as a whole cannot be read.
 */
export function readCsvList(text: string): ReadList {
  const refuse = (detail: string) => invalid([{ pointer: '#', code: 'invalid_format', detail: `The file ${detail}.` }])
  let records: { record: string[]; info: { lines: number } }[]
  try {
    records = parse(text, {
      bom: true,
      delimiter: delimitersOf(text),
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
      to: optOutRowsMax + 2,
    }) as unknown as typeof records
  } catch (error) {
    throw refuse(`is not CSV: ${error instanceof Error ? error.message : String(error)}`)
  }
  const header = records[0]?.record.map((name) => name.trim()) ?? []
  const named = header.findIndex((name) => numberNames.test(name))
  const isHeaderless = named === -1 && header.length === 1 && 'number' in readListed(header[0] ?? '')
  if (named === -1 && !isHeaderless) throw refuse('must have a first line that names a column `number`')
  const reasonAt = header.findIndex((name) => /^reason$/i.test(name))
  const rows = (isHeaderless ? records : records.slice(1)).map(({ record, info }) => ({
    line: info.lines,
    number: record[isHeaderless ? 0 : named] ?? '',
    reason: reasonAt === -1 ? '' : (record[reasonAt] ?? ''),
  }))
  if (rows.length === 0) throw refuse('must have rows')
  if (rows.length > optOutRowsMax) throw refuse(`must have at most ${optOutRowsMax} rows; send the rest in another`)
  return readRows(rows)
}

/** The delimiter that stands in the first line most often; all of them where none does. */
function delimitersOf(text: string): string[] {
  const [line = ''] = /\S[^\r\n]*/.exec(text) ?? []
  const counts = [',', ';', '\t', '|'].map((one) => ({ one, count: line.split(one).length }))
  const most = Math.max(...counts.map(({ count }) => count))
  return counts.filter(({ count }) => count === most).map(({ one }) => one)
}

/** Reads the rows of a JSON body; their lines count from 1. */
export function readJsonList(rows: readonly { number: string; reason?: string }[]): ReadList {
  return readRows(rows.map(({ number, reason = '' }, at) => ({ line: at + 1, number, reason })))
}

function readRows(rows: ListRow[]): ReadList {
  const people = new Map<string, OptOutInput>()
  const errors: ListError[] = []
  for (const { line, number, reason } of rows) {
    const read = readListed(number)
    if ('number' in read) {
      if (!people.has(read.number))
        people.set(read.number, { number: read.number, reason: storableReason(reason) || null })
    } else if (number.trim() === '') errors.push({ line, value: '', code: 'required', detail: 'is required' })
    else errors.push({ line, value: number.slice(0, 40), ...read })
  }
  return { total: rows.length, people: [...people.values()], errors }
}

/** As much of a reason as is kept, with U+FFFD for what cannot be stored: nobody stays in for what somebody wrote beside the number. */
function storableReason(reason: string): string {
  const characters = Array.from(reason.trim().slice(0, 2 * reasonLengthMax)).slice(0, reasonLengthMax)
  return characters.join('').toWellFormed().replaceAll('\0', '\uFFFD')
}

/** `00` and punctuation are how people write; the point of a fraction is none of it: its zero would make another number. */
const readListed = (text: string): ReturnType<typeof readNumber> =>
  readNumber(
    undoSpreadsheet(text)
      .cleaned.replace(/[\s().\-/]+/g, '')
      .replace(/^00/, '+'),
  )
