import { afterAll, expect, it } from 'vitest'
import { openPool } from '../ground/db/db.ts'
import { pipelineSettings } from '../ground/db/pipeline.ts'
import { createTestDatabase, sqlOn } from '../ground/db/testing.ts'
import { resolveUnknown } from './resend.ts'
import { openLedgerTest } from '../messages/testing.ts'
import { endUnknown } from './testing.ts'

const database = await createTestDatabase()
const test = await openLedgerTest(database.db)
const db = openPool(database.connection, { name: 'sweep', max: 1, settings: pipelineSettings })
const sql = sqlOn(db)
afterAll(() => db.end())

it('finds due tries without reading the others', async () => {
  const id = await leaveUnknown()
  await test.sql`insert into nameless_tries (account_id, message_id, segment, try, link_id, segments, their_number, reference, intent_at, check_at, resend_at)
    select account_id, gen_random_uuid(), 1, 1, link_id, 1, n, 0, now(), now() + interval '1 hour', now() + interval '1 hour'
    from nameless_tries, generate_series(1, 5000) n where message_id = ${id}`
  await test.sql`analyze nameless_tries`
  await test.sql`update nameless_tries set resend_at = now() where message_id = ${id}`
  await test.sql`insert into link_states (link_id, node_id, leased_until, state)
    values (${test.linkId}, ${test.nodeId}, now() + interval '1 hour', 'bound')`
  const before = await countReads()
  await resolveUnknown({ ...test.context, db })
  expect((await countReads()) - before).toBeLessThan(100)
  expect((await test.message(id)).status).toBe('queued')
})

it('a try waits half as long again as it has waited while no link of its carrier is up', async () => {
  await test.sql`update link_states set state = 'down'`
  const id = await leaveUnknown()
  for (const [age, seconds] of [
    ['0 seconds', 3],
    ['1 minute', 30],
    ['1 day', 300],
  ] as const) {
    await test.sql`update nameless_tries set noted_at = now() - ${age}::interval, resend_at = now()
      where message_id = ${id}`
    await resolveUnknown({ ...test.context, db })
    const [row] = await test.sql<{ seconds: number }>`select extract(epoch
      from resend_at - now())::float8 as seconds from nameless_tries where message_id = ${id}`
    expect(row?.seconds).toBeGreaterThan(seconds - 3)
    expect(row?.seconds).toBeLessThan(seconds + 15)
  }
})

async function leaveUnknown(): Promise<string> {
  const handover = await test.lease({ onUnknown: 'resend' })
  await endUnknown(test, handover)
  return handover.id
}

async function countReads(): Promise<number> {
  await sql`select pg_stat_force_next_flush()`
  const [row] = await sql<{ reads: number }>`select (seq_tup_read + (select sum(idx_tup_read)
    from pg_stat_user_indexes i where i.relid = t.relid))::int as reads
    from pg_stat_user_tables t where relname = 'nameless_tries'`
  return row?.reads ?? NaN
}
