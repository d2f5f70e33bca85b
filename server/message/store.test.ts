import { afterAll, expect, test } from 'vitest'
import { openPool } from '../ground/db/db.ts'
import { ensurePartitions } from '../ground/db/partitions.ts'
import { countReads, createTestDatabase } from '../ground/db/testing.ts'
import { readMessages } from './store.ts'
import { openLedgerTest, silent } from '../messages/testing.ts'
import { copyUncounted } from '../messages/uncounted-testing.ts'

const database = await createTestDatabase()
await ensurePartitions(database.db, silent)
const ledger = await openLedgerTest(database.db)
// One connection, which reports its reads on request.
const db = openPool(database.connection, { name: 'reads', max: 1 })
afterAll(() => db.end())

test('messages are looked up one by one, without reading others since the last statistics', async () => {
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
