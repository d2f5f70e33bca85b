/** Forms of posts by endpoint: in order, in batches, without texts, with its own headers. */
import { Webhook } from 'standardwebhooks'
import { beforeEach, expect, test } from 'vitest'
import { testVault } from '../accounts/testing.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import { payloadOf, recordEvents, type EventType, type Outbox } from '../events/events.ts'
import { newId, showId } from '../ground/base/ids.ts'
import { listAttempts, renderAttempt } from '../webhooks/attempts.ts'
import type { DispatcherOptions } from './fanout.ts'
import { openHeaders, sealPlainHeaders } from './headers.ts'
import {
  insertTestAccount,
  insertTestWebhook,
  nobody,
  postEvents,
  startReceiver,
  startTestDispatcher,
  type Received,
} from '../webhooks/testing.ts'
import { until } from '../../test/until.ts'

const { db, sql } = await createTestDatabase()

beforeEach(() => sql`truncate outbox`)

test('posts a message’s events in order, despite failures, and messages do not wait for each other', async () => {
  const taken = new Map<string, number[]>()
  const outOfTurn: string[] = []
  let stuck = ''
  const receiver = await startReceiver((response, received) => {
    const { sequence, data } = eventOf(received)
    const { id } = data.message
    const before = taken.get(id) ?? []
    if (sequence !== before.length + 1) outOfTurn.push(`${id} ${before.join()} then ${sequence}`)
    const isRefused = id === stuck || Math.random() < 0.3
    if (!isRefused) taken.set(id, [...before, sequence])
    response.writeHead(isRefused ? 500 : 204).end()
  })
  const { accountId, id } = await webhook(receiver.url, 'ordered = true')
  const messages = Array.from({ length: 12 }, () => newId())
  stuck = messages[5] ?? ''
  const quick = { retryDelaysMs: Array.from({ length: 200 }, () => 30), pollMs: 20 }
  const [one, two] = [start(quick), start(quick)]
  await Promise.all([
    tellStories(one, accountId, messages.slice(0, 8), 4),
    tellStories(nobody, accountId, messages.slice(8), 4),
  ])
  const isTold = (message: string): boolean => taken.get(message)?.length === 4
  await until('all but one message', () => messages.every((message) => message === stuck || isTold(message)))
  expect(taken.get(stuck)).toBeUndefined()
  expect(
    receiver.received.filter((one) => eventOf(one).data.message.id === stuck).map((one) => eventOf(one).sequence),
  ).not.toContain(2)
  stuck = ''
  await until('the last', () => messages.every(isTold))
  await until('the end', async () => (await left(id)) === 0)
  expect(outOfTurn).toEqual([])
  await Promise.all([one, two].map((dispatcher) => dispatcher.close()))
})

test('posts the first event of an ordered endpoint at once', async () => {
  const receiver = await startReceiver()
  const { accountId } = await webhook(receiver.url, 'ordered = true')
  const dispatcher = start()
  const began = performance.now()
  await tellStories(dispatcher, accountId, [newId()], 1)
  await until('the post', () => receiver.received.length === 1)
  // A lost post comes after its lease, a minute.
  expect(performance.now() - began).toBeLessThan(5000)
})

test('posts batches, signed as one under their own id, full ones at once and others after the wait', async () => {
  const receiver = await startReceiver()
  const { accountId, id, secret } = await webhook(receiver.url, 'batch_events = 10, batch_wait_ms = 2000')
  const dispatcher = start()
  const began = performance.now()
  const postings = await postEvents(db, dispatcher, accountId, 23)
  await until('the full ones', () => receiver.received.length >= 2)
  expect(performance.now() - began).toBeLessThan(2000)
  await until('the rest', () => receiver.received.length === 3)
  expect(performance.now() - began).toBeGreaterThan(1990)
  expect(receiver.received.map((one) => eventsOf(one).length)).toEqual([10, 10, 3])
  const ids = receiver.received.flatMap((one) => eventsOf(one).map((event) => event.id))
  expect(new Set(ids).size).toBe(23)
  expect(ids).toEqual(postings.map((posting) => (JSON.parse(payloadOf(posting)) as Told).id))
  for (const { body, headers } of receiver.received) {
    expect(headers['webhook-id']).toMatch(/^bat_/)
    new Webhook(secret).verify(body, headers as Record<string, string>)
  }
  await until('the end', async () => (await left(id)) === 0)
  const rows = await sql<{
    batches: number
    attempts: number
  }>`select count(distinct batch_id)::int as batches, sum(1 + coalesce(cardinality(more_event_ids), 0))::int as attempts
    from attempts where endpoint_id = ${id}`
  expect(rows).toEqual([{ batches: 3, attempts: 23 }])
})

test('repeats a whole batch if its refusal could not be saved', async () => {
  const receiver = await startReceiver((response) =>
    response.writeHead(receiver.received.length === 1 ? 500 : 204).end(),
  )
  const { accountId, id } = await webhook(receiver.url, 'batch_events = 200, batch_wait_ms = 100')
  const dispatcher = start({ retryDelaysMs: [50, 50], pollMs: 20 })
  await postEvents(db, dispatcher, accountId, 7)
  await until('the end', async () => (await left(id)) === 0 && receiver.received.length > 1)
  const [first, ...again] = receiver.received.map((one) => eventsOf(one).map((event) => event.id))
  expect(first).toHaveLength(7)
  expect(again.flat().sort()).toEqual(first?.toSorted())
  expect(receiver.received[1]?.headers['webhook-id']).not.toBe(receiver.received[0]?.headers['webhook-id'])
})

