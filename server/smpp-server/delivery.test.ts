import { beforeEach, expect, it } from 'vitest'
import { openPool } from '../ground/db/db.ts'
import { pipelineSettings } from '../ground/db/pipeline.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import { firstIdAt, newId } from '../ground/base/ids.ts'
import { openLedgerTest } from '../messages/testing.ts'
import { claimDeliveries, forgetDeliveries } from './delivery.ts'
import { createTestCredential } from './testing.ts'

const database = await createTestDatabase()
const test = await openLedgerTest(database.db)
const credential = await createTestCredential(test.db, test.accountId)
beforeEach(() => test.sql`delete from smpp_deliveries`)

it('a delivery is found without reading refused ones that wait for a retry', async () => {
  const { accountId, id: credentialId } = credential
  await refuse(2000, '1 hour')
  await refuse(3, '-1 second')
  const db = openPool(database.connection, { name: 'test', max: 1, settings: pipelineSettings })
  const countReads = async (): Promise<number> => {
    await db.query('select pg_stat_force_next_flush()')
    const { rows } = await db.query<{ reads: number }>(
      `select sum(idx_tup_read)::int as reads from pg_stat_user_indexes where relname = 'smpp_deliveries'`,
    )
    return rows[0]?.reads ?? NaN
  }
  const before = await countReads()
  const claimed = await claimDeliveries(db, newId(), [{ accountId, credentialId, room: 10 }])
  expect(claimed).toHaveLength(3)
  expect((await countReads()) - before).toBeLessThan(100)
  await db.end()
})

it('a delivery is given up after three days', async () => {
  await refuse(1, '1 hour')
  await test.sql`update smpp_deliveries set id = ${newId()}`
  expect(await forgetDeliveries(test.db)).toBe(0)
  await test.sql`update smpp_deliveries set id = ${firstIdAt(Date.now() - 73 * 3_600_000)}`
  expect(await forgetDeliveries(test.db)).toBe(1)
})

/** Deliveries that are repeated after this time. */
const refuse = (count: number, dueIn: string): Promise<unknown> =>
  test.sql`insert into smpp_deliveries (account_id, credential_id, id, kind, subject_id, source, destination, due_at)
    select ${credential.accountId}, ${credential.id}, gen_random_uuid(), 'reply', gen_random_uuid(), '1', '2', now() + ${dueIn}::interval
    from generate_series(1, ${count})`
