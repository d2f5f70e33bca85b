/** `heliogram backup FILE`: copies the whole database, with or without a running service. */
import { openPool } from '../../../ground/db/db.ts'
import { codeOf, isUnavailable } from '../../../ground/db/failure.ts'
import { appliedNames, ourMigrations } from '../../../ground/db/migrate.ts'
import { StartError } from '../../start.ts'
import { untilStopped, type CommandContext } from '../command.ts'
import { openInstallation } from '../installation.ts'
import { compress, standardStream, writeArchive } from './archive.ts'
import { showBytes, showMany } from './format.ts'
import { tellProgress } from './progress.ts'
import { writeBackup, type Written } from './write.ts'

export async function backUp({ config, log, version, signal }: CommandContext, file: string): Promise<string> {
  if (file === standardStream && process.stdout.isTTY)
    throw new StartError('A backup cannot be written to a terminal: name a file, or pipe "-" into another program.')
  const { connection, close } = await openInstallation(config, log, { isMigrating: false })
  const db = openPool(connection, { name: 'backup', max: 1, queryTimeoutMs: 0 })
  const progress = tellProgress()
  const startedAt = performance.now()
  try {
    const ours = await ourMigrations()
    const newer = (await appliedNames(db)).filter((name) => !ours.includes(name))
    if (newer.length > 0)
      throw new StartError(
        `The database was migrated by a newer Heliogram (it has ${newer.join(', ')}, unknown here): make the backup with that version.`,
      )
    let written: Written | null = null
    const fill = async (write: (octets: Buffer) => Promise<void>): Promise<void> => {
      written = await writeBackup({ db, program: version, progress, signal }, write)
    }
    const writing = file === standardStream ? compress(process.stdout, fill) : writeArchive(file, fill)
    const bytes = await untilStopped(signal, writing)
    progress.close()
    if (!written) throw new Error('a backup was written without a manifest')
    const lines = summarize(written, {
      file,
      bytes,
      seconds: (performance.now() - startedAt) / 1000,
      keyFile: config.keyFile,
    })
    if (file !== standardStream) return lines
    process.stderr.write(lines)
    return ''
  } catch (error) {
    progress.close()
    if (signal.aborted) throw new StartError('The backup was interrupted: no file was written.', { cause: error })
    if (file === standardStream && codeOf(error) === 'EPIPE')
      throw new StartError('The reader of the backup has closed its end: it does not have the whole backup.', {
        cause: error,
      })
    if (isUnavailable(error))
      throw new StartError('The database connection was lost: no backup was written.', { cause: error })
    throw error
  } finally {
    // After an abort, `end` would wait for the running statement, such as one that waits for a lock.
    if (!signal.aborted) await db.end()
    await close()
  }
}

interface Made {
  file: string
  bytes: number
  seconds: number
  keyFile: string
}

function summarize({ header, manifest }: Written, { file, bytes, seconds, keyFile }: Made): string {
  const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0)
  const raw = manifest.tables.reduce((sum, table) => sum + table.bytes, 0)
  const name = file === standardStream ? 'FILE' : file
  return [
    `The backup is complete: ${showMany(rows, 'row')} of ${showMany(manifest.tables.length, 'table')} as of ${header.takenAt}, ${showBytes(raw)} in ${showBytes(bytes)}, in ${seconds.toFixed(1)} s.`,
    header.keys.length === 0
      ? "Encrypted data in it needs the master key, which is not known here: keep a copy of the service's key file, separate from the backup."
      : `Encrypted data in it needs the master key with the id ${header.keys.join(' or ')}, which is not in the backup: keep a copy of ${keyFile} separately.`,
    `Verify it with: heliogram backup --check ${name}`,
    '',
  ].join('\n')
}
