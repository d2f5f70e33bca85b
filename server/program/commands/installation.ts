import type { Config } from '../config.ts'
import { openPool, type Connection } from '../../ground/db/db.ts'
import type { Log } from '../../ground/db/log.ts'
import { requireWhole } from '../../ground/db/restoring.ts'
import { hasDatabase, hasInstallation, openBeside } from '../../ground/db/running.ts'
import { explainDatabase, StartError } from '../start.ts'

/**
 * Opens the database of an existing installation, with or without a running service, and migrates it by default. @throws StartError if it
 * is missing or incomplete: commands create no installation.
 */
export async function openInstallation(
  config: Config,
  log: Log,
  options: { isMigrating?: boolean } = {},
): Promise<{ connection: Connection; close: () => Promise<void> }> {
  const { databaseUrl, dataFolder } = config
  if (databaseUrl === null && !(await hasDatabase(dataFolder)))
    throw new StartError(
      `There is no database in the data folder ${dataFolder}. Run this with the settings of the service (HELIOGRAM_DATA or DATABASE_URL), or where it runs.`,
    )
  const hasTables =
    databaseUrl === null ||
    (await hasInstallation(databaseUrl).catch((error: unknown) => explainDatabase(error, config)))
  if (!hasTables)
    throw new StartError(
      'The database of DATABASE_URL has no Heliogram tables. Run this with the settings of the service.',
    )
  const explain = (error: unknown): never => explainDatabase(error, config)
  const opened = await openBeside(databaseUrl, dataFolder, log, options).catch(explain)
  const db = openPool(opened.connection, { name: 'whole', max: 1 })
  try {
    await requireWhole(db)
    return opened
  } catch (error) {
    await opened.close()
    return explain(error)
  } finally {
    await db.end()
  }
}
