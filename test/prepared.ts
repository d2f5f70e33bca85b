/** Data folders made once per run and copied by tests: initdb and the migrations take five seconds of CPU. */
import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startEmbedded } from '../server/ground/db/embedded/embedded.ts'
import { prepareDataDir } from '../server/ground/db/embedded/place.ts'
import type { Log } from '../server/ground/db/log.ts'
import { migrate } from '../server/ground/db/migrate.ts'
import { askMain } from '../server/ground/db/door-testing.ts'

/** `empty`: after initdb. `migrated`: also with all tables but no account, so that the service still makes its first start. */
export type Kind = 'empty' | 'migrated'

/**
 * Path of the unix socket of `test/global-setup.ts` that returns their location, and creates them on the first request. Not set outside a run of
 * tests.
 */
export const foldersVariable = 'TEST_PREPARED_FOLDERS'

const run = promisify(execFile)

/** Creates both in a folder that PostgreSQL's own account can pass through. */
export async function prepareFolders(parent: string, log: Log): Promise<void> {
  const open = (kind: Kind): ReturnType<typeof startEmbedded> =>
    // Nothing here must survive a crash; the copies have their own settings.
    startEmbedded({ dataDir: join(parent, kind), log, settings: { fsync: 'off', full_page_writes: 'off' } })
  const close = async (embedded: Awaited<ReturnType<typeof open>>): Promise<void> => {
    await embedded.close()
    await rm(`${embedded.dataPath}.log`)
  }
  await prepareDataDir(join(parent, 'empty'))
  await close(await open('empty'))
  await copy(join(parent, 'empty'), join(parent, 'migrated'))
  const embedded = await open('migrated')
  await migrate(embedded.connection, { log, isDisposable: true })
  await close(embedded)
}

/** Makes `dataFolder`, which must not exist, a copy of a prepared one; does nothing outside a run of tests. */
export async function fillDataFolder(dataFolder: string, kind: Kind): Promise<void> {
  const door = process.env[foldersVariable]
  if (door !== undefined) await copy(join(await askMain<string>(door), kind), dataFolder)
}

/** Keeps the owners of files, like cp. PostgreSQL's programs, which never change, are linked if possible. */
async function copy(from: string, to: string): Promise<void> {
  await prepareDataDir(to)
  const script = 'cp -a "$1"/pg[0-9]* "$2" && { cp -al "$1"/pg "$2" 2>/dev/null || cp -a "$1"/pg "$2"; }'
  await run('sh', ['-c', script, 'sh', from, to])
}
