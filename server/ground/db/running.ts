/** The database for a command beside the running service: as the service opens it, or as it has opened it. */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findPackaged } from './embedded/binaries.ts'
import { clusterFolder } from './embedded/cluster.ts'
import { openPool, type Connection } from './db.ts'
import { DataDirLockedError } from './lock.ts'
import type { Log } from './log.ts'
import { openDatabase } from './open.ts'
import { readPidFile } from './embedded/pidfile.ts'
import { choosePlace, pointer, prepareDataDir } from './embedded/place.ts'
import { connectionOf } from './embedded/postmaster.ts'

/** Opens it, and starts an embedded one that does not run. `close` stops what was started here, and nothing else. @throws as `openDatabase` does. */
export async function openBeside(
  databaseUrl: string | null,
  dataFolder: string,
  log: Log,
  options: { isMigrating?: boolean } = {},
): Promise<{ connection: Connection; close: () => Promise<void> }> {
  try {
    return await openDatabase(databaseUrl, dataFolder, log, options)
  } catch (error) {
    const connection = error instanceof DataDirLockedError ? await findRunning(dataFolder) : null
    if (!connection) throw error
    return { connection, close: async () => {} }
  }
}

/** Whether an embedded one was ever started on a data folder. Makes nothing. */
export async function hasDatabase(dataFolder: string): Promise<boolean> {
  const folder = clusterFolder((await findPackaged()).major)
  return [folder, pointer].some((name) => existsSync(join(dataFolder, name)))
}

/** Whether something was ever started on another database: it has an account. Makes nothing. */
export async function hasInstallation(databaseUrl: string): Promise<boolean> {
  const pool = openPool({ connectionString: databaseUrl }, { name: 'installation', max: 1 })
  try {
    const { rows } = await pool.query<{ isMigrated: boolean }>(
      `select to_regclass('accounts') is not null and to_regclass('nodes') is not null as "isMigrated"`,
    )
    return rows[0]?.isMigrated === true && (await pool.query('select from accounts limit 1')).rowCount === 1
  } finally {
    await pool.end()
  }
}

/** How to connect to the embedded one that another process has opened; null where none runs on the data folder. Starts and changes nothing. */
async function findRunning(dataFolder: string): Promise<Connection | null> {
  const folder = clusterFolder((await findPackaged()).major)
  const { path } = await choosePlace(await prepareDataDir(dataFolder), folder)
  const running = await readPidFile(join(path, folder))
  if (!running) return null
  const password = (await readFile(`${join(path, folder)}.password`, 'utf8')).trim()
  return connectionOf({ password }, running.socketDir)
}
