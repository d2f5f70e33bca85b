import { errorOf, HeliogramError } from './error.ts'
import { keyed, routes, type Operations } from './operations.ts'

export type OperationName = keyof Operations

export type OperationRequest<Name extends OperationName> = Omit<Operations[Name], 'answer'> & {
  [Part in Exclude<'path' | 'query' | 'body', keyof Operations[Name]>]?: undefined
}

export type Answer<Name extends OperationName> = Operations[Name]['answer']

export type JsonOperation = {
  [Name in OperationName]: [Answer<Name>] extends [Response] ? never : Name
}[OperationName]

/** Operations that return a page of a list. */
export type ListOperation = {
  [Name in OperationName]: Operations[Name] extends {
    query?: { cursor?: string | undefined } | undefined
    answer: { data: unknown[]; next_cursor: string | null }
  }
    ? 'query' extends keyof Operations[Name]
      ? Name
      : never
    : never
}[OperationName]

export type Item<Name extends ListOperation> = Answer<Name> extends { data: (infer One)[] } ? One : never

/** The request is optional if none of its members is required. */
type Arguments<Name extends OperationName> =
  Partial<OperationRequest<Name>> extends OperationRequest<Name>
    ? [request?: OperationRequest<Name> | undefined, options?: CallOptions | undefined]
    : [request: OperationRequest<Name>, options?: CallOptions | undefined]

export interface ClientOptions {
  /** Such as `https://sms.example.com`; empty for the page's own origin. */
  baseUrl: string
  /** An API key or access token, or a function that returns one before every try. */
  token?: string | (() => string | undefined | Promise<string | undefined>) | undefined
  fetch?: typeof fetch | undefined
  /** Most repetitions of a repeatable call. Default 2. */
  retries?: number | undefined
  /** Time limit of one try. Default 60,000, and none for uploads. */
  timeoutMs?: number | undefined
}

export interface CallOptions {
  /** 1 to 255 visible ASCII characters, new for each intended action. Default: random per call. */
  idempotencyKey?: string | undefined
  /** Aborts the call, which rejects with the signal's reason. */
  signal?: AbortSignal | undefined
  headers?: Record<string, string> | undefined
  retries?: number | undefined
  timeoutMs?: number | undefined
}

export interface Client {
  /**
   * Calls an operation and returns its response. Repeats it with the same idempotency key after network failures and retryable errors. @throws
   * HeliogramError
   */
  call<Name extends JsonOperation>(name: Name, ...rest: Arguments<Name>): Promise<Answer<Name>>
  each<Name extends ListOperation>(name: Name, ...rest: Arguments<Name>): AsyncGenerator<Item<Name>, void, undefined>
  /** The raw response, for downloads and streams. The time limit ends with its head. @throws HeliogramError unless it is 2xx */
  open<Name extends OperationName>(name: Name, ...rest: Arguments<Name>): Promise<Response>
}

interface Outgoing {
  url: string
  method: string
  headers: Headers
  body: Content | undefined
  isRepeatable: boolean
  retries: number
  timeoutMs: number | undefined
  signal: AbortSignal | undefined
}

type Content = NonNullable<RequestInit['body']>

type Primitive = string | number | boolean

interface AnyRequest {
  path?: Record<string, string> | undefined
  query?: Record<string, Primitive | undefined> | undefined
  body?: unknown
}

// Above the longest wait of the API: GET /v1/events waits up to 30 s for events.
const timeoutMsDefault = 60_000
const retriesDefault = 2
const backOff = { firstMs: 300, mostMs: 8000 }
/** After a longer Retry-After the call fails instead of waiting. */
const retryAfterMsMax = 60_000
const repeatedStatuses = new Set([0, 408, 429, 502, 503, 504])

/** Holds no connection and needs no closing. */
export function createClient(client: ClientOptions): Client {
  const call = async <T>(name: OperationName, request: AnyRequest = {}, options: CallOptions = {}): Promise<T> =>
    send(client, prepare(client, name, request, options), readJson) as Promise<T>

  async function* each(name: OperationName, request: AnyRequest = {}, options: CallOptions = {}) {
    let query = request.query
    for (;;) {
      const page = await call<{ data: unknown[]; next_cursor: string | null }>(name, { ...request, query }, options)
      yield* page.data
      if (page.next_cursor === null) return
      query = { ...query, cursor: page.next_cursor }
    }
  }

  const open = async (name: OperationName, request: AnyRequest = {}, options: CallOptions = {}): Promise<Response> =>
    send(client, prepare(client, name, request, { ...options, headers: { accept: '*/*', ...options.headers } }), asIs)

  // The table of operations types the calls; TypeScript cannot follow it here.
  return { call, each, open } as unknown as Client
}

function prepare(client: ClientOptions, name: OperationName, request: AnyRequest, options: CallOptions): Outgoing {
  if (!Object.hasOwn(routes, name)) throw new TypeError(`There is no operation "${name}".`)
  const [method = '', template = ''] = routes[name].split(' ')
  const { content, type, isUpload } = readBody(request.body)
  const headers = new Headers({ accept: 'application/json' })
  if (type !== undefined) headers.set('content-type', type)
  const key = options.idempotencyKey ?? (keyed.has(name) ? newIdempotencyKey() : undefined)
  if (key !== undefined) headers.set('idempotency-key', key)
  for (const [header, value] of Object.entries(options.headers ?? {})) headers.set(header, value)
  const isSafe = ['GET', 'HEAD', 'PUT', 'DELETE'].includes(method) || (keyed.has(name) && key !== undefined)
  return {
    url: `${client.baseUrl.replace(/\/+$/, '')}${fillPath(template, request.path)}${searchOf(request.query)}`,
    method,
    headers,
    body: content,
    isRepeatable: isSafe && !(content instanceof ReadableStream),
    retries: options.retries ?? client.retries ?? retriesDefault,
    timeoutMs: options.timeoutMs ?? (isUpload ? undefined : (client.timeoutMs ?? timeoutMsDefault)),
    signal: options.signal,
  }
}

