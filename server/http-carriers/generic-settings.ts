/** Configuration of the generic adapter: how a send is written, and where the fields of answers, receipts and replies are. */
import { Type, type Static } from 'typebox'
import type { FieldError } from '../ground/base/errors.ts'
import { messageErrors } from '../message/taxonomy.ts'
import { pointTo } from '../ground/http/body.ts'
import { httpCommon, secretText } from '../links/carrier-settings.ts'
import type { Secrets } from './adapter.ts'
import { at, textAt } from './fields.ts'
import { isCharset } from './charset.ts'
import { pointerPattern } from './pointer.ts'
import { checkTemplate, textsOf } from './template.ts'

const template = (description: string, maxLength: number): ReturnType<typeof Type.String> =>
  Type.String({ maxLength, description })
const pointer = (description: string): ReturnType<typeof Type.String> =>
  Type.String({ maxLength: 255, pattern: pointerPattern, description, examples: ['/messages/0/id'] })
const words = (description: string): ReturnType<typeof Type.Array<ReturnType<typeof Type.String>>> =>
  Type.Array(Type.String({ maxLength: 64 }), { maxItems: 100, description })
const strict = { additionalProperties: false } as const
const encodingWord = Type.String({ maxLength: 64 })
const charset = (description: string): ReturnType<typeof Type.String> =>
  Type.String({ maxLength: 32, pattern: '^[A-Za-z0-9_:-]+$', description, examples: ['UTF-16BE', 'ISO-8859-1'] })
const headerName = "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$"

const Request = Type.Object(
  {
    method: Type.Enum(['POST', 'PUT', 'GET'], { default: 'POST' }),
    url: template('Address; fields are percent-encoded, and allowed only after the host.', 1024),
    headers: Type.Optional(
      Type.Record(Type.String({ pattern: headerName }), template('Value of the header.', 1024), {
        maxProperties: 20,
        description: 'Headers by name.',
      }),
    ),
    encodings: Type.Optional(
      Type.Object(
        { 'GSM-7': Type.Optional(encodingWord), 'UCS-2': Type.Optional(encodingWord) },
        {
          ...strict,
          description: "The carrier's words for `{{encoding}}`, such as 0 and 2. Default: ours.",
          examples: [{ 'GSM-7': '0', 'UCS-2': '2' }],
        },
      ),
    ),
    format: Type.Enum(['json', 'form', 'xml', 'none'], {
      default: 'json',
      description: 'Format of the body, for which values are escaped. `none`: no body.',
    }),
    body: Type.Optional(
      Type.Unsafe<unknown>({
        description: 'A JSON document, an object of form fields, or an XML text; its strings are templates.',
      }),
    ),
  },
  { ...strict, description: 'How to send a message.' },
)

const AnswerSettings = Type.Object(
  {
    id: Type.Optional(pointer("Pointer (RFC 6901) to the carrier's id in a JSON response.")),
    code: Type.Optional(pointer('Pointer to a status or error code.')),
    accepted: Type.Optional(words('Codes that mean accepted. Without them every 2xx does.')),
    passing: Type.Optional(words('Codes of temporary refusals: retried later.')),
    throttled: Type.Optional(words('Codes that mean "too fast": the pace is lowered.')),
    faults: Type.Optional(words('Codes that affect every message until somebody acts, such as wrong credentials.')),
  },
  { ...strict, description: 'How to read a response.' },
)

const ReceiptSettings = Type.Object(
  {
    list: Type.Optional(pointer('Pointer to the list of receipts, if one request can contain several.')),
    id: pointer("Pointer to the carrier's id."),
    reference: Type.Optional(pointer('Pointer to our `id`, if the carrier returns it.')),
    state: pointer("Pointer to the word for the message's state."),
    states: Type.Record(
      Type.String({ maxLength: 64 }),
      Type.Enum(['enroute', 'delivered', 'undeliverable', 'rejected', 'expired', 'deleted', 'unknown']),
      { minProperties: 1, maxProperties: 100, description: "The carrier's words; others are not final." },
    ),
    code: Type.Optional(pointer('Pointer to an error code.')),
    time: Type.Optional(pointer('Pointer to the time of the event, to recognize repetitions.')),
  },
  { ...strict, description: 'Where to find values in receipts. Pointers also read forms and queries: /name.' },
)

const ReplySettings = Type.Object(
  {
    list: Type.Optional(pointer('Pointer to the list of replies, if one request can contain several.')),
    from: pointer("Pointer to the person's number."),
    to: pointer('Pointer to your number.'),
    text: pointer('Pointer to the text.'),
    charset: Type.Optional(
      charset('Charset of the text in a query or a form. Default: UTF-8, or detected from the bytes.'),
    ),
    charset_at: Type.Optional(pointer('Pointer to the name of the charset, if each reply has its own.')),
    charsets: Type.Optional(
      Type.Record(Type.String({ maxLength: 32 }), charset('A charset.'), {
        maxProperties: 20,
        description: "The meaning of the carrier's names at `charset_at`; others are names of charsets.",
      }),
    ),
    id: Type.Optional(pointer("Pointer to the carrier's id, to recognize repetitions.")),
  },
  { ...strict, description: 'Where to find values in replies.' },
)

