import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer as createTcpServer, type AddressInfo } from 'node:net'
import { createServer as createTlsServer } from 'node:https'
import { afterAll, expect, test } from 'vitest'
import { atEnd } from '../ground/db/testing.ts'
import { guardDestinations } from './destination.ts'
import type { PostResult } from './exchange.ts'
import { Poster, targetOf } from './post.ts'
import { startReceiver } from '../webhooks/testing.ts'

const loopback = { allowedCidrs: ['127.0.0.0/8', '::1/128'], ports: [443] }
const poster = new Poster({ destinations: guardDestinations(loopback), timeoutMs: 5000 })
afterAll(() => poster.close())

test('posts the body and accepts any 2xx, over kept connections', async () => {
  const receiver = await startReceiver((response) => response.writeHead(202).end('thank you'))
  for (let i = 0; i < 10; i++) {
    const result = await post(`${receiver.url}?a=b#c`)
    expect(result).toMatchObject({ outcome: 'ok', statusCode: 202, responseHead: 'thank you', retryAfterMs: null })
  }
  expect(receiver.received[0]).toMatchObject({ method: 'POST', url: '/hook?a=b', body: '{"a":"ü"}' })
  // undici rests a connection for one turn after an answer, so two alternate.
  expect(receiver.connections).toBeLessThanOrEqual(2)
})

test.each([
  [500, 'status'],
  [404, 'status'],
  [429, 'status'],
  [503, 'status'],
  [410, 'gone'],
])('counts %i as %s', async (status, outcome) => {
  const receiver = await startReceiver((response) => response.writeHead(status, { 'retry-after': '7' }).end('no'))
  const retryAfterMs = status === 429 || status === 503 ? 7000 : null
  expect(await post(receiver.url)).toMatchObject({ outcome, statusCode: status, responseHead: 'no', retryAfterMs })
})

test('follows no redirect', async () => {
  const second = await startReceiver()
  const receiver = await startReceiver((response) => response.writeHead(307, { location: second.url }).end())
  expect(await post(receiver.url)).toMatchObject({ outcome: 'redirect', statusCode: 307 })
  expect(second.received).toHaveLength(0)
})

test('ends a post whose response is late or endless; a received status counts', async () => {
  const silent = await startReceiver(() => {})
  const drippingOf = (status: number) => (response: ServerResponse) => {
    response.writeHead(status)
    response.write('a')
  }
  const [dripping, failing] = [await startReceiver(drippingOf(200)), await startReceiver(drippingOf(500))]
  const hasty = posterWith({ timeoutMs: 400 })
  for (const [{ url }, outcome, statusCode] of [
    [silent, 'timeout', null],
    [dripping, 'ok', 200],
    [failing, 'status', 500],
  ] as const) {
    const result = await post(url, hasty)
    expect(result).toMatchObject({ outcome, statusCode })
    expect(result.durationMs).toBeGreaterThanOrEqual(390)
    expect(result.durationMs).toBeLessThan(5000)
  }
})

test('uses the status of a truncated response', async () => {
  const receiver = await startReceiver((response) => {
    response.writeHead(200, { 'content-length': '10' })
    response.write('a', () => response.destroy())
  })
  expect(await post(receiver.url)).toMatchObject({ outcome: 'ok', statusCode: 200, responseHead: 'a' })
})

test.each([
  [200, 'ok', null],
  [307, 'redirect', null],
  [410, 'gone', null],
  [500, 'status', null],
  [503, 'status', 7000],
])(
  'uses a status of %i for any length of response: reads 64 KiB and keeps 4 KiB of it',
  async (status, outcome, retryAfterMs) => {
    const receiver = await startReceiver((response) => {
      response.writeHead(status, { 'retry-after': '7' })
      const more = () => {
        while (response.write(Buffer.alloc(16_384, 'x')));
        response.once('drain', more)
      }
      more()
    })
    const endless = { statusCode: status, responseHead: 'x'.repeat(4096), retryAfterMs }
    expect(await post(receiver.url)).toMatchObject({ outcome, ...endless })
  },
)

test('reports a response with too many headers as too_large', async () => {
  const receiver = await startReceiver((response) => response.writeHead(200, { 'x-long': 'x'.repeat(100_000) }).end())
  expect(await post(receiver.url)).toMatchObject({ outcome: 'too_large', statusCode: null })
})

