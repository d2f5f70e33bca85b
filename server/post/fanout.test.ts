import { Webhook } from 'standardwebhooks'
import { beforeEach, expect, test } from 'vitest'
import { testVault } from '../accounts/testing.ts'
import { openPool } from '../ground/db/db.ts'
import { atEnd, createTestDatabase } from '../ground/db/testing.ts'
import type { Outbox } from '../events/events.ts'
import { newId, showId } from '../ground/base/ids.ts'
import { openCallbackSecrets } from './callback.ts'
import { attemptsIn } from './attempt-rows.ts'
import { guardDestinations } from './destination.ts'
import { Dispatcher, type DispatcherOptions } from './fanout.ts'
import {
  idsOf,
  insertTestAccount,
  insertTestWebhook,
  postEvents,
  startReceiver,
  type Received,
} from '../webhooks/testing.ts'
import { until } from '../../test/until.ts'

const database = await createTestDatabase()
const { db, sql } = database

beforeEach(() => sql`truncate outbox`)

/** An outbox of a process without a dispatcher. */
const nobody: Outbox = { nodeId: null, offer() {} }
const logged: unknown[] = []

// Mostly milliseconds: a lost post comes after its lease, a minute.
const soonMs = 5000
const aPost: Pick<Received, 'body' | 'headers'> = { body: '', headers: {} }

test.each([
  ['a port that is closed', 'refused', undefined],
  ['a name without an address', 'dns', () => Promise.resolve([])],
])('continues after many posts at once to %s', async (_title, outcome, resolve) => {
  const closed = await startReceiver()
  await closed.close()
  const destinations = guardDestinations({ allowedCidrs: ['127.0.0.0/8'], ports: [443] }, resolve)
  const accountId = await insertTestAccount(db)
  const { id } = await insertTestWebhook(db, accountId, closed.url)
  const dispatcher = startDispatcher({ destinations })
  await postEvents(db, dispatcher, accountId, 50)
  await until('50 attempts', async () => (await outcomesOf(id)).length >= 50)
  expect(new Set((await outcomesOf(id)).map((one) => one.outcome))).toEqual(new Set([outcome]))
})

test('loses no post to a receiver that silently closes its connection after each response', async () => {
  const receiver = await startReceiver((response) => {
    response.writeHead(204).end(() => response.socket?.destroySoon())
  })
  const accountId = await insertTestAccount(db)
  const { id } = await insertTestWebhook(db, accountId, receiver.url)
  const dispatcher = startDispatcher()
  await postEvents(db, dispatcher, accountId, 200)
  await until('200 attempts', async () => (await outcomesOf(id)).length >= 200)
  expect(new Set((await outcomesOf(id)).map((one) => one.outcome))).toEqual(new Set(['ok']))
})

test('posts a signed event soon after its commit, once, and records one attempt', async () => {
  const receiver = await startReceiver()
  const accountId = await insertTestAccount(db)
  const { id, secret } = await insertTestWebhook(db, accountId, receiver.url)
  const dispatcher = startDispatcher()
  const began = performance.now()
  const [posting] = await postEvents(db, dispatcher, accountId, 1)
  await until('the post', () => receiver.received.length === 1)
  expect(performance.now() - began).toBeLessThan(soonMs)
  const [{ body, headers } = aPost] = receiver.received
  expect(body).toBe(posting?.payload)
  const event = new Webhook(secret).verify(body, headers as Record<string, string>) as Record<string, unknown>
  expect(event).toMatchObject({ id: headers['webhook-id'], type: 'message.delivered', api_version: 'v1', sequence: 3 })
  expect(headers).toMatchObject({ 'content-type': 'application/json', 'accept-encoding': 'identity' })
  await until('the end', async () => (await outboxOf(id)) === 0)
  expect(await outcomesOf(id)).toEqual([{ try: 1, outcome: 'ok', nextAttemptAt: null }])
})

test('starts no post in memory that another process may have taken over, and claims none', async () => {
  const receiver = await startReceiver()
  const accountId = await insertTestAccount(db)
  const { id } = await insertTestWebhook(db, accountId, receiver.url)
  let [isFresh, looks] = [false, 0]
  // The first check is for handed-over posts.
  const mayPost = (): boolean => looks++ === 0 || isFresh
  const dispatcher = startDispatcher({ mayPost, pollMs: 20 })
  await postEvents(db, dispatcher, accountId, 1)
  await postEvents(db, nobody, accountId, 1)
  await until('some looks', () => looks > 8)
  expect(receiver.received).toEqual([])
  expect(await count('outbox where endpoint_id = $1 and leased_by is not null', [id])).toBe(1)
  isFresh = true
  await until('the posts', () => receiver.received.length === 2)
})

