/** `heliogram restore FILE`: restores into an empty database. If it fails, no service starts on the result. */
import { existsSync } from 'node:fs'
import { escapeIdentifier } from 'pg'
import type { Config } from '../../config.ts'
import { migrate, ourMigrations } from '../../../ground/db/migrate.ts'
import { createDays } from '../../../ground/db/partitions.ts'
import { openKeyFile, requireMasterKey, StartError } from '../../start.ts'
import { openVault } from '../../../ground/sealing/vault.ts'
import { untilStopped, type CommandContext } from '../command.ts'
import { openArchive, standardStream, type ArchiveSource } from './archive.ts'
import { notWhole } from './check.ts'
import { finishRestore, type FinishOptions } from './finish.ts'
import type { BackupHeader } from './format.ts'
import { findMissingKeys, showKeys } from './keys.ts'
import { Loader } from './load.ts'
import { tellProgress, type Progress } from './progress.ts'
import { BackupError, readBackup } from './read.ts'
import { tellRestored } from './restored.ts'
import { findTableNames } from './tables.ts'
import { openTarget, type Target } from './target.ts'

export async function restore(context: CommandContext, file: string, options: FinishOptions): Promise<string> {
  const { signal } = context
  const source = await openArchive(file)
  const progress = tellProgress()
  const opened: Opened = { target: null }
  try {
    return await untilStopped(signal, restoreFrom(source, opened, progress, context, options))
  } catch (error) {
    progress.close()
    throw explain(error, { file, isBegun: opened.target !== null, isAborted: signal.aborted })
  } finally {
    source.close()
    await opened.target?.close()
  }
}

interface Opened {
  target: Target | null
}

async function restoreFrom(
  source: ArchiveSource,
  opened: Opened,
  progress: Progress,
  context: CommandContext,
  options: FinishOptions,
): Promise<string> {
  const { config, log, signal } = context
  const startedAt = performance.now()
  const ours = await ourMigrations()
  let loader: Loader | null = null
  const { header } = await readBackup(source.octets, {
    begin: async (found) => {
      requireKnownSchema(found, ours)
      requireKey(found, config, options.isWithoutKey)
      const target = (opened.target = await openTarget(config, log))
      progress.at('making tables', source.fraction())
      loader = await prepare(target, found, context)
    },
    rows: async (table, piece) => {
      signal.throwIfAborted()
      progress.at(table, source.fraction())
      await loader?.write(table, piece)
      progress.add(piece.length)
    },
  })
  const { target } = opened
  const loaded = loader as Loader | null
  if (!target || !loaded) throw new Error('a backup was read without its beginning')
  await loaded.end()
  progress.at('statistics', 1)
  for (const name of loaded.tables.keys()) await target.tx.query(`analyze ${escapeIdentifier(name)}`)
  await migrate(target.connection, { log, restore: { upTo: ours.length } })
  const keyFile = openKeyFile(config)
  if (!options.isWithoutKey) await requireMasterKey(target.db, keyFile, openVault(keyFile))
  const finished = await finishRestore({ ...target, log }, options)
  progress.close()
  const seconds = (performance.now() - startedAt) / 1000
  return tellRestored({ header, loaded, seconds, finished, options, config })
}

/** Creates the backup's tables and days, empty. */
async function prepare({ connection, db, tx }: Target, header: BackupHeader, { log }: CommandContext): Promise<Loader> {
  await migrate(connection, { log, restore: { upTo: header.migrations.length } })
  const made = await findTableNames(tx)
  const tables = header.tables.filter(({ name }) => made.has(name))
  // Rows of migrations are in the backup, as they were then.
  for (const { name } of tables.toReversed()) await tx.query(`delete from ${escapeIdentifier(name)}`)
  for (const { name, days } of tables) await createDays(db, log, name, days)
  const { rows } = await tx.query<{ next: string }>('select pg_snapshot_xmax(pg_current_snapshot())::text as next')
  return new Loader(tx, tables, BigInt(header.nextTransaction) - BigInt(rows[0]?.next ?? 0))
}

function requireKnownSchema({ program, migrations }: BackupHeader, ours: readonly string[]): void {
  const unknown = migrations.find((name, at) => name !== ours[at])
  if (unknown !== undefined)
    throw new StartError(
      `The backup was made by a newer Heliogram (${program}, with ${unknown}, unknown here): restore it with that version, or a newer one.`,
    )
}

function requireKey({ keys }: BackupHeader, config: Config, isWithoutKey: boolean): void {
  if (isWithoutKey) return
  const { keyFile } = config
  const missing = findMissingKeys(keys, config)
  if (missing.length === 0 && existsSync(keyFile)) return
  const is = !existsSync(keyFile)
    ? 'does not exist'
    : missing.length < keys.length
      ? 'does not have all of it'
      : 'has a different one'
  throw new StartError(
    [
      `Encrypted data in the backup needs the master key ${showKeys(keys)}, and the key file ${keyFile} ${is}.`,
      'Put your copy of it there (HELIOGRAM_KEY_FILE names another place). If it is lost for good, --without-key deletes what it',
      'encrypted: texts and contacts, passwords of carriers, secrets of webhooks, second factors (heliogram restore --help).',
    ].join('\n'),
  )
}

interface Circumstances {
  file: string
  isBegun: boolean
  isAborted: boolean
}

function explain(error: unknown, { file, isBegun, isAborted }: Circumstances): unknown {
  const name = file === standardStream ? 'Standard input' : file
  const say = (reason: string, after: string): StartError => new StartError(`${reason}\n${after}`, { cause: error })
  const after = isBegun
    ? 'The database is incomplete, and nothing starts on it: run the restore again, it starts from the beginning.'
    : 'Nothing was changed.'
  if (isAborted) return say('The restore was interrupted.', after)
  if (error instanceof BackupError) return say(notWhole(name, error), after)
  return isBegun && error instanceof Error ? say(`The restore failed: ${error.message}`, after) : error
}
