import { beforeEach, expect, test } from 'vitest'
import { atEnd } from '../ground/db/testing.ts'
import { createTestAccount, type TestAccount, world } from '../accounts/testing.ts'
import { inTransaction, openPool } from '../ground/db/db.ts'
import { pipelineSettings } from '../ground/db/pipeline.ts'
import { recordEvents } from '../events/events.ts'
import { firstIdAt, newId, parseId, showId } from '../ground/base/ids.ts'
import type { DispatcherOptions } from '../post/fanout.ts'
import { deliveryRoutes } from './deliveries-http.ts'
import { webhookRoutes } from './http.ts'
import { replayRoutes } from './replay-http.ts'
import { enqueueReplays } from './replays.ts'
import {
  idsOf,
  insertTestWebhook,
  loopback,
  nobody,
  postEvents,
  startReceiver,
  startTestDispatcher,
  type Receiver,
} from './testing.ts'
import { until } from '../../test/until.ts'

const { db, sql, connection, app } = await world([webhookRoutes, deliveryRoutes, replayRoutes], {
  destinations: loopback,
  outbox: nobody,
})
beforeEach(() => sql`truncate outbox`)

test('reposts the events of a period with their ids, and counts them', async () => {
  const receiver = await startReceiver()
  const { account, url, ids } = await createLate(receiver, 30)
  start()
  const asked = await call(account, 'POST', `${url}/replay`, { since: hourAgo() })
  expect(asked).toMatchObject({ status: 202, body: { object: 'replay', status: 'running', events: 0 } })
  expect(asked.headers.location).toBe(`${url}/replays/${asked.body.id}`)
  const over = await runToEnd(account, String(asked.headers.location))
  expect(over).toMatchObject({ status: 'completed', events: 30, delivered: 30, failed: 0 })
  expect(idsOf(receiver).sort()).toEqual(ids)
  const { body: list } = await call(account, 'GET', `${url}/replays`)
  expect(list).toMatchObject({ data: [over] })
  const { body: deliveries } = await call(account, 'GET', `${url}/deliveries?limit=1`)
  expect(deliveries).toMatchObject({ data: [{ webhook: url.split('/').at(-1), outcome: 'ok' }] })
})

test('reposts only the requested types, and only within the period', async () => {
  const receiver = await startReceiver()
  const { account, url } = await createLate(receiver, 3)
  const until = new Date().toISOString()
  await recordEvents(
    db,
    [{ accountId: account.accountId, type: 'message.received', data: { message: { message: 'hello' } } }],
    nobody,
  )
  await sql`truncate outbox`
  start()
  const ended = async (body: object) => {
    const { headers } = await call(account, 'POST', `${url}/replay`, body)
    return runToEnd(account, String(headers.location))
  }
  expect(await ended({ since: hourAgo(), until, types: ['message.received'] })).toMatchObject({ events: 0 })
  expect(await ended({ since: hourAgo(), until })).toMatchObject({ events: 3 })
  expect(await ended({ since: hourAgo(), types: ['message.received'] })).toMatchObject({ events: 1, delivered: 1 })
})

test('catches up after an earlier 410, as in the guide: refused and pending events are older than disabled_at', async () => {
  let isGone = true
  const receiver = await startReceiver((response) => response.writeHead(isGone ? 410 : 204).end())
  const account = await createTestAccount(db)
  const { id } = await insertTestWebhook(db, account.accountId, receiver.url)
  const url = `/v1/webhooks/${showId('whk', id)}`
  const dispatcher = start({ windowMax: 1 })
  await postEvents(db, dispatcher, account.accountId, 3)
  await until('it is disabled', async () => (await call(account, 'GET', url)).body.enabled === false)
  await postEvents(db, dispatcher, account.accountId, 2)
  const { disabled_at: disabledAt } = (await call(account, 'GET', url)).body
  isGone = false
  await call(account, 'PATCH', url, { enabled: true })

  const replay = async (since: string | undefined) => {
    const { headers } = await call(account, 'POST', `${url}/replay`, { since })
    return runToEnd(account, String(headers.location))
  }
  expect(await replay(disabledAt)).toMatchObject({ events: 2, delivered: 2 })
  expect(await replay(hourAgo())).toMatchObject({ events: 5, delivered: 5 })
})

