import { beforeEach, expect, it } from 'vitest'
import { createTestDatabase, forEachTest } from '../ground/db/testing.ts'
import { Acceptor } from './accept.ts'
import type { Draft } from '../message/draft.ts'
import { maxQueueSeconds, QueueCap } from './queue-cap.ts'
import type { QueueCount } from '../queue/count.ts'
import { refusalError } from './send.ts'
import { openLedgerTest } from '../messages/testing.ts'
import { until } from '../../test/until.ts'

let queue: QueueCount
let cap: QueueCap
let acceptor: Acceptor

// At this pace four hours are 144 segments.
const pace = 0.01
const room = pace * maxQueueSeconds

const { db, sql } = await createTestDatabase()
const test = forEachTest(db, openLedgerTest)
beforeEach(async () => {
  await sql`update accounts set pace = ${pace} where id = ${test.accountId}`
  queue = test.context.queueCount
  cap = new QueueCap(queue)
  acceptor = new Acceptor({ ...test.context, ownLinks: test.ownLinks, routing: test.routing, queueCap: cap })
})

it('queues no more than four hours of sending, and says when there is room', async () => {
  expect(await kinds(100, { type: 'marketing' })).toEqual(['accepted'])
  await queue.count()
  expect(await kinds(room - 100, { type: 'marketing' })).toEqual(['accepted'])
  // Counted by this process, before the next count of the queue.
  const [refused] = await send(1, { type: 'marketing' })
  expect(refused).toMatchObject({ kind: 'refused', refusal: 'queue_full', waitSeconds: 100 })
  await queue.count()
  const [again] = await send(1, { type: 'marketing', segments: 3 })
  expect(again).toMatchObject({ refusal: 'queue_full', waitSeconds: 300 })
  expect(refusalError('queue_full', null, 300)).toMatchObject({ status: 429, options: { retryAfterSeconds: 300 } })
  expect(await test.count('messages', 'true')).toBe(room)
})

it('gives an account with an empty queue no more room', async () => {
  await queue.count()
  expect(await kinds(room + 1)).toEqual(['accepted', 'queue_full'])
  expect(await test.count('messages', 'true')).toBe(room)
})

it('a lane full of campaigns blocks neither higher types, nor scheduled messages, nor other accounts', async () => {
  expect(await kinds(room, { type: 'marketing' })).toEqual(['accepted'])
  await queue.count()
  expect(await kinds(1, { type: 'marketing' })).toEqual(['queue_full'])
  expect(await kinds(1, { type: 'otp' })).toEqual(['accepted'])
  expect(await kinds(1, { type: 'transactional' })).toEqual(['accepted'])
  expect(await kinds(1, { type: 'marketing', sendAt: new Date(Date.now() + 3_600_000) })).toEqual(['accepted'])
  const other = await openLedgerTest(db)
  await other.routing.refresh()
  expect((await acceptor.accept(other.draft({ type: 'marketing' }))).kind).toBe('accepted')
})

it('a repeated key gets its first response, however full the queue is', async () => {
  const idempotency = { operation: 'messages.send', key: 'k', fingerprint: Buffer.alloc(32) }
  expect(await kinds(1, { idempotency })).toEqual(['accepted'])
  expect(await kinds(room - 1)).toEqual(['accepted'])
  await queue.count()
  expect(await kinds(1)).toEqual(['queue_full'])
  expect(await kinds(1, { idempotency })).toEqual(['known_key'])
})

it('has room again when the queue is empty, which a timer notices', async () => {
  expect(await kinds(room)).toEqual(['accepted'])
  await cap.start()
  await until('it is full', async () => (await kinds(1)).includes('queue_full'))
  await sql`truncate queue`
  await until('there is room', async () => (await kinds(1)).includes('accepted'))
  await cap.close()
})

const send = (count: number, changes: Partial<Draft> = {}) =>
  acceptor.acceptAll(Array.from({ length: count }, () => test.draft(changes)))
const kinds = async (count: number, changes?: Partial<Draft>): Promise<string[]> => [
  ...new Set((await send(count, changes)).map((one) => (one.kind === 'refused' ? one.refusal : one.kind))),
]
