import { afterAll, expect, test } from 'vitest'
import { createTestDatabase, emptyTables, isLostRaceOrThrow, untilBlocked } from './testing.ts'

const first = await createTestDatabase()
afterAll(() => first.close())

test('gives each caller a migrated database of its own, in parallel', async () => {
  const others = await Promise.all(Array.from({ length: 4 }, () => createTestDatabase()))
  await first.db.query(`create table only_here (id int)`)
  for (const { db, name } of others) {
    const { rows } = await db.query<{ name: string; here: string | null; ledger: string | null }>(
      `select current_database() as name,
              to_regclass('only_here')::text as here,
              to_regclass('messages')::text as ledger`,
    )
    expect(rows).toEqual([{ name, here: null, ledger: 'messages' }])
  }
  await Promise.all(others.map((one) => one.close()))
})

test('leaves nothing behind', async () => {
  const { name, close } = await createTestDatabase()
  await close()
  const { rows } = await first.db.query('select 1 from pg_database where datname = $1', [name])
  expect(rows).toEqual([])
})

test('empties the given tables, their partitions, and those that refer to them, when nobody writes to them', async () => {
  const { db } = first
  await db.query(
    `create table roots (id int primary key, above int references roots);
     create table leaves (root int references roots);
     create table days (day int) partition by range (day);
     create table monday partition of days default;
     create table others (id int);
     insert into roots values (1, null), (2, 1);
     insert into leaves values (1);
     insert into days values (1);
     insert into others values (1)`,
  )
  const writer = await db.connect()
  await writer.query('begin; insert into days values (2)')
  const emptied = emptyTables(db, 'roots, days')
  await untilBlocked(db, 1, 'lock table%')
  await writer.query('commit')
  writer.release()
  await emptied
  const { rows } = await db.query(
    `select (select count(*)::int from roots) as roots, (select count(*)::int from leaves) as leaves,
       (select count(*)::int from days) as days, (select count(*)::int from others) as others`,
  )
  expect(rows).toEqual([{ roots: 0, leaves: 0, days: 0, others: 1 }])
})

test('starts over if it and a writer block each other', async () => {
  const { db } = first
  /** Whether the writer was canceled: PostgreSQL checks for a deadlock once, after a second of waiting. */
  const race = async (): Promise<boolean> => {
    await db.query('insert into roots values (1, null); insert into days values (1)')
    const writer = await db.connect()
    await writer.query('begin; insert into days values (2)')
    const emptied = emptyTables(db, 'roots, days')
    await untilBlocked(db, 1, 'lock table%')
    const hasLost = await writer.query('insert into roots values (2, null)').then(() => false, isLostRaceOrThrow)
    await writer.query('commit')
    writer.release()
    await emptied
    return hasLost
  }
  while (await race()) continue
  const { rows } = await db.query('select count(*)::int as n from days union all select count(*)::int from roots')
  expect(rows).toEqual([{ n: 0 }, { n: 0 }])
})
