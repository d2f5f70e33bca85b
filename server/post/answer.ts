/**
 * Reads an answer that came whole, with a body of the declared length. It takes only the subset of RFC 9112 that most receivers write; everything
 * else goes to undici, which decides.
 */

/** An answer without its body. */
export interface Answer {
  status: number
  /** See `PostResult.responseHeaders`. */
  headers: string | null
  retryAfter: string | undefined
  /** Keep-alive of the receiver (`Keep-Alive: timeout`) in ms; 0: it closes the connection; null: not declared. */
  keepsForMs: number | null
  /** The head as received, with the empty line. */
  head: Buffer
  bodyBytes: number
}

const headBytesMax = 8192
const keepAliveMaxMs = 600_000

/** A status line, and fields without folding, tabs or octets outside ASCII. */
const plain = /^HTTP\/1\.1 [2-5]\d\d(?: [ -~]*)?(?:\r\n[!#$%&'*+.^_`|~0-9A-Za-z-]+:[ -~]*)*$/

/** Fields that declare the length in another way, or the last answer. */
const others = new Set(['transfer-encoding', 'trailer', 'upgrade', 'proxy-connection'])

const end = Buffer.from('\r\n\r\n')

/**
 * The answer in exactly these `bytes`; null: something else, or incomplete. Most equal the connection's `last` one, which is then returned itself.
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

/** The length of a body; null: unusual. 204 and 304 have none (RFC 9110 §6.4.1). */
function lengthOf(status: number, told: string | undefined): number | null {
  if (status === 204) return told === undefined || told === '0' ? 0 : null
  return status !== 304 && told !== undefined && /^\d{1,5}$/.test(told) ? Number(told) : null
}

function readKeepAlive(told: string | undefined): number | null {
  const seconds = /(?:^|[\s,])timeout=(\d{1,6})(?:$|[\s,])/i.exec(told ?? '')?.[1]
  return seconds === undefined ? null : Math.min(Number(seconds) * 1000, keepAliveMaxMs)
}

const keptMax = 4 * 1024

// About the connection, or a credential from the receiver.
const unkept = new Set(['connection', 'date', 'keep-alive', 'set-cookie', 'transfer-encoding'])

/** Headers for storage: a JSON object, null if too long. */
export function keepHeaders(fields: Iterable<readonly [string, string | string[] | undefined]>): string | null {
  const kept = [...fields].filter(([name]) => !unkept.has(name))
  const text = JSON.stringify(Object.fromEntries(kept)).replaceAll('\\u0000', '\\ufffd')
  return text.length <= keptMax ? text : null
}
