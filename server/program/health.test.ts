import { expect, it } from 'vitest'
import { openPool } from '../ground/db/db.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import { Disk } from './disk.ts'
import { readHealth } from './health.ts'

const database = await createTestDatabase()

it('a database that does not answer is reported, and not waited for', async () => {
  const db = openPool(database.connection, { name: 'health', max: 1, connectTimeoutMs: 0 })
  const holder = await db.connect()
  expect(await readHealth({ db, submitter: null, isWritable: true, disk: null })).toMatchObject({
    database: { isOk: false, answered_in_ms: null, writable: false },
  })
  holder.release()
  expect(await readHealth({ db, submitter: null, isWritable: true, disk: null })).toMatchObject({
    database: { isOk: true, writable: true },
  })
  await db.end()
})

it('a database that answers and rejects writes is reported', async () => {
  expect(await readHealth({ db: database.db, submitter: null, isWritable: false, disk: null })).toMatchObject({
    database: { isOk: false, writable: false },
  })
})

it('a nearly full disk is reported before the database rejects writes', async () => {
  let freeBytes = 20e9
  const quiet = { info: () => {}, warn: () => {}, error: () => {} }
  const disk = new Disk('/data', quiet, () => Promise.resolve({ freeBytes, sizeBytes: 100e9 }))
  const read = async (): Promise<unknown> => {
    await disk.look()
    return (await readHealth({ db: database.db, submitter: null, isWritable: true, disk }))['disk']
  }
  expect(await read()).toEqual({ isOk: true, isVital: false, free_bytes: 20e9, size_bytes: 100e9 })
  freeBytes = 6e9
  expect(await read()).toMatchObject({ isOk: true })
  freeBytes = 4e9
  expect(await read()).toMatchObject({ isOk: false, isVital: false, free_bytes: 4e9 })
})
