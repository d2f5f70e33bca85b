/** The database of this process: the embedded one in the data folder, or the one that DATABASE_URL names. */
import type { Connection } from './db.ts'
import { startEmbedded } from './embedded.ts'
import { lockDataDir } from './lock.ts'
import type { Log } from './log.ts'
import { migrate } from './migrate.ts'
import { prepareDataDir } from './place.ts'

export interface OpenDatabase {
  connection: Connection
  /** No other process can use it: its folder is locked by this one. */
  isAlone: boolean
  /** Where the embedded database keeps its files; null for another one. */
  path: string | null
  close(): Promise<void>
}

/** Starts or connects, and migrates. @throws DataDirLockedError, or what the database says. */
export async function openDatabase(databaseUrl: string | null, dataFolder: string, log: Log): Promise<OpenDatabase> {
  if (databaseUrl !== null) {
    const connection = { connectionString: databaseUrl }
    await migrate(connection, { log })
    return { connection, isAlone: false, path: null, close: async () => {} }
  }
  const dataDir = await prepareDataDir(dataFolder)
  const lock = await lockDataDir(dataDir)
  try {
    const embedded = await startEmbedded({ dataDir, log })
    try {
      await migrate(embedded.connection, { log })
    } catch (error) {
      await embedded.close()
      throw error
    }
    const close = async (): Promise<void> => {
      await embedded.close()
      await lock.release()
    }
    return { connection: embedded.connection, isAlone: true, path: embedded.dataPath, close }
  } catch (error) {
    await lock.release()
    throw error
  }
}
