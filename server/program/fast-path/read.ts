/**
 * Reads a request that arrived whole: the head, and a JSON body by its length. Takes only the common subset of RFC 9112; everything else,
 * valid or not, is left to Node's parser.
 */

/** Names are those of Node's `IncomingMessage.headers`. */
export interface Fields {
  host: string | undefined
  authorization: string | undefined
  'content-type': string | undefined
  'content-length': string | undefined
  'idempotency-key': string | undefined
  'x-forwarded-for': string | undefined
}

export interface Whole {
  /** The method and the path: `POST /v1/messages`. */
  target: string
  fields: Fields
  body: Buffer
}

/** Longer heads, or more fields, are left to Node, which has its own limits. */
const headBytesMax = 8192
const fieldsMax = 100

/**
 * RFC 9112 §3 and §5 without tolerated forms: folded lines, tabs, octets above ASCII, a space before the colon, a bare CR or LF. No two
 * parts match the same character, so it takes linear time.
 */
const head = /^[A-Z]+ \/[!-~]* HTTP\/1\.1(?:\r\n[!#$%&'*+.^_`|~0-9A-Za-z-]+:[ -~]*)+$/

/** Fields that change a request or its caller (the console's cookie). */
const others: ReadonlySet<string> = new Set([
  'transfer-encoding',
  'content-encoding',
  'trailer',
  'te',
  'expect',
  'upgrade',
  'http2-settings',
  'cookie',
  // Node treats it as Connection.
  'proxy-connection',
])

const end = Buffer.from('\r\n\r\n')

/**
 * Parses `bytes`: a request whose target `isOurs`, and no more; `more` if its body is incomplete; null: anything else. The body is a view
 * of `bytes`.
 */
export function readWhole(
  bytes: Buffer,
  isOurs: (target: string) => boolean,
  bodyBytesMax: number,
): Whole | 'more' | null {
  const headLength = bytes.indexOf(end)
  if (headLength === -1 || headLength > headBytesMax) return null
  const text = bytes.toString('latin1', 0, headLength)
  const lineEnd = text.indexOf(' HTTP/1.1\r\n')
  if (lineEnd === -1) return null
  const target = text.slice(0, lineEnd)
  if (!isOurs(target) || !head.test(text)) return null
  const fields = readFields(text, lineEnd + ' HTTP/1.1'.length)
  const length = fields && lengthOf(fields)
  if (!length || length > bodyBytesMax) return null
  const missing = headLength + end.length + length - bytes.length
  if (missing > 0) return 'more'
  return missing < 0 ? null : { target, fields, body: bytes.subarray(headLength + end.length) }
}

/** The fields after the request line; null if any is not supported. */
function readFields(text: string, from: number): Fields | null {
  const fields: Fields = {
    host: undefined,
    authorization: undefined,
    'content-type': undefined,
    'content-length': undefined,
    'idempotency-key': undefined,
    'x-forwarded-for': undefined,
  }
  let count = 0
  for (let at = from; at < text.length;) {
    if (++count > fieldsMax) return null
    const next = text.indexOf('\r\n', at + 2)
    const stop = next === -1 ? text.length : next
    const colon = text.indexOf(':', at)
    const name = text.slice(at + 2, colon).toLowerCase()
    at = stop
    switch (name) {
      case 'host':
      case 'authorization':
      case 'content-type':
      case 'content-length':
      case 'idempotency-key':
      case 'x-forwarded-for':
        // Node joins, drops or refuses repeated fields, depending on the name.
        if (fields[name] !== undefined) return null
        fields[name] = text.slice(colon + 1, stop).trim()
        break
      case 'connection':
        if (!keepsAlive.test(text.slice(colon + 1, stop))) return null
        break
      default:
        if (others.has(name)) return null
    }
  }
  return fields
}

const keepsAlive = /^ *keep-alive *$/i
const json = /^application\/json(?:; ?charset=utf-8)?$/i

/** The length of a JSON body; 0: none, or not in the plain form. */
function lengthOf({ host, 'content-type': type, 'content-length': length }: Fields): number {
  if (!host || type === undefined || !json.test(type)) return 0
  return length !== undefined && /^[1-9]\d{0,6}$/.test(length) ? Number(length) : 0
}
