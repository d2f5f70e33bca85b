import { expect, it } from 'vitest'
import { openPool } from '../ground/db/db.ts'
import { dayOf, ensurePartitions } from '../ground/db/partitions.ts'
import { pipelineSettings } from '../ground/db/pipeline.ts'
import { countReads, createTestDatabase } from '../ground/db/testing.ts'
import { queueDue } from './due.ts'
import { openLedgerTest, silent } from '../messages/testing.ts'
import { copyUncounted } from '../messages/uncounted-testing.ts'

const database = await createTestDatabase()
await ensurePartitions(database.db, silent)
const test = await openLedgerTest(database.db)

it('queues the due messages of each lane, behind any number of another’s', async () => {
  const inAMinute = new Date(Date.now() + 60_000)
  const code = await test.send({ type: 'otp', sendAt: inAMinute })
  await test.send({ type: 'marketing', sendAt: inAMinute })
  const scheduled = 300
  await database.sql`insert into delayed (account_id, message_id, lane_id, segments, due_at)
    select account_id, (left(message_id::text, 24) || lpad(to_hex(n), 12, '0'))::uuid, lane_id, 1, due_at
    from delayed, generate_series(2, ${scheduled}) n where message_id <> ${code.id}`
  // All are due at the same time; the code is the last.
  await database.sql`update delayed set due_at = now() - interval '1 minute' where message_id <> ${code.id}`
  await database.sql`update delayed set due_at = now() - interval '1 second' where message_id = ${code.id}`
  expect(await queueDue(database.db, 100)).toBe(100)
  expect(await count('otp')).toBe(1)
  expect(await count('marketing')).toBe(50)
  expect((await test.message(code.id)).status).toBe('queued')
  while ((await queueDue(database.db, 100)) >= 100);
  expect(await count('marketing')).toBe(scheduled)
  expect(await test.count('delayed', 'true')).toBe(0)
})

it('looks up the due messages, without reading others since the last statistics', async () => {
  const { id } = await test.send({ type: 'marketing', sendAt: new Date(Date.now() + 60_000) })
  const messages = 4000
  const table = `messages${dayOf([id])}`
  const copies = await copyUncounted(database.db, id, 500, messages)
  await database.sql`insert into delayed (account_id, message_id, lane_id, segments, due_at)
    select d.account_id, c.id, d.lane_id, 1, now() - interval '1 second'
    from unnest(${copies}::uuid[]) as c (id), delayed d
    where d.message_id = ${id} and hashtext(c.id::text) & 31 = 0`
  // One connection, which reports what it has read.
  const db = openPool(database.connection, { name: 'sweep', max: 1, settings: pipelineSettings })
  const before = await countReads(db, table)
  expect(await queueDue(db)).toBeGreaterThan(50)
  expect((await countReads(db, table)) - before).toBeLessThan(messages / 2)
  await db.end()
})

const count = (type: string): Promise<number> =>
  test.count('queue', `lane_id in (select id from lanes where type = $1)`, [type])
