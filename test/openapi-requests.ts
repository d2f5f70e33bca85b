/** Requests from an OpenAPI document: valid, nearly valid, and hostile. The same seed makes the same. */
import {
  csv,
  garbage,
  headers,
  idempotencyKeys,
  methods,
  pageRoots,
  parameterValues,
  queries,
  segments,
  texts,
  types,
} from './hostile-inputs.ts'
import type { Filling } from './openapi-logins.ts'
import { phone, prefixes, Random, ValueGenerator, type Known, type Schema } from './openapi-values.ts'

// An endless stream would block the test.
const chanceOf = (parameter: string): number => (parameter === 'max_seconds' ? 1 : 0.25)

export type Kind = 'valid' | 'near' | 'hostile' | 'garbage'

interface Parameter {
  name: string
  required?: boolean
  in: string
  schema: Schema
}

export interface Operation {
  method: string
  path: string
  parameters: Parameter[]
  bodies: Record<string, { schema: Schema }>
  responses: Record<string, { content?: Record<string, { schema?: Schema }> }>
}

export interface Document {
  paths: Record<string, Record<string, unknown>>
  components: Record<string, Record<string, unknown>> & { schemas: Record<string, Schema> }
}

export interface FuzzRequest {
  kind: Kind
  method: string
  target: string
  headers: [name: string, value: string][]
  body: Buffer | null
  isChunked: boolean
  isMeasuredWrong: boolean
}

/** Every operation of a document, with references resolved except schemas. */
export function readOperations(document: Document): Operation[] {
  const resolve = <T extends object>(value: T): T => {
    const [, kind = '', name = ''] = /#\/components\/(\w+)\/(.+)/.exec((value as Schema).$ref ?? '') ?? []
    return (document.components[kind]?.[name] as T | undefined) ?? value
  }
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, value]) => {
      const operation = value as Partial<Operation> & { requestBody?: { content: Operation['bodies'] } }
      return {
        method: method.toUpperCase(),
        path,
        parameters: (operation.parameters ?? []).map(resolve),
        bodies: operation.requestBody?.content ?? {},
        responses: Object.fromEntries(
          Object.entries(operation.responses ?? {}).map(([status, answer]) => [status, resolve(answer)]),
        ),
      }
    }),
  )
}

const bare = (target: string, ...more: [string, string][]): FuzzRequest => ({
  kind: 'hostile',
  method: 'GET',
  target,
  headers: [['host', 'localhost'], ...more],
  body: null,
  isChunked: false,
  isMeasuredWrong: false,
})

export class RequestGenerator {
  readonly #random: Random
  readonly #known: Known
  readonly #values: ValueGenerator
  readonly #operations: Operation[]
  readonly #seed: number
  #n = 0

  constructor(document: Document, seed: number, known: Known) {
    const random = new Random(seed)
    this.#seed = seed
    this.#random = random
    this.#known = known
    this.#values = new ValueGenerator(document.components.schemas, random, known)
    this.#operations = readOperations(document)
  }

