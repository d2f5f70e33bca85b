/** `heliogram rotate-key`: a new master key, with or without a running service. */
import { existsSync } from 'node:fs'
import type { Config } from '../config.ts'
import { openPool } from '../../ground/db/db.ts'
import type { Log } from '../../ground/db/log.ts'
import { rotateMasterKey, RotationRunningError } from '../../ground/sealing/rotate-key.ts'
import { openVault } from '../../ground/sealing/vault.ts'
import { openKeyFile, requireMasterKey, StartError } from '../start.ts'
import { openInstallation } from './installation.ts'

export async function rotateKey(config: Config, log: Log): Promise<string> {
  const { connection, close } = await openInstallation(config, log)
  const db = openPool(connection, { name: 'rotate-key', max: 3, queryTimeoutMs: 0 })
  try {
    // A file created now would match no key, and its rotation would look like one of the service.
    if (!existsSync(config.keyFile))
      throw new StartError(
        `There is no key file ${config.keyFile}. Run this with the settings of the service (HELIOGRAM_KEY_FILE).`,
      )
    const keyFile = openKeyFile(config)
    await requireMasterKey(db, keyFile, openVault(keyFile))
    const say = (line: string): void => void process.stdout.write(`${line}\n`)
    const { changed, unopenable } = await rotateMasterKey({ db, keyFile, say })
    const foreign = [...new Set(unopenable)]
    return [
      `Done: all secrets are encrypted with the new key (${changed} of them just now), and the old one is no longer in ${config.keyFile}.`,
      'Back up that file now, separately from the database. Keep the old one for as long as you keep a backup of the database from before.',
      'Other machines with a copy of it need the new one; running processes have both keys until they restart.',
      ...(foreign.length > 0
        ? [
            `${unopenable.length} secrets were encrypted with a key that is not in it, and stay unchanged: ${foreign.join(', ')}.`,
          ]
        : []),
      '',
    ].join('\n')
  } catch (error) {
    if (error instanceof RotationRunningError) throw new StartError(error.message)
    // Only file system errors have a path.
    if (error instanceof Error && 'path' in error)
      throw new StartError(
        `The key file cannot be replaced: ${error.message}. If it is read-only, run this command with a copy of it (HELIOGRAM_KEY_FILE) and put the changed copy in its place (docs/runbooks.md, "Rotate the master key").`,
        { cause: error },
      )
    throw error
  } finally {
    await db.end()
    await close()
  }
}
