import { gunzipSync } from 'node:zlib'
import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { afterAll, expect, test } from 'vitest'
import { buildApp } from '../app.ts'
import { eventTypes } from '../../events/events.ts'
import { registerRoutes, type RoutesContext } from '../rooms.ts'

const routes: string[] = []

// All rooms are registered, no route is called: no database is needed.
const absent = { version: 'v1' } as unknown as RoutesContext
const app = await buildApp(
  { version: 'v1', publicUrl: 'http://localhost', authenticator: absent.authenticator },
  async (app) => {
    app.addHook('onRoute', ({ method, url }) => {
      for (const one of [method].flat())
        if (one !== 'HEAD') routes.push(`${one.toLowerCase()} ${url.replace(/:(\w+)/g, '{$1}')}`)
    })
    await registerRoutes(app, absent)
  },
)
const document: Document = (await app.inject('/v1/openapi.json')).json()
afterAll(() => app.close())

test('the document is OpenAPI 3.1 and has every route', () => {
  expect(document.openapi).toBe('3.1.0')
  expect(routes.length).toBeGreaterThan(20)
  // Routes for carriers are not public, and Twilio describes its own.
  const described = routes.filter((route) => !/ \/(carriers|2010-04-01)\//.test(route))
  expect(operations().map(([route]) => route)).toEqual(expect.arrayContaining(described))
})

test('every operation has a unique name, a summary, and described responses', () => {
  const names = operations().map(([, operation]) => operation.operationId)
  expect(names).not.toContain(undefined)
  expect(new Set(names).size).toBe(names.length)
  for (const [route, operation] of operations()) {
    expect(operation.summary, route).toBeTruthy()
    // Tags of the page: `events` would differ from `Events`.
    expect(operation.tags, route).toEqual([expect.stringMatching(/^[A-Z]/)])
    expect(
      Object.keys(operation.responses).some((status) => /^2|^101/.test(status)),
      route,
    ).toBe(true)
  }
})

test('protected operations say so, and public ones are a short list', () => {
  const open = operations().flatMap(([route, { security }]) => (isOpen(security) ? [route] : []))
  expect(open.sort()).toEqual([
    'get /healthz',
    'get /metrics',
    'get /v1/errors',
    'post /v1/auth/accept-invitation',
    'post /v1/auth/login',
    'post /v1/auth/refresh',
    'post /v1/oauth/token',
  ])
  // A generated client relies on this alone.
  expect(document.paths['/metrics']?.['get']?.security).toEqual([{}, { bearer: [] }])
  expect(document.paths['/v1/auth/login']?.['post']?.security).toEqual([{}, { basic: [] }])
  expect(document.paths['/v1/oauth/token']?.['post']?.security).toEqual([{}, { basic: [] }])
  // The rest names its scope.
  expect(document.paths['/v1/messages/send']?.['post']?.security).toEqual([{ bearer: ['messages:write'] }])
  const posts = Object.values(document.webhooks).map(({ post }) => post.security)
  expect(posts).toEqual(posts.map(() => []))
})

/** Explicitly open: an operation without the field was forgotten. */
const isOpen = (security: object[] | undefined): boolean =>
  security !== undefined && (security.length === 0 || security.some((one) => Object.keys(one).length === 0))

test('every response has its own description', () => {
  for (const [route, { responses }] of operations())
    for (const [status, answer] of Object.entries(responses))
      expect(answerOf(answer).description, `${route}, ${status}`).not.toMatch(/^(Default Response)?$/)
})

const nameIn = (reference = ''): string => reference.replace(/.*\//, '')
const answerOf = (answer: Answer): Answer => document.components.responses[nameIn(answer.$ref)] ?? answer

test('every body and every list is a named component, and shared parts are defined once', () => {
  const { schemas } = document.components
  for (const [route, { operationId = '', requestBody, responses }] of operations()) {
    const body = requestBody?.content['application/json']?.schema
    if (body) expect(nameIn(body.$ref).toLowerCase(), route).toBe(`${operationId}Request`.toLowerCase())
    for (const answer of Object.values(responses)) {
      const media = answerOf(answer).content?.['application/json']
      if (media) expect(Object.keys(schemas), route).toContain(nameIn(media.schema.$ref))
    }
  }
  expect(Object.keys(schemas)).toEqual(expect.arrayContaining(['CampaignList', 'MessageList', 'Settings', 'Usage']))
  // A number would mean that a name has two meanings.
  const names = Object.values(document.components).flatMap((kind) => Object.keys(kind))
  expect(names.filter((name) => /\d$/.test(name))).toEqual([])
})

test('every enum has a type, which generators need', () => {
  const bare: unknown[] = []
  JSON.stringify(document, (_, value: unknown) => {
    if (typeof value === 'object' && value !== null && 'enum' in value && !('type' in value)) bare.push(value)
    return value
  })
  expect(bare).toEqual([])
})

test('responses name the rate limit headers, and a replay its mark', () => {
  const { responses = {} } = document.paths['/v1/messages/send']?.['post'] ?? {}
  const headersOf = (status: string): string[] => Object.keys(answerOf(responses[status] as Answer).headers ?? {})
  expect(headersOf('202')).toEqual(['X-Request-Id', 'RateLimit', 'RateLimit-Policy', 'Idempotency-Replayed'])
  expect(headersOf('429')).toEqual(['X-Request-Id', 'RateLimit', 'RateLimit-Policy', 'Retry-After'])
})

test('the document is compressed for clients that support it, and not sent twice', async () => {
  const packed = await app.inject({ url: '/v1/openapi.json', headers: { 'accept-encoding': 'br, gzip' } })
  expect(packed.headers['content-encoding']).toBe('gzip')
  expect(JSON.parse(gunzipSync(packed.rawPayload).toString())).toEqual(document)
  const { etag = '' } = packed.headers
  const again = await app.inject({ url: '/v1/openapi.json', headers: { 'if-none-match': etag } })
  expect([again.statusCode, again.body]).toEqual([304, ''])
})

// Without an example the page fills every field, which is refused or unintended.
test.each([
  ['post', '/v1/auth/login', ['email', 'password']],
  ['post', '/v1/messages/send', ['to', 'message']],
  ['post', '/v1/messages/batch', ['messages']],
  ['post', '/v1/messages/preview', ['to', 'message']],
  ['post', '/v1/conversations/{conversation}/messages', ['message']],
  ['post', '/v1/conversations/{conversation}/read', []],
  ['patch', '/v1/conversations/{conversation}', ['assignee']],
  ['post', '/v1/campaigns', ['name', 'key']],
  ['patch', '/v1/campaigns/{campaign}', ['name', 'tags']],
  ['post', '/v1/campaigns/{campaign}/send', ['message', 'dry_run']],
  ['post', '/v1/campaigns/{campaign}/contacts', ['phone_number', 'first_name']],
  ['patch', '/v1/campaigns/{campaign}/contacts/{contact}', ['first_name', 'tags']],
  ['post', '/v1/campaigns/{campaign}/contacts/import', ['contacts', 'dry_run']],
  ['post', '/v1/templates/{template}/preview', ['variables']],
  ['post', '/v1/consent', ['number', 'status', 'method', 'text']],
  ['post', '/v1/opt-outs/check', ['numbers']],
  ['post', '/v1/opt-outs/import', ['opt_outs']],
  ['put', '/v1/opt-outs/keywords', ['help_keywords']],
  ['post', '/v1/opt-outs/suspected/{message}', ['action']],
  ['patch', '/v1/settings', ['timezone']],
  ['post', '/v1/carriers', ['name', 'settings', 'password']],
  ['post', '/v1/webhooks', ['url']],
  ['patch', '/v1/webhooks/{id}', ['enabled']],
])('the body that the page offers for %s %s is accepted', (method, path, fields) => {
  const { example, schema } = document.paths[path]?.[method]?.requestBody?.content['application/json'] ?? {}
  expect(example).toBeDefined()
  expect(Object.keys(example ?? {})).toEqual(fields)
  expect(Value.Check(withoutReferences(schema ?? {}), example)).toBe(true)
})

/** Resolves references in a schema. */
function withoutReferences(schema: object): TSchema {
  const { schemas } = document.components
  const text = JSON.stringify(schema, (_name, value: unknown) =>
    typeof value === 'object' && value !== null && '$ref' in value
      ? schemas[String(value.$ref).replace('#/components/schemas/', '')]
      : value,
  )
  return JSON.parse(text) as TSchema
}

test('a request may omit fields with a default', () => {
  const asked: string[] = []
  const { schemas } = document.components
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const { $ref, required, properties } = value as {
      $ref?: string
      required?: unknown
      properties?: Record<string, object>
    }
    if ($ref?.endsWith('Request')) walk(schemas[$ref.replace('#/components/schemas/', '')])
    if (Array.isArray(required) && properties)
      asked.push(...(required as string[]).filter((name) => 'default' in (properties[name] ?? {})))
    Object.values(value).forEach(walk)
  }
  for (const [, operation] of operations()) walk(operation.requestBody)
  expect(asked).toEqual([])
})

test('the token endpoint takes a form, with every field documented', () => {
  const content = document.paths['/v1/oauth/token']?.['post']?.requestBody?.content ?? {}
  expect(Object.keys(content)).toEqual(['application/x-www-form-urlencoded'])
  const { schema } = content['application/x-www-form-urlencoded'] ?? {}
  expect(document.components.schemas[nameIn(schema?.$ref)]).toMatchObject({
    required: ['grant_type'],
    properties: { client_id: {}, client_secret: {}, username: {}, password: {}, refresh_token: {} },
  })
})

test('headers that a route reads are listed beside Idempotency-Key', () => {
  const headersOf = (method: string): string[] | undefined =>
    document.paths['/v1/settings']?.[method]?.parameters
      ?.map((one) => document.components.parameters[nameIn(one.$ref)] ?? one)
      .filter((one) => one.in === 'header')
      .map(({ name }) => name)
  expect(headersOf('get')).toEqual(['If-None-Match'])
  expect(headersOf('patch')).toEqual(['Idempotency-Key', 'If-Match'])
})

test('every reference resolves', () => {
  for (const [, pointer = ''] of JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    const target = pointer
      .split('/')
      .reduce<unknown>((value, step) => (value as Record<string, unknown> | undefined)?.[step], document)
    expect(target, pointer).toBeDefined()
  }
  expect(JSON.stringify(document)).not.toMatch(/"\$ref":"[^#]/)
})

test('every event is described as a webhook', () => {
  expect(Object.keys(document.webhooks)).toEqual(Object.keys(eventTypes))
})

test.each([
  ['.opblock.opblock-get .opblock-summary-method', 'background', '#ffffff'],
  ['.opblock.opblock-post .opblock-summary-method', 'background', '#ffffff'],
  ['.opblock.opblock-put .opblock-summary-method', 'background', '#ffffff'],
  ['.opblock.opblock-patch .opblock-summary-method', 'background', '#ffffff'],
  ['.opblock.opblock-delete .opblock-summary-method', 'background', '#ffffff'],
  ['.info .title small.version-stamp pre.version', 'background', '#ffffff'],
  ['.btn.execute', 'background', '#ffffff'],
  ['.btn.authorize', 'color', '#ffffff'],
  ['.btn.cancel', 'color', '#fbfdfe'],
  ['.info a', 'color', '#fafafa'],
  [`.microlight span[style*='rgb(211, 99, 99)']`, 'color', '#333333'],
] as const)('%s of the reference has enough contrast: WCAG 2.2, 1.4.3', async (selector, property, other) => {
  const sheets = ['swagger-ui.css', 'theme/heliogram.css'].map((name) => app.inject(`/docs/reference/static/${name}`))
  const rules = (await Promise.all(sheets)).flatMap(({ body }) => [
    ...body.replace(/\/\*.*?\*\//gs, '').matchAll(/([^{}]+)\{([^{}]*)\}/g),
  ])
  const colours = rules.flatMap(([, selectors = '', declarations = '']) => {
    const names = selectors.split(',\n').flatMap((one) => (one.includes('[') ? one : one.split(',')))
    const isMeant = names.some(
      (name) => /^(html:not\(\.dark-mode\) )?\.swagger-ui (.*)$/s.exec(name.trim())?.[2] === selector,
    )
    return isMeant
      ? (new RegExp(`(?:^|[;\\s])${property}(?:-color)?:\\s*(#[0-9a-f]{6})`).exec(declarations)?.[1] ?? [])
      : []
  })
  expect(contrastOf(colours.at(-1) ?? other, other)).toBeGreaterThanOrEqual(4.5)
})

/** The contrast of two colours, from 1 to 21, by their relative luminance. */
function contrastOf(...colours: [string, string]): number {
  const [dark = 0, light = 0] = colours
    .map((colour) => {
      const [red = 0, green = 0, blue = 0] = [1, 3, 5]
        .map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
        .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue
    })
    .sort((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

interface Operation {
  operationId?: string
  summary?: string
  tags?: string[]
  security?: object[]
  parameters?: { $ref?: string; in: string; name: string; required?: boolean }[]
  requestBody?: { content: Record<string, { example?: object; schema?: { $ref?: string } }> }
  responses: Record<string, Answer>
}
interface Answer {
  $ref?: string
  description: string
  headers?: object
  content?: Record<string, { schema: { $ref?: string } }>
}
interface Document {
  openapi: string
  paths: Record<string, Record<string, Operation>>
  components: {
    schemas: Record<string, { properties?: object }>
    responses: Record<string, Answer>
    parameters: Record<string, { in: string; name: string }>
  }
  webhooks: Record<string, { post: Operation }>
}

const operations = (): [string, Operation][] =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): [string, Operation] => [`${method} ${path}`, operation]),
  )
