import { describe, expect, it } from 'vitest'
import { world, createTestAccount } from '../accounts/testing.ts'
import { inTransaction } from '../ground/db/db.ts'
import { untilBlocked } from '../ground/db/testing.ts'
import { showId } from '../ground/base/ids.ts'
import { Meter } from '../ground/metrics/meter.ts'
import { silent } from '../messages/testing.ts'
import { until } from '../../test/until.ts'
import { Node } from '../links/node.ts'
import { carrierRoutes } from '../carriers/http.ts'
import { linkRoutes } from '../carriers/links-http.ts'
import { liveRoutes } from './http.ts'
import { saveLive } from './live.ts'
import { createQueueReader, drainSecondsOf, oldestAgeSeconds, type QueuePart } from './queue.ts'
import { openCarrierTest, untilBound } from '../carriers/testing.ts'

const { db, sql, account, app } = await world([carrierRoutes, linkRoutes, liveRoutes])
const test = await openCarrierTest(db, {
  accountId: account.accountId,
  simulator: { responseDelay: { min: 20, max: 20 }, receiptDelay: { min: 300, max: 300 } },
})
await untilBound(test)

describe('the live view', () => {
  it('shows the times of responses and receipts, by carrier, link and country, over all processes', async () => {
    const numbers = ['14155550101', '14155550102', '14155550103', '447400123401']
    const rows = await Promise.all(numbers.map((theirNumber) => test.submit({ theirNumber })))
    await Promise.all(rows.map(({ id }) => test.reaches(id, 'delivered')))
    await saveLive(db, test.node.id, test.context.meter)
    // Another process with another session of the link.
    const other = new Node({ db, log: silent, isAlone: false, settle: async () => {}, onFenced: () => {} })
    await other.start()
    const elsewhere = new Meter(() => 'US')
    elsewhere.linkObserver(test.linkId, test.carrierId)('14155550104', { state: 'accepted' }, 1000)
    await saveLive(db, other.id, elsewhere)

    const { latency, links } = await get(carrierUrl())
    expect(latency.response?.count).toBe(5)
    expect(latency.response?.p50_ms).toBeGreaterThan(15)
    expect(latency.response?.p50_ms).toBeLessThan(300)
    expect(latency.response?.p99_ms).toBeGreaterThan(900)
    expect(latency.receipt?.count).toBe(4)
    expect(latency.receipt?.p50_ms).toBeGreaterThan(50)
    expect(latency.countries).toMatchObject([
      { country: 'US', response: { count: 4 }, receipt: { count: 3 } },
      { country: 'GB', response: { count: 1 }, receipt: { count: 1 } },
    ])
    expect(links).toMatchObject([{ response: { count: 5 } }])
    const linkUrl = `/v1/links/${links[0]?.id}`
    await until('the link is reported', async () => (await get(linkUrl)).state === 'bound')
    expect(await get(linkUrl)).toMatchObject({ response: { count: 5 }, pace: expect.any(Number) })

    await other.close()
    await sql`update node_times set updated_at = now() - interval '16 seconds' where node_id = ${other.id}`
    expect((await get(carrierUrl())).latency.response?.count).toBe(4)
  })

  it('shows the queue by type and carrier, its age, and when it will be empty', async () => {
    await test.submitter.close()
    const queued = [
      await test.submit({ type: 'otp' }),
      await test.submit({ type: 'marketing' }),
      await test.submit({ type: 'marketing', body: 'x'.repeat(300), segments: 2 }),
    ]
    await test.submit({ sendAt: new Date(Date.now() + 3_600_000) })
    await sql`update messages set queued_at = now() - interval '90 seconds'
      where id = any (${queued.map(({ id }) => id)})`
    await until('the count is a new one', async () => (await get('/v1/queue')).messages === 3)
    const { parts, delayed } = await get('/v1/queue')
    expect(parts).toMatchObject([
      { type: 'otp', messages: 1, segments: 1, held: false, drain_seconds: null },
      { type: 'marketing', messages: 2, segments: 3, held: false },
    ])
    expect(parts[0]?.oldest_age_seconds).toBeGreaterThanOrEqual(90)
    expect(parts[0]?.oldest_age_seconds).toBeLessThan(150)
    expect(delayed).toMatchObject({ messages: 1, next_due_at: expect.any(String) })
    // They have no carrier yet.
    const { queue } = await get(carrierUrl())
    expect(queue.map(({ type }) => type)).toEqual(['otp', 'transactional', 'marketing'])
    expect(queue[1]).toMatchObject({ messages: 0, oldest_age_seconds: null, drain_seconds: 0 })
    await sql`update accounts set status = 'suspended' where id = ${account.accountId}`
    const held = await createQueueReader(db)()
    expect(held.parts.every(({ isHeld }) => isHeld)).toBe(true)
    await sql`update accounts set status = 'active' where id = ${account.accountId}`
  })

  it('shows how long the first messages have waited, also if they leave during the read', async () => {
    const { id } = await test.submit({ type: 'otp' })
    await sql`update messages set queued_at = now() - interval '90 seconds' where id = ${id}`
    const counting = await inTransaction(db, async (tx) => {
      // Counted, without their age so far.
      await tx.query('lock table messages in access exclusive mode')
      const begun = createQueueReader(db)()
      await untilBlocked(db, 1)
      await tx.query('delete from queue')
      return { begun }
    })
    const state = await counting.begun
    const [otp] = state.parts.filter(({ type }) => type === 'otp')
    expect(otp && oldestAgeSeconds(otp, state)).toBeGreaterThan(80)
  })

  it('is for the operator', async () => {
    const other = await createTestAccount(db, { scopes: ['messages:read'] })
    for (const url of ['/v1/queue', '/v1/links/lnk_01kbh2v0jzf3tr8d5w4ncq6m7x'])
      expect((await app.inject({ url, headers: other.headers })).statusCode).toBe(403)
    const unknown = await app.inject({ url: '/v1/links/lnk_01kbh2v0jzf3tr8d5w4ncq6m7x', headers: account.headers })
    expect(unknown.statusCode).toBe(404)
  })
})

