/** The empty database for a restore. */
import { setTimeout as sleep } from 'node:timers/promises'
import { escapeIdentifier } from 'pg'
import type { Config } from '../../config.ts'
import { openPool, type Connection, type Db, type Tx } from '../../../ground/db/db.ts'
import type { Log } from '../../../ground/db/log.ts'
import { openDatabase } from '../../../ground/db/open.ts'
import { beginRestoring, endRestoring, isRestoring, restoringTable } from '../../../ground/db/restoring.ts'
import { queueSchemaOf, schemaOf } from '../../../ground/db/schema-name.ts'
import { liftTimeouts } from '../../../ground/db/timeouts.ts'
import { explainDatabase, StartError } from '../../start.ts'

/** Locked against other restores. */
export interface Target {
  connection: Connection
  db: Db
  /** Its session holds the lock of the restore. */
  tx: Tx
  close: () => Promise<void>
}

// PostgreSQL needs time to notice that the session of a killed restore is gone.
const lockWithinMs = 15_000
// Each is a lock, with those of its indexes.
const dropAtOnce = 50

/**
 * Opens the database and marks it as being restored, so that no service starts on it. Drops the rest of an interrupted restore. @throws
 * StartError if anything else is there, and leaves it unchanged.
 */
export async function openTarget(config: Config, log: Log): Promise<Target> {
  const { databaseUrl, dataFolder } = config
  const explain = (error: unknown): never => explainDatabase(error, config)
  const opened = await openDatabase(databaseUrl, dataFolder, log, { isMigrating: false }).catch(explain)
  const { connection } = opened
  // A restore lost in a machine crash is repeated; the last commit waits for the disk, and so for all earlier ones.
  const settings = { synchronous_commit: 'off', idle_in_transaction_session_timeout: '0' }
  const db = openPool(connection, { name: 'restore', max: 2, settings, queryTimeoutMs: 0 })
  const held: Tx[] = []
  const close = async (): Promise<void> => {
    for (const tx of held) tx.release(true)
    await db.end()
    await opened.close()
  }
  try {
    const tx = await db.connect().catch(explain)
    held.push(tx)
    await tx.query(liftTimeouts(false))
    await lock(tx)
    await begin(tx, config)
    return { connection, db, tx, close }
  } catch (error) {
    await close()
    throw error
  }
}

async function lock(tx: Tx): Promise<void> {
  const until = performance.now() + lockWithinMs
  for (;;) {
    const { rows } = await tx.query<{ isOurs: boolean }>(
      `select pg_try_advisory_lock(hashtextextended('heliogram restore', 0)) as "isOurs"`,
    )
    if (rows[0]?.isOurs === true) return
    if (performance.now() > until)
      throw new StartError('Another restore is running on this database. Wait until it ends.')
    await sleep(200)
  }
}

async function begin(tx: Tx, config: Config): Promise<void> {
  const refuse = (things: string[]): never => {
    throw new StartError(notEmpty(config, things))
  }
  if (await isRestoring(tx)) await empty(tx)
  else {
    const found = await findThings(tx)
    if (found.length > 0) refuse(found)
    await beginRestoring(tx)
    // A service that was starting has created its tables by now, or is refused.
    const since = await findThings(tx)
    if (since.length === 0) return
    await endRestoring(tx)
    refuse(since)
  }
}

function notEmpty({ databaseUrl, dataFolder }: Config, things: string[]): string {
  const what = databaseUrl === null ? `The data folder ${dataFolder}` : 'The database of DATABASE_URL'
  const shown = `${things.slice(0, 3).join(', ')}${things.length > 3 ? ` and ${things.length - 3} more` : ''}`
  const other =
    databaseUrl === null
      ? 'Name a new folder in HELIOGRAM_DATA, or move this one away'
      : `Create another ("create database heliogram_restored encoding 'UTF8' locale 'C.UTF-8' template template0") and name it in DATABASE_URL`
  return `${what} has a database that is not empty (${shown}), and a restore replaces nothing. ${other}.`
}

/** Objects in a database besides the mark of a restore: tables and the like, and the schema of the import queue. */
async function findThings(tx: Tx): Promise<string[]> {
  const { rows } = await tx.query<{ name: string }>(
    `select relname::text as name
     from pg_class
     where relnamespace = current_schema()::regnamespace
       and relkind in ('r', 'p', 'v', 'm', 'f', 'S')
       and relname <> '${restoringTable}'
     union all
     select distinct 'the schema ' || $1 from pg_class where relnamespace = to_regnamespace($1)
     order by 1`,
    [queueSchemaOf(await schemaOf(tx))],
  )
  return rows.map(({ name }) => name)
}

/** Drops the tables of an interrupted restore, which began on an empty database. */
async function empty(tx: Tx): Promise<void> {
  const queue = queueSchemaOf(await schemaOf(tx))
  // Keeps one made by an administrator: this user may not be able to create it.
  const { rowCount } = await tx.query('select from pg_class where relnamespace = to_regnamespace($1) limit 1', [queue])
  if (rowCount === 1) await tx.query(`drop schema ${queue} cascade`)
  for (;;) {
    const { rows } = await tx.query<{ name: string }>(
      `select relname::text as name
       from pg_class
       where relnamespace = current_schema()::regnamespace
         and relkind in ('r', 'p')
         and relname <> '${restoringTable}'
       order by relispartition desc, relname
       limit ${dropAtOnce}`,
    )
    if (rows.length === 0) return
    await tx.query(`drop table ${rows.map(({ name }) => escapeIdentifier(name)).join(', ')} cascade`)
  }
}
