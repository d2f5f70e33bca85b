/**
 * The fast path against the normal one, as clients see them: the same bytes to both give the same responses except ids and times; also fragments,
 * half-closing and closing of connections.
 */
import { once } from 'node:events'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestAccount, type TestAccount } from '../server/accounts/testing.ts'
import { beginOf, openWall } from '../server/ground/db/scoped.ts'
import { createTestDatabase, type TestDatabase } from '../server/ground/db/testing.ts'
import { scopes } from '../server/ground/http/http.ts'
import { silent } from '../server/messages/testing.ts'
import { openWorld, type World } from './tenancy-world.ts'
import { until } from './until.ts'
import { Wire, type RawAnswer } from './wire.ts'

let database: TestDatabase
/** Uses the fast path; the other world always uses Node.js and Fastify. */
let fast: World
let plain: World
let account: TestAccount
let byNode = 0
const portOf = (world: World): number => (world.app.server.address() as AddressInfo).port

const options = { trustedProxies: ['127.0.0.1'], shortUrl: 'https://s.example.com' }

beforeAll(async () => {
  database = await createTestDatabase()
  fast = await openWorld(database, { ...options, checksAnswers: false })
  plain = await openWorld(database, options)
  account = await createTestAccount(database.db)
  fast.app.server.on('request', () => byNode++)
  for (const { app } of [fast, plain]) await app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(async () => {
  await fast.close()
  await plain.close()
  await database.close()
})

const send = (body: string | Buffer, lines: readonly string[] = [], path = '/v1/messages/send'): Buffer => {
  const bytes = Buffer.from(body)
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: localhost',
    'Content-Type: application/json',
    `Content-Length: ${bytes.length}`,
    ...(lines.some((line) => /^authorization/i.test(line)) ? [] : [`Authorization: ${account.headers.authorization}`]),
    ...lines,
  ]
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), bytes])
}
const message = (fields: object = {}): string => JSON.stringify({ to: '15551230001', message: 'Hello', ...fields })

function told(answer: RawAnswer | null): unknown {
  if (!answer) return null
  const { status, headers, body } = answer
  const text = body
    .toString()
    .replaceAll(/(msg|req)_[0-9a-z]{26}/g, '$1_…')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '…')
  const fields = [...headers].map(([name, value]): [string, string] => [
    name,
    value.replaceAll(/(msg|req)_[0-9a-z]{26}/g, '$1_…'),
  ])
  // Keep-alive is implied, and Fastify omits it after invalid JSON.
  const changing = new Set(['date', 'ratelimit', 'content-length', 'keep-alive'])
  const isTold = ([name, value]: [string, string]): boolean =>
    !changing.has(name) && !(name === 'connection' && value === 'keep-alive')
  return { status, fields: Object.fromEntries(fields.filter(isTold)), text }
}

async function askBoth(bytes: Buffer): Promise<{ answers: unknown[]; isFast: boolean }> {
  const before = byNode
  const wires = [fast, plain].map((world) => new Wire(portOf(world)))
  const answers = await Promise.all(wires.map((wire) => wire.exchange(bytes)))
  for (const wire of wires) wire.close()
  return { answers: answers.map(told), isFast: byNode === before }
}

