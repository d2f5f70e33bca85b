/** The embedded database that another process has opened, for a command beside the running service. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findPackaged } from './binaries.ts'
import { clusterFolder, owner } from './cluster.ts'
import type { Connection } from './db.ts'
import { readPidFile } from './pidfile.ts'
import { choosePlace, prepareDataDir } from './place.ts'

/** How to connect to it; null where none runs on the data folder. Starts and changes nothing. */
export async function findRunning(dataFolder: string): Promise<Connection | null> {
  const folder = clusterFolder((await findPackaged()).major)
  const { path } = await choosePlace(await prepareDataDir(dataFolder), folder)
  const running = await readPidFile(join(path, folder))
  if (!running) return null
  const password = (await readFile(`${join(path, folder)}.password`, 'utf8')).trim()
  return { host: running.socketDir, user: owner, password, database: owner }
}
