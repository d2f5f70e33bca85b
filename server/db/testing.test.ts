import { afterAll, expect, test } from 'vitest'
import { createTestDatabase } from './testing.ts'

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