const long = 'x'.repeat(1601)
const cases: [what: string, status: number, bytes: () => Buffer][] = [
  ['a message', 202, () => send(message())],
  ['the other path', 202, () => send(message(), [], '/v1/messages')],
  ['a text beyond ASCII', 202, () => send(message({ message: 'Grüße, 👋' }))],
  [
    'all that may be asked for',
    202,
    () => send(message({ metadata: { a: 'b' }, tags: ['x'], type: 'otp', validity_period: 60 })),
  ],
  ['a byte order mark', 202, () => send(`\ufeff${message()}`)],
  [
    'a lower-case scheme',
    202,
    () => send(message(), [`authorization: bearer ${account.headers.authorization.slice(7)}`]),
  ],
  ['a proxy of ours', 202, () => send(message(), ['X-Forwarded-For: 203.0.113.7:4711, 127.0.0.1'])],
  ['many faults', 422, () => send(JSON.stringify({ to: '12', message: long, nothing: 1, tags: 'x' }))],
  ['no fields', 422, () => send('{}')],
  ['a list', 422, () => send('[]')],
  ['a text', 422, () => send('"x"')],
  ['null', 422, () => send('null')],
  ['NUL', 422, () => send('{"to":"15551230001","message":"a\\u0000b"}')],
  ['a half of a surrogate pair', 422, () => send('{"to":"15551230001","message":"\\ud800"}')],
  ['a campaign that is none', 422, () => send(message({ campaign: 'nowhere' }))],
  ['a template that is none', 422, () => send('{"to":"15551230001","template":"nowhere"}')],
  ['a sender that is none', 422, () => send(message({ from: '4477' }))],
  ['half an object', 400, () => send('{"to":')],
  ['bad UTF-8', 400, () => send(Buffer.from([0x22, 0xff, 0x22]))],
  ['a deep one', 400, () => send('{"metadata":'.repeat(40) + '1' + '}'.repeat(40))],
  ['no token', 401, () => send(message(), ['Authorization:'])],
  ['a token of nobody', 401, () => send(message(), ['Authorization: Bearer hg_live_0000000000000000_x'])],
  ['Basic', 401, () => send(message(), ['Authorization: Basic eDp5'])],
]

describe('the same response on both paths', () => {
  test.for(cases)('%s: %i', async ([, status, bytes]) => {
    const { answers, isFast } = await askBoth(bytes())
    expect(answers[0]).toMatchObject({ status })
    expect(answers[0]).toEqual(answers[1])
    expect(isFast).toBe(true)
  })

  test.for<[string, number, () => Buffer]>([
    [
      'chunks',
      202,
      () =>
        Buffer.from(
          send('').toString('latin1').replace('Content-Length: 0', 'Transfer-Encoding: chunked') +
            `${message().length.toString(16)}\r\n${message()}\r\n0\r\n\r\n`,
        ),
    ],
    ['an expectation', 202, () => send(message(), ['Expect: 100-continue'])],
    ['a query that is none', 422, () => send(message(), [], '/v1/messages/send?x=1')],
    ['no body', 400, () => send('')],
    ['another type', 415, () => Buffer.from(send(message()).toString().replace('application/json', 'text/plain'))],
    ['two hosts', 400, () => send(message(), ['Host: other'])],
    ['a long body', 413, () => send(message({ message: 'x'.repeat(70_000) }))],
    [
      'the host of short links',
      405,
      () => Buffer.from(send(message()).toString().replace('localhost', 's.example.com')),
    ],
    ['no HTTP', 400, () => Buffer.from('hello\r\n\r\n')],
    [
      'another route',
      200,
      () =>
        Buffer.from(`GET /v1/settings HTTP/1.1\r\nHost: a\r\nAuthorization: ${account.headers.authorization}\r\n\r\n`),
    ],
  ])('and when it leaves them to Node: %s: %i', async ([, status, bytes]) => {
    const { answers } = await askBoth(bytes())
    expect(answers[0]).toMatchObject({ status })
    expect(answers[0]).toEqual(answers[1])
  })

  test('a key: once, repeated, and with another body', async () => {
    const key = ['Idempotency-Key: order-1']
    const wires = [fast, plain].map((world) => new Wire(portOf(world)))
    const ids: unknown[] = []
    for (const wire of wires) {
      const answer = await wire.exchange(send(message(), key))
      ids.push(JSON.parse(answer?.body.toString() ?? '').id)
    }
    // Each path finds the other's requests.
    expect(ids[0]).toBe(ids[1])
    const others = await askBoth(send(message({ message: 'Another' }), key))
    expect(others.answers[0]).toMatchObject({ status: 422 })
    expect(others.answers[0]).toEqual(others.answers[1])
    for (const wire of wires) wire.close()
  })

  test('a key without the scope, and one of another network', async () => {
    const less = await createTestAccount(database.db, { scopes: scopes.filter((scope) => scope !== 'messages:write') })
    const lacking = await askBoth(send(message(), [`Authorization: ${less.headers.authorization}`]))
    expect(lacking.answers[0]).toMatchObject({ status: 403 })
    expect(lacking.answers[0]).toEqual(lacking.answers[1])
    const far = await createTestAccount(database.db)
    await database.db.query(`update api_keys set ip_allow = '{192.0.2.0/24}' where account_id = $1`, [far.accountId])
    const bytes = (from: string): Buffer =>
      send(message(), [`Authorization: ${far.headers.authorization}`, `X-Forwarded-For: ${from}`])
    const outside = await askBoth(bytes('198.51.100.1'))
    expect(outside.answers[0]).toMatchObject({ status: 403 })
    expect(outside.answers[0]).toEqual(outside.answers[1])
    expect((await askBoth(bytes('192.0.2.77, 127.0.0.1'))).answers).toMatchObject([{ status: 202 }, { status: 202 }])
  })
})

