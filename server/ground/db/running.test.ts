import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { openPool } from './db.ts'
import { openDatabase } from './open.ts'
import { hasDatabase, openBeside } from './running.ts'

const log = { info: () => {}, warn: () => {}, error: () => {} }

const parent = await mkdtemp(join(tmpdir(), 'heliogram-running-'))
await chmod(parent, 0o711)
const folder = join(parent, 'data')
expect(await hasDatabase(folder)).toBe(false)
const service = await openDatabase(null, folder, log)
afterAll(async () => {
  vi.unstubAllEnvs()
  await service.close()
  await rm(parent, { recursive: true, force: true })
})

test('a command beside the service reaches its database, even if the environment names another PostgreSQL', async () => {
  vi.stubEnv('PGPORT', '5433')
  vi.stubEnv('PGSSLMODE', 'require')
  expect(await hasDatabase(folder)).toBe(true)
  const { connection, close } = await openBeside(null, folder, log)
  const db = openPool(connection, { name: 'test', max: 1 })
  expect((await db.query('select count(*) as messages from messages')).rows).toEqual([{ messages: 0 }])
  await db.end()
  await close()
  // The service has it still.
  expect(connection).toEqual(service.connection)
})
