import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../db/testing.ts'
import { queueDue } from './due.ts'
import { openLedgerTest, type LedgerTest } from './testing.ts'

let database: TestDatabase
let test: LedgerTest
beforeAll(async () => {
  database = await createTestDatabase()
  test = await openLedgerTest(database.db)
})
afterAll(() => database.close())

const count = (type: string): Promise<number> =>
  test.count('queue', `lane_id in (select id from lanes where type = $1)`, [type])

it('brings what is due of each lane into line, behind however much of another', async () => {
  const inAMinute = new Date(Date.now() + 60_000)
  const code = await test.send({ type: 'otp', sendAt: inAMinute })
  await test.send({ type: 'marketing', sendAt: inAMinute })
  const scheduled = 300
  await database.db.query(
    `insert into delayed (account_id, message_id, lane_id, segments, due_at)
     select account_id, (left(message_id::text, 24) || lpad(to_hex(n), 12, '0'))::uuid, lane_id, 1, due_at
     from delayed, generate_series(2, $1) n where message_id <> $2`,
    [scheduled, code.id],
  )
  // All at the same time, the code last of all.
  await database.db.query(`update delayed set due_at = now() - interval '1 minute' where message_id <> $1`, [code.id])
  await database.db.query(`update delayed set due_at = now() - interval '1 second' where message_id = $1`, [code.id])
  expect(await queueDue(database.db, 100)).toBe(100)
  expect(await count('otp')).toBe(1)
  expect(await count('marketing')).toBe(50)
  expect((await test.message(code.id)).status).toBe('queued')
  while ((await queueDue(database.db, 100)) >= 100);
  expect(await count('marketing')).toBe(scheduled)
  expect(await test.count('delayed', 'true')).toBe(0)
})
