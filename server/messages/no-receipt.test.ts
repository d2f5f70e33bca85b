import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../db/testing.ts'
import { watchReceipts } from './no-receipt.ts'
import { openLedgerTest, type LedgerTest } from './testing.ts'

let database: TestDatabase
let test: LedgerTest

beforeAll(async () => {
  database = await createTestDatabase()
  test = await openLedgerTest(database.db)
})
afterAll(async () => {
  await test.ledger.close()
  await database.close()
})

/** A message that was sent so long ago. */
async function sent(ago: string): Promise<string> {
  const handover = await test.lease()
  await test.answer(handover)
  await test.db.query(`update carrier_ids set at = now() - $2::interval where message_id = $1`, [handover.id, ago])
  return handover.id
}

it('goes through a week once, and then through what has become old since', async () => {
  const endLate = watchReceipts(test.context, 72)
  await sent('100 hours')
  await sent('73 hours')
  // Of each look one, until nothing is left.
  expect([await endLate(1), await endLate(1), await endLate(1)]).toEqual([1, 1, 0])
  const passed = await sent('100 hours')
  await sent('72.5 hours')
  expect([await endLate(10), await endLate(10)]).toEqual([1, 0])
  expect((await test.message(passed)).status).toBe('sent')
  expect(await watchReceipts(test.context, 72)(10)).toBe(1)
})
