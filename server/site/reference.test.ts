import { Value } from 'typebox/value'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildApp } from '../app.ts'
import { eventTypes } from '../events.ts'
import type { App } from '../http.ts'
import { registerRoutes, type RoutesContext } from '../routes.ts'

interface Operation {
  operationId?: string
  summary?: string
  tags?: string[]
  security?: unknown[]
  parameters?: { in: string; name: string; required?: boolean }[]
  requestBody?: { content: Record<string, { example?: object; schema?: object }> }
  responses: Record<string, { content?: object }>
}
interface Document {
  openapi: string
  paths: Record<string, Record<string, Operation>>
  webhooks: Record<string, unknown>
}

let app: App
let document: Document
const routes: string[] = []

// Every slice is registered and described, none is called: no database is needed.
beforeAll(async () => {
  const absent = { version: 'v1' } as unknown as RoutesContext
  app = await buildApp(
    { version: 'v1', publicUrl: 'http://localhost', authenticator: absent.authenticator },
    async (app) => {
      app.addHook('onRoute', ({ method, url }) => {
        for (const one of [method].flat())
          if (one !== 'HEAD') routes.push(`${one.toLowerCase()} ${url.replace(/:(\w+)/g, '{$1}')}`)
      })
      await registerRoutes(app, absent)
    },
  )
  document = (await app.inject('/v1/openapi.json')).json()
})
afterAll(() => app.close())

const operations = (): [string, Operation][] =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): [string, Operation] => [`${method} ${path}`, operation]),
  )

test('the document is OpenAPI 3.1 and has every route', () => {
  expect(document.openapi).toBe('3.1.0')
  expect(routes.length).toBeGreaterThan(20)
  // What carriers call is not for callers, and what Twilio's clients call is described by Twilio.
  const described = routes.filter((route) => !/ \/(carriers|2010-04-01)\//.test(route))
  expect(operations().map(([route]) => route)).toEqual(expect.arrayContaining(described))
})

test('every operation has a name of its own, a summary, and answers that are described', () => {
  const names = operations().map(([, operation]) => operation.operationId)
  expect(names).not.toContain(undefined)
  expect(new Set(names).size).toBe(names.length)
  for (const [route, operation] of operations()) {
    expect(operation.summary, route).toBeTruthy()
    // Groups of the page: `events` would be another one than `Events`.
    expect(operation.tags, route).toEqual([expect.stringMatching(/^[A-Z]/)])
    expect(
      Object.keys(operation.responses).some((status) => /^2|^101/.test(status)),
      route,
    ).toBe(true)
  }
})

test('what needs a token says so, and what does not is a short list', () => {
  const open = operations().flatMap(([route, operation]) => (operation.security?.length ? [] : [route]))
  expect(open.sort()).toEqual([
    'get /healthz',
    'get /metrics',
    'get /v1/errors',
    'post /v1/auth/accept-invitation',
    'post /v1/auth/login',
    'post /v1/auth/refresh',
    'post /v1/oauth/token',
  ])
})

// Without one the page makes a body of every field, which is refused.
test.each([
  ['/v1/messages/send', ['to', 'message']],
  ['/v1/messages/preview', ['to', 'message']],
  ['/v1/campaigns', ['name', 'key']],
  ['/v1/campaigns/{campaign}/contacts', ['phone_number', 'first_name']],
  ['/v1/carriers', ['name', 'settings', 'password']],
  ['/v1/webhooks', ['url']],
])('the body that the page offers for %s is one that is taken', (path, fields) => {
  const { example, schema } = document.paths[path]?.['post']?.requestBody?.content['application/json'] ?? {}
  expect(Object.keys(example ?? {})).toEqual(fields)
  expect(Value.Check(schema ?? {}, example)).toBe(true)
})

test('a request need not have what has a default', () => {
  const asked: string[] = []
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const { required, properties } = value as { required?: unknown; properties?: Record<string, object> }
    if (Array.isArray(required) && properties)
      asked.push(...(required as string[]).filter((name) => 'default' in (properties[name] ?? {})))
    Object.values(value).forEach(walk)
  }
  for (const [, operation] of operations()) walk(operation.requestBody)
  expect(asked).toEqual([])
})

test('the token endpoint takes a form, of which a client is told every field', () => {
  const content = document.paths['/v1/oauth/token']?.['post']?.requestBody?.content ?? {}
  expect(Object.keys(content)).toEqual(['application/x-www-form-urlencoded'])
  expect(content['application/x-www-form-urlencoded']).toMatchObject({
    schema: {
      required: ['grant_type'],
      properties: { client_id: {}, client_secret: {}, username: {}, password: {}, refresh_token: {} },
    },
  })
})

test('headers that a route reads stand beside the one that makes its repetition safe', () => {
  const headersOf = (method: string): string[] | undefined =>
    document.paths['/v1/settings']?.[method]?.parameters?.filter((one) => one.in === 'header').map(({ name }) => name)
  expect(headersOf('get')).toEqual(['If-None-Match'])
  expect(headersOf('patch')).toEqual(['Idempotency-Key', 'If-Match'])
})

test('every reference leads somewhere', () => {
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
