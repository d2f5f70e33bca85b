/** What a command works on: the installation that the settings name, which has to be there. */
import type { Config } from '../config.ts'
import type { Connection } from '../db/db.ts'
import type { Log } from '../db/log.ts'
import { hasDatabase, hasInstallation, openBeside } from '../db/running.ts'
import { explainDatabase, StartError } from '../start.ts'

/** Opens its database, whether the service runs or not. @throws StartError where there is none: a command makes no installation. */
export async function openInstallation(
  config: Config,
  log: Log,
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
      'There is no Heliogram in the database of DATABASE_URL. Run this with the settings of the service.',
    )
  return await openBeside(databaseUrl, dataFolder, log).catch((error: unknown) => explainDatabase(error, config))
}
