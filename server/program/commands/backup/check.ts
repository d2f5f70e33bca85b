/** `heliogram backup --check FILE`: checks that a backup is complete, and lists its contents. */
import type { Config } from '../../config.ts'
import { StartError } from '../../start.ts'
import type { CommandContext } from '../command.ts'
import { openArchive } from './archive.ts'
import { showBytes, showCount, showMany, type BackupHeader, type BackupManifest } from './format.ts'
import { findMissingKeys, showKeys } from './keys.ts'
import { tellProgress } from './progress.ts'
import { BackupError, readBackup } from './read.ts'

/** Reads all of it; returns the text to print. @throws StartError if it is not complete. */
export async function checkBackup({ config, signal }: CommandContext, file: string): Promise<string> {
  const source = await openArchive(file)
  const progress = tellProgress()
  try {
    const { header, manifest } = await readBackup(source.octets, {
      begin: async () => {},
      rows: async (table, piece) => {
        signal.throwIfAborted()
        progress.at(table, source.fraction())
        progress.add(piece.length)
      },
    })
    return describeBackup(header, manifest, config)
  } catch (error) {
    if (error instanceof BackupError) throw new StartError(notWhole(file, error), { cause: error })
    throw error
  } finally {
    progress.close()
    source.close()
  }
}

export const notWhole = (file: string, error: BackupError): string =>
  `${file} is not a complete backup: ${error.message}.`

function describeBackup(header: BackupHeader, { tables }: BackupManifest, config: Config): string {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  const bytes = tables.reduce((sum, table) => sum + table.bytes, 0)
  const largest = tables.filter((table) => table.rows > 0).sort((one, other) => other.rows - one.rows)
  const width = Math.max(...largest.map(({ name }) => name.length), 0)
  const missing = header.keys.length === 0 ? null : findMissingKeys(header.keys, config)
  return [
    `The backup is complete: ${showMany(rows, 'row')} of ${showMany(tables.length, 'table')}, ${showBytes(bytes)}, every checksum is right.`,
    '',
    `  taken at     ${header.takenAt}`,
    `  program      Heliogram ${header.program}`,
    `  schema       ${header.migrations.at(-1) ?? 'none'}`,
    `  PostgreSQL   ${header.postgres}`,
    `  master key   ${showKeys(header.keys)}${missing === null ? '' : missing.length === 0 ? `, which ${config.keyFile} has` : `, which ${config.keyFile} has not`}`,
    '',
    ...largest.map(
      (table) => `  ${table.name.padEnd(width)}  ${showCount(table.rows).padStart(13)}  ${showBytes(table.bytes)}`,
    ),
    '',
  ].join('\n')
}
