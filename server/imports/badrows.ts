/** The refused rows of an import, as a file to correct and send again. */
import { writeCsv } from '../ground/http/csv.ts'
import type { Db } from '../ground/db/db.ts'
import { ContactInput } from '../contacts/contact.ts'
import { attributeLimits } from '../contacts/store.ts'
import { isNumberName } from '../ground/tables/number-column.ts'
import { readErrors, type RowError } from './errors.ts'
import { fieldsOf } from './row.ts'
import { rowSchema } from './row-schema.ts'
import type { ImportRow } from './store.ts'

const pageRows = 1000

/**
 * Original columns, order and delimiter, with `error` at the end; rows of JSON get one column for each name. A cell that a spreadsheet would run as a
 * formula gets an apostrophe (OWASP ASVS 1.2.10). An import removes it, and reads the JSON of tags, attributes and consents.
 */
export async function* writeBadRows(db: Db, accountId: string, row: ImportRow): AsyncGenerator<string> {
  const { table, encoding } = row.options
  // If the file was a file of bad rows, its old errors are replaced.
  const kept = table
    ? table.header.map((name, at) => ({ name, at })).filter(({ name }) => name.toLowerCase() !== 'error')
    : null
  const header = kept ? kept.map(({ name }) => name) : await namesOf(errorsOf(db, accountId, row.id))
  const write = (cells: string[]): string => writeCsv([cells], table?.delimiter ?? undefined)
  const cellsOf = (given: unknown): string[] => {
    const record = fieldsOf(given, rowSchema)
    if (kept && Array.isArray(record)) return kept.map(({ at }) => textOf(record[at]))
    if (!kept && isObject(record))
      return header.map((name) => textOf(Object.hasOwn(record, name) ? record[name] : null))
    // Only the first characters of an unreadable row are kept.
    return header.map((_, at) => (at === 0 ? textOf(record) : ''))
  }
  // Cells behind the last column follow `error`, without a header: an import refuses the row until a person moves them.
  const surplusOf = (record: unknown): string[] =>
    table && Array.isArray(record) ? record.slice(table.header.length).map(textOf) : []
  // A file in another encoding was opened in a program that recognizes UTF-8 only by its mark.
  if (row.format === 'xlsx' || (encoding && encoding !== 'utf-8')) yield '\uFEFF'
  yield write([...header, 'error'])
  let line: { number: number; cells: string[]; texts: string[]; surplus: string[] } | null = null
  const writeLine = ({ cells, texts, surplus }: NonNullable<typeof line>): string =>
    write([...cells, texts.join('; '), ...surplus])
  for await (const error of errorsOf(db, accountId, row.id)) {
    if (line && line.number !== error.line) {
      yield writeLine(line)
      line = null
    }
    line ??= { number: error.line, cells: cellsOf(error.record), texts: [], surplus: surplusOf(error.record) }
    line.texts.push(`${error.column ?? 'the row'} ${error.detail}`)
  }
  if (line) yield writeLine(line)
}

/** Names in rows of JSON: the fields of a contact, then all others up to the limit of columns in an import. */
async function namesOf(rows: AsyncIterable<{ record: unknown }>): Promise<string[]> {
  const fields = Object.keys(ContactInput.properties)
  const used = new Set<string>()
  const others = new Set<string>()
  for await (const row of rows) {
    const record = fieldsOf(row.record, rowSchema)
    if (!isObject(record)) continue
    for (const field of fields) if (Object.hasOwn(record, field)) used.add(field)
    if (others.size === attributeLimits.count) continue
    for (const name of Object.keys(record))
      if (others.size < attributeLimits.count && !fields.includes(name) && name.toLowerCase() !== 'error')
        others.add(name)
  }
  const names = [...fields.filter((field) => used.has(field)), ...others]
  const hasNumber = used.has('phone_number') || names.some(isNumberName)
  return hasNumber ? names : ['phone_number', ...names]
}

async function* errorsOf(db: Db, accountId: string, id: string): AsyncGenerator<RowError & { record: unknown }> {
  let after = { line: 0, code: '' }
  for (;;) {
    const errors = await readErrors(db, accountId, id, after, pageRows)
    yield* errors
    const last = errors.at(-1)
    if (!last || errors.length < pageRows) return
    after = last
  }
}

const isObject = (record: unknown): record is Record<string, unknown> =>
  typeof record === 'object' && record !== null && !Array.isArray(record)

const textOf = (value: unknown): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value)
