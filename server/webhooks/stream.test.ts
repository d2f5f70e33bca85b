/** Forward reads over real connections: the event stream, and waiting requests. */
import { createServer, request } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { buildTestApp, createTestAccount, testVault, type TestAccount } from '../accounts/testing.ts'
import { atEnd, createTestDatabase } from '../ground/db/testing.ts'
import { recordEvents, type EventType } from '../events/events.ts'
import type { App } from '../ground/http/http.ts'
import { newId } from '../ground/base/ids.ts'
import { eventRoutes } from './events-http.ts'
import type { EventRow } from './events-store.ts'
import { streamEvents } from './stream.ts'
import { loopback, nobody } from './testing.ts'
import { until } from '../../test/until.ts'
import { Watch } from './watch.ts'

const { db, sql } = await createTestDatabase()
const log = { info() {}, warn() {}, error() {} }
const streamTimes = { heartbeatMs: 300, stallMs: 2000 }

test('a HEAD gets the head of a GET, and ends', async () => {
  const { url, watch } = await listen()
  const account = await createTestAccount(db)
  const ask = (query: string) => fetch(`${url}/v1/events/stream${query}`, { method: 'HEAD', headers: account.headers })
  const answer = await ask('')
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
  expect((await ask('?after=nonsense')).status).toBe(422)
  expect(watch.count).toBe(0)
})

