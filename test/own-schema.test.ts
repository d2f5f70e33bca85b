/** Heliogram in its own schema of a shared database: its user owns the schema, and may create nothing outside it. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPool } from '../server/ground/db/db.ts'
import type { Disposable } from '../server/ground/db/embedded/disposable.ts'
import { runOn, withDatabase } from '../server/ground/db/testing.ts'
import { makeDataFolder, makeEnvironment, runToEnd, startDurable, startProgram, type Program } from './harness.ts'

let server: Disposable
let program: Program
let folder: string
let address: string

/** Creates a database; returns its URL for the user `sms`. */
async function makeDatabase(name: string, locale = 'C.UTF-8'): Promise<string> {
  const admin = withDatabase(server.url, name)
  await runOn(server.url, `create database ${name} encoding 'UTF8' locale '${locale}' template template0`)
  await runOn(admin, 'create schema sms authorization sms; create schema sms_pgboss authorization sms')
  await runOn(admin, 'grant usage on schema sms to sms_request')
  const url = new URL(admin)
  url.username = 'sms'
  url.password = 'x'
  return url.href
}

beforeAll(async () => {
  server = await startDurable('empty')
  folder = await makeDataFolder()
  await runOn(
    server.url,
    `create role sms login password 'x'; create role sms_request nologin; grant sms_request to sms`,
  )
  address = await makeDatabase('shared')
  program = await startProgram({ env: { DATABASE_URL: address } })
})
afterAll(async () => {
  await program?.remove()
  await server?.close()
  await rm(folder, { recursive: true, force: true })
})

test('all its tables exist, its imports run, and a backup of it can be restored', async () => {
  const { client } = program
  const { id } = await client.send({ to: '15552019001', message: 'Hello' }, 'one')
  await client.waitForStatus(id, ['delivered'])
  await client.expect('POST', '/v1/campaigns', { key: 'sale', name: 'Sale' })
  const rows = { contacts: [{ phone_number: '15551231234' }] }
  const imported = await client.expect<{ id: string }>('POST', '/v1/campaigns/sale/contacts/import', rows)
  const status = async (): Promise<string> =>
    (await client.get<{ status: string }>(`/v1/imports/${imported.id}`)).status
  await expect.poll(status).toBe('completed')
  const db = openPool({ connectionString: withDatabase(server.url, 'shared') }, { name: 'look', max: 1 })
  const found = await db.query(
    `select schemaname as schema from pg_tables where schemaname not like 'pg\\_%' and schemaname <> 'information_schema' group by 1 order by 1`,
  )
  await db.end()
  expect(found.rows).toEqual([{ schema: 'sms' }, { schema: 'sms_pgboss' }])

  const file = join(folder, 'a.tar.zst')
  const env = { PATH: process.env['PATH'] ?? '', DATABASE_URL: address, HELIOGRAM_DATA: program.dataFolder }
  expect(await runToEnd(['backup', file], env)).toMatchObject({ code: 0, stderr: '' })
  const restored = { ...env, DATABASE_URL: await makeDatabase('restored') }
  const told = await runToEnd(['restore', file], restored)
  expect(told).toMatchObject({ code: 0, stderr: '' })
  expect(told.stdout).not.toContain('Left out')
  await program.stop()
  await program.restart(restored)
  expect((await client.message(id)).status).toBe('delivered')
})

test('a database that ignores case is refused', async () => {
  const env = await makeEnvironment(folder, { env: { DATABASE_URL: await makeDatabase('plain', 'C') } })
  const { code, stderr } = await runToEnd(['start'], env)
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^The database of DATABASE_URL .* locale 'C\.UTF-8'/m)])
})

test('a user without rights, or without a password, gets instructions', async () => {
  const url = await makeDatabase('strange')
  await runOn(withDatabase(server.url, 'strange'), 'drop schema sms cascade; drop schema sms_pgboss')
  const refused = async (address: string): Promise<string> =>
    (await runToEnd(['start'], await makeEnvironment(folder, { env: { DATABASE_URL: address } }))).stderr
  expect(await refused(url)).toContain('create that schema: create schema pgboss authorization sms')
  await runOn(withDatabase(server.url, 'strange'), 'create schema pgboss authorization sms')
  expect(await refused(url)).toContain('permission denied for schema public; make its user the owner of the database')
  await runOn(withDatabase(server.url, 'strange'), 'create schema sms authorization sms')
  expect(await refused(url)).toContain('create that schema: create schema sms_pgboss authorization sms')
  const silent = new URL(url)
  silent.password = ''
  expect(await refused(silent.href)).toMatch(/it requires a password, and the address has none/)
})
