import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient, HeliogramError, type Client } from './index.ts'
import { hangUp, json, problem, silence, startServer, type TestServer } from './server-testing.ts'

let server: TestServer
let client: Client

beforeAll(async () => {
  server = await startServer()
  client = createClient({ baseUrl: `${server.baseUrl}/`, token: 'hg_live_1' })
})
afterAll(() => server.close())

const hello = { body: { to: '12025550188', message: 'Hello' } }
const keysOf = (): unknown[] => server.got.map(({ headers }) => headers['idempotency-key'])

async function failureOf(call: Promise<unknown>): Promise<HeliogramError> {
  const error = await call.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (error instanceof HeliogramError) return error
  throw new Error(`It did not fail as calls do: ${String(error)}`)
}

test('sends JSON with the token, and returns the response', async () => {
  server.answer(json(202, { id: 'msg_1' }))
  const message = await client.call('sendMessage', hello)
  expect(message.id).toBe('msg_1')
  expect(server.got).toMatchObject([
    {
      method: 'POST',
      url: '/v1/messages/send',
      headers: { authorization: 'Bearer hg_live_1', 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(hello.body),
    },
  ])
})

test('escapes path and query parameters', async () => {
  server.answer(json(200, { data: [], next_cursor: null }))
  const campaign = 'a/b?c#d e%2f+ü'
  await client.call('listContacts', {
    path: { campaign },
    query: { tag: 'a&b=c+d', limit: 5, status: undefined, 'attributes[city]': 'Köln' },
  })
  const { pathname, searchParams } = new URL(server.got[0]?.url ?? '', server.baseUrl)
  expect(decodeURIComponent(pathname.split('/')[3] ?? '')).toBe(campaign)
  expect(pathname.split('/').length).toBe(5)
  expect([...searchParams]).toEqual([
    ['tag', 'a&b=c+d'],
    ['limit', '5'],
    ['attributes[city]', 'Köln'],
  ])
})

test.each(['', '.', '..'])('refuses a path parameter that would lead to another route: %j', async (id) => {
  server.answer(json(200, {}))
  await expect(client.call('getMessage', { path: { id } })).rejects.toThrow(TypeError)
  expect(server.got).toEqual([])
})

test('returns undefined for a response without a body', async () => {
  server.answer((response) => response.writeHead(204).end())
  expect(await client.call('deleteWebhook', { path: { id: 'whk_1' } })).toBeUndefined()
})

test('gets the token before every try', async () => {
  server.answer(problem(503, 'unavailable', true), json(200, {}))
  const tokens = ['one', 'two']
  const other = createClient({ baseUrl: server.baseUrl, token: async () => tokens.shift() })
  await other.call('getSettings')
  expect(server.got.map(({ headers }) => headers.authorization)).toEqual(['Bearer one', 'Bearer two'])
  await createClient({ baseUrl: server.baseUrl }).call('getSettings')
  expect(server.got[2]?.headers.authorization).toBeUndefined()
})

test.each([
  ['a connection that ends', hangUp],
  ['408', json(408, {})],
  ['429', problem(429, 'rate_limited', true, { 'retry-after': '0' })],
  ['502', (response) => response.writeHead(502).end('<html>')],
  ['503', problem(503, 'unavailable', true)],
  ['504', (response) => response.writeHead(504).end()],
  ['a first try that still runs', problem(409, 'idempotency_in_progress', true, { 'retry-after': '0' })],
] as [string, typeof hangUp][])('repeats a send after %s, with the same key', async (_, first) => {
  server.answer(first, json(202, { id: 'msg_1' }))
  expect((await client.call('sendMessage', hello)).id).toBe('msg_1')
  const [key, again] = keysOf()
  expect(keysOf().length).toBe(2)
  expect(key).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
  expect(again).toBe(key)
  expect(server.got[1]?.body).toBe(server.got[0]?.body)
})

test('uses a new key for each call, or the given one', async () => {
  server.answer(json(202, {}))
  await client.call('sendMessage', hello)
  await client.call('sendMessage', hello)
  await client.call('sendMessage', hello, { idempotencyKey: 'order-7' })
  const keys = keysOf()
  expect(new Set(keys).size).toBe(3)
  expect(keys[2]).toBe('order-7')
})

test('waits as long as Retry-After says', async () => {
  server.answer(problem(429, 'rate_limited', true, { 'retry-after': '1' }), json(200, {}))
  const startedAt = performance.now()
  await client.call('getSettings')
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(1000)
})

test('reports a wait that is too long instead of waiting', async () => {
  server.answer(problem(429, 'spend_limit_reached', true, { 'retry-after': '3600' }))
  const error = await failureOf(client.call('sendMessage', hello))
  expect(error).toMatchObject({ code: 'spend_limit_reached', status: 429, retryAfterMs: 3_600_000, retryable: true })
  expect(server.got.length).toBe(1)
})

test('gives up after the requested number of retries', async () => {
  server.answer(problem(503, 'unavailable', true))
  expect((await failureOf(client.call('getSettings'))).code).toBe('unavailable')
  expect(server.got.length).toBe(3)
  server.answer(problem(503, 'unavailable', true))
  await failureOf(client.call('getSettings', {}, { retries: 0 }))
  expect(server.got.length).toBe(1)
})

test('never repeats a change that takes no key', async () => {
  server.answer(hangUp)
  const login = { body: { email: 'a@example.com', password: 'x' } }
  expect((await failureOf(client.call('login', login))).code).toBe('unreachable')
  // A key does not make it safe, because the API ignores it here.
  await failureOf(client.call('login', login, { idempotencyKey: 'k' }))
  expect(server.got.length).toBe(2)
})

test.each([
  ['a refusal', problem(422, 'validation_failed', false)],
  ['a conflict', problem(409, 'contact_exists', false)],
  ['a fault inside', problem(500, 'internal_error', true)],
  ['what the API says is for good', problem(429, 'rate_limited', false)],
])('does not repeat after %s', async (_, answer) => {
  server.answer(answer)
  await failureOf(client.call('sendMessage', hello))
  expect(server.got.length).toBe(1)
})

test('sends a stream once, because it cannot be read again', async () => {
  const file = (): ReadableStream<Uint8Array> => new Blob(['number\n12025550188\n']).stream()
  const options = { headers: { 'content-type': 'text/csv' } }
  server.answer(json(200, {}))
  await client.call('importOptOuts', { body: file() }, options)
  expect(server.got).toMatchObject([{ body: 'number\n12025550188\n', headers: { 'content-type': 'text/csv' } }])
  server.answer(problem(503, 'unavailable', true))
  expect((await failureOf(client.call('importOptOuts', { body: file() }, options))).code).toBe('unavailable')
  expect(server.got.length).toBe(1)
})

test('ends and repeats a try that takes too long', async () => {
  server.answer(silence, json(200, { ok: 1 }))
  expect(await client.call('getSettings', {}, { timeoutMs: 1000 })).toEqual({ ok: 1 })
  // The head arrives, but never the body.
  server.answer((response) => response.writeHead(200, { 'content-type': 'application/json' }).write('{'))
  const error = await failureOf(client.call('getSettings', {}, { timeoutMs: 500, retries: 0 }))
  expect(error).toMatchObject({ code: 'timeout', status: 0, retryable: true })
})

test('ends a call when its caller aborts it, also between two tries', async () => {
  server.answer(silence)
  const reason = new Error('The page is closed')
  const abort = new AbortController()
  const call = client.call('getSettings', {}, { signal: abort.signal })
  await expect.poll(() => server.got.length).toBe(1)
  abort.abort(reason)
  await expect(call).rejects.toBe(reason)

  server.answer(problem(429, 'rate_limited', true, { 'retry-after': '50' }))
  const other = new AbortController()
  const waiting = client.call('getSettings', {}, { signal: other.signal })
  await expect.poll(() => server.got.length).toBe(1)
  other.abort(reason)
  await expect(waiting).rejects.toBe(reason)
})

test('reports all members of a problem', async () => {
  const errors = [{ pointer: '#/to', code: 'required', detail: 'is required' }]
  const body = {
    type: '',
    title: 'The request is invalid',
    status: 422,
    detail: '1 field is invalid.',
    instance: '/',
  }
  const rest = { code: 'validation_failed', request_id: 'req_9', retryable: false, errors }
  // A page of another origin cannot read the header.
  server.answer(json(422, { ...body, ...rest }))
  const error = await failureOf(client.call('sendMessage', hello))
  expect(error).toMatchObject({
    code: rest.code,
    errors,
    requestId: 'req_9',
    status: 422,
    retryable: false,
    title: body.title,
  })
  expect(error.message).toBe('validation_failed: 1 field is invalid.')
})

test('reports errors of the token endpoint in the words of OAuth', async () => {
  server.answer(json(400, { error: 'invalid_grant', error_description: 'The password is not right.' }))
  const body = new URLSearchParams({ grant_type: 'password' })
  const error = await failureOf(client.call('createToken', { body }))
  expect(error).toMatchObject({ code: 'invalid_grant', detail: 'The password is not right.', status: 400 })
  expect(server.got[0]).toMatchObject({
    body: 'grant_type=password',
    headers: { 'content-type': expect.stringMatching(/^application\/x-www-form-urlencoded/) as string },
  })
})

test('reports a response that is not the API’s', async () => {
  server.answer((response) => response.writeHead(403, { 'content-type': 'text/html' }).end('<h1>No</h1>'))
  expect(await failureOf(client.call('getSettings'))).toMatchObject({ code: 'unexpected_answer', status: 403 })
  server.answer((response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Log in</h1>'))
  expect(await failureOf(client.call('getSettings'))).toMatchObject({ code: 'unexpected_answer', status: 200 })
})

test.each([301, 302, 303, 307, 308])(
  'does not follow a redirect (%i), which would lose the token or turn a send into a read',
  async (status) => {
    server.answer((response) => response.writeHead(status, { location: `${server.baseUrl}/elsewhere` }).end())
    const error = await failureOf(client.call('sendMessage', hello))
    expect(error).toMatchObject({ code: 'unexpected_answer', status, retryable: false })
    expect(error.detail).toContain(`${server.baseUrl}/elsewhere`)
    expect(server.got.length).toBe(1)
  },
)

test('reports an unreachable server, and why', async () => {
  const gone = await startServer()
  await gone.close()
  const error = await failureOf(createClient({ baseUrl: gone.baseUrl, retries: 1 }).call('getSettings'))
  expect(error).toMatchObject({ code: 'unreachable', status: 0, retryable: true })
  expect(JSON.stringify(error.cause, Object.getOwnPropertyNames(error.cause)) + String(error.cause)).toMatch(
    /fetch failed/,
  )
})

test('walks a list page by page, as far as the caller reads', async () => {
  const page = (ids: string[], next_cursor: string | null) =>
    json(200, { data: ids.map((id) => ({ id })), next_cursor })
  const pages = [page(['1', '2'], 'a+b='), page([], 'c'), page(['3'], null)]
  server.answer(...pages)
  const ids: string[] = []
  for await (const message of client.each('listMessages', { query: { status: 'delivered' } })) ids.push(message.id)
  expect(ids).toEqual(['1', '2', '3'])
  expect(server.got.map(({ url }) => [...new URL(url, server.baseUrl).searchParams])).toEqual([
    [['status', 'delivered']],
    [
      ['status', 'delivered'],
      ['cursor', 'a+b='],
    ],
    [
      ['status', 'delivered'],
      ['cursor', 'c'],
    ],
  ])
  server.answer(...pages)
  for await (const _ of client.each('listMessages')) break
  expect(server.got.length).toBe(1)
})

test('streams a response as it arrives, however long that takes after its head', async () => {
  server.answer((response) => {
    response.writeHead(200, { 'content-type': 'text/csv' }).write('id\n')
    setTimeout(() => response.end('1\n'), 1500)
  })
  const answer = await client.open('exportMessages', { query: { format: 'csv' } }, { timeoutMs: 1000 })
  expect(await answer.text()).toBe('id\n1\n')
  expect(server.got[0]?.headers.accept).toBe('*/*')
  server.answer(problem(422, 'validation_failed', false))
  expect((await failureOf(client.open('exportMessages'))).code).toBe('validation_failed')
})