test('reports all faults of a query at once, and of a starting id by its header', async () => {
  const { url, watch } = await listen()
  const account = await createTestAccount(db)
  const faultsOf = async (query: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${url}/v1/events/stream${query}`, { headers: { ...account.headers, ...headers } })
    const { errors } = (await answer.json()) as { errors: { pointer: string }[] }
    return errors.map(({ pointer }) => pointer)
  }
  const query = '?after=nonsense&type=message.read&max_seconds=-1'
  expect(await faultsOf(query)).toEqual(['?max_seconds', '?after', '?type'])
  expect(await faultsOf('?message=1', { 'last-event-id': 'x' })).toEqual(['#/Last-Event-ID', '?message'])
  expect(watch.count).toBe(0)
})

test('streams new events, and missed ones after an id', async () => {
  const { url } = await listen()
  const account = await createTestAccount(db)
  await record(account, 1)
  const stream = await new Stream().open(`${url}/v1/events/stream`, account)
  expect(stream.response?.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  expect(stream.response?.headers.get('cache-control')).toBe('no-store')
  await until('the beginning', () => stream.text.startsWith('retry: 2000\n\n'))
  for (const sequence of [2, 3, 4]) await record(account, sequence)
  await until('the events', () => stream.events.length >= 3)
  expect(stream.sequences.slice(-3)).toEqual([2, 3, 4])
  expect(stream.events.at(-1)).toMatchObject({ event: 'message.delivered', data: { id: stream.events.at(-1)?.id } })
  stream.abort.abort()

  await record(account, 5)
  const lastId = stream.events.find(({ data }) => data.sequence === 3)?.id ?? ''
  const resumed = await new Stream().open(`${url}/v1/events/stream`, account, { 'last-event-id': lastId })
  await until('what was missed', () => resumed.events.length === 2)
  expect(resumed.sequences).toEqual([4, 5])
  const all = await new Stream().open(`${url}/v1/events/stream?after=start&max_seconds=0`, account)
  await until('its end', () => all.isOver)
  expect(all.sequences).toEqual([1, 2, 3, 4, 5])
})

test('streams only the requested types, only its account’s, and no texts to callers who may not read them', async () => {
  const { url } = await listen()
  const account = await createTestAccount(db, { scopes: ['events:read'] })
  const other = await createTestAccount(db)
  const stream = await new Stream().open(`${url}/v1/events/stream?type=message.failed,message.received`, account)
  await record(account, 1)
  await record(other, 2, 'message.failed')
  await record(account, 3, 'message.failed')
  await until('the event', () => stream.events.length === 1)
  expect(stream.events[0]).toMatchObject({
    event: 'message.failed',
    data: { sequence: 3, data: { message: { message: null } } },
  })
})

test('sends a sign of life with its position from time to time', async () => {
  const { url } = await listen()
  const account = await createTestAccount(db)
  const stream = await new Stream().open(`${url}/v1/events/stream?type=message.failed`, account)
  await record(account, 1)
  await until('a heartbeat', () => stream.text.includes(': heartbeat'))
  await until('its id', () => /: heartbeat\nid: evt_\w+\n\n/.test(stream.text))
  expect(stream.events).toEqual([])
})

test('ends within five seconds when its token is revoked', async () => {
  const { url } = await listen()
  const account = await createTestAccount(db)
  const stream = await new Stream().open(`${url}/v1/events/stream`, account)
  await until('the beginning', () => stream.text !== '')
  await sql`update api_keys set revoked_at = now() where id = ${account.keyId}`
  const began = performance.now()
  await until('the end', () => stream.isOver)
  // It polls every two seconds.
  expect(performance.now() - began).toBeLessThan(8000)
})

test('sends no more texts to a caller whose key may no longer read them', async () => {
  const { url } = await listen()
  const account = await createTestAccount(db)
  const stream = await new Stream().open(`${url}/v1/events/stream?after=start`, account)
  const lastText = () => stream.events.at(-1)?.data.data.message.message
  await record(account, 1)
  await until('a text', () => lastText() === 'hello')
  await sql`update api_keys set scopes = '{events:read}' where id = ${account.keyId}`
  let sequence = 1
  await until('an event without one', async () => {
    await record(account, ++sequence)
    return lastText() === null
  })
})

/** A stream with an endless supply of events. */
async function streamWithoutEnd(options: Partial<Parameters<typeof streamEvents>[0]>) {
  const row = { id: newId(), txid: '1', type: 'message.delivered', payload: '{"data":{}}' } as unknown as EventRow
  const state = { told: 0, isOver: false }
  const server = createServer((_request, raw) => {
    const watcher = new Watch({ db, log }).join(newId())
    void streamEvents({
      raw,
      reader: { place: null, read: (limit) => Promise.resolve(Array.from({ length: limit }, () => row)) },
      watcher,
      show: () => ({ told: state.told++ }),
      isAllowed: () => Promise.resolve(true),
      isClosing: () => false,
      endAfterMs: 3_600_000,
      ...options,
    }).finally(() => watcher.leave())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd(() => server.close().closeAllConnections())
  const asked = request({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' }, (answer) =>
    answer.resume().on('close', () => (state.isOver = true)),
  )
  asked.on('error', () => {}).end()
  await until('it tells', () => state.told > 100)
  return state
}

test('ends for a caller who may no longer read, even with many events left', async () => {
  let isAllowed = true
  const state = await streamWithoutEnd({ isAllowed: () => Promise.resolve(isAllowed) })
  isAllowed = false
  await until('the end', () => state.isOver)
})

test('ends when its time is over, even with many events left', async () => {
  const state = await streamWithoutEnd({ endAfterMs: 200 })
  await until('the end', () => state.isOver)
})

test('disconnects a stalled reader, with little held for it, and lets it resume by id', async () => {
  const { port, url, watch } = await listen()
  const account = await createTestAccount(db)
  const text = 'x'.repeat(100_000)
  for (let i = 1; i <= 400; i++) await record(account, i, 'message.delivered', text)
  const asked = listenToQueries()
  const socket = connect(port, '127.0.0.1')
  atEnd(() => socket.destroy())
  socket.pause()
  socket.write(
    `GET /v1/events/stream?after=start HTTP/1.1\r\nhost: a\r\nauthorization: ${account.headers.authorization}\r\n\r\n`,
  )
  let isCut = false
  socket.on('close', () => (isCut = true)).on('error', () => {})
  await until('it is told', () => watch.count === 1)
  await pause(1000)
  const pages = asked.end().filter((text) => text.includes('pg_snapshot_xmin') && text.includes('limit $2')).length
  // The log has 8 pages of 5 MB; the buffers of two sockets hold what was read.
  expect(pages).toBeGreaterThan(0)
  expect(pages).toBeLessThanOrEqual(4)
  let received = 0
  await until('it is cut off', () => watch.count === 0)
  socket.on('data', (chunk: Buffer) => (received += chunk.length))
  socket.resume()
  await until('the end', () => isCut)
  expect(received).toBeLessThan(20_000_000)
  const rest = await new Stream().open(`${url}/v1/events/stream?after=start&max_seconds=0`, account)
  await until('all of it', () => rest.isOver)
  expect(rest.sequences).toHaveLength(400)
})

test('ends waits when the application closes, and at once when the caller leaves', async () => {
  const { close, url, watch } = await listen({ tickMs: 50 })
  const account = await createTestAccount(db)
  const streams = await Promise.all([1, 2].map(() => new Stream().open(`${url}/v1/events/stream`, account)))
  const waiting = fetch(`${url}/v1/events?after=start&wait=30`, { headers: account.headers })
  const leaving = request(`${url}/v1/events?after=start&wait=30`, { headers: account.headers }).on('error', () => {})
  leaving.end()
  await until('all to wait', () => watch.count === 4)
  leaving.destroy()
  await until('its place to be free', () => watch.count === 3)
  const began = performance.now()
  await close()
  expect(performance.now() - began).toBeLessThan(2000)
  const answer = await waiting
  expect([answer.status, ((await answer.json()) as { data: unknown[] }).data]).toEqual([200, []])
  await until('the ends', () => streams.every((stream) => stream.isOver))
})

test('limits an account’s waits, and queries the database once a tick for all', async () => {
  const { url, watch } = await listen({ accountMax: 3, tickMs: 100 })
  const account = await createTestAccount(db)
  const other = await createTestAccount(db)
  const ask = ({ headers }: TestAccount) => fetch(`${url}/v1/events?after=start&wait=20`, { headers })
  const waiting = [ask(account), ask(account), ask(account), ask(other)]
  await until('all to wait', () => watch.count === 4)
  const refused = await ask(account)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
  const asked = listenToQueries()
  await pause(1000)
  expect(asked.end().length).toBeLessThan(20)
  await record(account, 1)
  const answers = await Promise.all(waiting.slice(0, 3))
  for (const answer of answers) expect((await answer.json()) as object).toMatchObject({ data: [{ sequence: 1 }] })
  await record(other, 2)
  expect(await (await waiting[3])?.json()).toMatchObject({ data: [{ sequence: 2 }] })
  expect(watch.count).toBe(0)
})

async function listen(options: Partial<ConstructorParameters<typeof Watch>[0]> = {}) {
  const watch = new Watch({ db, log, tickMs: 20, ...options })
  const app: App = await buildTestApp(db, (one) =>
    eventRoutes(one, { db, vault: testVault, destinations: loopback, outbox: nobody, watch, streamTimes }),
  )
  await app.listen({ host: '127.0.0.1', port: 0 })
  const close = (): Promise<void> => {
    watch.close()
    return app.close()
  }
  atEnd(close)
  const { port } = app.server.address() as AddressInfo
  return { close, watch, port, url: `http://127.0.0.1:${port}` }
}

/** Reads a stream, as text and as events. */
class Stream {
  text = ''
  isOver = false
  readonly abort = new AbortController()
  response: Response | undefined

  async open(url: string, account: TestAccount, headers: Record<string, string> = {}): Promise<this> {
    this.response = await fetch(url, { headers: { ...account.headers, ...headers }, signal: this.abort.signal })
    const { body } = this.response
    void (async () => {
      const decoder = new TextDecoder()
      for await (const chunk of body ?? []) this.text += decoder.decode(chunk as Uint8Array, { stream: true })
    })()
      .catch(() => {})
      .finally(() => (this.isOver = true))
    return this
  }

  get events(): {
    id: string
    event: string
    data: { sequence: number; data: { message: { message: string | null } } }
  }[] {
    return this.text.split('\n\n').flatMap((block) => {
      const [, id = '', event = '', data = ''] = /^id: (.*)\nevent: (.*)\ndata: (.*)$/.exec(block) ?? []
      return id === '' ? [] : [{ id, event, data: JSON.parse(data) as Stream['events'][number]['data'] }]
    })
  }

  get sequences(): number[] {
    return this.events.map(({ data }) => data.sequence)
  }
}

/** Queries of the pool until `end`. */
function listenToQueries(): { end: () => string[] } {
  const texts: string[] = []
  const query = db.query.bind(db) as (...args: unknown[]) => unknown
  const listening = (...args: unknown[]): unknown => {
    const [first] = args
    texts.push(typeof first === 'string' ? first : (first as { text: string }).text)
    return query(...args)
  }
  Object.defineProperty(db, 'query', { value: listening, configurable: true })
  return {
    end: () => {
      Reflect.deleteProperty(db, 'query')
      return texts
    },
  }
}

const record = (account: TestAccount, sequence: number, type: EventType = 'message.delivered', message = 'hello') =>
  recordEvents(db, [{ accountId: account.accountId, type, sequence, data: { message: { message } } }], nobody)
