/** Stored bytes back into rows, a piece of the file at a time, whatever its format and whatever is wrong with some of them. */
import { parseJson } from '../requests/body.ts'
import { ApiError } from '../errors.ts'
import { bytesFrom, type ReadChunk } from './bytes.ts'
import { CsvReader, type RowShape } from './csv.ts'
import { rowCharactersMax, tooLong, type SourceRow } from './source-row.ts'

/** The text of a file in pieces, without its mark; what is not of the encoding comes as U+FFFD. `isLast` comes once, with the rest. */
async function* readText(read: ReadChunk, encoding: string): AsyncGenerator<{ text: string; isLast: boolean }> {
  const decoder = new TextDecoder(encoding)
  for await (const bytes of bytesFrom(read)) yield { text: decoder.decode(bytes, { stream: true }), isLast: false }
  yield { text: decoder.decode(), isLast: true }
}

/** Rows of a CSV file behind a line: that of the names, or 0. */
export async function* readCsv(
  read: ReadChunk,
  encoding: string,
  delimiter: string,
  headerLine: number,
  shape: RowShape | null = null,
): AsyncGenerator<SourceRow[]> {
  const reader = new CsvReader(delimiter, shape)
  for await (const { text, isLast } of readText(read, encoding)) {
    const rows = reader.read(text, isLast)
    yield (rows[0]?.line ?? Infinity) > headerLine ? rows : rows.filter(({ line }) => line > headerLine)
  }
}

/** Rows of one JSON value a line (NDJSON, and how a JSON list is stored). Empty lines are none. */
export async function* readJsonLines(read: ReadChunk, encoding: string = 'utf-8'): AsyncGenerator<SourceRow[]> {
  let line = 0
  let rest = ''
  let isSkipping = false
  for await (const { text, isLast } of readText(read, encoding)) {
    const lines = (rest + text).split('\n')
    rest = isLast ? '' : (lines.pop() ?? '')
    const rows: SourceRow[] = []
    for (const one of lines) {
      line++
      if (!isSkipping && one !== '') {
        const row = readJsonRow(one, line)
        if (row) rows.push(row)
      }
      isSkipping = false
    }
    if (rest.length > rowCharactersMax) {
      if (!isSkipping) rows.push({ line: line + 1, record: headOf(rest), size: rest.length, fault: tooLong })
      isSkipping = true
      rest = ''
    }
    yield rows
  }
}

function readJsonRow(text: string, line: number): SourceRow | null {
  if (text.length > rowCharactersMax) return { line, record: headOf(text), size: text.length, fault: tooLong }
  if (text.trim() === '') return null
  const refuse = (code: 'invalid_format' | 'invalid_characters', detail: string): SourceRow => ({
    line,
    record: headOf(text),
    size: text.length,
    fault: { code, detail },
  })
  if (text.includes('\uFFFD')) return refuse('invalid_characters', 'must be UTF-8')
  try {
    const { body, faults } = parseJson(Buffer.from(text))
    const [fault] = faults
    return fault ? refuse('invalid_characters', fault.detail) : { line, record: body, size: text.length }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return refuse('invalid_format', `must be one JSON object: ${error.message}`)
  }
}

const headOf = (text: string): string => text.slice(0, 200).toWellFormed().replaceAll('\0', '\uFFFD')
