/** Stored bytes back into rows, a piece of the file at a time, whatever its format and whatever is wrong with some of them. */
import { parseJson } from '../../requests/body.ts'
import { ApiError } from '../../errors.ts'
import { bytesFrom, type ReadChunk } from './chunks.ts'
import { CsvReader } from './csv.ts'
import type { Encoding } from './encoding.ts'
import { rowCharactersMax, tooLong, type SourceRow } from './source-row.ts'

/** The text of a file in pieces, without its mark; what is not of the encoding comes as U+FFFD. `isLast` comes once, with the rest. */
async function* readText(read: ReadChunk, encoding: Encoding): AsyncGenerator<{ text: string; isLast: boolean }> {
  const decoder = new TextDecoder(encoding)
  for await (const bytes of bytesFrom(read)) yield { text: decoder.decode(bytes, { stream: true }), isLast: false }
  yield { text: decoder.decode(), isLast: true }
}

/** Rows of a CSV file; `recordsBefore` is how many of its first records are none: the header, and what stands before it. */
export async function* readCsv(
  read: ReadChunk,
  encoding: Encoding,
  delimiter: string,
  recordsBefore: number,
): AsyncGenerator<SourceRow[]> {
  const reader = new CsvReader(delimiter)
  let passed = 0
  for await (const { text, isLast } of readText(read, encoding)) {
    const rows = reader.read(text, isLast)
    const skipped = Math.min(recordsBefore - passed, rows.length)
    passed += skipped
    yield skipped > 0 ? rows.slice(skipped) : rows
  }
}

/** Rows of one JSON value a line (NDJSON, and how a JSON list is stored). Empty lines are none. */
export async function* readJsonLines(read: ReadChunk, encoding: Encoding = 'utf-8'): AsyncGenerator<SourceRow[]> {
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
