import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPool } from './db/db.ts'
import { createTestDatabase, type TestDatabase } from './db/testing.ts'
import { readHealth } from './health.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.close())

it('a database that does not answer is told, and not waited for', async () => {
  const db = openPool(database.connection, { name: 'health', max: 1, connectTimeoutMs: 0 })
  const holder = await db.connect()
  expect(await readHealth(db, null, true)).toMatchObject({ database: { isOk: false } })
  holder.release()
  expect(await readHealth(db, null, true)).toMatchObject({ database: { isOk: true, writable: true } })
  await db.end()
})

it('a database that answers and takes nothing is told', async () => {
  expect(await readHealth(database.db, null, false)).toMatchObject({ database: { isOk: false, writable: false } })
})
