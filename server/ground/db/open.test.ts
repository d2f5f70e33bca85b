import { expect, test } from 'vitest'
import { atEnd, createTestDatabase } from './testing.ts'
import { openPool, type Db } from './db.ts'
import { startDisposable } from './embedded/disposable.ts'
import { setUpSessions } from './open.ts'

const quiet = { info: () => {}, warn: () => {}, error: () => {} }
test.each([
  ['of a database of ours', {}],
  ['of another, which does not look by itself', { client_connection_check_interval: '0' }],
])('an abandoned statement ends, though its lock is held: %s', async (_title, settings) => {
  const { db, ours } = await open(settings)
  const holder = await db.connect()
  try {
    await holder.query('create table held ()')
    await holder.query('begin; lock table held')
    await expect(ours.query('select from held')).rejects.toThrow('Query read timeout')
    const count = async (): Promise<number> => {
      const { rows } = await db.query(`select from pg_stat_activity where application_name = 'heliogram ours'`)
      return rows.length
    }
    // The lock itself ends after thirty seconds without a statement.
    await expect.poll(count).toBe(0)
  } finally {
    holder.release(true)
  }
})

test('the address may set how soon the server checks', async () => {
  const own = new URL((await createTestDatabase()).url)
  own.searchParams.set('options', '-c client_connection_check_interval=20s')
  const ours = openPool(await setUpSessions({ connectionString: own.href }), { name: 'ours', max: 1 })
  atEnd(() => ours.end())
  const { rows } = await ours.query<{ every: string; path: string }>(
    `select current_setting('client_connection_check_interval') as every, current_setting('search_path') as path`,
  )
  expect(rows).toEqual([{ every: '20s', path: '"public"' }])
})

async function open(settings: Record<string, string>): Promise<{ db: Db; ours: Db }> {
  const { url, close } = await startDisposable(quiet, settings)
  atEnd(close)
  const pools = [
    openPool({ connectionString: url }, { name: 'test', max: 3 }),
    openPool(await setUpSessions({ connectionString: url }), { name: 'ours', max: 1, queryTimeoutMs: 500 }),
  ] as const
  for (const pool of pools) atEnd(() => pool.end())
  return { db: pools[0], ours: pools[1] }
}
