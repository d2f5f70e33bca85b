import { afterAll, expect, it } from 'vitest'
import { inTransaction, openPool } from '../ground/db/db.ts'
import { ensurePartitions } from '../ground/db/partitions.ts'
import { pipelineSettings } from '../ground/db/pipeline.ts'
import { countReads, createTestDatabase } from '../ground/db/testing.ts'
import { noteWithoutId } from './without-id.ts'
import { openLedgerTest, silent } from '../messages/testing.ts'
import { copyUncounted } from '../messages/uncounted-testing.ts'

const database = await createTestDatabase()
await ensurePartitions(database.db, silent)
const test = await openLedgerTest(database.db)
const db = openPool(database.connection, { name: 'ledger', max: 1, settings: pipelineSettings })
afterAll(() => db.end())

it('looks up the messages of tries without a response, and none of the others since the last statistics', async () => {
  const { id, accountId } = await test.lease()
  const messages = 5000
  const copies = await copyUncounted(database.db, id, 1000, messages)
  const rows = await database.sql<{ messageId: string }>`select id as "messageId"
    from unnest(${copies}::uuid[]) as c (id) order by hashtext(id::text) limit 100`
  const before = await countReads(db, 'messages\\_%')
  await inTransaction(db, (tx) =>
    noteWithoutId(
      tx,
      rows.map(({ messageId }) => ({
        accountId,
        messageId,
        segment: 1,
        try: 1,
        linkId: test.linkId,
        state: 'unknown',
        intentAt: new Date(),
      })),
    ),
  )
  expect(await test.count('nameless_tries', 'true')).toBe(rows.length)
  expect((await countReads(db, 'messages\\_%')) - before).toBeLessThan(messages / 2)
})
