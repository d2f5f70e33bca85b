/** Reads rows from the stored bytes of a file of any format, piece by piece. A bad row stops nothing. */
import { isRepeat, parseJson } from '../http/body.ts'
import { ApiError } from '../base/errors.ts'
import { bytesFrom, type ReadChunk } from './bytes.ts'
import { CsvReader, type RowShape } from './csv.ts'
import { rowCharactersMax, tooLong, type RowFault, type SourceRow } from './source-row.ts'

/** A place between two rows of a file, at which reading may begin. */
export interface Place {
  byte: number
  line: number
}

/** Where reading begins, and the receiver of the places behind rows that were taken. */
export interface Reading {
  from?: Place | undefined
  onPlace?: ((place: Place) => void) | undefined
}

const beginning: Place = { byte: 0, line: 1 }

/** A piece of a file's text. `end`: the byte behind it, if a line ends there. */
interface Text {
  text: string
  isLast: boolean
  end: number | null
}

/** The text of a file in pieces, without its mark; invalid bytes become U+FFFD. `isLast` comes once, with the rest. */
async function* readText(read: ReadChunk, encoding: string, start: number): AsyncGenerator<Text> {
  const decoder = new TextDecoder(encoding, { ignoreBOM: start > 0 })
  // In UTF-16 the byte of a line feed is also half of other characters, and ISO 2022 has states.
  const hasPlainLines = !/^(?:utf-16|iso-2022)/.test(encoding)
  let at = start
  for await (const bytes of bytesFrom(read, start)) {
    const cut = hasPlainLines ? bytes.lastIndexOf(0x0a) + 1 : 0
    const [lines, rest] = [bytes.subarray(0, cut), bytes.subarray(cut)]
    if (cut > 0) yield { text: decoder.decode(lines, { stream: true }), isLast: false, end: at + cut }
    if (rest.length > 0) yield { text: decoder.decode(rest, { stream: true }), isLast: false, end: null }
    at += bytes.length
  }
  yield { text: decoder.decode(), isLast: true, end: null }
}

/** Rows of a CSV file after a line: that of the names, or 0. */
export async function* readCsv(
  read: ReadChunk,
  encoding: string,
  delimiter: string,
  headerLine: number,
  shape: RowShape | null = null,
  { from = beginning, onPlace }: Reading = {},
): AsyncGenerator<SourceRow[]> {
  const reader = new CsvReader(delimiter, shape, from.line)
  for await (const { text, isLast, end } of readText(read, encoding, from.byte)) {
    const rows = reader.read(text, isLast)
    yield (rows[0]?.line ?? Infinity) > headerLine ? rows : rows.filter(({ line }) => line > headerLine)
    if (end !== null && reader.nextLine !== null) onPlace?.({ byte: end, line: reader.nextLine })
  }
}

/** Rows of one JSON value a line (NDJSON, and the stored form of a JSON list). Empty lines are skipped. */
export async function* readJsonLines(
  read: ReadChunk,
  encoding: string = 'utf-8',
  { from = beginning, onPlace }: Reading = {},
): AsyncGenerator<SourceRow[]> {
  let line = from.line - 1
  let rest = ''
  let isSkipping = false
  for await (const { text, isLast, end } of readText(read, encoding, from.byte)) {
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
    if (end !== null && rest === '' && !isSkipping) onPlace?.({ byte: end, line: line + 1 })
  }
}

function readJsonRow(text: string, line: number): SourceRow | null {
  if (text.length > rowCharactersMax) return { line, record: headOf(text), size: text.length, fault: tooLong }
  if (text.trim() === '') return null
  const refuse = (code: RowFault['code'], detail: string, general?: string): SourceRow => ({
    line,
    record: headOf(text),
    size: text.length,
    fault: { code, detail, ...(general !== undefined && { general }) },
  })
  if (text.includes('\uFFFD')) return refuse('invalid_characters', 'must be UTF-8')
  try {
    const { body, faults } = parseJson(Buffer.from(text))
    const [fault] = faults
    const [pointer, detail] = [fault?.pointer.slice(2), fault?.detail ?? '']
    if (fault && isRepeat(fault)) return refuse('invalid_format', `${pointer} ${detail}`, `a field ${detail}`)
    return fault ? refuse('invalid_characters', detail) : { line, record: body, size: text.length }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return refuse('invalid_format', `must be one JSON object: ${error.message}`, 'must be one JSON object')
  }
}

const headOf = (text: string): string => text.slice(0, 200).toWellFormed().replaceAll('\0', '\uFFFD')
