/** Writes sdk/operations.ts, the types of the API, from docs/openapi.json. scripts/setup.cjs runs it when either changes. */
import { readFileSync, writeFileSync } from 'node:fs'

/** The part of JSON Schema that the document uses. */
interface Schema {
  $ref?: string
  type?: string
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  description?: string
}

type Media = Record<string, { schema: Schema }>

interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  description?: string
  schema: Schema
}

interface Operation {
  operationId: string
  summary?: string
  description?: string
  parameters?: (Parameter | { $ref: string })[]
  requestBody?: { required?: boolean; content: Media }
  security?: { bearer?: string[] }[]
  responses: Record<string, { content?: Media }>
}

interface Document {
  components: { schemas: Record<string, Schema>; parameters: Record<string, Parameter> }
  paths: Record<string, Record<string, Operation>>
  webhooks: Record<string, { post: Operation }>
}

/** Request members may be undefined and are read-only; response members are present or absent. */
type Side = 'asked' | 'answered'

const root = new URL('..', import.meta.url)
const target = new URL('sdk/operations.ts', root)
const document = JSON.parse(readFileSync(new URL('docs/openapi.json', root), 'utf8')) as Document

writeFileSync(target, render(document))

function render({ components, paths, webhooks }: Document): string {
  const operations = Object.entries(paths).flatMap(([path, byMethod]) =>
    Object.entries(byMethod).map(([method, { parameters = [], ...operation }]) => ({
      ...operation,
      parameters: parameters.map((one) => ('$ref' in one ? sharedParameter(components, one.$ref) : one)),
      route: `${method.toUpperCase()} ${path}`,
    })),
  )
  const keyed = operations.filter(({ parameters }) => parameters.some(({ name }) => name === 'Idempotency-Key'))
  const answered = new Set<string>()
  const follow = (value: unknown): void => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (answered.has(name)) continue
      answered.add(name)
      follow(components.schemas[name])
    }
  }
  follow([operations.map(({ responses }) => responses), webhooks, components.schemas['Problem']])
  const sideOf = (name: string): Side => (answered.has(name) || name === 'Problem' ? 'answered' : 'asked')
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) => `${docstring(schema.description)}export ${declare(name, schema, typeOf(schema, sideOf(name)))}`,
  )
  const events = Object.entries(webhooks).map(([type, { post }]) => {
    const schema = post.requestBody?.content['application/json']?.schema
    if (!schema) throw new Error(`The event ${type} has no schema`)
    return `${docstring(post.summary)}${quote(type)}: ${typeOf(schema, 'answered')}`
  })
  return [
    '/** The API: its resources, operations and events; written by scripts/sdk.ts from docs/openapi.json. */',
    '',
    `/** A page of a list. */
export interface Page<T> {
  data: T[]
  /** Whether the list goes on in the direction in which it was read. */
  has_more: boolean
  /** For the next page; null on the last. */
  next_cursor: string | null
  /** For the previous page; null on the first. */
  prev_cursor: string | null
  /** For what came since this page was made; null in lists that have none. */
  refresh_cursor: string | null
}`,
    '/** A body that is sent as it is. A Blob says its type; with the others `headers` may, and a string is CSV otherwise. */',
    `export type Upload = Blob | FormData | ReadableStream<Uint8Array> | Uint8Array | ArrayBuffer | string`,
    ...schemas,
    '/** What each operation asks for and answers. `Response` stands for an answer that is not JSON: a file, or a stream. */',
    `export interface Operations {\n${operations.map(renderOperation).join('\n')}\n}`,
    '/** Each status of a message and of a broadcast. */',
    ...['Message', 'Broadcast'].map((name) => {
      const statuses = components.schemas[name]?.properties?.['status']?.enum
      return `export const ${name.toLowerCase()}Statuses = ${JSON.stringify(statuses)} as const`
    }),
    '/** What is posted to webhooks, by its type. */',
    `export interface Events {\n${events.join('\n')}\n}`,
    '/** Method and path of each operation. */',
    `export const routes = {\n${operations.map(({ operationId, route }) => `${operationId}: ${quote(route)},`).join('\n')}\n} as const satisfies Record<keyof Operations, string>`,
    '/** The operations that take an Idempotency-Key, and can be repeated with it. */',
    `export const keyed: ReadonlySet<keyof Operations> = new Set([\n${keyed.map(({ operationId }) => `${quote(operationId)},`).join('\n')}\n] as const)`,
    '/** The scope that each operation asks of who calls it; those that are not here ask for none. */',
    `export const scopes = {\n${operations.map(renderScope).join('\n')}\n} as const satisfies Partial<Record<keyof Operations, string>>`,
    '',
  ].join('\n')
}

function renderScope({ operationId, security = [] }: Operation): string {
  const scope = security[0]?.bearer?.[0]
  return scope === undefined ? '' : `${operationId}: ${quote(scope)},`
}

function sharedParameter({ parameters }: Document['components'], reference: string): Parameter {
  const parameter = parameters[reference.replace('#/components/parameters/', '')]
  if (!parameter) throw new Error(`There is no ${reference}`)
  return parameter
}

function declare(name: string, { anyOf }: Schema, type: string): string {
  return !anyOf && type.startsWith('{') ? `interface ${name} ${type}` : `type ${name} = ${type}`
}

