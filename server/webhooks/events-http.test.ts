import { afterAll, expect, test } from 'vitest'
import { openAuthenticator } from '../accounts/authenticate.ts'
import { buildTestApp, createTestAccount, testVault } from '../accounts/testing.ts'
import { inTransaction } from '../ground/db/db.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import { recordEvents, type NewEvent } from '../events/events.ts'
import { newId, parseId, showId } from '../ground/base/ids.ts'
import { guardDestinations } from '../post/destination.ts'
import { eventRoutes } from './events-http.ts'
import { findEvent } from './events-store.ts'
import { Dispatcher } from '../post/fanout.ts'
import { redeliverEvent } from './redeliver.ts'
import { insertTestWebhook, startReceiver } from './testing.ts'
import { until } from '../../test/until.ts'
import { Watch } from './watch.ts'

const { db, sql } = await createTestDatabase()
const destinations = guardDestinations({ allowedCidrs: ['127.0.0.0/8'], ports: [443] })
const log = { info() {}, warn() {}, error() {} }
const dispatcher = new Dispatcher({ db, vault: testVault, log, nodeId: newId(), destinations })
dispatcher.start()
const watch = new Watch({ db, log })
const authenticator = openAuthenticator(db)
const app = await buildTestApp(
  db,
  (app) => eventRoutes(app, { db, vault: testVault, destinations, outbox: dispatcher, watch }),
  { authenticator },
)
afterAll(() => dispatcher.close())

const nobody = { nodeId: null, offer() {} }

test('lists events newest first, by pages, type and message', async () => {
  const account = await createTestAccount(db)
  const { accountId } = account
  const messageId = newId()
  for (let i = 1; i <= 5; i++) await record(anEvent(accountId, i))
  await record(anEvent(accountId, 6, { messageId, type: 'message.failed' }), anEvent(accountId, 7, { messageId }))
  const first = await get(account, '/v1/events?limit=3')
  expect(sequences(first)).toEqual([7, 6, 5])
  const second = await get(account, `/v1/events?limit=3&cursor=${String(first.body['next_cursor'])}`)
  expect(sequences(second)).toEqual([4, 3, 2])
  const third = await get(account, `/v1/events?limit=3&cursor=${String(second.body['next_cursor'])}`)
  expect(sequences(third)).toEqual([1])
  expect(third.body).toMatchObject({ has_more: false, next_cursor: null })
  await settle(account, 7)
  const back = await get(account, `/v1/events?limit=3&cursor=${String(third.body['prev_cursor'])}`)
  expect(sequences(back)).toEqual([4, 3, 2])
  const forward = async (limit: number, after: string) => {
    const page = await get(account, `/v1/events?after=${after}&limit=${limit}`)
    return [sequences(page), page.body['has_more']]
  }
  expect(await forward(3, 'start')).toEqual([[1, 2, 3], true])
  expect(await forward(3, first.body.data.at(-1)?.id ?? '')).toEqual([[6, 7], false])
  expect(await forward(7, 'start')).toEqual([[1, 2, 3, 4, 5, 6, 7], false])
  expect(sequences(await get(account, '/v1/events?type=message.failed,message.sent'))).toEqual([6])
  expect(sequences(await get(account, `/v1/events?message=${showId('msg', messageId)}`))).toEqual([7, 6])
})

test('a refresh cursor returns later events', async () => {
  const account = await createTestAccount(db)
  await record(anEvent(account.accountId, 1))
  await settle(account, 1)
  const page = await get(account, '/v1/events')
  await record(anEvent(account.accountId, 2), anEvent(account.accountId, 3))
  await settle(account, 3)
  expect(sequences(await get(account, `/v1/events?cursor=${String(page.body['refresh_cursor'])}`))).toEqual([3, 2])
})

test('reading forward never skips an event whose transaction commits late', async () => {
  const account = await createTestAccount(db)
  const { accountId } = account
  await record(anEvent(accountId, 1))
  await settle(account, 1)
  const refresh = String((await get(account, '/v1/events')).body['refresh_cursor'])
  const seen: number[] = []
  let after = 'start'
  const readOn = async () => {
    const { body } = await get(account, `/v1/events?after=${after}`)
    seen.push(...body.data.map((event) => event.sequence))
    after = body.data.at(-1)?.id ?? after
  }
  await readOn()
  let cursorThen = ''
  await inTransaction(db, async (late) => {
    await recordEvents(late, [anEvent(accountId, 2)], nobody)
    await record(anEvent(accountId, 3))
    // Committed and listed, but hidden from forward readers: an earlier one is not committed yet.
    const page = await get(account, '/v1/events')
    expect(sequences(page)).toEqual([3, 1])
    cursorThen = String(page.body['refresh_cursor'])
    await readOn()
    expect(seen).toEqual([1])
  })
  await until('both', async () => {
    await readOn()
    return seen.length >= 3
  })
  expect(seen).toEqual([1, 2, 3])
  for (const cursor of [refresh, cursorThen])
    expect(sequences(await get(account, `/v1/events?cursor=${cursor}`))).toEqual([3, 2])
})

