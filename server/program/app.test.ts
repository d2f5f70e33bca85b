import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { Type } from 'typebox'
import type { Authenticator } from '../accounts/authenticate.ts'
import { buildApp } from './app.ts'
import { ApiError } from '../ground/base/errors.ts'
import type { App, Caller } from '../ground/http/http.ts'
import { watchBodies } from '../ground/http/slow.ts'
import { openStream } from '../ground/http/stream.ts'

// Only what happens before and after the rooms' code: no database is involved.
const caller: Caller = {
  accountId: 'a',
  kind: 'key',
  id: 'k',
  userId: null,
  mode: 'live',
  scopes: new Set(['messages:write']),
}
const authenticator: Authenticator = { authenticate: () => caller, forget: () => {} }
const context = { version: '1.2.3', publicUrl: 'https://sms.example', authenticator }
const config = { scope: 'messages:write' } as const

const Body = Type.Object(
  {
    to: Type.String({ maxLength: 20 }),
    message: Type.String({ minLength: 1, maxLength: 1600 }),
    send_at: Type.Optional(Type.String({ format: 'date-time' })),
    note: Type.Optional(Type.Union([Type.String({ maxLength: 5 }), Type.Null()])),
    metadata: Type.Optional(Type.Record(Type.String(), Type.String({ maxLength: 5 }))),
  },
  { additionalProperties: false },
)

const app = await buildApp(context, (app) => {
  app.post('/v1/things', { config, schema: { body: Body } }, (request, reply) => reply.code(202).send(request.body))
  app.get(
    '/v1/things/:id',
    {
      config,
      schema: {
        querystring: Type.Object(
          { limit: Type.Optional(Type.Integer({ maximum: 200 })) },
          { additionalProperties: false },
        ),
      },
    },
    (request) => ({ limit: request.query.limit ?? null }),
  )
  app.post('/v1/things/:id/stop', { config, schema: {} }, () => ({ stopped: true }))
  app.post(
    '/v1/lists',
    { config, schema: { body: { content: { 'application/json': { schema: Body }, 'text/csv': { schema: {} } } } } },
    (request) => (request.body as { to: string }).to,
  )
  app.post('/v1/crash', { config }, () => {
    throw new Error('secret detail')
  })
  app.post('/v1/outage', { config }, () => {
    throw Object.assign(new Error('terminating connection'), { code: '57P01' })
  })
  app.delete('/v1/things/:id', { config: { scope: 'keys:write' } }, () => null)
})
await app.listen({ host: '127.0.0.1', port: 0 })
afterAll(() => app.close())

const post = (payload: string | Buffer | object, headers: Record<string, string> = {}, url = '/v1/things') =>
  app.inject({ method: 'POST', url, payload, headers: { 'content-type': 'application/json', ...headers } })

test('every response has our request id and the security headers', async () => {
  for (const answer of [
    await post({ to: '1', message: 'x' }, { 'x-request-id': 'mine' }),
    await post('{'),
    await app.inject('/nowhere'),
    await app.inject('/%zz'),
    await app.inject('/'),
  ]) {
    expect(answer.headers['x-request-id']).toMatch(/^req_[0-9a-z]{26}$/)
    expect(answer.headers['x-content-type-options']).toBe('nosniff')
    expect(answer.headers['strict-transport-security']).toMatch(/^max-age/)
    expect(answer.headers['server']).toBeUndefined()
  }
  expect((await post({ to: '1', message: 'x' })).headers['cache-control']).toBe('no-store')
})

test.each([
  ['broken JSON', '{"to": x}', 400, 'malformed_json'],
  ['an empty body', '', 400, 'malformed_json'],
  ['bad UTF-8', Buffer.from([0x22, 0xff, 0x22]), 400, 'malformed_json'],
  ['a surrogate written as UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), 400, 'malformed_json'],
  ['17 levels', '['.repeat(17) + ']'.repeat(17), 400, 'malformed_json'],
  ['60,000 levels', '['.repeat(60_000), 400, 'malformed_json'],
  ['70 KiB', `"${'x'.repeat(70_000)}"`, 413, 'payload_too_large'],
  ['null', 'null', 422, 'validation_failed'],
  ['an array', '[]', 422, 'validation_failed'],
])('%s is a problem document', async (_title, body, status, code) => {
  const answer = await post(body)
  expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/)
  expect(answer.json()).toMatchObject({
    status,
    code,
    type: `/docs/errors/${code}`,
    instance: '/v1/things',
    request_id: answer.headers['x-request-id'],
  })
  expect(answer.statusCode).toBe(status)
})

