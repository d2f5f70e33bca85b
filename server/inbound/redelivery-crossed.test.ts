import { beforeEach, expect, it } from 'vitest'
import { inTransaction } from '../ground/db/db.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import { newId } from '../ground/base/ids.ts'
import { openLedgerTest } from '../messages/testing.ts'
import { until } from '../../test/until.ts'
import { Redeliveries, Unanswerable, type Delivery } from './redelivery.ts'
import type { DeliverySession } from '../links/carrier-link.ts'
import { aliveSession } from '../carriers/testing.ts'

let stored = 0

beforeEach(() => {
  stored = 0
})
const { db, sql } = await createTestDatabase()
const linkId = (await openLedgerTest(db)).linkId

let sequence = 0

it('a reply that waited for a slow database while another process stored an equal one is left to its carrier, which repeats it if it is another', async () => {
  const [slow, fast] = [await beatingProcess(), await beatingProcess()]
  const notes = setInterval(() => void fast.noteLost(db), 100)
  const { promise, resolve } = Promise.withResolvers<void>()
  const first = store(slow, said('yes', aliveSession()), promise)
  const startedAt = performance.now()
  await until('its carrier may have lost patience', () => performance.now() - startedAt > 2000)
  await store(fast)
  resolve()
  await expect(first).rejects.toThrow(Unanswerable)
  expect(stored).toBe(1)

  await store(slow)
  expect(stored).toBe(2)
  clearInterval(notes)
})

it('what a carrier sends on a new session is known before the old one ends', async () => {
  const process = await beatingProcess()
  const [lost, next] = [aliveSession(), aliveSession()]
  lost.isSilent = true
  await store(process, said('no', lost))
  const again = store(process, said('no', next))
  setTimeout(() => (lost.state = 'closed'), 100)
  await again
  expect(stored).toBe(1)

  // On live sessions it is a person's.
  await store(process, said('no', aliveSession()))
  await Promise.all([store(process, said('no', next)), store(process, said('no', next))])
  expect(stored).toBe(4)
})

/** Runs both processes' clocks until a promise settles. */
async function whileNoting(processes: Redeliveries[], run: Promise<void>): Promise<void> {
  const notes = setInterval(() => {
    for (const process of processes) void process.noteLost(db)
  }, 50)
  await run.finally(() => clearInterval(notes))
}

it('a copy at another process is left to its carrier until the first knows that its session is lost, and is not stored then', async () => {
  const [first, second] = [await beatingProcess(), await beatingProcess()]
  const [gone, next] = [aliveSession(), aliveSession()]
  gone.isSilent = true
  const reply = (session: DeliverySession): Delivery => said('again', session)
  await store(first, reply(gone))
  await first.noteLost(db)
  await expect(whileNoting([first, second], store(second, reply(next)))).rejects.toThrow(Unanswerable)
  expect([stored, gone.enquiries]).toEqual([1, { sent: 1, answered: 0 }])

  gone.state = 'closed'
  await whileNoting([first, second], store(second, reply(next)))
  expect(stored).toBe(1)
})

it('a repeated statement at another process is stored as soon as the first has checked its session', async () => {
  const [first, second] = [await beatingProcess(), await beatingProcess()]
  const session = aliveSession()
  await store(first, said('hello', session))
  await first.noteLost(db)
  expect(session.enquiries.sent).toBe(0)
  await whileNoting([first, second], store(second, said('hello', aliveSession())))
  expect([stored, session.enquiries]).toEqual([2, { sent: 1, answered: 1 }])
})

it('a session without heartbeat responses is not lost while it says anything', async () => {
  const process = await beatingProcess()
  const mute = aliveSession()
  mute.isSilent = true
  await store(process, said('mute', mute))
  const talking = setInterval(() => Object.assign(mute, { lastReadAtMs: Date.now() }), 50)
  await store(process, said('mute', aliveSession())).finally(() => clearInterval(talking))
  expect(stored).toBe(2)
})

it('a copy that is repeated while the first session is silent is stored once, however its end is noticed', async () => {
  const process = await beatingProcess()
  const [gone, next] = [aliveSession(), aliveSession()]
  gone.isSilent = true
  await store(process, said('often', gone))
  const reply = said('often', next)
  const first = store(process, reply)
  const startedAt = performance.now()
  await until('its carrier asks again', () => performance.now() - startedAt > 500)
  const second = store(process, reply)
  await expect(first).rejects.toThrow(Unanswerable)
  gone.state = 'closed'
  await second
  await store(process, said('often', next))
  expect(stored).toBe(2)
})

async function beatingProcess(): Promise<Redeliveries> {
  const nodeId = newId()
  await sql`insert into nodes (id, name) values (${nodeId}, 'a process')`
  await sql`insert into heartbeats (node_id, seen_at) values (${nodeId}, now() + interval '1 hour')`
  return new Redeliveries(nodeId)
}

const said = (text: string, session: DeliverySession): Delivery => ({
  linkId,
  hash: Buffer.from(`${'one person'.padEnd(16)}${text.padEnd(8)}`),
  isNamed: false,
  sequence: ++sequence,
  session,
})

const store = (
  process: Redeliveries,
  delivery = said('yes', aliveSession()),
  slow = Promise.resolve(),
): Promise<void> =>
  process.storeOnce(db, delivery, async (comingOf) => {
    await slow
    return inTransaction(db, async (tx) => {
      if ((await comingOf(tx)) === 'repeat') return 'skipped'
      stored++
      return 'stored'
    })
  })
