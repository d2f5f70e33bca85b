import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPool, type Db } from '../ground/db/db.ts'
import { ensurePartitions } from '../ground/db/partitions.ts'
import { countReads, createTestDatabase, type TestDatabase } from '../ground/db/testing.ts'
import { readMessages } from './store.ts'
import { copyUncounted, openLedgerTest, silent, type LedgerTest } from '../messages/testing.ts'

let database: TestDatabase
let ledger: LedgerTest
let db: Db
beforeAll(async () => {
  database = await createTestDatabase()
  await ensurePartitions(database.db, silent)
  ledger = await openLedgerTest(database.db)
  // One connection, which tells what it has read when it is asked to.
  db = openPool(database.connection, { name: 'reads', max: 1 })
})
afterAll(async () => {
  await db.end()
  await ledger.ledger.close()
  await database.close()
})

test('messages are looked up one by one, and none of all that came between them since the last statistics', async () => {
  const messages = 4000
  const { id } = await ledger.send()
  const copies = await copyUncounted(database.db, id, 500, messages)
  const wanted = copies.filter((_, n) => n % 40 === 0)
  const before = await countReads(db, 'messages\\_%')
  const found = await readMessages(
    db,
    wanted.map((one) => ({ accountId: ledger.accountId, id: one })),
  )
  expect([...found.keys()].toSorted()).toEqual(wanted.toSorted())
  expect((await countReads(db, 'messages\\_%')) - before).toBeLessThan(wanted.length * 2)
})
