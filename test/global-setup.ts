import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { findParent, startDisposable } from '../server/ground/db/embedded/disposable.ts'
import { migrate } from '../server/ground/db/migrate.ts'
import { runOn, withDatabase, type TestServer } from '../server/ground/db/testing.ts'
import { openDoor } from '../server/ground/db/door-testing.ts'
import { foldersVariable, prepareFolders } from './prepared.ts'
import { serviceVariable, startService } from './shared-program.ts'

const quiet = {
  info: () => {},
  warn: (fields: object, message: string) => console.warn(message, fields),
  error: (fields: object, message: string) => console.error(message, fields),
}

/**
 * Shared by all tests of a run and created on first use: one PostgreSQL (embedded, or the server of TEST_DATABASE_URL, whose role may create
 * databases), data folders for the programs that tests start, and one running service.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'heliogram-vitest-'))
  const server = await openDoor(join(folder, 'server'), async () => {
    const started = await startTestServer(process.env.TEST_DATABASE_URL)
    return { value: started.server, close: () => started.close() }
  })
  const folders = await openDoor(join(folder, 'folders'), async () => {
    // The next run removes it by this name if this one is killed.
    const value = await mkdtemp(join(await findParent(), `heliogram-test-${process.pid}-`))
    // For root PostgreSQL runs as another account, which must reach its folder.
    await chmod(value, 0o711)
    await prepareFolders(value, quiet)
    return { value, close: () => rm(value, { recursive: true, force: true }) }
  })
  project.provide('testServer', server.path)
  process.env[foldersVariable] = folders.path
  const service = await openDoor(join(folder, 'service'), startService)
  process.env[serviceVariable] = service.path
  return async () => {
    // PostgreSQL's programs in its folder are links to a prepared one.
    await service.close()
    await Promise.all([server.close(), folders.close()])
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
    // A database with connections cannot be cloned, and autovacuum connects.
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