  /** The nth request; depends on others only by known ids. */
  at(n: number): FuzzRequest {
    const random = this.#random
    random.restart(this.#seed, n)
    this.#n = n
    const dice = random.next()
    const kind: Kind = dice < 0.4 ? 'valid' : dice < 0.75 ? 'near' : 'hostile'
    let operation = random.pick(this.#operations)
    // Each costs a password hash.
    if (/login|oauth/.test(operation.path) && random.chance(0.8)) operation = random.pick(this.#operations)
    return this.#make(kind, operation)
  }

  /** Every query parameter of every reading route, with each hostile value. */
  parameters(): FuzzRequest[] {
    const authorization: [string, string] = ['authorization', `Bearer ${this.#known.credentials.at(-1)?.token ?? ''}`]
    return this.#operations
      .filter(({ method }) => method === 'GET')
      .flatMap(({ path, parameters }) => {
        const target = path.replace(/([^/]+)\/\{(\w+)\}/g, (_, before: string, name: string) =>
          [before, this.#part(before, name)].join('/'),
        )
        return (
          parameters
            // Both wait on purpose if they are valid.
            .filter(({ in: place, name }) => place === 'query' && name !== 'wait' && name !== 'max_seconds')
            .flatMap(({ name }) => parameterValues.map((value) => `${target}?${name}${value.replace('$', name)}`))
        )
      })
      .filter((target) => !target.startsWith('/v1/events/stream'))
      .map((target) => bare(target, authorization))
  }

  /** Every root of files and pages, with each hostile segment and header. */
  pages(): FuzzRequest[] {
    return [
      ...pageRoots.flatMap((root) => segments.map((segment) => bare(root + segment))),
      ...pageRoots.flatMap((root) => headers.map((header) => bare(root, header))),
      ...headers.map((header) => bare('/docs/reference/static/swagger-ui.css', header)),
    ]
  }

  /** The nth sequence of bytes that is not, or barely, HTTP. */
  garbage(n: number): Buffer {
    const random = this.#random
    random.restart(~this.#seed, n)
    const bytes = Buffer.from(random.pick(garbage), 'latin1')
    for (let left = random.below(4); left > 0; left--) bytes[random.below(bytes.length)] = random.below(256)
    return random.chance(0.2) ? bytes.subarray(0, random.below(bytes.length)) : bytes
  }

  #make(kind: Kind, operation: Operation): FuzzRequest {
    const random = this.#random
    const isOdd = (p: number): boolean => kind !== 'valid' && random.chance(kind === 'near' ? p / 4 : p)
    const method = isOdd(0.08) ? random.pick(methods) : operation.method
    const path = operation.path.replace(/([^/]+)\/\{(\w+)\}/g, (_, before: string, name: string) =>
      [before, isOdd(0.4) ? this.#strangePart() : this.#part(before, name)].join('/'),
    )
    const request: FuzzRequest = {
      kind,
      method,
      target: path + this.#query(operation, isOdd),
      headers: [['host', 'localhost']],
      body: null,
      isChunked: false,
      isMeasuredWrong: false,
    }
    this.#addHead(request, isOdd)
    const [type, body] = random.pick(Object.entries(operation.bodies)) ?? []
    const filling =
      kind === 'hostile' ? null : this.#known.logins?.fill(`${operation.method} ${operation.path}`, random)
    if (filling) this.#addFilling(request, filling, body?.schema ?? {})
    else if (body && type) this.#addBody(request, type, body.schema, isOdd)
    else if (isOdd(0.2)) this.#addBody(request, 'application/json', {}, isOdd)
    request.isChunked = request.body !== null && random.chance(0.05)
    request.isMeasuredWrong = request.body !== null && !request.isChunked && isOdd(0.02)
    return request
  }

  #addHead({ headers: head, kind, method, target }: FuzzRequest, isOdd: (p: number) => boolean): void {
    const random = this.#random
    const { credentials } = this.#known
    const odd = credentials.find(({ chance }) => random.chance(chance))
    const credential = kind === 'valid' ? credentials.at(-1) : odd
    if (credential) head.push(['authorization', `Bearer ${credential.token}`])
    const isNeeded = kind === 'valid' && /(batch|send)$/.test(target)
    if (method !== 'GET' && (random.chance(0.3) || isNeeded)) {
      const key = random.chance(0.4) ? `again-${random.below(30)}` : `key-${this.#n}`
      head.push(['idempotency-key', isOdd(0.5) ? random.pick(idempotencyKeys) : key])
    }
    if (isOdd(0.3)) head.push(random.pick(headers))
  }

  #addFilling(request: FuzzRequest, { token, body, isForm = false }: Filling, schema: Schema): void {
    const head = request.headers
    if (token !== undefined) {
      const at = head.findIndex(([name]) => name === 'authorization')
      head.splice(at === -1 ? head.length : at, 1, ['authorization', `Bearer ${token}`])
    }
    if (!body) return
    head.push(['content-type', isForm ? 'application/x-www-form-urlencoded' : 'application/json'])
    const value = request.kind === 'valid' || isForm ? body : this.#values.spoil(body, schema)
    const text = isForm ? new URLSearchParams(body as Record<string, string>) : this.#values.write(value, false)
    request.body = Buffer.from(String(text))
  }

  #addBody(request: FuzzRequest, type: string, schema: Schema, isOdd: (p: number) => boolean): void {
    const random = this.#random
    request.headers.push(['content-type', isOdd(0.15) ? random.pick(types) : type])
    if (!type.includes('json') && !isOdd(0.2)) {
      const boundary = '--x\r\ncontent-disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
      if (type.startsWith('multipart')) request.headers.at(-1)?.splice(1, 1, `${type}; boundary=x`)
      const text = request.kind === 'valid' ? (csv[0] ?? '') : random.pick(csv)
      request.body = Buffer.from(type.startsWith('multipart') ? `${boundary}${text}\r\n--x--\r\n` : text)
      return
    }
    let value = this.#values.value(schema, '', 0)
    if (request.kind !== 'valid')
      for (let n = request.kind === 'near' ? 1 : random.below(4); n > 0; n--) value = this.#values.spoil(value, schema)
    let bytes: Buffer = Buffer.from(this.#values.write(value, request.kind === 'hostile'))
    if (isOdd(0.2)) bytes = this.#spoilBytes(bytes)
    request.body = bytes
  }

  #spoilBytes(bytes: Buffer): Buffer {
    const random = this.#random
    const at = random.below(bytes.length + 1)
    switch (random.below(6)) {
      case 0:
        return bytes.subarray(0, at)
      case 1:
        return Buffer.concat([bytes.subarray(0, at), Buffer.from([0xff, 0xfe, 0xc0, 0x80]), bytes.subarray(at)])
      case 2:
        return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes])
      case 3:
        return Buffer.from(bytes.toString(), 'utf16le')
      case 4:
        return Buffer.from(random.pick(csv))
      default:
        return Buffer.from(Array.from({ length: 200 }, () => random.below(256)))
    }
  }

