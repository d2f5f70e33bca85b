/** Stored bytes back into rows, one at a time, whatever is wrong with some of them. */
import { parse, type InfoRecord, type Parser } from 'csv-parse'
import { parseJson } from '../../body.ts'
import { ApiError } from '../../errors.ts'
import { rowBytesMax } from './layout.ts'
import { chunkBytes } from './store.ts'

/** One row of a file as it came. */
export interface SourceRow {
  /** Line in the file where it begins, from 1; of a JSON list the position in it. */
  line: number
  /** Cells, or what a line of JSON holds; of a row that cannot be read its first characters. */
  record: unknown
  /** Why it cannot be read. */
  fault?: { code: 'invalid_format' | 'too_long' | 'invalid_characters'; detail: string }
}

/** Reads a piece of the file, all of them but the last `chunkBytes` long; null behind the last. */
export type ReadChunk = (position: number) => Promise<Buffer | null>

const lineFeed = 10
const carriageReturn = 13
const tooLong = { code: 'too_long', detail: `must be at most ${rowBytesMax} bytes long` } as const
const notClosed = { code: 'invalid_format', detail: 'must close every quote that it opens' } as const

/**
 * Rows of a CSV file behind its header. A record that the parser gives up (a quote that is never closed, an endless line) costs its
 * first line only: parsing starts anew behind it.
 */
export async function* readCsv(readChunk: ReadChunk, delimiter: string): AsyncGenerator<SourceRow> {
  let start = 0
  let linesBefore = 0
  let isHeader = true
  for (;;) {
    const collected: { record: string[]; info: InfoRecord }[] = []
    const parser = openParser(delimiter, (record, info) => collected.push({ record, info }))
    let error: Error | null = null
    let end = { bytes: 0, lines: 0 }
    // csv-parse counts a CRLF inside quotes as two lines.
    let surplus = 0
    for await (const bytes of bytesFrom(readChunk, start)) {
      error = await feed(parser, bytes)
      for (const { record, info } of collected.splice(0)) {
        const breaks = breaksIn(record)
        const line = linesBefore + info.lines - surplus - breaks.characters
        surplus += breaks.pairs
        end = { bytes: info.bytes, lines: info.lines - surplus }
        if (isHeader) isHeader = false
        else yield { line, record }
      }
      if (error) break
    }
    parser.destroy()
    if (!error) return
    const bad = await readLine(readChunk, start + end.bytes)
    if (!bad) return
    yield { line: linesBefore + end.lines + bad.lines, record: bad.text, fault: bad.isTooLong ? tooLong : notClosed }
    start = bad.end
    linesBefore += end.lines + bad.lines
  }
}

/** Rows of one JSON value a line (NDJSON, and how a JSON list is stored). Empty lines are none. */
export async function* readJsonLines(readChunk: ReadChunk): AsyncGenerator<SourceRow> {
  let line = 0
  let rest = Buffer.alloc(0)
  let isSkipping = false
  for await (const bytes of bytesFrom(readChunk, 0)) {
    // Null stands for the end, which ends the last line too.
    rest = bytes ? Buffer.concat([rest, bytes]) : Buffer.concat([rest, Buffer.of(lineFeed)])
    let from = 0
    for (let to = rest.indexOf(lineFeed); to !== -1; to = rest.indexOf(lineFeed, from)) {
      line++
      if (!isSkipping && to > from) {
        const row = readJsonRow(rest.subarray(from, to), line)
        if (row) yield row
      }
      isSkipping = false
      from = to + 1
    }
    rest = rest.subarray(from)
    if (rest.length > rowBytesMax) {
      if (!isSkipping) yield { line: line + 1, record: rest.toString('utf8', 0, 200), fault: tooLong }
      isSkipping = true
      rest = rest.subarray(rest.length)
    }
  }
}

function readJsonRow(bytes: Buffer, line: number): SourceRow | null {
  const text = (): string => bytes.toString('utf8', 0, 200).replaceAll('\0', '\uFFFD')
  if (bytes.length > rowBytesMax) return { line, record: text(), fault: tooLong }
  if (/^[\s\uFEFF]*$/.test(text())) return null
  try {
    const { body, faults } = parseJson(bytes)
    const [fault] = faults
    if (!fault) return { line, record: body }
    return { line, record: text(), fault: { code: 'invalid_characters', detail: fault.detail } }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return {
      line,
      record: text(),
      fault: { code: 'invalid_format', detail: `must be one JSON object: ${error.message}` },
    }
  }
}

function openParser(delimiter: string, take: (record: string[], info: InfoRecord) => void): Parser {
  const parser = parse({
    bom: true,
    delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    max_record_size: rowBytesMax,
    // Taken here and not from the stream, which drops what it holds when the parser fails.
    on_record: (record, info) => {
      take(record, info)
      return null
    },
  })
  parser.resume()
  // Every error also comes out of `feed`.
  parser.on('error', () => {})
  return parser
}

/** Gives bytes to a parser, or with null the end; resolves when it has read them, with what it could not read. */
const feed = (parser: Parser, bytes: Buffer | null): Promise<Error | null> =>
  new Promise((resolve) => {
    const done = (error?: Error | null): void => resolve(error ?? null)
    if (bytes) parser.write(bytes, done)
    else parser.end(done)
  })

/** The file from a byte on in pieces, and null at its end. */
async function* bytesFrom(readChunk: ReadChunk, start: number): AsyncGenerator<Buffer | null> {
  let skip = start % chunkBytes
  for (let position = Math.floor(start / chunkBytes); ; position++) {
    const chunk = await readChunk(position)
    if (!chunk) break
    yield skip === 0 ? chunk : chunk.subarray(skip)
    skip = 0
  }
  yield null
}

interface Line {
  /** The first characters. */
  text: string
  isTooLong: boolean
  /** Lines up to its end, empty ones before it included. */
  lines: number
  /** Offset behind its line break. */
  end: number
}

/** The first line from an offset on that is not empty; null at the end of the file. */
async function readLine(readChunk: ReadChunk, start: number): Promise<Line | null> {
  let at = start
  let lines = 1
  let head = Buffer.alloc(0)
  let length = 0
  let last = 0
  const until = (end: number): Line => ({ text: textOf(head), isTooLong: length > rowBytesMax, lines, end })
  for await (const bytes of bytesFrom(readChunk, start)) {
    if (!bytes) break
    for (const byte of bytes) {
      const isPair = byte === lineFeed && last === carriageReturn
      if (length > 0 && last === carriageReturn) return until(isPair ? at + 1 : at)
      if (byte === lineFeed || byte === carriageReturn) {
        if (length > 0 && byte === lineFeed) return until(at + 1)
        if (length === 0 && !isPair) lines++
      } else {
        if (length < 200) head = Buffer.concat([head, Buffer.of(byte)])
        length++
      }
      last = byte
      at++
    }
  }
  return length === 0 ? null : until(at)
}

const textOf = (bytes: Buffer): string => bytes.toString('utf8').replaceAll('\0', '\uFFFD')

/** Line breaks inside cells: characters, and how many of them are pairs of CR and LF. */
function breaksIn(record: string[]): { characters: number; pairs: number } {
  let characters = 0
  let pairs = 0
  for (const cell of record) {
    if (!/[\r\n]/.test(cell)) continue
    characters += cell.match(/[\r\n]/g)?.length ?? 0
    pairs += cell.match(/\r\n/g)?.length ?? 0
  }
  return { characters, pairs }
}
