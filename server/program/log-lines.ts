/** Log lines for a terminal: time, message and fields. */
import { inspect, styleText } from 'node:util'

const dim = (text: string): string => styleText('dim', text)
/** By pino's levels: only warnings and above have a word. */
const levels = [
  { from: 50, word: `${styleText('red', 'error')} ` },
  { from: 40, word: `${styleText('yellow', 'warn')} ` },
]
// Longer values are left to the JSON lines.
const valueMax = 100

/** Renders a log line: `12:04:31 link state changed carrier=simulator state=bound`. Other lines stay as they are. */
export function renderLogLine(line: string): string {
  if (!line.startsWith('{"level":')) return line
  try {
    const { level, time, msg, ...fields } = JSON.parse(line) as { level: number; time: string; msg?: string }
    const word = levels.find(({ from }) => level >= from)?.word ?? ''
    const rest = Object.entries(fields)
      .filter(([, value]) => value !== '' && value !== null)
      .map(([name, value]) => `${name}=${renderValue(value)}`)
    // In the reader's time zone.
    const clock = new Date(time).toTimeString().slice(0, 8)
    return [dim(clock), `${word}${msg ?? ''}`, ...(rest.length > 0 ? [dim(rest.join(' '))] : [])].join(' ')
  } catch {
    return line
  }
}

function renderValue(value: unknown): string {
  const text = describe(value)
  const short = text.length > valueMax ? `${text.slice(0, valueMax)}…` : text
  return /\s/.test(short) ? JSON.stringify(short) : short
}

function describe(value: unknown): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value) && value.length > 3) return `${value.length} items`
  if (typeof value !== 'object' || value === null || !('message' in value))
    return inspect(value, { breakLength: Infinity, compact: true })
  // An error's message; its stack is in the JSON lines.
  const code = 'code' in value && typeof value.code === 'string' ? ` (${value.code})` : ''
  return `${String(value.message)}${code}`
}
