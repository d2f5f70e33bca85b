import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Log } from './log.ts'
import { migrate as migrateOurs } from './migrate.ts'
import { createTestDatabase, untilBlocked, type TestDatabase } from './testing.ts'

const log: Log = { info: () => {}, warn: () => {}, error: () => {} }
let database: TestDatabase
let dir: string

beforeEach(async () => {
  database = await createTestDatabase()
  // An empty database: only what these tests migrate.
  await database.sql`drop schema public cascade`
  await database.sql`create schema public`
  dir = await mkdtemp(join(tmpdir(), 'heliogram-migrate-'))
  await write(
    '0001_first',
    'create table first (id int);\n-- Down migration of nothing: the file is applied whole.\ninsert into first values (1);',
  )
})
afterEach(async () => {
  await database.close()
  await rm(dir, { recursive: true })
})

test('applies new migrations in order, once', async () => {
  await write('0002_second', 'alter table first add column name text')
  expect(await migrate()).toEqual(['0001_first', '0002_second'])
  expect(await migrate()).toEqual([])
  await write('0003_third', 'alter table first drop column name')
  expect(await migrate()).toEqual(['0003_third'])
  expect(await database.sql`select * from first`).toEqual([{ id: 1 }])
})

test('makes a second starter wait instead of applying twice', async () => {
  await write('0002_slow', 'select pg_sleep(0.3); create table second (id int)')
  const results = await Promise.all([migrate(), migrate(), migrate()])
  expect(results.flat().toSorted()).toEqual(['0001_first', '0002_slow'])
})

test('takes as long as it needs, despite an administrator’s statement timeout', async () => {
  for (const name of ['statement_timeout', 'lock_timeout'])
    await database.db.query(`alter database ${database.name} set ${name} = '50ms'`)
  await write('0002_slow', 'select pg_sleep(0.3); create table second (id int)')
  // The second waits for the first.
  expect((await Promise.all([migrate(), migrate()])).flat().toSorted()).toEqual(['0001_first', '0002_slow'])
})

test('leaves nothing of a failed migration, and names the statement', async () => {
  await write('0002_broken', 'create table second (id int); select 1 / 0')
  await expect(migrate()).rejects.toThrow('division by zero')
  const rows = await database.sql`select to_regclass('first') is not null as first, to_regclass('second') as second`
  expect(rows).toEqual([{ first: true, second: null }])
})

test('names the session that keeps it waiting, and continues', async () => {
  await migrate()
  await write('0002_second', 'alter table first add column name text')
  const holder = await database.db.connect()
  await holder.query(`set application_name = 'a dump'; begin; lock table first in access share mode`)
  const said: object[] = []
  const telling = { ...log, warn: (fields: object, message: string) => void said.push({ ...fields, message }) }
  const migrating = migrateOurs(database.connection, {
    log: telling,
    dir,
    isDisposable: true,
    noticeEveryMs: 10,
    pauseMs: 10,
  })
  await expect.poll(() => said).not.toEqual([])
  await holder.query('commit')
  holder.release(true)
  expect(await migrating).toEqual(['0002_second'])
  expect(said[0]).toMatchObject({ application: 'a dump', message: 'migrations wait for another session' })
})

test('lets readers and writers of a table pass while another session blocks its change', async () => {
  await migrate()
  await write('0002_other', 'create table other (id int)')
  await write('0003_second', 'alter table first add column name text')
  const [holder, reader] = [await database.db.connect(), await database.db.connect()]
  const said: string[] = []
  const telling = { ...log, warn: (_: object, message: string) => void said.push(message) }
  let migrating: Promise<string[]> | undefined
  try {
    await holder.query('begin; lock table first in access share mode')
    await reader.query(`set statement_timeout = '20s'`)
    const options = { log: telling, dir, isDisposable: true, lockMs: 500, pauseMs: 50 }
    migrating = migrateOurs(database.connection, options)
    await untilBlocked(database.db, 1, 'alter table%')
    // It came later, and would wait for as long as the other session works.
    expect((await reader.query('select * from first')).rows).toEqual([{ id: 1 }])
    await expect.poll(() => said).toContain('a table is in use: retrying the migration')
    await expect.poll(() => said).toContain('migrations wait for another session')
  } finally {
    holder.release(true)
    reader.release(true)
  }
  expect(await migrating).toEqual(['0002_other', '0003_second'])
})

test('builds an index outside a transaction if the file’s name says so', async () => {
  await write('0002_index_concurrently', 'create index concurrently first_id on first (id)')
  expect(await migrate()).toEqual(['0001_first', '0002_index_concurrently'])
})

test('refuses a database that a newer version migrated', async () => {
  await write('0002_future', 'select 1')
  await migrate()
  await rm(join(dir, '0002_future.sql'))
  await expect(migrate()).rejects.toThrow('migrated by a newer Heliogram (it has 0002_future')
})

test('refuses a database without a known migration, and says what to do', async () => {
  await migrate()
  await rename(join(dir, '0001_first.sql'), join(dir, '0001_schema.sql'))
  await expect(migrate()).rejects.toThrow(
    'before the first release and cannot be upgraded. Start with an empty database',
  )
})

test('refuses a file that is not a migration', async () => {
  await write('2_short', 'select 1')
  await expect(migrate()).rejects.toThrow('is not named NNNN_what.sql')
})

test('refuses a server that would lose data in a crash', async () => {
  await database.db.query(`alter database ${database.name} set synchronous_commit = off`)
  await expect(migrateOurs(database.connection, { log, dir })).rejects.toThrow(
    /would lose accepted messages.*synchronous_commit/,
  )
})

const write = (name: string, sql: string): Promise<void> => writeFile(join(dir, `${name}.sql`), sql)
const migrate = (): Promise<string[]> => migrateOurs(database.connection, { log, dir, isDisposable: true })
