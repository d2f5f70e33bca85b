import { afterAll, beforeAll, expect, it } from 'vitest'
import { inTransaction } from '../db/db.ts'
import { createTestDatabase, type TestDatabase } from '../db/testing.ts'
import { newId } from '../ids.ts'
import { openLedgerTest, until } from '../messages/testing.ts'
import { Redeliveries, type Delivery } from './redelivery.ts'
import { Unanswerable } from './redelivery-notes.ts'

let database: TestDatabase
let linkId: string
let stored = 0

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

let sequence = 0
const yes = (): Delivery => ({
  linkId,
  hash: Buffer.from('yes'),
  isNamed: false,
  sequence: ++sequence,
  session: { state: 'bound', lastEnquireAnsweredAtMs: 0 },
  enquireTimeoutMs: 5000,
})

/** Stores it when `database` is no longer slow for its process. */
const store = (process: Redeliveries, slow = Promise.resolve()): Promise<void> =>
  process.storeOnce(yes(), async (isFirst) => {
    await slow
    await inTransaction(database.db, async (tx) => {
      if (await isFirst(tx)) stored++
    })
  })

it('what waited for a slow database while another process stored an equal one is left to its carrier, which asks again if it is another', async () => {
  const [slow, fast] = [await beatingProcess(), await beatingProcess()]
  const notes = setInterval(() => void fast.noteLost(database.db), 100)
  const { promise, resolve } = Promise.withResolvers<void>()
  const first = store(slow, promise)
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
