/** The storage of a process: database pools, and keys of sealed data. */
import type { Logger } from 'pino'
import type { Config } from './config.ts'
import { readClock } from '../ground/db/clock.ts'
import { openPool, type Db } from '../ground/db/db.ts'
import type { OpenDatabase } from '../ground/db/open.ts'
import { ensurePartitions } from '../ground/db/partitions.ts'
import { pipelineSettings } from '../ground/db/pipeline.ts'
import { primaryOf } from '../ground/db/primary.ts'
import { openWall } from '../ground/db/scoped.ts'
import { renumberEvents } from '../events/events-restored.ts'
import { Repeated } from '../ground/http/repeated.ts'
import { ContactSeals } from '../ground/sealing/contact-fields.ts'
import { DataKeys } from '../ground/sealing/data-keys.ts'
import type { KeyFile } from '../ground/sealing/master-key.ts'
import { openResult, Texts } from '../ground/sealing/texts.ts'
import { openVault, type Vault } from '../ground/sealing/vault.ts'
import { openKeyFile, requireKeyFile, requireMasterKey } from './start.ts'
import type { Started } from './started.ts'

export interface Storage {
  /** For requests, and for background work. */
  db: Db
  /** The same connections for callers' requests, in a role that sees only their account. */
  walledDb: Db
  /** For accept, links and jobs, so that they and requests do not compete for connections. */
  pipelineDb: Db
  /** Its last commits may be lost when the server crashes. */
  endsDb: Db
  keyFile: KeyFile
  vault: Vault
  keys: DataKeys
  texts: Texts
  contactSeals: ContactSeals
}

/**
 * Opens the pools and prepares the database for this process: its clock, its partitions, the wall between accounts.
 * @throws StartError if the master key is not the database's, or is missing for a used one.
 */
export async function openStorage(
  { connection }: OpenDatabase,
  config: Config,
  log: Logger,
  started: Started,
): Promise<Storage> {
  await requireKeyFile(connection, config)
  const keyFile = openKeyFile(config)
  keyFile.onOther = () => log.error({ file: keyFile.path }, 'the key file was replaced: the new one is not used')
  const vault = openVault(keyFile)
  const keys = new DataKeys(vault)
  // A database that goes down loses all connections at once.
  const losses = new Repeated((error, times) => log.warn({ error, times }, 'database connection lost'))
  started.add('lost connections', losses, (one) => one.flush())
  const primary = primaryOf(connection.connectionString)
  if (primary) primary.onMove = (move) => log.warn(move, 'another host is the primary')
  const open = (name: string, max: number, settings: Record<string, string> = {}): Db =>
    started.add(
      `${name} pool`,
      openPool(connection, {
        name,
        max,
        settings,
        // An ending pool drops its connections before they are closed.
        onError: (error) => {
          if (started.stoppingSince === null) losses.note(error.message)
        },
        onResult: (result, from) => openResult({ keys, log }, result, from),
      }),
      (pool) => pool.end(),
    )
  const pipelineMax = Math.ceil(config.databaseConnections / 2)
  const db = open('requests', config.databaseConnections - pipelineMax)
  const pipelineDb = open('pipeline', pipelineMax - 1, pipelineSettings)
  const endsDb = open('ends', 1, { ...pipelineSettings, synchronous_commit: 'off' })
  await readClock(db)
  await ensurePartitions(db, log)
  await renumberEvents(db, log)
  const walledDb = await openWall(db, log)
  await requireMasterKey(db, keyFile, vault)
  const sealing = { db, keys, vault, isSealing: config.encryptsContent }
  return {
    db,
    walledDb,
    pipelineDb,
    endsDb,
    keyFile,
    vault,
    keys,
    texts: new Texts(sealing),
    contactSeals: new ContactSeals(sealing),
  }
}
