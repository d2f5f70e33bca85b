/** Any carrier with an HTTP API, as its settings describe it. */
import {
  isOk,
  readNumber,
  readRefusal,
  type Adapter,
  type Codes,
  type CodeTable,
  type InRequest,
  type Secrets,
} from './adapter.ts'
import { readText, type ReadText } from './charset.ts'
import { tryJson } from '../ground/base/json.ts'
import { readFields, readOctetFields, textAt } from './fields.ts'
import { checkGeneric, GenericSecrets, GenericSettings } from './generic-settings.ts'
import { nameOf, valueAt } from './pointer.ts'
import { isSame, sign } from './signature.ts'
import { escapeXml, fillJson, fillTemplate, type TemplateMessage } from './template.ts'

const contentTypes = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
  xml: 'text/xml; charset=utf-8',
  none: null,
} as const

export const generic: Adapter<GenericSettings, Record<string, string>> = {
  settings: GenericSettings,
  secrets: GenericSecrets as never,
  check: checkGeneric,
  table: tableOf,
  isIdempotent: ({ idempotent }) => idempotent,
  send(sent, { request }, secrets) {
    const message: TemplateMessage = { ...sent, encoding: request.encodings?.[sent.encoding] ?? sent.encoding }
    const headers = Object.entries(request.headers ?? {}).map(([name, text]) => [
      name.toLowerCase(),
      fillTemplate(text, message, secrets),
    ])
    const contentType = contentTypes[request.format]
    return {
      method: request.method,
      url: fillTemplate(request.url, message, secrets, encodeURIComponent),
      headers: { ...(contentType !== null && { 'content-type': contentType }), ...Object.fromEntries(headers) },
      body: bodyOf(request, message, secrets),
    }
  },
  readAnswer(answer, { reference }, settings) {
    const { id: idPointer, code: codePointer, accepted } = settings.answer ?? {}
    const body = tryJson(answer.body)
    const [code, id] = [codePointer, idPointer].map(readerOf(body)) as [string | null, string | null]
    const isYes = accepted === undefined ? code === null || !isListed(settings, code) : accepted.includes(code ?? '')
    // A missing id, although announced, means that something else answered, mostly a gateway. If none was announced, receipts are matched by our
    // reference.
    if (isOk(answer) && isYes && (idPointer === undefined || id !== null))
      return { kind: 'accepted', ids: [id ?? reference] }
    const isNo = isOk(answer) && code !== null && (accepted !== undefined || isListed(settings, code)) && !isYes
    return readRefusal(isNo ? { ...answer, status: 400 } : answer, code, tableOf(settings))
  },
  parseReceipt(request, { receipt }) {
    if (receipt === undefined) return []
    return itemsAt(readFields(request), receipt.list).flatMap((item) => {
      const read = readerOf(item)
      const [id, stat] = [read(receipt.id), read(receipt.state)]
      const reference = read(receipt.reference)
      if ((id === null && reference === null) || stat === null) return []
      const state = Object.hasOwn(receipt.states, stat) ? receipt.states[stat] : undefined
      return [
        {
          id: id ?? reference ?? '',
          reference,
          state: state ?? 'enroute',
          stat,
          err: read(receipt.code),
          doneDate: read(receipt.time) ?? '',
        },
      ]
    })
  },
  parseReply(request, { reply }) {
    if (reply === undefined) return []
    return itemsAt(readFields(request), reply.list).flatMap((item) => {
      const read = readerOf(item)
      const [from, to] = [read(reply.from), read(reply.to)]
      if (from === null || to === null) return []
      const text = textOf(request, reply, read)
      return [{ id: read(reply.id), from: readNumber(from), to: readNumber(to), ...text, isPartial: false }]
    })
  },
  verify({ method, url, headers, body }, { signature }, secrets) {
    if (signature === undefined) return true
    const signed = method === 'GET' ? new URL(url).search.slice(1) : body
    const key = secrets['signature']
    const given = headers[signature.header.toLowerCase()]
    if (key === undefined || given === undefined) return false
    const expected = sign(signature.algorithm, key, signed, signature.encoding)
    return isSame(given, `${signature.prefix ?? ''}${expected}`)
  },
}

/** Reads texts of a document by pointer; null if absent. */
const readerOf =
  (document: unknown) =>
  (pointer: string | undefined): string | null =>
    pointer === undefined ? null : textAt({ found: valueAt(document, pointer) }, 'found')

function tableOf({ codes = {}, answer = {} }: GenericSettings): CodeTable {
  const { passing = [], throttled = [], faults = [] } = answer
  const all: Codes = {
    ...Object.fromEntries(passing.map((code) => [code, 'provider_error' as const])),
    ...Object.fromEntries(throttled.map((code) => [code, 'throttled' as const])),
    ...codes,
  }
  return {
    source: "The carrier's settings",
    answers: all,
    receipts: all,
    handlings: {
      ...Object.fromEntries(passing.map((code) => [code, 'passing' as const])),
      ...Object.fromEntries(throttled.map((code) => [code, 'throttling' as const])),
    },
    faults,
  }
}

/** In a query or form the octets may be in another charset than UTF-8, which the settings or the reply name. */
function textOf(
  request: InRequest,
  { text, charset, charset_at: place, charsets = {} }: NonNullable<GenericSettings['reply']>,
  read: (pointer: string | undefined) => string | null,
): ReadText {
  const octets = readOctetFields(request).get(nameOf(text))
  if (!octets) return { text: read(text) ?? '', octets: null }
  const named = read(place)
  const label = named !== null && Object.hasOwn(charsets, named) ? charsets[named] : named
  return readText(octets, label ?? charset ?? null)
}

/** Whether the settings list a code as a refusal. */
function isListed(settings: GenericSettings, code: string): boolean {
  const { answers, faults } = tableOf(settings)
  return Object.hasOwn(answers, code) || (faults?.includes(code) ?? false)
}

function bodyOf(
  { format, body }: GenericSettings['request'],
  message: TemplateMessage,
  secrets: Secrets,
): string | null {
  switch (format) {
    case 'none':
      return null
    case 'xml':
      return fillTemplate(String(body), message, secrets, escapeXml)
    case 'form': {
      const fields = Object.entries(body as Record<string, string>)
      return new URLSearchParams(
        fields.map(([name, text]): [string, string] => [name, fillTemplate(text, message, secrets)]),
      ).toString()
    }
    case 'json':
      return JSON.stringify(fillJson(body, message, secrets))
    default:
      return format satisfies never
  }
}

function itemsAt(value: unknown, list: string | undefined): unknown[] {
  if (list === undefined) return [value]
  const found = valueAt(value, list)
  return Array.isArray(found) ? (found as unknown[]) : []
}