test('leaves out texts for an endpoint that must not get them', async () => {
  const receiver = await startReceiver()
  const { accountId, secret } = await webhook(receiver.url, 'has_bodies = false')
  await postEvents(db, start(), accountId, 1)
  await until('the post', () => receiver.received.length === 1)
  const [post] = receiver.received
  expect(post && eventOf(post).data.message.message).toBeNull()
  new Webhook(secret).verify(post?.body ?? '', post?.headers as Record<string, string>)
})

test('seals headers that an earlier version stored in plain form, and posts with them before and after', async () => {
  const receiver = await startReceiver()
  const { accountId, id } = await webhook(receiver.url, `headers = '{"Authorization": "Bearer crm"}'`)
  const dispatcher = start()
  await postEvents(db, dispatcher, accountId, 1)
  await until('the first', () => receiver.received.length === 1)
  await sealPlainHeaders(db, testVault)
  await sealPlainHeaders(db, testVault)
  const rows = await sql<{
    id: string
    headers: Record<string, string>
    sealedHeaders: Buffer
  }>`select id, headers, sealed_headers as "sealedHeaders"
    from webhooks where id = ${id}`
  const [row] = rows
  expect(row?.headers).toEqual({ Authorization: '********' })
  expect(row?.sealedHeaders.includes('crm')).toBe(false)
  expect(row && openHeaders(testVault, row)).toEqual({ Authorization: 'Bearer crm' })
  await dispatcher.close()
  await postEvents(db, start(), accountId, 1)
  await until('the second', () => receiver.received.length === 2)
  expect(receiver.received.map(({ headers }) => headers.authorization)).toEqual(['Bearer crm', 'Bearer crm'])
})

test('drops what waited when an endpoint was disabled, and posts later events after it is enabled again', async () => {
  let status = 500
  const receiver = await startReceiver((response) => response.writeHead(status).end())
  const { accountId, id } = await webhook(receiver.url, 'description = null')
  const dispatcher = start({ retryDelaysMs: [2000, 2000], pollMs: 20 })
  await postEvents(db, dispatcher, accountId, 3)
  await until('the first tries', () => receiver.received.length === 3)
  // As after an hour's pause: queued posts are older than clocks may differ.
  await sql`update webhooks set posts_since = now(), updated_at = now() where id = ${id}`
  status = 204
  const [fresh] = await postEvents(db, dispatcher, accountId, 1)
  await until('the fresh one', () => receiver.received.some(({ body }) => body === fresh?.payload))
  await until('the drop', async () => (await left(id)) === 0)
  const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
  expect(new Set(ids).size).toBe(ids.length)
})

test('the delivery log has the headers of a post in Twilio’s form', async () => {
  const receiver = await startReceiver()
  const { accountId, id } = await webhook(`${receiver.url}#twilio`, 'enabled = true')
  const message = { id: showId('msg', newId()), direction: 'outbound', status: 'delivered', to: '1', from: '2' }
  await recordEvents(db, [{ accountId, type: 'message.delivered', data: { message } }], nobody)
  start({ pollMs: 20 })
  await until('the post', async () => receiver.received.length === 1 && (await left(id)) === 0)
  const [row] = await listAttempts(db, accountId, id, null, 1, null)
  const { url, headers } = row ? renderAttempt(row, true).request : { url: null, headers: {} }
  expect(url).toBe(`${receiver.url}#twilio`)
  expect(receiver.received[0]?.headers).toMatchObject(headers)
  expect(Object.keys(headers)).toEqual(['content-type', 'i-twilio-idempotency-token'])
})

const start = (options?: Partial<DispatcherOptions>) => startTestDispatcher(db, options)

interface Told {
  id: string
  sequence: number
  data: { message: { id: string; message: string | null } }
}
const eventOf = ({ body }: Received): Told => JSON.parse(body) as Told
const eventsOf = ({ body }: Received): Told[] => (JSON.parse(body) as { events: Told[] }).events

async function webhook(url: string, settings: string): Promise<{ accountId: string; id: string; secret: string }> {
  const accountId = await insertTestAccount(db)
  const made = await insertTestWebhook(db, accountId, url)
  await db.query(`update webhooks set ${settings} where id = $1`, [made.id])
  return { accountId, ...made }
}

const left = async (endpointId: string): Promise<number> =>
  (await sql<{ n: number }>`select count(*)::int as n from outbox where endpoint_id = ${endpointId}`)[0]?.n ?? -1

/** Records events of some messages, in turn, as their changes would. */
async function tellStories(outbox: Outbox, accountId: string, messages: string[], events: number): Promise<void> {
  const types: EventType[] = ['message.delivered', 'message.failed']
  for (let sequence = 1; sequence <= events; sequence++) {
    const told = messages.map((messageId) => ({
      accountId,
      type: types[sequence % 2] ?? 'message.failed',
      messageId,
      sequence,
      data: { message: { id: messageId, message: 'hello' } },
    }))
    outbox.offer(await recordEvents(db, told, outbox))
  }
}
