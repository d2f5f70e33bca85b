/** Commands with settings for another database than the service's, or for a read-only one. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPool, type Db } from '../server/ground/db/db.ts'
import type { Disposable } from '../server/ground/db/embedded/disposable.ts'
import { launch, makeDataFolder, makeEnvironment, runToEnd, startDurable } from './harness.ts'
import { until } from './until.ts'

const commands = ['owner-code', 'rotate-key']
const key = `${Buffer.alloc(32, 7).toString('base64')}\n`

let server: Disposable
let db: Db
let folder: string
let env: Record<string, string>

beforeAll(async () => {
  server = await startDurable('empty')
  db = openPool({ connectionString: server.url }, { name: 'commands', max: 1 })
  folder = await makeDataFolder()
  env = await makeEnvironment(folder, { env: { DATABASE_URL: server.url, HELIOGRAM_SIMULATOR: 'off' } })
  await mkdir(env['HELIOGRAM_DATA'] ?? '', { mode: 0o700 })
  await writeFile(keyFile(), key, { mode: 0o600 })
})
afterAll(async () => {
  await db?.end()
  await server?.close()
  await rm(folder, { recursive: true, force: true })
})

const keyFile = (): string => join(env['HELIOGRAM_DATA'] ?? '', 'key')

test('on a database without an installation they create nothing, and the key stays in its file', async () => {
  for (const command of commands) {
    const { code, stderr } = await runToEnd([command], env)
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('The database of DATABASE_URL has no Heliogram tables.'),
    ])
    expect(stderr).not.toContain('    at ')
  }
  expect(await readFile(keyFile(), 'utf8')).toBe(key)
  const { rows } = await db.query(`select to_regclass('migrations') as migrations, to_regclass('accounts') as accounts`)
  expect(rows).toEqual([{ migrations: null, accounts: null }])
})

test('on a database that rejects writes a command says so, without a stack', async () => {
  const { child, printed, ended } = launch(['start'], env)
  await until('it runs', () => printed.stdout.includes('Heliogram is running') || child.exitCode !== null, 100_000)
  child.kill('SIGTERM')
  expect((await ended).code).toBe(0)
  await db.query('alter database heliogram set default_transaction_read_only = on')
  const { code, stderr } = await runToEnd(['owner-code'], env)
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(
      /^The database of DATABASE_URL cannot be used: cannot execute .* in a read-only transaction$/m,
    ),
  ])
  expect(stderr).not.toContain('    at ')
})
