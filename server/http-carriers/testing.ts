/** For tests: recorded requests of each carrier, and a local fake that answers, signs and posts like it. */
import { createHmac, generateKeyPairSync, sign as signWith, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { adapterNames, type AdapterName, type HttpSettings } from '../links/carrier-settings.ts'
import { compileCreate } from '../carriers/input.ts'
import type { OutMessage, Secrets } from './adapter.ts'

type Fields = Record<string, unknown>

export interface Post {
  method?: 'GET'
  contentType?: string
  body: Fields
  means?: Fields
  /** Our code for the receipt's error. */
  reason?: string
}

/** Recordings of a carrier; `{{id}}` is its id of a message, `{{reference}}` ours. */
export interface Fixture {
  settings: Fields
  secrets: Record<string, string>
  /** The path of a send. */
  path: string
  request: { contentType: string; fields: Fields }
  answers: Record<string, { status: number; headers?: Record<string, string>; body: Fields | string; means: Fields }>
  receipts: Record<string, Post>
  reply: Post
}

export const fixtures = Object.fromEntries(
  adapterNames.map((name) => [
    name,
    JSON.parse(readFileSync(new URL(`fixtures/${name}.json`, import.meta.url), 'utf8')) as Fixture,
  ]),
) as Record<AdapterName, Fixture>

const telnyxKeys = generateKeyPairSync('ed25519')
const rawKey = (key: KeyObject): string => key.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64')

/** The body of POST /v1/carriers for an adapter and address. */
export function carrierBody(name: AdapterName, baseUrl: string, changes: Fields = {}): Fields {
  const { settings, secrets } = fixtures[name]
  const where = name === 'generic' ? {} : { base_url: baseUrl }
  const key = name === 'telnyx' ? { public_key: rawKey(telnyxKeys.publicKey) } : {}
  const own = fill(settings, { base: baseUrl }, true) as Fields
  return { name, kind: 'http', settings: { adapter: name, ...own, ...key, ...where, ...changes }, secrets }
}

/** Settings and secrets as the API stores them: checked, with defaults. */
export function configure(
  name: AdapterName,
  baseUrl: string,
  changes: Fields = {},
): { settings: HttpSettings; secrets: Secrets } {
  const body = structuredClone(carrierBody(name, baseUrl, changes))
  const result = (compileCreate({ schema: {}, httpPart: 'body', method: '', url: '' }) as (data: unknown) => unknown)(
    body,
  )
  if (result !== true) throw (result as { error: Error }).error
  return { settings: body['settings'] as HttpSettings, secrets: body['secrets'] as Secrets }
}

export const recordedMessage: OutMessage = {
  to: '15551230001',
  from: '15557654321',
  text: 'Grüße & mehr',
  encoding: 'GSM-7',
  segments: 1,
  reference: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA.1.1',
  receiptUrl: 'https://sms.example.com/receipts',
  expiresAt: new Date('2026-11-21T12:10:00Z'),
  now: new Date('2026-11-21T12:00:00Z'),
}

/** Replaces `{{name}}` in all texts of a value; with `keepsOthers`, unknown names stay. */
export function fill(value: unknown, values: Record<string, string>, keepsOthers = false): unknown {
  if (typeof value === 'string')
    return value.replaceAll(/\{\{(\w+)\}\}/g, (all, name: string) => values[name] ?? (keepsOthers ? all : ''))
  if (Array.isArray(value)) return value.map((one) => fill(one, values, keepsOthers))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, fill(one, values, keepsOthers)]))
}

export interface Signed {
  method: string
  url: string
  headers: Record<string, string>
  body: string
}

/** A recorded request, filled in and signed like the carrier's; `our` is the recipient of a reply. */
export function signedPost(name: AdapterName, post: Post, url: string, values: Record<string, string>): Signed {
  const { secrets } = fixtures[name]
  const own = JSON.stringify(post.body).replaceAll('15557654321', values['our'] ?? '15557654321')
  const fields = fill(JSON.parse(own), values) as Fields
  if (name === 'vonage') fields['timestamp'] = String(Math.floor(Date.now() / 1000))
  if (name === 'vonage') fields['sig'] = signVonage(fields, secrets['signature_secret'] ?? '')
  const form = new URLSearchParams(Object.entries(fields).map(([key, value]): [string, string] => [key, String(value)]))
  if (post.method === 'GET') return { method: 'GET', url: `${url}?${form.toString()}`, headers: {}, body: '' }
  const isForm = post.contentType === 'application/x-www-form-urlencoded'
  const body = isForm ? form.toString() : JSON.stringify(fields)
  const headers = { 'content-type': post.contentType ?? '', ...signatures[name](url, body, form, secrets) }
  return { method: 'POST', url, headers, body }
}

const hmac = (algorithm: string, key: string, data: string, encoding: 'hex' | 'base64'): string =>
  createHmac(algorithm, key).update(data).digest(encoding)

/** The signature headers of each carrier. */
const signatures: Record<
  AdapterName,
  (url: string, body: string, form: URLSearchParams, secrets: Record<string, string>) => Record<string, string>
