import type { Config } from '../server/program/config.ts'
import { openPool, type Db } from '../server/ground/db/db.ts'
import { hostsOf } from '../server/ground/db/hosts.ts'
import type { Log } from '../server/ground/db/log.ts'
import { openBeside } from '../server/ground/db/running.ts'
import { explainDatabase } from '../server/program/start.ts'
import { readSettings } from './options.ts'

export interface Reached {
  db: Db
  config: Config
  where: string
  close: () => Promise<void>
}

const quiet: Log = {
  info: () => {},
  warn: (fields, message) => console.error(message ?? '', fields),
  error: (fields, message) => console.error(message ?? '', fields),
}

/**
 * Connects to the database that `npm start` would use. The embedded one is used while it runs, or started for the duration of the script (then
 * the service cannot start). Exits with the reason on failure.
 */
export async function reachDatabase(name: string): Promise<Reached> {
  const config = readSettings()
  const { databaseUrl, dataFolder } = config
  const { db, close } = await open(name, config).catch((error: unknown) => tell(error, config))
  return {
    db,
    config,
    where:
      databaseUrl === null
        ? dataFolder
        : (hostsOf(databaseUrl)
            ?.map(({ name }) => name)
            .join(' or ') ?? new URL(databaseUrl).host),
    close: async () => {
      await db.end()
      await close()
    },
  }
}

async function open(name: string, { databaseUrl, dataFolder }: Config): Promise<Pick<Reached, 'db' | 'close'>> {
  const { connection, close } = await openBeside(databaseUrl, dataFolder, quiet)
  const db = openPool(connection, { name, max: 4, queryTimeoutMs: 0 })
  await db.query('select')
  return { db, close }
}

function tell(error: unknown, config: Config): never {
  try {
    return explainDatabase(error, config)
  } catch (explained) {
    console.error(explained instanceof Error ? explained.message : explained)
    return process.exit(1)
  }
}
