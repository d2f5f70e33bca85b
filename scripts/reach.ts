/** The database for scripts: that of a running service, or of a stopped one, or what DATABASE_URL names. */
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { readConfig, type Config } from '../server/config.ts'
import { findPackaged } from '../server/db/binaries.ts'
import { clusterFolder, openCluster } from '../server/db/cluster.ts'
import { openPool, type Connection, type Db } from '../server/db/db.ts'
import type { Log } from '../server/db/log.ts'
import { openDatabase } from '../server/db/open.ts'
import { choosePlace, prepareDataDir } from '../server/db/place.ts'
import { findPostmaster } from '../server/db/postmaster.ts'

/** A database that a script may use. */
export interface Reached {
  db: Db
  config: Config
  /** For a person: which database this is. */
  where: string
  close: () => Promise<void>
}

/** Only what is wrong is told. */
const quiet: Log = {
  info: () => {},
  warn: (fields, message) => console.error(message ?? '', fields),
  error: (fields, message) => console.error(message ?? '', fields),
}

/**
 * Connects to the database that `npm start` would use with the same environment. The embedded one is found running, or is started
 * for as long as the script takes (the service cannot start meanwhile).
 */
export async function reachDatabase(name: string): Promise<Reached> {
  const config = readConfig()
  const { connection, where, stop } = await connect(config)
  const db = openPool(connection, { name, max: 4, queryTimeoutMs: 0 })
  return {
    db,
    config,
    where,
    close: async () => {
      await db.end()
      await stop()
    },
  }
}

async function connect(
  config: Config,
): Promise<{ connection: Connection; where: string; stop: () => Promise<unknown> }> {
  const running = config.databaseUrl === null ? await findRunning(config.dataFolder) : undefined
  if (running)
    return { connection: running, where: `the running service's in ${config.dataFolder}`, stop: async () => {} }
  const opened = await openDatabase(config.databaseUrl, config.dataFolder, quiet)
  const where = opened.path ?? new URL(config.databaseUrl ?? 'postgres:').host
  return { connection: opened.connection, where, stop: () => opened.close() }
}

/** The embedded server that a running service has started on the data folder. */
async function findRunning(dataFolder: string): Promise<Connection | undefined> {
  const { major } = await findPackaged()
  const place = await choosePlace(await prepareDataDir(dataFolder), clusterFolder(major))
  const isMade = await access(join(place.path, clusterFolder(major))).then(
    () => true,
    () => false,
  )
  if (!isMade) return undefined
  const cluster = await openCluster(place, major, () => Promise.reject(new Error('the database is gone')))
  return (await findPostmaster(cluster, quiet))?.connection
}