/** @throws TypeError if a parameter would lead to another route */
function fillPath(template: string, parameters: Record<string, string> = {}): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = parameters[name]
    // Every fetch takes `.` and `..` as path steps, even encoded.
    if (value === undefined || ['', '.', '..'].includes(value))
      throw new TypeError(`The path parameter ${name} is ${value === undefined ? 'missing' : JSON.stringify(value)}`)
    return encodeURIComponent(value)
  })
}

function searchOf(query: Record<string, Primitive | undefined> = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.append(name, String(value))
  return search.size > 0 ? `?${search.toString()}` : ''
}

function readBody(body: unknown): { content: Content | undefined; type?: string; isUpload: boolean } {
  if (body === undefined) return { content: undefined, isUpload: false }
  if (typeof body === 'string') return { content: body, type: 'text/csv; charset=utf-8', isUpload: true }
  if (body instanceof URLSearchParams) return { content: body, isUpload: false }
  const isUpload =
    body instanceof Blob ||
    body instanceof FormData ||
    body instanceof ReadableStream ||
    body instanceof ArrayBuffer ||
    ArrayBuffer.isView(body)
  if (isUpload) return { content: body as Content, isUpload }
  return { content: JSON.stringify(body), type: 'application/json', isUpload }
}

/** Tries until there is a response, or another try is not allowed or useless. */
async function send<T>(client: ClientOptions, outgoing: Outgoing, read: (answer: Response) => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await tryOnce(client, outgoing, read)
    } catch (error) {
      if (!(error instanceof HeliogramError) || tries >= outgoing.retries) throw error
      if (!outgoing.isRepeatable || !isWorthRepeating(error)) throw error
      // Random between half and all, so that clients that failed together do not return together.
      const backOffMs = Math.min(backOff.mostMs, backOff.firstMs * 2 ** tries) * (0.5 + Math.random() / 2)
      await wait((error.retryAfterMs ?? 0) + backOffMs, outgoing.signal)
    }
  }
}

function isWorthRepeating({ status, code, retryable, retryAfterMs = 0 }: HeliogramError): boolean {
  const isTransient = repeatedStatuses.has(status) || code === 'idempotency_in_progress'
  return isTransient && retryable && retryAfterMs <= retryAfterMsMax
}

async function tryOnce<T>(
  { token, fetch: fetchOf = globalThis.fetch }: ClientOptions,
  { url, method, headers, body, timeoutMs, signal }: Outgoing,
  read: (answer: Response) => Promise<T>,
): Promise<T> {
  const bearer = typeof token === 'function' ? await token() : token
  const ours = new Headers(headers)
  if (bearer && !ours.has('authorization')) ours.set('authorization', `Bearer ${bearer}`)
  const limit = new AbortController()
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => limit.abort(), timeoutMs)
  const init: RequestInit = {
    method,
    headers: ours,
    signal: signal ? AbortSignal.any([signal, limit.signal]) : limit.signal,
    // A followed redirect would lose the token between http and https, and turn a POST into a GET.
    redirect: 'manual',
  }
  try {
    // Node.js requires `duplex` for a streamed body.
    const answer = await fetchOf(url, body === undefined ? init : ({ ...init, body, duplex: 'half' } as RequestInit))
    if (!answer.ok) throw await errorOf(answer)
    return await read(answer)
  } catch (cause) {
    if (cause instanceof HeliogramError) throw cause
    signal?.throwIfAborted()
    if (limit.signal.aborted) {
      const detail = `There was no answer within ${timeoutMs} ms`
      throw new HeliogramError({ code: 'timeout', title: 'No answer in time', detail, cause })
    }
    const detail = 'The connection failed before there was a whole answer'
    throw new HeliogramError({ code: 'unreachable', title: 'No answer', detail, cause })
  } finally {
    clearTimeout(timer)
  }
}

const asIs = (answer: Response): Promise<Response> => Promise.resolve(answer)

async function readJson(answer: Response): Promise<unknown> {
  const text = await answer.text()
  if (text === '') return undefined
  try {
    return JSON.parse(text) as unknown
  } catch (cause) {
    const { status } = answer
    const detail = `The answer is ${answer.headers.get('content-type') ?? 'of no type'}, and no JSON`
    throw new HeliogramError({ code: 'unexpected_answer', title: 'Not an answer of the API', detail, status, cause })
  }
}

/** @throws the signal's reason if it aborts first */
function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal?.reason as Error)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    if (signal?.aborted) stop()
    else signal?.addEventListener('abort', stop, { once: true })
  })
}

/** A UUID version 4. Pages over plain HTTP have no `crypto.randomUUID`. */
export function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  const hex = [...bytes].map((byte, i) => {
    const marked = i === 6 ? (byte & 0x0f) | 0x40 : i === 8 ? (byte & 0x3f) | 0x80 : byte
    return marked.toString(16).padStart(2, '0')
  })
  return hex.join('').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