test('reposts only events that were refused and never accepted, on request', async () => {
  let isWell = false
  const receiver = await startReceiver((response) =>
    response.writeHead(isWell || receiver.received.length <= 2 ? 204 : 500).end(),
  )
  const account = await createTestAccount(db)
  const { id } = await insertTestWebhook(db, account.accountId, receiver.url)
  // A success at another address does not count for this one.
  await insertTestWebhook(db, account.accountId, (await startReceiver()).url)
  const dispatcher = start({ retryDelaysMs: [], windowMax: 1 })
  await postEvents(db, dispatcher, account.accountId, 5)
  await until(
    'all tries',
    async () => (await sql`select from outbox where account_id = ${account.accountId}`).length === 0,
  )
  const before = idsOf(receiver)
  expect(before).toHaveLength(5)
  isWell = true
  const url = `/v1/webhooks/${showId('whk', id)}`
  const replay = async () => {
    const { headers } = await call(account, 'POST', `${url}/replay`, { since: hourAgo(), only_failed: true })
    return runToEnd(account, String(headers.location))
  }
  expect(await replay()).toMatchObject({ events: 3, delivered: 3 })
  expect(idsOf(receiver).slice(5).sort()).toEqual(before.slice(2).sort())
  expect(await replay()).toMatchObject({ events: 0 })
})

test('skips no event whose transaction was running at the request', async () => {
  const receiver = await startReceiver()
  const { account, url } = await createLate(receiver, 1)
  start()
  let location = ''
  await inTransaction(db, async (late) => {
    const type = 'message.delivered'
    await recordEvents(late, [{ accountId: account.accountId, type, data: { message: { message: 'late' } } }], nobody)
    location = String((await call(account, 'POST', `${url}/replay`, { since: hourAgo() })).headers.location)
    await enqueueReplays(db)
    expect((await call(account, 'GET', location)).body).toMatchObject({ status: 'running', events: 0 })
    await late.query('delete from outbox where account_id = $1', [account.accountId])
  })
  expect(await runToEnd(account, location)).toMatchObject({ status: 'completed', events: 2, delivered: 2 })
})

test('is one replay for repeated requests with its key, fed by any process', async () => {
  const receiver = await startReceiver()
  const { account, url, ids } = await createLate(receiver, 5000)
  start({ windowMax: 128 })
  const body = { since: hourAgo() }
  const [first, second] = [
    await call(account, 'POST', `${url}/replay`, body, 'again'),
    await call(account, 'POST', `${url}/replay`, body, 'again'),
  ]
  expect(second.body).toEqual(first.body)
  await Promise.all([enqueueReplays(db), enqueueReplays(db), enqueueReplays(db)])
  const [row] = await sql<{ n: number }>`select count(*)::int as n from outbox
    where endpoint_id = ${parseId('rpl', first.body.id)}`
  expect(row?.n).toBeLessThanOrEqual(4000)
  expect(await runToEnd(account, String(first.headers.location))).toMatchObject({ events: 5000, delivered: 5000 })
  expect(idsOf(receiver).sort()).toEqual(ids)
})

test('does not delay new events', async () => {
  const latencies: number[] = []
  const receiver = await startReceiver((response, { at, body }) => {
    const { sequence, timestamp } = JSON.parse(body) as { sequence: number; timestamp: string }
    if (sequence === 99) latencies.push(at - Date.parse(timestamp))
    setTimeout(() => response.writeHead(204).end(), 20)
  })
  const { account, url } = await createLate(receiver, 3000)
  const dispatcher = start()
  await call(account, 'POST', `${url}/replay`, { since: hourAgo() })
  await until('the replay to begin', async () => {
    await enqueueReplays(db)
    return receiver.received.length > 20
  })
  for (let i = 0; i < 50; i++) {
    const event = { accountId: account.accountId, type: 'message.delivered' as const, sequence: 99, data: {} }
    dispatcher.offer(await recordEvents(db, [event], dispatcher))
  }
  await until('the fresh ones', () => latencies.length === 50)
  expect(Math.max(...latencies)).toBeLessThan(5000)
  // The replay is not finished.
  expect(receiver.received.length).toBeLessThan(3000)
})

test.each([false, true])('reads no day before its period (only what failed: %s)', async (onlyFailed) => {
  const { account, url } = await createLate(await startReceiver(), 3)
  const { headers } = await call(account, 'POST', `${url}/replay`, { since: hourAgo(), only_failed: onlyFailed })
  await sql`update replays set txid = '1'`
  const day = Date.now() - (onlyFailed ? 200 : 100) * 86_400_000
  const days = ['events', 'attempts'].map((table) => ({ table, name: `${table}_${onlyFailed ? 'two' : 'one'}` }))
  for (const { table, name } of days)
    await db.query(
      `create table ${name} partition of ${table} for values from ('${firstIdAt(day)}') to ('${firstIdAt(day + 86_400_000)}')`,
    )
  // As the service does, but without waiting for locks.
  const pool = openPool(connection, { name: 'feed', max: 1, settings: { ...pipelineSettings, lock_timeout: '1s' } })
  atEnd(() => pool.end())
  await inTransaction(db, async (tx) => {
    await tx.query(`lock table ${days.map(({ name }) => name).join()} in access exclusive mode`)
    await enqueueReplays(pool)
  })
  const shown = await call(account, 'GET', String(headers.location))
  expect(shown.body).toMatchObject({ events: onlyFailed ? 0 : 3 })
  const rows = await sql`select from replays
    where id = ${parseId('rpl', String(headers.location).split('/').at(-1) ?? '')} and mark > from_id`
  expect(rows).toHaveLength(1)
})

