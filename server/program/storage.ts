/** What a process keeps its data in: the pools of its database, and the keys of what is sealed there. */
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

/** Opened once a process, and handed to all that is built on it. */
export interface Storage {
  /** For what requests read, and for what may wait. */
  db: Db
  /** The same connections for what a caller asks: it runs as a role that sees its account alone. */
  walledDb: Db
  /** For accept, links and jobs: they and requests do not wait for each other's connections. */
  pipelineDb: Db
  keyFile: KeyFile
  vault: Vault
  keys: DataKeys
  texts: Texts
  contactSeals: ContactSeals
}

/**
 * Opens the pools of a database and makes it ready for this process: its clock, its partitions, the wall between accounts.
 * @throws StartError where the master key is not that of the database, or there is none of one that was used.
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
  // A database that goes takes all connections at once.
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
        // A pool that ends lets go of its connections before they are closed.
        onError: (error) => {
          if (started.stoppingSince === null) losses.note(error.message)
        },
        onResult: (result, from) => openResult({ keys, log }, result, from),
      }),
      (pool) => pool.end(),
    )
  const pipelineMax = Math.ceil(config.databaseConnections / 2)
  const db = open('requests', config.databaseConnections - pipelineMax)
  const pipelineDb = open('pipeline', pipelineMax, pipelineSettings)
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
    keyFile,
    vault,
    keys,
    texts: new Texts(sealing),
    contactSeals: new ContactSeals(sealing),
  }
}
