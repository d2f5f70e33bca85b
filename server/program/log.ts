/** The program's log: one JSON object a line, or a form for terminals, with ids and never with texts, secrets or full numbers. */
import type { Writable } from 'node:stream'
import { pino, type Logger } from 'pino'
import { codeOf } from '../ground/db/failure.ts'
import { showId, type IdPrefix } from '../ground/base/ids.ts'
import { renderLogLine } from './log-lines.ts'
import { maskNumbers } from '../ground/base/mask.ts'

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
/** Writes ids as the API shows them, because readers of the log use the API. */
const shownAs =
  (prefix: IdPrefix) =>
  (id: unknown): unknown =>
    typeof id === 'string' && uuid.test(id) ? showId(prefix, id) : id

const describe = (error: unknown): unknown => describeError(error)
const serializers = {
  error: describe,
  err: describe,
  account: shownAs('acc'),
  contact: shownAs('ctc'),
  import: shownAs('imp'),
  link: shownAs('lnk'),
  message: shownAs('msg'),
}

// Some thousand lines, held in memory while the log's reader stalls.
const waitingBytesMax = 1_048_576

/**
 * Opens the log. Errors are in `error` or `err`, and written by `describeError`; ids in fields by their type. If a pipe is open but not
 * read, lines are dropped, and their number is logged later.
 */
export function openLog(
  level: string,
  stream: Writable,
  { isText = false, bytesMax = waitingBytesMax }: { isText?: boolean; bytesMax?: number } = {},
): Logger {
  let dropped = 0
  const write = (line: string): void => {
    if (stream.writableLength < bytesMax) stream.write(isText ? `${renderLogLine(line.trimEnd())}\n` : line)
    else dropped++
  }
  const log = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers }, { write })
  stream.on('drain', () => {
    if (dropped === 0) return
    const lines = dropped
    dropped = 0
    log.warn({ lines }, 'log lines were dropped')
  })
  return log
}

const causesMax = 3

/**
 * The parts of an error that may be logged. PostgreSQL's `detail` and `where` show rows, and its messages about data (SQLSTATE class 22)
 * the value; messages of JSON.parse quote the text. Numbers are masked everywhere.
 */
export function describeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return error
  const code = codeOf(error)
  const frames = error.stack?.split('\n').filter((line) => /^\s+at /.test(line))
  return {
    type: error.name,
    message: maskNumbers(withoutValues(error, code)),
    ...(code !== undefined && { code }),
    // The constraint that a statement broke in PostgreSQL.
    ...('constraint' in error && typeof error.constraint === 'string' && { constraint: error.constraint }),
    // Our frames; without the message, which is a field.
    ...(frames && frames.length > 0 && { stack: frames.join('\n') }),
    ...(error.cause !== undefined && depth < causesMax && { cause: describeError(error.cause, depth + 1) }),
  }
}

function withoutValues(error: Error, code: string | undefined): string {
  const isAboutData = error instanceof SyntaxError || (code !== undefined && /^22...$/.test(code))
  // From the first quotation mark to the last, because a value may contain some.
  return isAboutData ? error.message.replace(/"[^]*"/, '"…"') : error.message
}