test('posts events of a node without a dispatcher just as soon', async () => {
  const receiver = await startReceiver()
  const accountId = await insertTestAccount(db)
  await insertTestWebhook(db, accountId, receiver.url)
  startDispatcher()
  const began = performance.now()
  await postEvents(db, nobody, accountId, 3)
  await until('the posts', () => receiver.received.length === 3)
  expect(performance.now() - began).toBeLessThan(soonMs)
})

test('retries by the schedule with the same id until it works', async () => {
  const receiver = await startReceiver((response) =>
    response.writeHead(receiver.received.length < 3 ? 500 : 200).end('later'),
  )
  const accountId = await insertTestAccount(db)
  const { id, secret } = await insertTestWebhook(db, accountId, receiver.url)
  const dispatcher = startDispatcher({ retryDelaysMs: [100, 200, 300] })
  await postEvents(db, dispatcher, accountId, 1)
  await until('the third', () => receiver.received.length === 3)
  await until('the end', async () => (await outboxOf(id)) === 0)
  expect(new Set(idsOf(receiver)).size).toBe(1)
  for (const { body, headers } of receiver.received) new Webhook(secret).verify(body, headers as Record<string, string>)
  const attempts = await outcomesOf(id)
  expect(attempts.map((one) => [one.try, one.outcome, one.nextAttemptAt !== null])).toEqual([
    [1, 'status', true],
    [2, 'status', true],
    [3, 'ok', false],
  ])
  await until('the recovery', async () => (await count('webhooks where id = $1 and failing_since is null', [id])) === 1)
})

test('gives up after the last attempt, and reports since when the endpoint fails', async () => {
  const receiver = await startReceiver((response) => response.writeHead(503, { 'retry-after': '0' }).end())
  const accountId = await insertTestAccount(db)
  const { id } = await insertTestWebhook(db, accountId, receiver.url)
  const dispatcher = startDispatcher({ retryDelaysMs: [20, 20] })
  await postEvents(db, dispatcher, accountId, 1)
  await until('the end', async () => (await outcomesOf(id)).length === 3 && (await outboxOf(id)) === 0)
  expect((await outcomesOf(id)).at(-1)).toEqual({ try: 3, outcome: 'status', nextAttemptAt: null })
  await until('the note', async () => (await count('webhooks where id = $1 and failing_since is not null', [id])) === 1)
  expect(await count('webhooks where id = $1 and enabled', [id])).toBe(1)
})

test('honors Retry-After', async () => {
  const receiver = await startReceiver((response) => response.writeHead(429, { 'retry-after': '120' }).end())
  const accountId = await insertTestAccount(db)
  const { id } = await insertTestWebhook(db, accountId, receiver.url)
  await postEvents(db, startDispatcher(), accountId, 1)
  await until('the attempt', async () => (await outcomesOf(id)).length === 1)
  expect(await count(`outbox where endpoint_id = $1 and due_at > now() + interval '115 seconds'`, [id])).toBe(1)
})

