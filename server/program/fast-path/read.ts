/**
 * Reads a request that came whole: the head, and a JSON body of the length that it tells. Of RFC 9112 only what every client writes is taken;
 * whatever else comes, well-formed or not, is not refused here but left to Node's parser, which has the last word on what HTTP is.
 */

/** The header fields that are read; names are those of Node's `IncomingMessage.headers`. */
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

/** A request with a longer head, or with more fields, is left to Node, which has limits of its own. */
const headBytesMax = 8192
const fieldsMax = 100

/**
 * RFC 9112 §3 and §5 without what they only tolerate: a line folded, a tab, an octet above ASCII, a space before the colon, a bare CR or LF.
 * No two parts can take the same character, so that it takes time with the length alone.
 */
const head = /^[A-Z]+ \/[!-~]* HTTP\/1\.1(?:\r\n[!#$%&'*+.^_`|~0-9A-Za-z-]+:[ -~]*)+$/

/** Fields that change what a request is, or who asks (the console's cookie). */
const others: ReadonlySet<string> = new Set([
  'transfer-encoding',
  'content-encoding',
  'trailer',
  'te',
  'expect',
  'upgrade',
  'http2-settings',
  'cookie',
  // Node takes it for Connection.
  'proxy-connection',
])

const end = Buffer.from('\r\n\r\n')

/**
 * What `bytes` are: a request whose target `isOurs`, and nothing behind it; `more` where it lacks the rest of its body; null: something else.
 * The body is a view of `bytes`.
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

/** The fields behind the request line; null where they are not ours alone to understand. */
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
        // What stands twice is joined, dropped or refused, each field in its own way.
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

/** The length of a JSON body; 0: there is none, or it is told in no plain way. */
function lengthOf({ host, 'content-type': type, 'content-length': length }: Fields): number {
  if (!host || type === undefined || !json.test(type)) return 0
  return length !== undefined && /^[1-9]\d{0,6}$/.test(length) ? Number(length) : 0
}