test('waits for the next event on request, and no longer than that', async () => {
  const account = await createTestAccount(db)
  await record(anEvent(account.accountId, 1))
  await settle(account, 1)
  const [first] = (await get(account, '/v1/events')).body.data
  const waiting = get(account, `/v1/events?after=${String(first?.id)}&wait=20`)
  await record(anEvent(account.accountId, 2))
  expect(sequences(await waiting)).toEqual([2])
  const began = performance.now()
  const [second] = (await get(account, '/v1/events')).body.data
  expect(sequences(await get(account, `/v1/events?after=${String(second?.id)}&wait=1`))).toEqual([])
  expect(performance.now() - began).toBeGreaterThan(950)
})

test('returns nothing to a caller whose key was revoked during the wait', async () => {
  const account = await createTestAccount(db)
  await record(anEvent(account.accountId, 1))
  await settle(account, 1)
  const [first] = (await get(account, '/v1/events')).body.data
  const waiting = get(account, `/v1/events?after=${String(first?.id)}&wait=30`)
  await until('it waits', () => watch.count === 1)
  await sql`update api_keys set revoked_at = now() where account_id = ${account.accountId}`
  authenticator.forget()
  await record(anEvent(account.accountId, 2))
  const { status, body } = await waiting
  expect([status, body['code'], body.data]).toEqual([401, 'invalid_token', undefined])
})

test('refuses unknown filters', async () => {
  const account = await createTestAccount(db)
  const faultsOf = async (query: string) => {
    const { status, body } = await get(account, `/v1/events?${query}`)
    return [status, ...(body.errors ?? []).map((error) => `${error.pointer} ${error.code}`)]
  }
  expect(await faultsOf('type=message.read&message=1')).toEqual([422, '?type invalid_value', '?message invalid_format'])
  expect(await faultsOf('after=evt_1')).toEqual([422, '?after invalid_value'])
  expect(await faultsOf(`after=${showId('evt', newId())}`)).toEqual([422, '?after invalid_value'])
  expect(await faultsOf('after=start&wait=31')).toEqual([422, '?wait out_of_range'])
  expect(await faultsOf('delivery_success=maybe')).toEqual([422, '?delivery_success invalid_type'])
  expect(await faultsOf('after=start&delivery_success=false&cursor=a')).toEqual([
    422,
    '?cursor invalid_value',
    '?delivery_success invalid_value',
  ])
  expect(await faultsOf('after=evt_1&type=message.read&cursor=a&limit=0&delivery_success=true')).toEqual([
    422,
    '?limit out_of_range',
    '?cursor invalid_value',
    '?delivery_success invalid_value',
    '?after invalid_value',
    '?type invalid_value',
  ])
  expect((await get(account, '/v1/events?cursor=abc')).body['code']).toBe('invalid_cursor')
})

test('hides texts from tokens that may not read them, and everything from other accounts', async () => {
  const account = await createTestAccount(db)
  const other = await createTestAccount(db)
  await record(anEvent(account.accountId, 1))
  const [event] = (await get(account, '/v1/events')).body.data
  expect(event?.data.message.message).toBe('hello')
  const one = await get(account, `/v1/events/${String(event?.id)}`)
  expect(one.body).toEqual(event)
  expect((await get(other, `/v1/events/${String(event?.id)}`)).status).toBe(404)
  expect((await get(other, '/v1/events')).body.data).toEqual([])
  expect((await get(other, `/v1/events?after=${String(event?.id)}`)).status).toBe(422)
  const redelivery = { method: 'POST', url: `/v1/events/${String(event?.id)}/redeliver` } as const
  expect((await app.inject({ ...redelivery, headers: other.headers })).statusCode).toBe(404)
  const weak = await createTestAccount(db, { scopes: ['events:read'] })
  await record(anEvent(weak.accountId, 1))
  const [hidden] = (await get(weak, '/v1/events')).body.data
  expect(hidden?.data.message.message).toBeNull()
  expect((await get(weak, `/v1/events/${String(hidden?.id)}`)).body).toEqual(hidden)
})

