import { numberDigits } from './tally.ts'

/** `{number}`, `{to}` and `{key}` are replaced by the message's own values of fixed length. */
export type RequestShape = {
  port: number
  /** Of all processes that take requests; the connections go to them in turns. */
  ports?: readonly number[]
  method: 'GET' | 'POST'
  path: string
  headers: Record<string, string>
  body?: string
  /** Used in turns. */
  keys?: readonly string[]
}

/**
 * The recipient of a message number: a US number that is valid in numbering plans, which would otherwise add warnings. Its last four digits run
 * 1000–9999, because simulators give a meaning to endings such as 0002.
 */
export function recipientOf(number: number): string {
  const exchange = 200 + (Math.floor(number / 9000) % 800)
  return `1415${exchange}${1000 + (number % 9000)}`
}

export function renderRequest(shape: RequestShape, number: number): Buffer {
  const fill = (text: string) =>
    text
      .replaceAll('{number}', String(number).padStart(numberDigits, '0'))
      .replaceAll('{to}', recipientOf(number))
      .replaceAll('{key}', shape.keys?.[number % shape.keys.length] ?? '')
  const body = fill(shape.body ?? '')
  const headers = { host: `127.0.0.1:${shape.port}`, ...shape.headers }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${fill(value)}\r\n`)
  if (shape.method === 'POST') lines.push(`content-length: ${Buffer.byteLength(body)}\r\n`)
  return Buffer.from(`${shape.method} ${fill(shape.path)} HTTP/1.1\r\n${lines.join('')}\r\n${body}`)
}
