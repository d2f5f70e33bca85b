import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { inTransaction } from '../db/db.ts'
import { createTestDatabase, type TestDatabase } from '../db/testing.ts'
import { newId } from '../ids.ts'
import { openLedgerTest, until } from '../messages/testing.ts'
import { Redeliveries, type Delivery, type DeliverySession } from './redelivery.ts'
import { Unanswerable } from './redelivery-notes.ts'

let database: TestDatabase
let linkId: string
let stored = 0

beforeEach(() => {
  stored = 0
})
beforeAll(async () => {
  database = await createTestDatabase()
  linkId = (await openLedgerTest(database.db)).linkId
})
afterAll(() => database.close())

async function beatingProcess(): Promise<Redeliveries> {
  const nodeId = newId()
  await database.db.query(`insert into nodes (id, name) values ($1, 'a process')`, [nodeId])
  await database.db.query(`insert into heartbeats (node_id, seen_at) values ($1, now() + interval '1 hour')`, [nodeId])
  return new Redeliveries(nodeId)
}

interface TestSession extends DeliverySession {
  state: string
}
const openSession = (): TestSession => ({ state: 'bound', lastEnquireAnsweredAtMs: 0 })
let sequence = 0
const said = (text: string, session: TestSession): Delivery => ({
  linkId,
  hash: Buffer.from(text),
  isNamed: false,
  sequence: ++sequence,
  session,
  enquireTimeoutMs: 5000,
})

/** Stores it when its database is no longer slow. */
const store = (process: Redeliveries, delivery = said('yes', openSession()), slow = Promise.resolve()): Promise<void> =>
  process.storeOnce(delivery, async (isFirst) => {
    await slow
    await inTransaction(database.db, async (tx) => {
      if (await isFirst(tx)) stored++
    })
  })

it('what waited for a slow database while another process stored an equal one is left to its carrier, which asks again if it is another', async () => {
  const [slow, fast] = [await beatingProcess(), await beatingProcess()]
  const notes = setInterval(() => void fast.noteLost(database.db), 100)
  const { promise, resolve } = Promise.withResolvers<void>()
  const first = store(slow, said('yes', openSession()), promise)
  const startedAt = performance.now()
  await until('its carrier may have lost patience', () => performance.now() - startedAt > 2000)
  await store(fast)
  await until('the other has told that it has no doubts', async () => {
    const { rows } = await database.db.query(
      `select from reply_notings n join reply_hashes h on h.node_id = n.node_id where n.noted_to > h.received_at + interval '1 second'`,
    )
    return rows.length > 0
  })
  resolve()
  await expect(first).rejects.toThrow(Unanswerable)
  expect(stored).toBe(1)

  await store(slow)
  expect(stored).toBe(2)
  clearInterval(notes)
})

it('what a carrier gives to the next session is known before the end of the last one is', async () => {
  const process = await beatingProcess()
  const [lost, next] = [openSession(), openSession()]
  await store(process, said('no', lost))
  const again = store(process, said('no', next))
  setTimeout(() => (lost.state = 'closed'), 100)
  await again
  expect(stored).toBe(1)

  // On sessions that live it is a person's.
  await store(process, said('no', openSession()))
  await Promise.all([store(process, said('no', next)), store(process, said('no', next))])
  expect(stored).toBe(4)
})