test('a response with too many wrong fields says that there may be more', async () => {
  const many = Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`field${i}`, 1]))
  const { detail, errors } = (await post({ ...many, to: '1', message: 'x' })).json()
  expect(errors).toHaveLength(100)
  expect(detail).toBe('100 fields or more are invalid.')
})

test('16 levels and a byte order mark are accepted', async () => {
  const deep = `{"to":"1","message":"x","metadata":${'['.repeat(15)}${']'.repeat(15)}}`
  expect((await post(deep)).json().code).toBe('validation_failed')
  expect((await post('\ufeff{"to":"1","message":"x"}')).statusCode).toBe(202)
})

test('all wrong fields are reported at once, each with the allowed values', async () => {
  const answer = await post({
    sendat: 'x',
    to: 15551234567,
    message: '👋'.repeat(1601),
    send_at: 'soon',
    note: 5,
    metadata: { 'a/b~c d': 'too long' },
  })
  expect(answer.statusCode).toBe(422)
  expect(answer.json().detail).toBe('6 fields are invalid.')
  expect(answer.json().errors).toEqual(
    expect.arrayContaining([
      {
        pointer: '#/sendat',
        code: 'unknown_field',
        detail: 'is not a known field; did you mean "send_at"?',
        suggestion: 'send_at',
      },
      { pointer: '#/to', code: 'invalid_type', detail: 'must be a string; it is a number' },
      { pointer: '#/message', code: 'too_long', detail: 'must be at most 1600 characters; it has 1601' },
      {
        pointer: '#/send_at',
        code: 'invalid_format',
        detail: 'must be an RFC 3339 time, such as 2026-11-20T12:00:00Z',
      },
      { pointer: '#/note', code: 'invalid_type', detail: 'must be a string or null; it is a number' },
      { pointer: '#/metadata/a~1b~0c%20d', code: 'too_long', detail: 'must be at most 5 characters; it has 8' },
    ]),
  )
})

test('a nullable value gets only its own errors', async () => {
  expect((await post({ to: '1', message: 'x', note: 'too long' })).json().errors).toEqual([
    { pointer: '#/note', code: 'too_long', detail: 'must be at most 5 characters; it has 8' },
  ])
})

test('1600 emoji are 1600 characters', async () => {
  expect((await post({ to: '1', message: '👋'.repeat(1600) })).statusCode).toBe(202)
})

test('NUL, lone surrogates and __proto__ are refused together with everything else', async () => {
  const answer = await post('{"to":"\\u0000","metadata":{"\\ud800":"x","a":"\\udc00"},"__proto__":{"x":1}}')
  expect(
    answer
      .json()
      .errors.map((error: { pointer: string; code: string }) => `${error.pointer} ${error.code}`)
      .sort(),
  ).toEqual([
    '#/__proto__ unknown_field',
    '#/message required',
    '#/metadata/%EF%BF%BD invalid_characters',
    '#/metadata/a invalid_characters',
    '#/to invalid_characters',
  ])
  expect((await post('{"to":"1","message":"\\ud83d\\udc4b"}')).json().message).toBe('👋')
})

test('other services’ names get a hint to ours', async () => {
  const { errors } = (await post({ Body: 'Hello', recipients: ['1'], scheduled_at: 'now', colour: 'red' })).json()
  const suggested = errors
    .filter(({ code }: { code: string }) => code === 'unknown_field')
    .map(({ pointer, suggestion }: { pointer: string; suggestion?: string }) => [pointer, suggestion])
  expect(suggested).toEqual([
    ['#/Body', 'message'],
    ['#/recipients', 'to'],
    ['#/scheduled_at', 'send_at'],
    ['#/colour', undefined],
  ])
})

