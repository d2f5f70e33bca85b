import { expect, test } from 'vitest'
import { followGrowth } from './statistics.ts'
import { createTestDatabase } from './testing.ts'

const { db, sql } = await createTestDatabase()

test('a table is analyzed when it has doubled, and not before', async () => {
  // Autovacuum would analyze it, too.
  await sql`alter table opt_outs set (autovacuum_enabled = false)`
  await sql`insert into accounts (id, name) values ('00000000-0000-7000-8000-000000000001', 'test')`
  expect(await followGrowth(db)).toBe(0)
  await fill(2000)
  expect(await followGrowth(db)).toBe(1)
  expect(await followGrowth(db)).toBe(0)
  await fill(500)
  expect(await followGrowth(db)).toBe(0)
  await fill(5000)
  expect(await followGrowth(db)).toBe(1)
})

test('an emptied table is analyzed when it is refilled in the space it has', async () => {
  // Counted before the vacuum: later counts would be subtracted from the rows that exist then.
  await sql`delete from opt_outs; select pg_stat_force_next_flush()`
  await sql`vacuum (analyze, truncate off) opt_outs`
  expect(await followGrowth(db)).toBe(0)
  await fill(5000)
  // A connection reports its counts when it has been idle, or at once on request.
  await expect.poll(() => followGrowth(db), { interval: 500 }).toBe(1)
  expect(await followGrowth(db)).toBe(0)
})

test('skips a table that is being vacuumed, and does not wait for that', async () => {
  await fill(20_000)
  const vacuum = await db.connect()
  await vacuum.query('begin')
  await vacuum.query('lock table opt_outs in share update exclusive mode')
  const waiting = async () =>
    (
      await db.query(
        `select from pg_stat_activity where datname = current_database() and query like 'analyze%' and state = 'active'`,
      )
    ).rowCount
  await followGrowth(db)
  expect(await waiting()).toBe(0)
  await vacuum.query('commit')
  vacuum.release()
  expect(await followGrowth(db)).toBe(1)
  expect(await followGrowth(db)).toBe(0)
})

const fill = (rows: number): Promise<unknown> =>
  sql`insert into opt_outs (account_id, number, source, reason)
    select '00000000-0000-7000-8000-000000000001', 'n' || (select count(*)
    from opt_outs) + n, 'test', repeat('x', 100)
    from generate_series(1, ${rows}::int) n`
