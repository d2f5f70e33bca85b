/** The rows that an import did not take, as a file to correct and send again. */
import { writeCsv } from '../../csv.ts'
import type { Db } from '../../db/db.ts'
import { ContactInput } from '../contact.ts'
import { readErrors, type RowError } from './errors.ts'
import type { ImportRow } from './store.ts'

const pageRows = 1000

/**
 * The bad rows of an import as CSV: the original columns, in the original order and with the original delimiter, and `error` behind
 * them. What a spreadsheet would run as a formula has an apostrophe before it (OWASP ASVS 1.2.10), which an import takes away again.
 */
export async function* writeBadRows(db: Db, accountId: string, row: ImportRow): AsyncGenerator<string> {
  const { table, encoding } = row.options
  const fields = Object.keys(ContactInput.properties)
  // A file that was a file of bad rows before has its last errors replaced.
  const kept = table
    ? table.header.map((name, at) => ({ name, at })).filter(({ name }) => name.toLowerCase() !== 'error')
    : null
  const header = kept ? kept.map(({ name }) => name) : fields
  const write = (cells: string[]): string => writeCsv([cells], table?.delimiter ?? undefined)
  const cellsOf = (record: unknown): string[] => {
    if (!kept) return fields.map((field) => textOf((record as Record<string, unknown> | null)?.[field]))
    // Of a row that could not be read there are only its first characters.
    if (!Array.isArray(record)) return header.map((_, at) => (at === 0 ? textOf(record) : ''))
    return kept.map(({ at }) => textOf(record[at]))
  }
  // Who had to save it in another encoding opens it in a program that takes UTF-8 for one only with its mark.
  if (row.format === 'xlsx' || (encoding && encoding !== 'utf-8')) yield '\uFEFF'
  yield write([...header, 'error'])
  let line: { number: number; cells: string[]; texts: string[] } | null = null
  for await (const error of errorsOf(db, accountId, row.id)) {
    if (line && line.number !== error.line) {
      yield write([...line.cells, line.texts.join('; ')])
      line = null
    }
    line ??= { number: error.line, cells: cellsOf(error.record), texts: [] }
    line.texts.push(`${error.column ?? 'the row'} ${error.detail}`)
  }
  if (line) yield write([...line.cells, line.texts.join('; ')])
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

const textOf = (value: unknown): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value)
