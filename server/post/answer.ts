/**
 * Reads an answer that came whole, with a body of the length that it tells. Of RFC 9112 only what most receivers write is taken; whatever else
 * comes is not refused here but left to undici, which has the last word.
 */

/** What an answer says, but for its body. */
export interface Answer {
  status: number
  /** See `PostResult.responseHeaders`. */
  headers: string | null
  retryAfter: string | undefined
  /** For so long the receiver keeps a quiet connection (`Keep-Alive: timeout`); 0: it closes this one; null: it does not say. */
  keepsForMs: number | null
  /** The head as it came, with the empty line. */
  head: Buffer
  bodyBytes: number
}

const headBytesMax = 8192
const keepAliveMaxMs = 600_000

/** A status line, and fields of which none is folded, or has a tab or an octet that is not ASCII. */
const plain = /^HTTP\/1\.1 [2-5]\d\d(?: [ -~]*)?(?:\r\n[!#$%&'*+.^_`|~0-9A-Za-z-]+:[ -~]*)*$/

/** Fields that say how long an answer is in another way, or that it is the last. */
const others = new Set(['transfer-encoding', 'trailer', 'upgrade', 'proxy-connection'])

const end = Buffer.from('\r\n\r\n')

/**
 * The answer that `bytes` are, with nothing behind it; null: something else, or not all of it. Most are as the `last` one of the connection
 * was, which then is returned itself.
 */
export function readAnswer(bytes: Buffer, last: Answer | null): Answer | null {
  const isAsBefore = last !== null && last.head.equals(bytes.subarray(0, last.head.length))
  const answer = isAsBefore ? last : readHead(bytes)
  return answer && answer.head.length + answer.bodyBytes === bytes.length ? answer : null
}

function readHead(bytes: Buffer): Answer | null {
  const length = bytes.indexOf(end)
  if (length === -1 || length > headBytesMax) return null
  const text = bytes.toString('latin1', 0, length)
  if (!plain.test(text)) return null
  const [, ...lines] = text.split('\r\n')
  const fields = lines.map((line): [string, string] => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trimStart()]
  })
  const known = new Map(fields)
  // Node joins, drops or refuses repeated fields, depending on the field.
  if (known.size < fields.length || fields.some(([name]) => others.has(name))) return null
  const connection = (known.get('connection') ?? 'keep-alive').toLowerCase()
  if (connection !== 'keep-alive' && connection !== 'close') return null
  const status = Number(text.slice(9, 12))
  const bodyBytes = lengthOf(status, known.get('content-length'))
  if (bodyBytes === null) return null
  return {
    status,
    headers: keepHeaders(fields),
    retryAfter: known.get('retry-after'),
    keepsForMs: connection === 'close' ? 0 : readKeepAlive(known.get('keep-alive')),
    head: Buffer.from(bytes.subarray(0, length + end.length)),
    bodyBytes,
  }
}

/** The length of a body; null: not plain. 204 and 304 have none (RFC 9110 §6.4.1). */
function lengthOf(status: number, told: string | undefined): number | null {
  if (status === 204) return told === undefined || told === '0' ? 0 : null
  return status !== 304 && told !== undefined && /^\d{1,5}$/.test(told) ? Number(told) : null
}

function readKeepAlive(told: string | undefined): number | null {
  const seconds = /(?:^|[\s,])timeout=(\d{1,6})(?:$|[\s,])/i.exec(told ?? '')?.[1]
  return seconds === undefined ? null : Math.min(Number(seconds) * 1000, keepAliveMaxMs)
}

const keptMax = 4 * 1024

// Of the connection, or a credential that the receiver gave us.
const unkept = new Set(['connection', 'date', 'keep-alive', 'set-cookie', 'transfer-encoding'])

/** Headers as they are kept: a JSON object, null where that is long. */
export function keepHeaders(fields: Iterable<readonly [string, string | string[] | undefined]>): string | null {
  const kept = [...fields].filter(([name]) => !unkept.has(name))
  const text = JSON.stringify(Object.fromEntries(kept)).replaceAll('\\u0000', '\\ufffd')
  return text.length <= keptMax ? text : null
}