> = {
  twilio: (url, _body, form, { auth_token: token = '' }) => ({
    'x-twilio-signature': hmac(
      'sha1',
      token,
      url +
        sortedPairs(form)
          .map(([name, value]) => name + value)
          .join(''),
      'base64',
    ),
  }),
  telnyx: (_url, body) => {
    const timestamp = String(Math.floor(Date.now() / 1000))
    const signature = signWith(null, Buffer.from(`${timestamp}|${body}`), telnyxKeys.privateKey).toString('base64')
    return { 'telnyx-timestamp': timestamp, 'telnyx-signature-ed25519': signature }
  },
  vonage: () => ({}),
  plivo: (url, _body, form, { auth_token: token = '' }) => {
    const [base = '', query = ''] = url.split('?')
    const asked = sortedPairs(new URLSearchParams(query))
      .map(([name, value]) => `${name}=${value}`)
      .join('&')
    const fields = sortedPairs(form)
      .map(([name, value]) => name + value)
      .join('')
    const signed = `${base}?${asked}${asked === '' ? '' : '.'}${fields}.12345`
    return { 'x-plivo-signature-v3-nonce': '12345', 'x-plivo-signature-v3': hmac('sha256', token, signed, 'base64') }
  },
  sinch: (_url, body, _form, { callback_secret: secret = '' }) => {
    const timestamp = String(Math.floor(Date.now() / 1000))
    const nonce = '01FJA8B4A7BM43YGWSG9GBV067'
    return {
      'x-sinch-webhook-signature-timestamp': timestamp,
      'x-sinch-webhook-signature-nonce': nonce,
      'x-sinch-webhook-signature-algorithm': 'HmacSHA256',
      'x-sinch-webhook-signature': hmac('sha256', secret, `${body}.${nonce}.${timestamp}`, 'base64'),
    }
  },
  infobip: (_url, _body, _form, { callback_user: user = '', callback_password: password = '' }) => ({
    authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
  }),
  generic: (_url, body, _form, { signature: key = '' }) => ({
    'x-signature': `sha256=${hmac('sha256', key, body, 'hex')}`,
  }),
}

function sortedPairs(form: URLSearchParams): [string, string][] {
  const sorted = new URLSearchParams(form)
  sorted.sort()
  return [...sorted]
}

function signVonage(fields: Fields, secret: string): string {
  const names = Object.keys(fields).sort()
  return hmac(
    'sha256',
    secret,
    names.map((name) => `&${name}=${String(fields[name]).replace(/[&=]/g, '_')}`).join(''),
    'hex',
  )
}

/** A request that the fake received. */
export interface Sent {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: string
}

export type Behaviour = string | ((response: ServerResponse, socket: Socket) => void)

/** A carrier on a local port: takes sends, answers as recorded, posts receipts and replies. */
export class FakeCarrier {
  readonly name: AdapterName
  readonly sends: Sent[] = []
  /** Its ids, in the order of accepted sends. */
  readonly ids: string[] = []
  /** For the next sends, one each; later ones are accepted. */
  readonly behaviours: Behaviour[] = []
  readonly #sockets = new Set<Socket>()
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url = '', headers, socket } = request
      this.sends.push({ method, path: url, headers, body: Buffer.concat(chunks).toString('utf8') })
      const behaviour = this.behaviours.shift() ?? 'accepted'
      if (typeof behaviour === 'string') this.answer(response, behaviour)
      else behaviour(response, socket)
    })
  })
  url = ''

  constructor(name: AdapterName) {
    this.name = name
  }

  static async start(name: AdapterName): Promise<FakeCarrier> {
    const fake = new FakeCarrier(name)
    fake.#server.on('connection', (socket: Socket) => {
      fake.#sockets.add(socket)
      socket.on('close', () => fake.#sockets.delete(socket))
    })
    await new Promise<void>((resolve) => fake.#server.listen(0, '127.0.0.1', resolve))
    fake.url = `http://127.0.0.1:${(fake.#server.address() as AddressInfo).port}`
    return fake
  }

  /** Answers as recorded; an accepted message gets the next id. */
  answer(response: ServerResponse, name: string): void {
    const recorded = fixtures[this.name].answers[name]
    if (!recorded) throw new Error(`${this.name} has no answer "${name}"`)
    const id = `${this.name}-${this.ids.length + 1}`
    if (recorded.means['kind'] === 'accepted') this.ids.push(id)
    const body = fill(recorded.body, { id })
    response.writeHead(recorded.status, { 'content-type': 'application/json', ...recorded.headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }

  /** Posts a signed receipt or the recorded reply to our address; returns the status. */
  async post(
    kind: string,
    url: string,
    values: Record<string, string>,
    changes: Partial<Signed> = {},
  ): Promise<number> {
    const { receipts, reply } = fixtures[this.name]
    const recorded = kind === 'reply' ? reply : receipts[kind]
    if (!recorded) throw new Error(`${this.name} has no receipt "${kind}"`)
    const { url: where, method, headers, body } = { ...signedPost(this.name, recorded, url, values), ...changes }
    const response = await fetch(where, { method, headers, ...(method === 'POST' && { body }) })
    await response.text()
    return response.status
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
