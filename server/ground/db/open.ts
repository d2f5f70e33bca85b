/** The database of this process: the embedded one in the data folder, or the one that DATABASE_URL names. */
import { escapeIdentifier } from 'pg'
import { openPool, type Connection } from './db.ts'
import { startEmbedded } from './embedded/embedded.ts'
import { changeAddress } from './hosts.ts'
import { lockDataDir } from './lock.ts'
import type { Log } from './log.ts'
import { migrate } from './migrate.ts'
import { prepareDataDir } from './embedded/place.ts'
import { requireSessions } from './sessions.ts'

export interface OpenDatabase {
  connection: Connection
  /** No other process can use it: this one has locked its folder. */
  isAlone: boolean
  /** Path of the embedded database; null for another one. */
  path: string | null
  close(): Promise<void>
}

/** Starts or connects, and migrates by default. @throws DataDirLockedError, or database errors. */
export async function openDatabase(
  databaseUrl: string | null,
  dataFolder: string,
  log: Log,
  { isMigrating = true }: { isMigrating?: boolean } = {},
): Promise<OpenDatabase> {
  if (databaseUrl !== null) {
    const connection = { connectionString: databaseUrl }
    await requireSessions(connection)
    if (isMigrating) await migrate(connection, { log })
    return { connection: await setUpSessions(connection), isAlone: false, path: null, close: async () => {} }
  }
  const dataDir = await prepareDataDir(dataFolder)
  const lock = await lockDataDir(dataDir)
  try {
    const embedded = await startEmbedded({ dataDir, log })
    try {
      if (isMigrating) await migrate(embedded.connection, { log })
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

// The server detects that we are gone: otherwise it would keep our connections for hours after a network failure.
const keepAlive = '-c tcp_keepalives_idle=60 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=3'
// As in the embedded server (`settings.ts`). Servers on Windows only allow 0, and would refuse the connection.
const check = { name: 'client_connection_check_interval', value: '5s' }

/**
 * The address with session settings: how soon the server notices that we are gone, unless the address sets it, and the schema of its search
 * path. "$user" in a search path is the role of a statement: requests, which have their own role, would look for our tables elsewhere.
 */
export async function setUpSessions(connection: { connectionString: string }): Promise<Connection> {
  const pool = openPool(connection, { name: 'schema', max: 1 })
  try {
    const { rows } = await pool.query<{ schema: string }>('select current_schema()::text as schema')
    const canCheck = await pool.query(`set ${check.name} = '${check.value}'`).then(
      () => true,
      () => false,
    )
    const path = escapeIdentifier(rows[0]?.schema ?? 'public').replace(/[\\ ]/g, '\\$&')
    const connectionString = changeAddress(connection.connectionString, ({ searchParams }) => {
      const options = [
        keepAlive,
        ...(canCheck ? [`-c ${check.name}=${check.value}`] : []),
        searchParams.get('options') ?? '',
        `-c search_path=${path}`,
      ]
      searchParams.set('options', options.join(' '))
    })
    return { connectionString }
  } finally {
    await pool.end()
  }
}