test('query parameters are converted, and unknown ones refused, also on routes without any', async () => {
  expect((await app.inject('/v1/things/1?limit=7')).json()).toEqual({ limit: 7 })
  expect((await app.inject('/v1/things/1?limit=x&limt=1')).json().errors).toEqual([
    {
      pointer: '?limt',
      code: 'unknown_field',
      detail: 'is not a known field; did you mean "limit"?',
      suggestion: 'limit',
    },
    { pointer: '?limit', code: 'invalid_type', detail: 'must be a whole number; it is a string' },
  ])
  expect((await post({ to: '1', message: 'x' }, {}, '/v1/things?x=1')).json().errors[0].pointer).toBe('?x')
})

test.each([
  ['/v1/things?x=1', { to: '1' }, ['#/message', '?x']],
  ['/v1/things/7/stop?x=1', { force: true }, ['#/force', '?x']],
])('faults of the body and the query of %s are reported together', async (url, body, pointers) => {
  const answer = await post(body, {}, url)
  expect(answer.json()).toMatchObject({ status: 422, code: 'validation_failed', detail: '2 fields are invalid.' })
  expect(answer.json().errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(pointers)
})

test('a body field on a route without any is reported, and nothing is done', async () => {
  const stop = (payload: string | object) => post(payload, {}, '/v1/things/7/stop')
  const answer = await stop({ 'reason/why': 'x', force: true })
  expect(answer.statusCode).toBe(422)
  expect(answer.json().errors).toEqual([
    { pointer: '#/reason~1why', code: 'unknown_field', detail: 'is not a known field' },
    { pointer: '#/force', code: 'unknown_field', detail: 'is not a known field' },
  ])
  expect((await stop('[1]')).json().errors).toMatchObject([{ pointer: '#', code: 'invalid_type' }])
  expect((await stop('"x"')).json().errors).toMatchObject([{ pointer: '#', code: 'invalid_type' }])
  for (const payload of ['{}', 'null']) expect((await stop(payload)).json()).toEqual({ stopped: true })
  expect((await app.inject({ method: 'POST', url: '/v1/things/7/stop' })).json()).toEqual({ stopped: true })
  // Content-Type: application/json without a body.
  expect((await stop('')).json()).toEqual({ stopped: true })
  expect((await post('')).json()).toMatchObject({ status: 400, code: 'malformed_json', detail: 'The body is empty.' })
})

test('a route with several media types refuses a request without a body', async () => {
  const answer = await app.inject({ method: 'POST', url: '/v1/lists' })
  expect(answer.statusCode).toBe(400)
  expect(answer.json()).toMatchObject({ code: 'malformed_json', detail: 'The body is empty.' })
})

test('other media types and compressed bodies are refused', async () => {
  expect((await post('a=1', { 'content-type': 'application/x-www-form-urlencoded' })).json().code).toBe(
    'unsupported_media_type',
  )
  expect((await post('{}', { 'content-encoding': 'gzip' })).json().code).toBe('unsupported_media_type')
})

test('another media type, or none, gets an error with the accepted types', async () => {
  const answer = await post('a=1', { 'content-type': 'text/plain' })
  expect(answer.json().detail).toBe('The content type "text/plain" is not supported here; send application/json.')
  expect(answer.headers['accept']).toBe('application/json')
  const untyped = await app.inject({ method: 'POST', url: '/v1/things', payload: '{}' })
  expect(untyped.json().detail).toBe('The Content-Type is missing here; send application/json.')
  expect((await post('x', { 'content-type': 'text/plain' }, '/v1/lists')).json().detail).toContain(
    'send application/json or text/csv.',
  )
})

test('a path with other methods lists them', async () => {
  const answer = await app.inject({ method: 'PUT', url: '/v1/things/7' })
  expect(answer.statusCode).toBe(405)
  expect(answer.headers['allow']?.toString().split(', ').sort()).toEqual(['DELETE', 'GET', 'HEAD'])
  expect(answer.json().detail).toBe('PUT is not allowed here; use GET, HEAD or DELETE.')
  expect((await app.inject('/v1/thing')).json().code).toBe('not_found')
})

test('a missing body is reported as such', async () => {
  const answer = await app.inject({ method: 'POST', url: '/v1/things', headers: { authorization: 'Bearer good' } })
  expect(answer.json().errors).toEqual([
    { pointer: '#', code: 'invalid_type', detail: 'must be an object; it is missing' },
  ])
})

test('a path with an extra slash gets the right spelling', async () => {
  const detailOf = async (url: string): Promise<unknown> =>
    (await app.inject({ url, headers: { authorization: 'Bearer good' } })).json().detail
  expect(await detailOf('/v1/errors/?x=1')).toBe(
    'There is no GET /v1/errors/. Leave out the slash at its end: /v1/errors',
  )
  expect(await detailOf('/v1/nothing/')).toBe('There is no GET /v1/nothing/.')
  // The router finds a thing with an empty id.
  expect(await detailOf('/v1/things/')).toBe('There is no GET /v1/things/. Leave out the slash at its end: /v1/things')
  expect(await detailOf('/v1/things//')).toBe('There is no GET /v1/things//.')
})

test('a missing scope is named', async () => {
  const answer = await app.inject({ method: 'DELETE', url: '/v1/things/7' })
  expect(answer.statusCode).toBe(403)
  expect(answer.json()).toMatchObject({ code: 'insufficient_scope', detail: 'The token lacks the scope keys:write.' })
  expect(answer.headers['www-authenticate']).toContain('error="insufficient_scope", scope="keys:write"')
})

test('a bug reveals nothing', async () => {
  const answer = await post({}, {}, '/v1/crash')
  expect(answer.statusCode).toBe(500)
  expect(answer.json()).toMatchObject({
    code: 'internal_error',
    title: 'Internal error',
    detail: 'Repeat the request with the same idempotency key; report the request id.',
    retryable: true,
  })
  expect(answer.body).not.toContain('secret')
})

test('an unavailable database is a 503 with a time to retry', async () => {
  const answer = await post({}, {}, '/v1/outage')
  expect(answer.json()).toMatchObject({ code: 'unavailable', retryable: true })
  expect(answer.headers['retry-after']).toBe('2')
})

test('a route that does not declare a scope cannot be registered', async () => {
  await expect(buildApp(context, (app) => void app.get('/v1/open', () => 'x'))).rejects.toThrow(
    /GET \/v1\/open does not declare/,
  )
})

test('the start page, the reference and the errors need no token', async () => {
  expect((await app.inject('/')).body).toContain('Heliogram 1.2.3')
  expect((await app.inject('/docs/reference')).body).toContain('swagger')
  expect((await app.inject('/docs')).body).toContain('Getting started')
  expect((await app.inject('/')).body).toContain('curl https://sms.example/v1/messages/send')
  expect((await app.inject('/docs/errors/validation_failed')).body).toMatch(/422.*<code>errors<\/code>/)
  expect((await app.inject('/docs/errors/constructor')).statusCode).toBe(404)
  expect((await app.inject('/v1/errors')).json().data).toContainEqual(
    expect.objectContaining({ code: 'not_found', status: 404 }),
  )
  expect((await app.inject('/healthz')).json()).toEqual({ status: 'ok', version: '1.2.3', checks: {} })
})

test('health is 503 when a check fails or throws', async () => {
  const healthOf = async (health: () => Promise<Record<string, { isOk: boolean }>>) => {
    const app = await buildApp({ ...context, health }, () => {})
    const answer = await app.inject('/healthz')
    await app.close()
    return answer
  }
  expect((await healthOf(async () => ({ database: { isOk: false, lagMs: 7 } }))).json()).toMatchObject({
    status: 'failing',
    checks: { database: { ok: false, lagMs: 7 } },
  })
  expect((await healthOf(() => Promise.reject(new ApiError('unavailable')))).statusCode).toBe(503)
})

test('health is 200 and degraded when only an optional check fails', async () => {
  const health = async () => ({ database: { isOk: true }, links: { isOk: false, isVital: false, bound: 0 } })
  const app = await buildApp({ ...context, health }, () => {})
  const answer = await app.inject('/healthz')
  await app.close()
  expect(answer.statusCode).toBe(200)
  expect(answer.json()).toMatchObject({
    status: 'degraded',
    checks: { database: { ok: true, vital: true }, links: { ok: false, vital: false, bound: 0 } },
  })
})

/** The response to a raw request, until the server closes. */
function talk(app: App, text: string): Promise<string> {
  const address = app.server.address()
  if (address === null || typeof address === 'string') throw new Error('not listening')
  return new Promise((resolve, reject) => {
    const socket = connect(address.port, '127.0.0.1', () => socket.write(text))
    let answer = ''
    socket.setEncoding('utf8').on('data', (data: string) => (answer += data))
    socket.on('close', () => resolve(answer)).on('error', reject)
  })
}

test('a request that is not HTTP, or has too long headers, also gets a problem document', async () => {
  expect(await talk(app, 'HELLO\r\n\r\n')).toMatch(/^HTTP\/1.1 400 [^]*"code":"invalid_header"/)
  expect(await talk(app, `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(17_000)}\r\n\r\n`)).toMatch(
    /^HTTP\/1.1 431 [^]*16 KiB/,
  )
})

test('a response is not overtaken by the refusal of data after its request', async () => {
  const held = Promise.withResolvers<void>()
  const slow = await buildApp(context, (app) => {
    app.post('/v1/things', { config, schema: { body: Body } }, async (request, reply) => {
      await held.promise
      return reply.code(202).send(request.body)
    })
  })
  await slow.listen({ host: '127.0.0.1', port: 0 })
  const body = JSON.stringify({ to: '1', message: 'x' })
  const head = 'POST /v1/things HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'
  const refused = once(slow.server, 'clientError')
  // A C string's final NUL is sent, but not counted.
  const answer = talk(slow, `${head}Content-Length: ${body.length}\r\n\r\n${body}\0`)
  await refused
  held.resolve()
  expect(await answer).toMatch(/^HTTP\/1.1 202 [^]*\r\n\r\n\{"to":"1","message":"x"\}$/)
  await slow.close()
})

test('a HEAD of a streamed response produces none of it', async () => {
  let made = 0
  const ended = Promise.withResolvers<void>()
  async function* pieces(): AsyncGenerator<string> {
    try {
      for (; made < 1000; made++) yield 'x'
    } finally {
      ended.resolve()
    }
  }
  const exporting = await buildApp(context, (app) => {
    app.get('/v1/things/export', { config }, async (_request, reply) =>
      reply.type('text/csv').send(await openStream(pieces())),
    )
  })
  const answer = await exporting.inject({ method: 'HEAD', url: '/v1/things/export' })
  expect([answer.statusCode, answer.headers['content-type'], answer.body]).toEqual([200, 'text/csv', ''])
  await ended.promise
  expect(made).toBeLessThan(3)
  await exporting.close()
})

test('the application closes connections whose responses are not read (ground/http/slow.test.ts)', () => {
  expect(app.server.timeout).toBe(120_000)
})

test('a request without Host also gets one, and HTTP/1.0 needs none', async () => {
  expect(await talk(app, 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n')).toMatch(
    /^HTTP\/1.1 400 [^]*x-request-id: req_[^]*"detail":"[^"]*Host/,
  )
  expect(await talk(app, 'GET / HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1.1 200 /)
})

test('a request with two Hosts is refused, whichever a proxy used', async () => {
  expect(await talk(app, 'GET / HTTP/1.1\r\nHost: x\r\nhOST: x\r\nConnection: close\r\n\r\n')).toMatch(
    /^HTTP\/1.1 400 [^]*"detail":"[^"]*Host[^]*"code":"invalid_header"/,
  )
})

test('a trickling body is ended, and a merely large one is not', async () => {
  const slow = await buildApp(context, (app) => {
    app.post('/v1/things', { config, schema: { body: Body } }, (request, reply) => reply.code(202).send(request.body))
  })
  const refused: string[] = []
  watchBodies(
    slow.server,
    (request) => {
      refused.push(request.url ?? '')
      request.socket.destroy()
    },
    { graceMs: 50, sweepMs: 20 },
  )
  await slow.listen({ host: '127.0.0.1', port: 0 })
  const head = 'POST /v1/things HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'
  expect(await talk(slow, `${head}Content-Length: 50\r\n\r\n{"to":`)).toBe('')
  expect(refused).toEqual(['/v1/things'])
  const body = JSON.stringify({ to: '1', message: 'x' })
  expect(await talk(slow, `${head}Connection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`)).toMatch(
    /^HTTP\/1.1 202/,
  )
  await slow.close()
})