describe('a part of the queue', () => {
  const part = (type: QueuePart['type'], carrierId: string | null, segments: number, isHeld = false): QueuePart => ({
    type,
    carrierId,
    segments,
    isHeld,
    messages: segments,
    oldestAt: null,
  })
  const [otp, marketing, other, held] = [
    part('otp', 'a', 10),
    part('marketing', 'a', 90),
    part('marketing', 'b', 1000),
    part('otp', 'a', 5000, true),
  ]
  const parts = [otp, marketing, other, held]
  const links = [
    { carrierId: 'a', sessions: 1, pace: 6 },
    { carrierId: 'a', sessions: 1, pace: 4 },
    { carrierId: 'a', sessions: 0, pace: 90 },
    { carrierId: 'b', sessions: 0, pace: 50 },
  ]

  it('drains behind what precedes it, at the pace of the links that are up', () => {
    expect(drainSecondsOf(otp, parts, links)).toBe(1)
    expect(drainSecondsOf(marketing, parts, links)).toBe(10)
    expect(drainSecondsOf(other, parts, links)).toBeNull()
    expect(drainSecondsOf(held, parts, links)).toBeNull()
  })
})

interface Times {
  p50_ms: number
  p95_ms: number
  p99_ms: number
  count: number
}
interface Waiting {
  type: string
  carrier: string | null
  held: boolean
  messages: number
  segments: number
  oldest_age_seconds: number | null
  drain_seconds: number | null
}
interface Shown {
  links: { id: string; response: Times | null; pace: number; rate_1m: number }[]
  latency: {
    response: Times | null
    receipt: Times | null
    countries: { country: string; response: Times | null; receipt: Times | null }[]
  }
  queue: Waiting[]
  parts: Waiting[]
  messages: number
  delayed: { messages: number; next_due_at: string | null }
  response: Times | null
  state: string
}

async function get(url: string): Promise<Shown> {
  const answer = await app.inject({ url, headers: account.headers })
  expect(answer.statusCode).toBe(200)
  return answer.json<Shown>()
}

const carrierUrl = (): string => `/v1/carriers/${showId('car', test.carrierId)}`