test('resumes after a crash, and posts the dead process’s claims when its lease ends', async () => {
  const receiver = await startReceiver()
  const { account, url, ids } = await createLate(receiver, 20)
  const { headers } = await call(account, 'POST', `${url}/replay`, { since: hourAgo() })
  await enqueueUntilPosted(20)
  // A process took some posts and was killed.
  const dead = newId()
  await sql`update outbox set leased_by = ${dead}, leased_until = now() + interval '1 minute'
    where event_id in (select event_id from outbox order by event_id limit 7)`
  start()
  await until('the others', () => receiver.received.length === 13)
  expect((await call(account, 'GET', String(headers.location))).body.status).toBe('running')
  // Only its leases: the running process may still record responses for others.
  await sql`update outbox set leased_until = now() where leased_by = ${dead}`
  expect(await runToEnd(account, String(headers.location))).toMatchObject({ status: 'completed', delivered: 20 })
  expect(idsOf(receiver).sort()).toEqual(ids)
})

test('can be canceled, and ends when its webhook is disabled or deleted', async () => {
  const receiver = await startReceiver()
  const { account, url, id } = await createLate(receiver, 10)
  const ask = async () => String((await call(account, 'POST', `${url}/replay`, { since: hourAgo() })).headers.location)
  const leftIn = async (location: string) =>
    (await db.query('select from outbox where endpoint_id = $1', [parseId('rpl', location.split('/').at(-1) ?? '')]))
      .rowCount
  const first = await ask()
  await enqueueUntilPosted(10)
  expect(await leftIn(first)).toBe(10)
  const canceled = await call(account, 'POST', `${first}/cancel`)
  expect(canceled).toMatchObject({ status: 200, body: { status: 'canceled', canceled_reason: 'request' } })
  await enqueueReplays(db)
  expect(await leftIn(first)).toBe(0)
  expect((await call(account, 'POST', `${first}/cancel`)).body).toEqual(canceled.body)

  const second = await ask()
  await sql`update webhooks set enabled = false where id = ${id}`
  expect(await runToEnd(account, second)).toMatchObject({ status: 'canceled', canceled_reason: 'webhook_disabled' })
  const refused = { status: 409, body: { code: 'webhook_disabled' } }
  expect(await call(account, 'POST', `${url}/replay`, { since: hourAgo() })).toMatchObject(refused)
  expect(await call(account, 'POST', `${url}/test`)).toMatchObject(refused)
  expect(receiver.received).toHaveLength(0)
})

test('drops the posts of a canceled one, however late a process checks', async () => {
  const receiver = await startReceiver()
  const { account, url } = await createLate(receiver, 10)
  const { headers } = await call(account, 'POST', `${url}/replay`, { since: hourAgo() })
  await enqueueUntilPosted(10)
  // No process posts: one failed too often, or is being replaced.
  await call(account, 'POST', `${String(headers.location)}/cancel`)
  await sql`update replays set completed_at = now() - interval '1 day' where status = 'canceled'`
  await enqueueReplays(db)
  expect((await sql`select from outbox`).length).toBe(0)
})

test('refuses periods without events, and more replays than may run', async () => {
  const receiver = await startReceiver()
  const { account, url } = await createLate(receiver, 1)
  const faultsOf = async (body: object) => {
    const answer = await call(account, 'POST', `${url}/replay`, body)
    return [answer.status, ...(answer.body.errors ?? []).map((error) => `${error.pointer} ${error.code}`)]
  }
  const day = 86_400_000
  const ago = (days: number) => new Date(Date.now() - days * day).toISOString()
  expect(await faultsOf({})).toEqual([422, '#/since required'])
  expect(await faultsOf({ since: ago(31) })).toEqual([422, '#/since out_of_range'])
  expect(await faultsOf({ since: ago(1), until: ago(2) })).toEqual([422, '#/since out_of_range'])
  expect(await faultsOf({ since: ago(1), until: ago(-1) })).toEqual([422, '#/until out_of_range'])
  expect(await faultsOf({ since: ago(1), types: ['message.read'] })).toEqual([422, '#/types/0 invalid_value'])
  for (let i = 0; i < 5; i++) expect(await faultsOf({ since: ago(1) })).toEqual([202])
  expect(await faultsOf({ since: ago(1) })).toEqual([422, '# out_of_range'])
  const other = await createTestAccount(db)
  expect((await call(other, 'POST', `${url}/replay`, { since: ago(1) })).status).toBe(404)
  expect((await call(other, 'GET', `${url}/replays`)).status).toBe(404)
})

