import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startDisposable } from '../server/db/embedded/disposable.ts'
import { migrate } from '../server/db/migrate.ts'
import { runOn, withDatabase, type TestServer } from '../server/db/testing.ts'

const quiet = {
  info: () => {},
  warn: (fields: object, message: string) => console.warn(message, fields),
  error: (fields: object, message: string) => console.error(message, fields),
}

/**
 * One PostgreSQL for the whole run, started when the first test asks for a database, so that runs without one cost nothing:
 * an embedded one, or the server of TEST_DATABASE_URL (whose role may create databases).
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'heliogram-vitest-'))
  let started: ReturnType<typeof startTestServer> | undefined
  const door = createServer((socket) => {
    socket.on('error', () => {})
    started ??= startTestServer(process.env.TEST_DATABASE_URL)
    started.then(
      ({ server }) => socket.end(JSON.stringify(server)),
      (error: unknown) => socket.end(JSON.stringify({ error: String(error) })),
    )
  })
  const path = join(folder, 'door')
  await new Promise<void>((resolve) => door.listen(path, resolve))
  project.provide('testServer', path)
  return async () => {
    door.close()
    await (await started?.catch(() => undefined))?.close()
    await rm(folder, { recursive: true, force: true })
  }
}

async function startTestServer(givenUrl: string | undefined): Promise<{ server: TestServer; close(): Promise<void> }> {
  const own = givenUrl === undefined ? await startDisposable(quiet) : undefined
  const url = own?.url ?? givenUrl ?? ''
  const template = `heliogram_template_${randomBytes(6).toString('hex')}`
  try {
    await runOn(url, `create database ${template} encoding 'UTF8' template template0`)
    await migrate({ connectionString: withDatabase(url, template) }, { log: quiet, isDisposable: true })
    // A database that someone is connected to cannot be cloned, and autovacuum is someone.
    await runOn(url, `alter database ${template} with allow_connections false`)
  } catch (error) {
    await own?.close()
    throw error
  }
  const close = async () => {
    if (own === undefined) await runOn(url, `drop database ${template} with (force)`)
    else await own.close()
  }
  return { server: { url, template }, close }
}
