/** Shapes the OpenAPI document for generators: bodies, lists and shared parts become named components, and enums get a type. */

interface Described {
  paths: Record<string, Record<string, Operation>>
  components: Components
}

type Kind = 'schemas' | 'parameters' | 'responses' | 'headers'
type Components = Partial<Record<Kind, Record<string, unknown>>>

interface Operation {
  /** Routes of tests may have none. */
  operationId?: string
  parameters?: (Parameter | Reference)[]
  requestBody?: { content: Content }
  responses: Record<string, Answer | Reference>
}

interface Parameter {
  name: string
}

interface Answer {
  description: string
  headers?: Record<string, unknown>
  content?: Content
}

type Content = Record<string, { schema?: Schema }>

interface Reference {
  $ref: string
}

interface Schema {
  $ref?: string
  type?: string
  enum?: unknown[]
  items?: Schema
  properties?: Record<string, Schema>
}

const text = { type: 'string' }
const headers = {
  'Idempotency-Replayed': {
    description: '`true` if this is the response of an earlier request with the same Idempotency-Key.',
    schema: text,
  },
  RateLimit: {
    description: 'Remaining requests, and the seconds until there are more: `"default";r=99;t=1`.',
    schema: text,
  },
  'RateLimit-Policy': {
    description: 'Allowed requests in a window of seconds: `"default";q=100;w=1`.',
    schema: text,
  },
  'Retry-After': { description: 'Seconds to wait before the next attempt.', schema: { type: 'integer', minimum: 1 } },
  'X-Request-Id': { description: 'Id of the request, for support and logs.', schema: text },
} as const

// Names of RFC 9110 §15.
const failures: Record<string, string> = {
  '400': 'BadRequest',
  '401': 'Unauthorized',
  '403': 'Forbidden',
  '404': 'NotFound',
  '409': 'Conflict',
  '412': 'PreconditionFailed',
  '413': 'ContentTooLarge',
  '415': 'UnsupportedMediaType',
  '422': 'UnprocessableContent',
  '428': 'PreconditionRequired',
  '429': 'TooManyRequests',
  '503': 'ServiceUnavailable',
}

/** Changes the document in place. */
export function nameComponents(document: Described): void {
  const { components } = document
  components.headers = { ...headers }
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.values(item).map((operation) => ({ path, operation })),
  )
  // Reads come first, so that their responses name the resources.
  const isRead = ({ operation }: { operation: Operation }): boolean => operation.operationId?.startsWith('get') ?? false
  for (const { path, operation } of operations.sort((a, b) => Number(isRead(b)) - Number(isRead(a)))) {
    const isOfApi = path.startsWith('/v1/')
    describeHeaders(operation, isOfApi)
    nameBodies(operation, components)
    nameAnswers(operation, components, isOfApi)
    const { parameters = [] } = operation
    parameters.forEach((one, i) => {
      if ('name' in one && shared.has(one.name)) parameters[i] = refer(components, 'parameters', nameOf(one.name), one)
    })
  }
  for (const kind of ['schemas', 'parameters', 'responses'] as const)
    components[kind] = Object.fromEntries(Object.entries(components[kind] ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)))
  typeEnums(document)
}

// Parameters that mean the same in every operation.
const shared = new Set(['Idempotency-Key', 'limit', 'cursor'])

function describeHeaders({ parameters = [], responses }: Operation, isLimited: boolean): void {
  const hasKey = parameters.some((one) => 'name' in one && one.name === 'Idempotency-Key')
  for (const [status, answer] of Object.entries(responses)) {
    const isDone = status.startsWith('2')
    const names = [
      'X-Request-Id',
      ...(isLimited ? ['RateLimit', 'RateLimit-Policy'] : []),
      ...(hasKey && isDone ? ['Idempotency-Replayed'] : []),
      ...(['429', '503'].includes(status) ? ['Retry-After'] : []),
    ]
    const described = names.map((name) => [name, { $ref: `#/components/headers/${name}` }])
    ;(answer as Answer).headers = { ...Object.fromEntries(described), ...(answer as Answer).headers }
  }
}

function nameBodies({ operationId = '', requestBody }: Operation, components: Components): void {
  for (const media of Object.values(requestBody?.content ?? {}))
    if (isObject(media.schema))
      media.schema = refer(components, 'schemas', `${nameOf(operationId)}Request`, media.schema)
}

function nameAnswers({ operationId = '', responses }: Operation, components: Components, isShared: boolean): void {
  for (const [status, answer] of Object.entries(responses) as [string, Answer][]) {
    const media = answer.content?.['application/json']
    if (media && isObject(media.schema)) {
      const name = status < '400' ? nameOfAnswer(operationId, media.schema) : `${nameOf(operationId)}Error`
      media.schema = refer(components, 'schemas', name, media.schema, true)
    }
    const failure = failures[status]
    if (failure !== undefined && isShared && Object.keys(answer.content ?? {}).join() === 'application/problem+json')
      responses[status] = refer(components, 'responses', failure, answer)
  }
}

/** `CampaignList` for a list of campaigns, `Settings` for `getSettings`, else `SendBatchResponse`. */
function nameOfAnswer(operationId: string, { properties = {} }: Schema): string {
  const item = properties['data']?.items?.$ref?.replace(/.*\//, '')
  if (item !== undefined) return `${item}List`
  return /^get[A-Z]/.test(operationId) ? operationId.slice('get'.length) : `${nameOf(operationId)}Response`
}

const isObject = (schema: Schema | undefined): schema is Schema =>
  schema?.type === 'object' || Array.isArray((schema as { anyOf?: unknown })?.anyOf)

/** Adds a value under a name, and returns a reference. If another value has the name, it gets a number. `isAnyName`: reuses an equal value. */
function refer(components: Components, kind: Kind, name: string, value: object, isAnyName = false): Reference {
  const known = (components[kind] ??= {})
  const text = JSON.stringify(value)
  const isEqual = (other: string): boolean => JSON.stringify(known[other]) === text
  const equal = isAnyName ? Object.keys(known).find(isEqual) : undefined
  let unique = equal ?? name
  for (let n = 2; known[unique] !== undefined && !isEqual(unique); n++) unique = `${name}${n}`
  known[unique] ??= value
  return { $ref: `#/components/${kind}/${unique}` }
}

/** `list-limit` and `sendMessage` as `ListLimit` and `SendMessage`. */
const nameOf = (words: string): string =>
  words.replaceAll(/(?:^|[-_])(\w)/g, (_, letter: string) => letter.toUpperCase())

/** TypeBox writes `enum` without a type, and some generators then produce `any`. */
function typeEnums(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  const schema = value as Schema
  if (Array.isArray(schema.enum) && schema.type === undefined) {
    const [type, ...others] = new Set(schema.enum.map((one) => typeof one))
    if (others.length === 0 && type !== undefined && type !== 'object') schema.type = type
  }
  Object.values(value).forEach(typeEnums)
}
