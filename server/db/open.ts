/** The database of this process: the embedded one in the data folder, or the one that DATABASE_URL names. */
import { escapeIdentifier } from 'pg'
import { openPool, type Connection } from './db.ts'
import { startEmbedded } from './embedded.ts'
import { lockDataDir } from './lock.ts'
import type { Log } from './log.ts'
import { migrate } from './migrate.ts'
import { prepareDataDir } from './place.ts'
import { requireSessions } from './sessions.ts'

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
    await requireSessions(connection)
    await migrate(connection, { log })
    return { connection: await nameSchema(connection), isAlone: false, path: null, close: async () => {} }
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

/**
 * The address, with the schema that its search path leads to. "$user" in a search path is whoever a statement runs as: requests, which run as a
 * role of their own, would look for our tables elsewhere.
 */
export async function nameSchema(connection: { connectionString: string }): Promise<Connection> {
  const pool = openPool(connection, { name: 'schema', max: 1 })
  try {
    const { rows } = await pool.query<{ schema: string }>('select current_schema()::text as schema')
    const url = new URL(connection.connectionString)
    const path = escapeIdentifier(rows[0]?.schema ?? 'public').replace(/[\\ ]/g, '\\$&')
    url.searchParams.set('options', `${url.searchParams.get('options') ?? ''} -c search_path=${path}`)
    return { connectionString: url.href }
  } finally {
    await pool.end()
  }
}