/** Blocks the storage of messages until it is released. */
async function lockMessages(): Promise<{ release(): Promise<void> }> {
  const client = await database.db.connect()
  await client.query('begin')
  await client.query('lock table messages in exclusive mode')
  return {
    async release() {
      await client.query('rollback')
      client.release()
    },
  }
}

async function isWaiting(): Promise<boolean> {
  const { rows } = await database.db.query(
    `select 1 from pg_locks where not granted and relation = 'messages'::regclass`,
  )
  return rows.length > 0
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`

describe('a connection', () => {
  const open = async (): Promise<Socket> => {
    const socket = connect(portOf(fast), '127.0.0.1')
    await once(socket, 'connect')
    return socket
  }
  const statusesOf = (socket: Socket): (() => string[]) => {
    let text = ''
    socket.on('data', (piece: Buffer) => (text += piece.toString('latin1')))
    return () => [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status ?? '')
  }

  test('answers one request after the other, and concurrent ones in order', async () => {
    const socket = await open()
    const statuses = statusesOf(socket)
    const before = byNode
    socket.write(send(message()))
    await until('the first', () => statuses().length === 1)
    socket.write(send('{}'))
    await until('the second', () => statuses().length === 2)
    expect(byNode).toBe(before)
    socket.write(Buffer.concat([send(message()), send('{}'), send(message())]))
    await until('all', () => statuses().length === 5)
    expect(statuses()).toEqual(['202', '422', '202', '422', '202'])
    socket.destroy()
  })

  test('accepts a body behind its head, and a request during another’s response', async () => {
    const socket = await open()
    const statuses = statusesOf(socket)
    const before = byNode
    const bytes = send(message())
    const cut = bytes.indexOf('\r\n\r\n') + 4
    socket.write(bytes.subarray(0, cut))
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(statuses()).toEqual([])
    socket.write(bytes.subarray(cut, cut + 3))
    await new Promise((resolve) => setTimeout(resolve, 30))
    socket.write(bytes.subarray(cut + 3))
    await new Promise((resolve) => setImmediate(resolve))
    socket.write(send('{}'))
    await until('both', () => statuses().length === 2)
    expect(statuses()).toEqual(['202', '422'])
    expect(byNode).toBe(before)
    socket.destroy()
  })

  test('is left to Node permanently after a head in pieces, and continues', async () => {
    const socket = await open()
    const statuses = statusesOf(socket)
    const before = byNode
    socket.write(send(message()).subarray(0, 40))
    await new Promise((resolve) => setTimeout(resolve, 30))
    socket.write(send(message()).subarray(40))
    await until('the first', () => statuses().length === 1)
    socket.write(send(message()))
    await until('the second', () => statuses().length === 2)
    expect(statuses()).toEqual(['202', '202'])
    expect(byNode).toBe(before + 2)
    socket.destroy()
  })

  test('whose client has closed its side is answered and ends', async () => {
    const socket = connect({ port: portOf(fast), host: '127.0.0.1', allowHalfOpen: true })
    const statuses = statusesOf(socket)
    socket.end(send(message()))
    await once(socket, 'end')
    expect(statuses()).toEqual(['202'])
    socket.destroy()
  })

  test('ends after a response that says so, whatever else was requested meanwhile', async () => {
    const lock = await lockMessages()
    const taken = once(fast.app.server, 'connection')
    const socket = connect({ port: portOf(fast), host: '127.0.0.1', allowHalfOpen: true })
    const statuses = statusesOf(socket)
    const [theirs] = (await taken) as [Socket]
    socket.write(send(message()))
    await until('the first waits for its row', isWaiting)
    socket.end(send(message({ message: 'Never' })))
    await until('the server knows that nothing more comes', () => theirs.readableEnded)
    const ended = once(socket, 'end')
    await lock.release()
    await ended
    expect(statuses()).toEqual(['202'])
    const { rows } = await database.db.query(`select 1 from messages where body = 'Never'`)
    expect(rows).toEqual([])
    socket.destroy()
  })

  test('on which a request waited for another’s response belongs to no account: Node handles its requests without one', async () => {
    const walled = await openWall(database.db, silent)
    const begins: string[] = []
    const listen = (): void => void begins.push(beginOf(walled))
    fast.app.server.on('request', listen)
    const lock = await lockMessages()
    const socket = await open()
    const statuses = statusesOf(socket)
    socket.write(send(message()))
    await until('the first waits for its row', isWaiting)
    socket.write(get('/healthz'))
    await new Promise((resolve) => setTimeout(resolve, 30))
    await lock.release()
    await until('both', () => statuses().length === 2)
    socket.write(get('/healthz'))
    await until('all', () => statuses().length === 3)
    fast.app.server.off('request', listen)
    expect(begins).toEqual(['begin', 'begin'])
    socket.destroy()
  })

  test('whose body trickles is left to Node', async () => {
    const socket = await open()
    const statuses = statusesOf(socket)
    const before = byNode
    const bytes = send(message())
    const cut = bytes.indexOf('\r\n\r\n') + 4
    socket.setNoDelay(true)
    for (const end of [cut, cut + 1, cut + 2, cut + 3, bytes.length]) {
      socket.write(bytes.subarray(end === cut ? 0 : end === bytes.length ? cut + 3 : end - 1, end))
      await new Promise((resolve) => setTimeout(resolve, 30))
    }
    await until('an answer', () => statuses().length === 1)
    expect(statuses()).toEqual(['202'])
    expect(byNode).toBe(before + 1)
    socket.destroy()
  })

  test('whose client leaves meanwhile does no harm', async () => {
    for (let i = 0; i < 20; i++) {
      const socket = await open()
      socket.write(send(message()))
      await new Promise((resolve) => setImmediate(resolve))
      socket.resetAndDestroy()
    }
    expect((await askBoth(send(message()))).answers).toMatchObject([{ status: 202 }, { status: 202 }])
  })
})

test('closing finishes pending responses on both paths, and ends idle connections', async () => {
  const own = await openWorld(database, { checksAnswers: false })
  let toNode = 0
  own.app.server.on('request', () => toNode++)
  await own.app.listen({ host: '127.0.0.1', port: 0 })
  const [idle, busy, nodes] = [1, 2, 3].map(() => connect(portOf(own), '127.0.0.1')) as [Socket, Socket, Socket]
  const ends = [idle, busy, nodes].map((socket) => once(socket, 'close'))
  const texts = [busy, nodes].map((socket) => {
    const pieces: string[] = []
    socket.on('data', (piece: Buffer) => pieces.push(piece.toString('latin1')))
    return pieces
  })
  idle.write(send('{}'))
  await once(idle, 'data')
  const lock = await lockMessages()
  busy.write(send(message()))
  await until('the message waits for its row', isWaiting)
  nodes.write(send(message(), ['Expect: nothing']))
  await until('Node has the other', () => toNode === 1)
  const closed = own.close()
  await ends[0]
  await lock.release()
  await until('Node has answered', () => texts[1]?.length === 1)
  // After a normal response Node.js keeps the connection for as long as closing may take.
  nodes.destroy()
  await Promise.all([...ends, closed])
  const [ours, theirs] = texts.map((pieces) => pieces.join(''))
  expect(ours).toMatch(/^HTTP\/1\.1 202 Accepted\r\n[^]*\r\nConnection: close\r\n/)
  expect(theirs).toMatch(/^HTTP\/1\.1 202 Accepted\r\n/)
})