const Signature = Type.Object(
  {
    header: Type.String({ pattern: headerName, description: 'Header with the signature.' }),
    algorithm: Type.Enum(['sha1', 'sha256', 'sha512'], { default: 'sha256' }),
    encoding: Type.Enum(['hex', 'base64'], { default: 'hex' }),
    prefix: Type.Optional(Type.String({ maxLength: 32, description: 'Text before it, such as `sha256=`.' })),
  },
  { ...strict, description: 'HMAC of the body (of the query, for GET) under the secret `signature`.' },
)

export const GenericSettings = Type.Object(
  {
    adapter: Type.Literal('generic'),
    ...httpCommon,
    idempotent: Type.Boolean({
      default: false,
      description: 'Whether the carrier accepts a repeated request with the same {{id}} only once.',
    }),
    request: Request,
    answer: Type.Optional(AnswerSettings),
    receipt: Type.Optional(ReceiptSettings),
    reply: Type.Optional(ReplySettings),
    signature: Type.Optional(Signature),
    codes: Type.Optional(
      Type.Record(
        Type.String({ maxLength: 64 }),
        Type.Enum(Object.keys(messageErrors) as (keyof typeof messageErrors)[]),
        {
          maxProperties: 500,
          description: "The meaning of the carrier's codes.",
        },
      ),
    ),
  },
  strict,
)
export type GenericSettings = Static<typeof GenericSettings>

export const GenericSecrets = Type.Record(
  Type.String({ pattern: '^[a-z][a-z0-9_]{0,39}$' }),
  secretText('For templates, as {{secret.name}}.'),
  { maxProperties: 20 },
)

// A fixed host: a recipient or a text must not choose where requests go.
const fixedHost = /^https?:\/\/[^/?#@\s{}]+(?:[/?#]|$)/

// With other values of these no request can be written (RFC 9110 §7.6.1), and every message would be rejected.
const connectionHeaders = new Set([
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
])

export function checkGeneric(settings: unknown, secrets: Secrets): FieldError[] {
  const request = at(settings, 'request')
  const faults: FieldError[] = []
  const add = (path: string[], detail: string): void =>
    void faults.push({ pointer: ['settings', 'request', ...path].reduce(pointTo, '#'), code: 'invalid_value', detail })
  const check = (path: string[], text: string): void => {
    for (const detail of checkTemplate(text, secrets)) add(path, detail)
  }
  const url = textAt(request, 'url') ?? ''
  check(['url'], url)
  if (!fixedHost.test(url)) add(['url'], 'must be http or https, with a host without fields')
  else if (!URL.canParse(url)) add(['url'], 'is not an address')
  for (const { path, text } of textsOf(at(request, 'headers'))) {
    check(['headers', ...path], text)
    if (connectionHeaders.has((path[0] ?? '').toLowerCase())) add(['headers', ...path], 'is set by the connection')
    if (/[^\t\x20-\x7e]/.test(text)) add(['headers', ...path], 'must be printable ASCII')
    if (/\{\{\s*text\s*\}\}/.test(text)) add(['headers', ...path], 'cannot contain a text')
  }
  const body = at(request, 'body')
  for (const { path, text } of textsOf(body)) check(['body', ...path], text)
  const reply = at(settings, 'reply')
  const labels = [...textsOf({ charset: at(reply, 'charset') }), ...textsOf({ charsets: at(reply, 'charsets') })]
  for (const { path, text } of labels)
    if (!isCharset(text))
      faults.push({
        pointer: ['settings', 'reply', ...path].reduce(pointTo, '#'),
        code: 'invalid_value',
        detail: 'is not a supported charset',
      })
  const wrong = bodyFault(at(request, 'format') ?? 'json', at(request, 'method') ?? 'POST', body)
  if (wrong !== null) add(['body'], wrong)
  if (at(settings, 'signature') !== undefined && secrets['signature'] === undefined)
    faults.push({ pointer: '#/secrets/signature', code: 'required', detail: 'is required for a signature' })
  return faults
}

function bodyFault(format: unknown, method: unknown, body: unknown): string | null {
  if (method === 'GET' && format !== 'none') return 'must be none for a GET'
  if (format === 'none') return body === undefined ? null : 'must be absent if the format is none'
  if (format === 'xml') return typeof body === 'string' ? null : 'must be a text'
  if (format === 'form') return isTexts(body) ? null : 'must be an object of texts'
  return typeof body === 'object' && body !== null ? null : 'must be an object or a list'
}

const isTexts = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).every((one) => typeof one === 'string')