test('takes turns: a replay of a long log delays no others', async () => {
  const receiver = await startReceiver()
  const long = await createLate(receiver, 4100)
  const other = await createLate(receiver, 3)
  // No event of the long log matches, so the outbox never slows the replay.
  const types = ['message.received']
  const slow = await call(long.account, 'POST', `${long.url}/replay`, { since: hourAgo(), types })
  const quick = await call(other.account, 'POST', `${other.url}/replay`, { since: hourAgo() })
  const shown = async ({ account, url }: typeof long, { id }: Replay): Promise<Replay> =>
    (await call(account, 'GET', `${url}/replays/${id}`)).body
  await until('the other is fed', async () => {
    await enqueueReplays(db, 0)
    return (await shown(other, quick.body)).events === 3
  })
  expect(await shown(long, slow.body)).toMatchObject({ status: 'running' })
  expect(await runToEnd(long.account, String(slow.headers.location))).toMatchObject({ status: 'completed', events: 0 })
})

test('yields to others if it fails each time', async () => {
  const receiver = await startReceiver()
  const [broken, other] = [await createLate(receiver, 3), await createLate(receiver, 3)]
  await call(broken.account, 'POST', `${broken.url}/replay`, { since: hourAgo() })
  await call(other.account, 'POST', `${other.url}/replay`, { since: hourAgo() })
  await db.query(
    `create function fail() returns trigger language plpgsql as $$ begin raise 'a bug'; end $$;
     create trigger fail before update on replays
     for each row when (old.endpoint_id = '${broken.id}') execute function fail()`,
  )
  const posted = async () => (await sql`select from outbox where target_id = ${other.id}`).length
  await until('the other is fed', async () => {
    await enqueueReplays(db).catch(() => {})
    return (await posted()) === 3
  })
  await expect(enqueueReplays(db)).rejects.toThrow('a bug')
  await sql`drop trigger fail on replays`
  await enqueueUntilPosted(6)
})

interface Replay {
  id: string
  status: string
  canceled_reason: string | null
  events: number
  delivered: number
  failed: number
  errors?: { pointer: string; code: string }[]
  enabled?: boolean
  disabled_at?: string
}

async function call(
  account: TestAccount,
  method: 'GET' | 'PATCH' | 'POST',
  url: string,
  payload?: object,
  key?: string,
) {
  const headers = { ...account.headers, ...(key && { 'idempotency-key': key }) }
  const answer = await app.inject({ method, url, headers, ...(payload && { payload }) })
  return { status: answer.statusCode, headers: answer.headers, body: answer.json<Replay>() }
}

const start = (options?: Partial<DispatcherOptions>) => startTestDispatcher(db, { pollMs: 20, ...options })

const hourAgo = (): string => new Date(Date.now() - 3_600_000).toISOString()

/** An account with events older than its webhook. */
async function createLate(receiver: Receiver, events: number) {
  const account = await createTestAccount(db)
  await postEvents(db, nobody, account.accountId, events)
  const { id } = await insertTestWebhook(db, account.accountId, receiver.url)
  const url = `/v1/webhooks/${showId('whk', id)}`
  const rows = await sql<{ id: string }>`select id from events where account_id = ${account.accountId} order by id`
  return { account, id, url, ids: rows.map((row) => showId('evt', row.id)) }
}

/** Sweeps until the outbox has `count` posts: a replay starts when all transactions from before it are over, those of other tests too. */
const enqueueUntilPosted = (count: number): Promise<void> =>
  until('the posts', async () => {
    await enqueueReplays(db)
    return (await sql`select from outbox where target_id is not null`).length === count
  })

async function runToEnd(account: TestAccount, url: string): Promise<Replay> {
  let shown: Replay | undefined
  await until(
    'the end of the replay',
    async () => {
      await enqueueReplays(db)
      shown = (await call(account, 'GET', url)).body
      return shown.status !== 'running'
    },
    40_000,
  )
  if (!shown) throw new Error('there is no replay')
  return shown
}