test('keeps a response that PostgreSQL would refuse as text', async () => {
  const receiver = await startReceiver((response) => response.end(Buffer.from('a\0b\xff', 'latin1')))
  expect((await post(receiver.url)).responseHead).toBe('a\uFFFDb\uFFFD')
})

test('distinguishes refused, reset and non-HTTP receivers', async () => {
  const receiver = await startReceiver()
  await receiver.close()
  expect((await post(receiver.url)).outcome).toBe('refused')
  for (const [answer, outcome] of [
    [null, 'reset'],
    ['SSH-2.0-OpenSSH_9.2\r\n\r\n', 'protocol'],
  ] as const) {
    const server = createTcpServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => (answer ? socket.end(answer) : socket.resetAndDestroy()))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    expect((await post(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)).outcome).toBe(outcome)
    server.close()
  }
})

test('reports tls if the receiver does not speak it', async () => {
  const receiver = await startReceiver()
  expect((await post(receiver.url.replace('http:', 'https:'))).outcome).toBe('tls')
  const server = createTlsServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  expect((await post(`https://127.0.0.1:${(server.address() as AddressInfo).port}/`)).outcome).toBe('tls')
  server.close()
})

test.each([
  'http://127.0.0.1',
  'http://127.1',
  'http://2130706433',
  'http://0x7f000001',
  'http://[::ffff:127.0.0.1]',
  'http://[::1]',
  'http://0.0.0.0',
  'http://[::]',
  'http://localhost',
])('never connects to %s unless it is allowed', async (origin) => {
  const receiver = await startReceiver()
  const result = await post(`${origin}:${receiver.port}/`, posterWith({ allowedCidrs: [] }))
  expect(result).toMatchObject({ outcome: 'private_address', statusCode: null })
  expect(receiver.connections).toBe(0)
})

test('checks every address of a name, at every connection', async () => {
  const receiver = await startReceiver((response) => response.writeHead(200, { connection: 'close' }).end())
  const answers = [['127.0.0.1'], ['127.0.0.1', '10.0.0.1'], ['10.0.0.1'], []]
  const rebinding = posterWith({ resolve: () => Promise.resolve(answers.shift() ?? []) })
  const url = `http://hooks.example.com:${receiver.port}/`
  const outcomes: string[] = []
  for (let i = 0; i < 4; i++) outcomes.push((await post(url, rebinding)).outcome)
  expect(outcomes).toEqual(['ok', 'private_address', 'private_address', 'dns'])
  expect(receiver.received[0]?.headers.host).toBe(`hooks.example.com:${receiver.port}`)
})

test('tries the addresses of a name in turn', async () => {
  const receiver = await startReceiver()
  const both = posterWith({ resolve: () => Promise.resolve(['127.0.0.2', '127.0.0.1']) })
  expect((await post(`http://hooks.example.com:${receiver.port}/`, both)).outcome).toBe('ok')
})

test('reports dns if a name server fails, and timeout if it hangs', async () => {
  const failing = posterWith({ resolve: () => Promise.reject(new Error('SERVFAIL')) })
  expect((await post('https://hooks.example.com/', failing)).outcome).toBe('dns')
  const hanging = posterWith({ resolve: () => new Promise(() => {}), timeoutMs: 400 })
  expect((await post('https://hooks.example.com/', hanging)).outcome).toBe('timeout')
})

test('never writes a post whose time ran out while it connected', async () => {
  const receiver = await startReceiver()
  const { promise, resolve } = Promise.withResolvers<string[]>()
  const slow = posterWith({ resolve: () => promise, timeoutMs: 2000 })
  expect((await post(`http://hooks.example.com:${receiver.port}/`, slow)).outcome).toBe('timeout')
  resolve(['127.0.0.1'])
  expect((await post(`http://hooks.example.com:${receiver.port}/second`, slow)).outcome).toBe('ok')
  expect(receiver.received.map((one) => one.url)).toEqual(['/second'])
})

const post = (url: string, by: Poster = poster): Promise<PostResult> =>
  new Promise((resolve) => by.post(targetOf(url), ['content-type', 'application/json'], '{"a":"ü"}', resolve))

function posterWith(options: {
  resolve?: (host: string) => Promise<string[]>
  allowedCidrs?: string[]
  timeoutMs?: number
}): Poster {
  const rule = { ...loopback, ...(options.allowedCidrs && { allowedCidrs: options.allowedCidrs }) }
  const { resolve, timeoutMs = 5000 } = options
  const one = new Poster({ destinations: guardDestinations(rule, resolve), timeoutMs })
  atEnd(() => one.close())
  return one
}
