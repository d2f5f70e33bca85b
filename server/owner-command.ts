/** `heliogram owner-code`: a fresh code for the first owner, whether the service runs or not. */
import { createOwnerCode } from './accounts/owner-code.ts'
import type { Config } from './config.ts'
import { openPool, type Db } from './db/db.ts'
import { DataDirLockedError } from './db/lock.ts'
import type { Log } from './db/log.ts'
import { openDatabase } from './db/open.ts'
import { findRunning } from './db/running.ts'
import { tellOwner } from './greeting.ts'
import { StartError } from './start.ts'

/** The lines to print. @throws StartError where there is nothing to give a code for. */
export async function makeOwnerCode(config: Config, log: Log): Promise<string> {
  const database = await openDatabase(config.databaseUrl, config.dataFolder, log).catch(async (error: unknown) => {
    const running = error instanceof DataDirLockedError ? await findRunning(config.dataFolder) : null
    if (!running) throw error
    return { connection: running, close: async () => {} }
  })
  const db = openPool(database.connection, { name: 'owner code', max: 1 })
  try {
    return await printOwnerCode(db, config.publicUrl)
  } finally {
    await db.end()
    await database.close()
  }
}

/** The same over a database that is open. */
export async function printOwnerCode(db: Db, publicUrl: string): Promise<string> {
  const made = await createOwnerCode(db)
  if (!made) throw new StartError('There is no code to give: the owner has a password, or nothing was started yet.')
  return ['', ...tellOwner(publicUrl, made), ''].join('\n')
}
