import { afterAll, beforeAll, expect, it } from 'vitest'
import { inTransaction, openPool, type Db } from '../../db/db.ts'
import { dayOf, ensurePartitions } from '../../db/partitions.ts'
import { pipelineSettings } from '../../db/pipeline.ts'
import { createTestDatabase, type TestDatabase } from '../../db/testing.ts'
import { noteNameless } from './nameless.ts'
import { openLedgerTest, silent, type LedgerTest } from '../testing.ts'

let database: TestDatabase
let test: LedgerTest
// One connection, which tells what it has read when it is asked to.
let db: Db

beforeAll(async () => {
  database = await createTestDatabase()
  await ensurePartitions(database.db, silent)
  test = await openLedgerTest(database.db)
  db = openPool(database.connection, { name: 'ledger', max: 1, settings: pipelineSettings })
})
afterAll(async () => {
  await db.end()
  await test.ledger.close()
  await database.close()
})

async function countReads(): Promise<number> {
  await db.query('select pg_stat_force_next_flush()')
  const { rows } = await db.query<{ reads: number }>(
    `select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as reads from pg_stat_user_tables where relname like 'messages\\_%'`,
  )
  return rows[0]?.reads ?? NaN
}

it('looks up the messages of tries without an answer, and none of all that lie between them since the last statistics', async () => {
  const { id, accountId } = await test.lease()
  const messages = 5000
  const table = `messages${dayOf([id])}`
  await database.db.query(`alter table ${table} set (autovacuum_enabled = false)`)
  const { rows: columns } = await database.db.query<{ names: string }>(
    `select string_agg(column_name, ', ') as names from information_schema.columns where table_name = 'messages' and column_name <> 'id'`,
  )
  const copy = (from: number, count: number): Promise<unknown> =>
    database.db.query(
      `insert into messages (id, ${columns[0]?.names})
       select (left(id::text, 15) || 'fff-ffff-' || lpad(to_hex(n), 12, '0'))::uuid, ${columns[0]?.names}
       from messages, generate_series($2::int, $2::int + $3::int - 1) n where id = $1`,
      [id, from, count],
    )
  await copy(1, 1000)
  await database.db.query(`analyze ${table}`)
  await copy(2000, messages)
  const { rows } = await database.db.query<{ messageId: string }>(
    `select id as "messageId" from messages where right(id::text, 12) >= lpad(to_hex(2000), 12, '0') and id::text like '%-7fff-ffff-%'
     order by hashtext(id::text) limit 100`,
  )
  const before = await countReads()
  await inTransaction(db, (tx) =>
    noteNameless(
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
  expect((await countReads()) - before).toBeLessThan(messages / 2)
})