  #part(before: string, name: string): string {
    if (name === 'number') return phone(this.#random)
    return this.#values.id(prefixes[before] ?? prefixes[name] ?? '')
  }

  #strangePart(): string {
    const random = this.#random
    const known: string | undefined = random.pick([...this.#known.own.values()].flat())
    const id = known ?? this.#values.id('msg')
    switch (random.below(6)) {
      case 0:
        return random.pick(this.#known.foreign)
      case 1:
        return id
      case 2:
        return random.pick([
          id.slice(0, -1),
          `${id}0`,
          id.toUpperCase(),
          id.replace('_', ''),
          `${id.slice(0, 4)}8${id.slice(5)}`,
        ])
      case 3:
        return encodeURIComponent(random.pick(texts).toWellFormed())
      default:
        return random.pick(segments)
    }
  }

  #query(operation: Operation, isOdd: (p: number) => boolean): string {
    const random = this.#random
    const pairs = operation.parameters
      .filter(({ in: place, required, name }) => place === 'query' && (required || random.chance(chanceOf(name))))
      .map(({ name, schema }) => {
        const value = isOdd(0.3) ? random.pick(texts) : this.#values.value(schema, name, 0)
        const text = name === 'cursor' && !isOdd(0.3) ? this.#cursor() : String(value)
        // An unanswered long poll would block the test.
        if (name === 'wait' && Number(text) > 1) return 'wait=31'
        if (name === 'max_seconds' && Number(text) > 0) return 'max_seconds=3601'
        return `${encodeURIComponent(name)}=${encodeURIComponent(text.toWellFormed())}`
      })
    if (isOdd(0.2)) pairs.push(random.pick(queries))
    return pairs.length > 0 ? `?${pairs.join('&')}` : ''
  }

  #cursor(): string {
    const known: string | undefined = this.#random.pick(this.#known.cursors)
    return known ?? 'none'
  }
}