test('shows an event as refused until the address that refused it accepts it, whatever another accepted', async () => {
  const account = await createTestAccount(db)
  const { accountId } = account
  for (let i = 1; i <= 6; i++) await record(anEvent(accountId, i))
  const ids = (await get(account, '/v1/events')).body.data.map((event) => parseId('evt', event.id)).toReversed()
  const [one, other] = [newId(), newId()]
  const end = (sequence: number, endpointId: string, outcome: 'ok' | 'status') =>
    sql`insert into attempts (account_id, id, endpoint_id, event_id, try, outcome, duration_ms)
      values (${accountId}, ${newId()}, ${endpointId}, ${ids[sequence - 1]}, 1, ${outcome}, 1)`
  await end(1, one, 'status')
  await end(1, other, 'ok')
  await end(2, one, 'status')
  await end(2, one, 'ok')
  await end(3, other, 'ok')
  for (let i = 0; i < 2; i++) await end(4, one, 'status')
  await end(6, one, 'status')
  await end(6, other, 'status')
  await end(6, other, 'ok')
  expect(sequences(await get(account, '/v1/events?delivery_success=true'))).toEqual([3, 2])
  const first = await get(account, '/v1/events?delivery_success=false&limit=2')
  expect(sequences(first)).toEqual([6, 4])
  const cursor = (page: { body: Body }, name: string) =>
    get(account, `/v1/events?delivery_success=false&limit=2&cursor=${String(page.body[name])}`)
  const second = await cursor(first, 'next_cursor')
  expect([sequences(second), second.body['has_more']]).toEqual([[1], false])
  expect(sequences(await cursor(second, 'prev_cursor'))).toEqual([6, 4])
})

test('posts an event again with its own id, to the endpoints of its type or to its callback address', async () => {
  const receiver = await startReceiver()
  const account = await createTestAccount(db)
  const { accountId } = account
  await record(anEvent(accountId, 1))
  const [event] = (await get(account, '/v1/events')).body.data
  await insertTestWebhook(db, accountId, receiver.url)
  const again = () =>
    app.inject({ method: 'POST', url: `/v1/events/${String(event?.id)}/redeliver`, headers: account.headers })
  const answer = await again()
  expect([answer.statusCode, answer.json()]).toEqual([202, { event: event?.id, posts: 1, detail: null }])
  await until('the post', () => receiver.received.length === 1)
  await again()
  await until('the second', () => receiver.received.length === 2)
  expect(receiver.received.map((one) => one.headers['webhook-id'])).toEqual([event?.id, event?.id])
  expect(JSON.parse(receiver.received[1]?.body ?? '')).toEqual(event)

  const messageId = newId()
  await sql`insert into messages (account_id, id, status, their_number, body, encoding, characters, segments, callback_url)
    values (${accountId}, ${messageId}, 'delivered', '15551230001', 'hello', 'GSM-7', 5, 1, ${`${receiver.url}/callback`})`
  await record(anEvent(accountId, 2, { messageId, callbackUrl: `${receiver.url}/callback` }))
  await until('the callback', () => receiver.received.length === 3)
  const [withCallback] = (await get(account, '/v1/events')).body.data
  await app.inject({
    method: 'POST',
    url: `/v1/events/${String(withCallback?.id)}/redeliver`,
    headers: account.headers,
  })
  await until('the callback again', () => receiver.received.length === 4)
  expect(receiver.received.slice(2).map((one) => one.url)).toEqual(['/hook/callback', '/hook/callback'])
})

test('posts an event again to a webhook that was disabled meanwhile, and enabled again', async () => {
  const receiver = await startReceiver()
  const account = await createTestAccount(db)
  const { accountId } = account
  await record(anEvent(accountId, 1))
  const [event] = (await get(account, '/v1/events')).body.data
  const { id } = await insertTestWebhook(db, accountId, receiver.url)
  await sql`update webhooks set posts_since = now() where id = ${id}`
  const url = `/v1/events/${String(event?.id)}/redeliver`
  const answer = await app.inject({ method: 'POST', url, headers: account.headers })
  expect(answer.json()).toEqual({ event: event?.id, posts: 1, detail: null })
  await until('the post', () => receiver.received.length === 1)
  // Even if another process posts it.
  const eventId = parseId('evt', event?.id ?? '') ?? ''
  const stored = await findEvent(db, accountId, eventId)
  if (stored) await redeliverEvent(db, { ...stored, accountId, eventId }, null, nobody)
  await until('the second', () => receiver.received.length === 2)
  expect(receiver.received.map((one) => one.headers['webhook-id'])).toEqual([event?.id, event?.id])
})

interface Body {
  [name: string]: unknown
  data: { id: string; type: string; sequence: number; data: { message: { message: string | null } } }[]
  errors: { pointer: string; code: string }[]
}
type Account = Awaited<ReturnType<typeof createTestAccount>>

async function get(account: Account, url: string) {
  const answer = await app.inject({ method: 'GET', url, headers: account.headers })
  return { status: answer.statusCode, body: answer.json<Body>() }
}

const anEvent = (accountId: string, sequence: number, more: Partial<NewEvent> = {}): NewEvent => ({
  accountId,
  type: 'message.delivered',
  sequence,
  data: { message: { message: 'hello' } },
  ...more,
})

const record = (...events: NewEvent[]) => recordEvents(db, events, nobody)
const sequences = ({ body }: { body: Body }) => body.data.map((event) => event.sequence)

/** Transactions of other tests on the same server delay settling. */
async function settle(account: Account, total: number): Promise<void> {
  await until(
    'all to settle',
    async () => (await get(account, '/v1/events?after=start&limit=200')).body.data.length === total,
  )
}