function renderOperation(operation: Omit<Operation, 'parameters'> & { parameters: Parameter[] }): string {
  const { operationId, summary = '', description = '', parameters, requestBody } = operation
  const path = renderParameters(parameters, 'path')
  const query = renderParameters(parameters, 'query', filtersByName(description))
  const isOptional = !parameters.some((one) => one.in === 'query' && one.required)
  const bodies = Object.entries(requestBody?.content ?? {}).map(([media, { schema }]) => bodyOf(media, schema))
  const parts = [
    path && `path: ${path}`,
    query && `query${isOptional ? '?' : ''}: ${query}${isOptional ? ' | undefined' : ''}`,
    requestBody &&
      `body${requestBody.required ? '' : '?'}: ${union(bodies)}${requestBody.required ? '' : ' | undefined'}`,
    `answer: ${answerOf(operation)}`,
  ]
  const about = [summary && `${summary}.`, description].filter(Boolean).join('\n\n')
  return `${docstring(about)}${operationId}: {\n${parts.filter(Boolean).join('\n')}\n}`
}

/** The type of parameters in a place, with extra members; empty if there are none. */
function renderParameters(parameters: Parameter[], place: 'path' | 'query', more: string[] = []): string {
  const members = parameters
    .filter((parameter) => parameter.in === place)
    .map(({ name, required = false, description, schema }) =>
      renderMember(name, { ...(description !== undefined && { description }), ...schema }, required, 'asked'),
    )
  return members.length > 0 ? `{\n${[...members, ...more].join('\n')}\n}` : ''
}

/** Members for `metadata[name]=value`: OpenAPI cannot express them, so the description does. */
function filtersByName(description: string): string[] {
  return [...description.matchAll(/`(\w+)\[name\]=value`/g)].map(
    ([, name = '']) => `[${name}: \`${name}[\${string}]\`]: string | undefined`,
  )
}

function bodyOf(media: string, schema: Schema): string {
  if (media === 'application/json') return typeOf(schema, 'asked')
  return media === 'application/x-www-form-urlencoded' ? 'URLSearchParams' : 'Upload'
}

/** JSON if there is some, because the client requests it. */
function answerOf({ operationId, responses }: Pick<Operation, 'operationId' | 'responses'>): string {
  const answers = Object.entries(responses).filter(([status]) => status.startsWith('2'))
  if (answers.length === 0) throw new Error(`${operationId} never succeeds`)
  return union(
    answers.map(([, { content }]) => {
      if (!content) return 'undefined'
      const json = content['application/json']
      return json ? typeOf(json.schema, 'answered') : 'Response'
    }),
  )
}

function typeOf(schema: Schema, side: Side): string {
  if (schema.$ref !== undefined) return schema.$ref.replace('#/components/schemas/', '')
  if (schema.const !== undefined) return literal(schema.const)
  if (schema.enum) return union(schema.enum.map(literal))
  if (schema.properties || schema.type === 'object') return objectOf(schema, side)
  if (schema.anyOf) return union(schema.anyOf.map((one) => typeOf(one, side)))
  if (schema.type === 'array') return `${side === 'asked' ? 'readonly ' : ''}(${typeOf(schema.items ?? {}, side)})[]`
  if (schema.type === 'integer' || schema.type === 'number') return 'number'
  if (schema.type === 'string' || schema.type === 'boolean' || schema.type === 'null') return schema.type
  if (Object.keys(schema).every((key) => ['description', 'examples'].includes(key))) return 'unknown'
  throw new Error(`There is no type for ${JSON.stringify(schema)}`)
}

function objectOf(schema: Schema, side: Side): string {
  const { properties = {}, required = [], additionalProperties: rest } = schema
  const entries = Object.entries(properties)
  if (entries.length === 0) {
    if (rest === undefined || rest === true) return 'Record<string, unknown>'
    return rest === false ? 'Record<string, never>' : `Record<string, ${typeOf(rest, side)}>`
  }
  const page = pageOf(schema)
  if (page) return `Page<${typeOf(page, side)}>`
  const members = entries.map(([name, one]) => renderMember(name, one, required.includes(name), side))
  // Unnamed members may have any type, because TypeScript wants the named ones to fit it.
  if (rest !== undefined && rest !== false) members.push('[name: string]: unknown')
  return `{\n${members.join('\n')}\n}`
}

function pageOf({ properties = {} }: Schema): Schema | undefined {
  const names = Object.keys(properties).sort().join()
  return names === 'data,has_more,next_cursor,prev_cursor,refresh_cursor' ? properties['data']?.items : undefined
}

function renderMember(name: string, schema: Schema, isRequired: boolean, side: Side): string {
  // For nullable schemas the description is on the other alternative.
  const about = schema.description ?? schema.anyOf?.find(({ description }) => description)?.description
  const type = typeOf(schema, side)
  const key = /^[A-Za-z_]\w*$/.test(name) ? name : quote(name)
  if (isRequired) return `${docstring(about)}${key}: ${type}`
  return `${docstring(about)}${key}?: ${type}${side === 'asked' && type !== 'unknown' ? ' | undefined' : ''}`
}

function union(types: string[]): string {
  if (types.includes('unknown')) return 'unknown'
  return [...new Set(types)].join(' | ')
}

function literal(value: unknown): string {
  return typeof value === 'string' ? quote(value) : JSON.stringify(value)
}

function quote(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`
}

function docstring(about = ''): string {
  if (about === '') return ''
  const lines = about.replaceAll('*/', '*\\/').split('\n')
  const [line = ''] = lines
  return lines.length === 1 ? `/** ${line} */\n` : `/**\n${lines.map((one) => ` * ${one}`.trimEnd()).join('\n')}\n */\n`
}
