/** Opens the database for a command beside the running service. */
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

/** Opens it, and starts an embedded one that is not running. `close` stops only what was started here. @throws as `openDatabase` does. */
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

/** Whether an embedded database was ever started on a data folder. Creates nothing. */
export async function hasDatabase(dataFolder: string): Promise<boolean> {
  const folder = clusterFolder((await findPackaged()).major)
  return [folder, pointer].some((name) => existsSync(join(dataFolder, name)))
}

/** Whether another database has an installation: it has an account. Creates nothing. */
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

/** The connection to an embedded database opened by another process; null if none runs on the data folder. Starts and changes nothing. */
async function findRunning(dataFolder: string): Promise<Connection | null> {
  const folder = clusterFolder((await findPackaged()).major)
  const { path } = await choosePlace(await prepareDataDir(dataFolder), folder)
  const running = await readPidFile(join(path, folder))
  if (!running) return null
  const password = (await readFile(`${join(path, folder)}.password`, 'utf8')).trim()
  return connectionOf({ password }, running.socketDir)
}