test('nine of ten endpoints get each event as if the tenth did not hang', async () => {
  const latencies: number[] = []
  const receivers = await Promise.all(
    Array.from({ length: 9 }, () =>
      startReceiver((response, { at, body }) => {
        latencies.push(at - Date.parse((JSON.parse(body) as { timestamp: string }).timestamp))
        response.writeHead(200).end()
      }),
    ),
  )
  const hanging = await startReceiver(() => {})
  const accountId = await insertTestAccount(db)
  for (const { url } of [hanging, ...receivers]) await insertTestWebhook(db, accountId, url)
  const dispatcher = startDispatcher({ inFlightMoreMax: 32 })
  for (let i = 0; i < 10; i++) {
    await postEvents(db, dispatcher, accountId, 10)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  await until('all posts', () => latencies.length >= 9 * 100)
  latencies.sort((a, b) => a - b)
  // A post that hangs takes fifteen seconds.
  expect(latencies[Math.floor(latencies.length * 0.99)]).toBeLessThan(soonMs)
  expect(hanging.received.length).toBeGreaterThan(0)
  await hanging.close()
})

test('loses none of 5000 events for a slow endpoint, and posts each once', async () => {
  const receiver = await startReceiver((response) => setTimeout(() => response.writeHead(200).end(), 20))
  const accountId = await insertTestAccount(db)
  const { id } = await insertTestWebhook(db, accountId, receiver.url)
  const dispatcher = startDispatcher()
  for (let i = 0; i < 10; i++) await postEvents(db, dispatcher, accountId, 500)
  await until('all posts', async () => (await outboxOf(id)) === 0)
  expect(receiver.received).toHaveLength(5000)
  expect(new Set(idsOf(receiver)).size).toBe(5000)
  expect((await outcomesOf(id)).length).toBe(5000)
})

test('two dispatchers on one database post each event once', async () => {
  const receiver = await startReceiver()
  const accountId = await insertTestAccount(db)
  const { id } = await insertTestWebhook(db, accountId, receiver.url)
  const [one, two] = [startDispatcher({ pollMs: 20 }), startDispatcher({ pollMs: 20 })]
  for (let i = 0; i < 5; i++)
    await Promise.all([one, two, nobody].map((outbox) => postEvents(db, outbox, accountId, 100)))
  await until('all posts', async () => (await outboxOf(id)) === 0)
  expect(new Set(idsOf(receiver)).size).toBe(1500)
  expect(receiver.received).toHaveLength(1500)
})

test('leaves a dead node’s leases until they end, then posts', async () => {
  const receiver = await startReceiver()
  const accountId = await insertTestAccount(db)
  const { id } = await insertTestWebhook(db, accountId, receiver.url)
  startDispatcher({ pollMs: 20 })
  await postEvents(db, { nodeId: newId(), offer() {} }, accountId, 5)
  await postEvents(db, nobody, accountId, 1)
  await until('the free one', () => receiver.received.length === 1)
  await until('the end of the free one', async () => (await outboxOf(id)) === 5)
  await sql`update outbox set leased_until = now()`
  await until('the rest', () => receiver.received.length === 6)
})

test('finishes pending posts when it closes, and returns the rest', async () => {
  const receiver = await startReceiver((response) => setTimeout(() => response.writeHead(200).end(), 100))
  const accountId = await insertTestAccount(db)
  const { id } = await insertTestWebhook(db, accountId, receiver.url)
  const dispatcher = startDispatcher()
  await postEvents(db, dispatcher, accountId, 50)
  await until('the first posts', () => receiver.received.length > 0)
  await dispatcher.close()
  const ended = (await outcomesOf(id)).length
  expect(ended).toBe(receiver.received.length)
  expect(await count('outbox where endpoint_id = $1 and leased_until is null', [id])).toBe(50 - ended)
  startDispatcher()
  await until('the rest', async () => (await outboxOf(id)) === 0)
  expect(new Set(idsOf(receiver)).size).toBe(50)
  expect(receiver.received).toHaveLength(50)
})

test('410 disables the endpoint at once, with an event, and drops its pending posts', async () => {
  const gone = await startReceiver((response) => response.writeHead(410).end())
  const other = await startReceiver()
  const accountId = await insertTestAccount(db)
  const { id } = await insertTestWebhook(db, accountId, gone.url)
  const watcher = await insertTestWebhook(db, accountId, other.url)
  await sql`update webhooks set events = '{webhook.disabled}' where id = ${watcher.id}`
  const dispatcher = startDispatcher()
  await postEvents(db, dispatcher, accountId, 2000)
  await until('the event', () => other.received.length === 1)
  await until('the drop', async () => (await outboxOf(id)) === 0)
  expect(gone.received.length).toBeLessThan(2000)
  expect(await count(`webhooks where id = $1 and not enabled and disabled_reason = 'gone'`, [id])).toBe(1)
  expect(JSON.parse(other.received[0]?.body ?? '')).toMatchObject({
    type: 'webhook.disabled',
    data: { webhook: { id: showId('whk', id), enabled: false, disabled_reason: 'gone' } },
  })
  expect(await count(`events where account_id = $1 and type = 'webhook.disabled'`, [accountId])).toBe(1)
})

test('disables an endpoint after days of only failures', async () => {
  const receiver = await startReceiver((response) => response.writeHead(500).end())
  const accountId = await insertTestAccount(db)
  const { id } = await insertTestWebhook(db, accountId, receiver.url)
  const since = async (days: number) =>
    sql`update webhooks set failing_since = now() - ${days} * interval '1 day' where id = ${id}`
  const dispatcher = startDispatcher()
  await since(4)
  await postEvents(db, dispatcher, accountId, 1)
  await until('the attempt', async () => (await outcomesOf(id)).length === 1)
  expect(await count('webhooks where id = $1 and enabled', [id])).toBe(1)
  await since(6)
  await until('a fresh reading', async () => {
    await postEvents(db, dispatcher, accountId, 1)
    return (await count(`webhooks where id = $1 and disabled_reason = 'failing'`, [id])) === 1
  })
})

test('drops pending posts of a deleted or disabled endpoint, and delays no others', async () => {
  const receiver = await startReceiver()
  const accountId = await insertTestAccount(db)
  const { id } = await insertTestWebhook(db, accountId, receiver.url)
  await postEvents(db, nobody, accountId, 1500)
  await sql`delete from webhooks where id = ${id}`
  startDispatcher()
  await until('the drop', async () => (await outboxOf(id)) === 0)
  expect(receiver.received).toHaveLength(0)
})

test('posts to a callback address, signed with the secret of its account', async () => {
  const receiver = await startReceiver()
  const account = await startReceiver()
  const accountId = await insertTestAccount(db)
  await insertTestWebhook(db, accountId, account.url)
  const dispatcher = startDispatcher()
  await postEvents(db, dispatcher, accountId, 2, { callbackUrl: `${receiver.url}/a?b=1` })
  await postEvents(db, nobody, accountId, 2, { callbackUrl: `${receiver.url}/b` })
  await until('the posts', () => receiver.received.length === 4)
  const { secret } = await openCallbackSecrets(db, testVault, accountId)
  for (const { body, headers } of receiver.received) new Webhook(secret).verify(body, headers as Record<string, string>)
  expect(receiver.received.map(({ url }) => url).sort()).toEqual(['/hook/a?b=1', '/hook/a?b=1', '/hook/b', '/hook/b'])
  expect(account.received).toHaveLength(0)
})

test('a callback address that is gone is not retried', async () => {
  const receiver = await startReceiver((response) => response.writeHead(410).end())
  const accountId = await insertTestAccount(db)
  await postEvents(db, startDispatcher(), accountId, 1, { callbackUrl: `${receiver.url}/gone` })
  await until('the attempt', async () => (await count('attempts where account_id = $1', [accountId])) === 1)
  expect(await count('outbox where account_id = $1', [accountId])).toBe(0)
})

test('never posts to a forbidden private address, and says so', async () => {
  const receiver = await startReceiver()
  const accountId = await insertTestAccount(db)
  const { id } = await insertTestWebhook(db, accountId, receiver.url)
  await postEvents(
    db,
    startDispatcher({ destinations: guardDestinations({ allowedCidrs: [], ports: [443] }) }),
    accountId,
    1,
  )
  await until('the attempt', async () => (await outcomesOf(id)).length === 1)
  expect((await outcomesOf(id))[0]?.outcome).toBe('private_address')
  expect(receiver.connections).toBe(0)
})

test('signs with the new and the previous secret while both are valid', async () => {
  const receiver = await startReceiver()
  const accountId = await insertTestAccount(db)
  const { id, secret } = await insertTestWebhook(db, accountId, receiver.url)
  await sql`update webhooks set previous_secret = secret, previous_secret_until = now() + interval '1 hour'
    where id = ${id}`
  await postEvents(db, startDispatcher(), accountId, 1)
  await until('the post', () => receiver.received.length === 1)
  const [{ body, headers } = aPost] = receiver.received
  expect(String(headers['webhook-signature']).split(' ')).toHaveLength(2)
  new Webhook(secret).verify(body, headers as Record<string, string>)
})

test('loses nothing when database connections break', async () => {
  const receiver = await startReceiver((response) => setTimeout(() => response.writeHead(200).end(), 5))
  const accountId = await insertTestAccount(db)
  const { id } = await insertTestWebhook(db, accountId, receiver.url)
  const breaking = openPool(database.connection, { name: 'breaking', max: 4 })
  const dispatcher = startDispatcher({ db: breaking, pollMs: 20 })
  for (let i = 0; i < 10; i++) {
    await postEvents(db, i % 2 ? dispatcher : nobody, accountId, 60)
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'heliogram breaking'`
  }
  // A claim whose answer was lost keeps its rows until the lease ends.
  await until('the posts', async () => {
    await sql`update outbox set leased_until = now() where leased_until < now() + interval '57 seconds'`
    return (await outboxOf(id)) === 0
  })
  expect(new Set(idsOf(receiver)).size).toBe(600)
  await dispatcher.close()
  await breaking.end()
})

test('logged no failed write', () => {
  expect(logged.filter((one) => typeof one === 'string' && one !== 'webhook disabled')).toEqual([])
})

const note = (fields: object, message: string) => void logged.push(message, fields)

function startDispatcher(options: Partial<DispatcherOptions> = {}): Dispatcher {
  const dispatcher = new Dispatcher({
    db,
    vault: testVault,
    nodeId: newId(),
    log: { info() {}, warn: note, error: note },
    destinations: guardDestinations({ allowedCidrs: ['127.0.0.0/8'], ports: [443] }),
    ...options,
  })
  dispatcher.start()
  atEnd(() => dispatcher.close())
  return dispatcher
}

const count = async (sql: string, values: unknown[] = []): Promise<number> =>
  (await db.query<{ n: number }>(`select count(*) as n from ${sql}`, values)).rows[0]?.n ?? -1
const outboxOf = (endpointId: string) => count('outbox where endpoint_id = $1', [endpointId])
const outcomesOf = async (endpointId: string) =>
  (
    await db.query<{ try: number; outcome: string; nextAttemptAt: Date | null }>(
      `select try, outcome, next_attempt_at as "nextAttemptAt"
       from attempts a cross join lateral ${attemptsIn('a')} one
       where endpoint_id = $1 order by one.id`,
      [endpointId],
    )
  ).rows
