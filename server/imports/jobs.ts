/** The queue of import jobs: pg-boss in its own schema of the same database, so that the transaction that stores an import also enqueues its job. */
import { PgBoss } from 'pg-boss'
import { configOf } from '../ground/db/address.ts'
import { inTransaction, openPool, type Connection, type Db, type Tx } from '../ground/db/db.ts'
import type { Log } from '../ground/db/log.ts'
import { queueSchemaOf, schemaOf } from '../ground/db/schema-name.ts'
import { Repeated } from '../ground/http/repeated.ts'
import type { ImportKey } from './write.ts'

export const jobs = 'imports'

/** The queue of failed jobs. */
export const lostJobs = 'imports-lost'

/** Opens the queue, creating or migrating its tables under pg-boss's own lock. */
export async function openJobs(
  connection: Connection,
  log: Log,
  { isRunning, isAlone = false, max }: { isRunning: boolean; isAlone?: boolean; max: number },
): Promise<{ boss: PgBoss; failures: Repeated }> {
  const { schema, isThere } = await findQueue(connection)
  const boss = new PgBoss({
    ...definedOf(configOf(connection)),
    schema,
    // A user without the right to create schemas gets one from an administrator.
    createSchema: !isThere,
    application_name: 'heliogram imports',
    max,
    useListenNotify: isRunning,
    supervise: isRunning,
    schedule: false,
    // No job depends on another.
    flowIntervalSeconds: 86_400,
    // With heartbeatSeconds, the time until a killed process's job is noticed. A process that is alone replaces its jobs at the start.
    superviseIntervalSeconds: isAlone ? 60 : 10,
    monitorIntervalSeconds: isAlone ? 60 : 10,
  })
  const failures = new Repeated((error, times) => {
    log.warn({ reason: (error as Error).message, times }, 'import queue failed')
  })
  boss.on('error', (error) => failures.note(error))
  await boss.start()
  await boss.createQueue(lostJobs, { retryLimit: 100, retryDelay: 5, retryBackoff: true, retryDelayMax: 300 })
  await boss.createQueue(jobs, {
    notify: true,
    heartbeatSeconds: 15,
    // The largest import takes minutes; the heartbeat detects a lost job, not this limit.
    expireInSeconds: 6 * 3600,
    // No end: an import without progress ends by itself (`resumesMax`), and the others were not at fault when their process was killed.
    retryLimit: 100_000,
    retryDelay: 2,
    retryBackoff: true,
    retryDelayMax: 20,
    deadLetter: lostJobs,
    deleteAfterSeconds: 86_400,
  })
  return { boss, failures }
}

/** The name of the queue's schema, and whether it exists. */
async function findQueue(connection: Connection): Promise<{ schema: string; isThere: boolean }> {
  const db = openPool(connection, { name: 'imports', max: 1 })
  try {
    const schema = queueSchemaOf(await schemaOf(db))
    const { rowCount } = await db.query('select from pg_namespace where nspname = $1', [schema])
    return { schema, isThere: rowCount === 1 }
  } finally {
    await db.end()
  }
}

export async function sendJob(boss: PgBoss, tx: Tx, key: ImportKey): Promise<void> {
  const group = { id: key.accountId }
  await boss.send(jobs, key, { group, db: { executeSql: (text, values) => tx.query(text, values) } })
}

/**
 * Enqueues the jobs of all unfinished imports, for a database restored without its queue; they continue after their last committed row. Returns the
 * count.
 */
export async function enqueueAgain(connection: Connection, tx: Tx, log: Log): Promise<number> {
  const unfinished = await findUnfinished(tx)
  if (unfinished.length === 0) return 0
  const { boss } = await openJobs(connection, log, { isRunning: false, max: 2 })
  for (const key of unfinished) await sendJob(boss, tx, key)
  await boss.stop({ timeout: 5000 })
  return unfinished.length
}

/**
 * Replaces all jobs when a process that is alone starts. The queue would take half a minute to notice that the jobs of the previous process died. A
 * crash in between leaves two jobs of an import; one of them finds nothing to do.
 */
export async function replaceJobs(boss: PgBoss, db: Db): Promise<void> {
  const before = await boss.findJobs(jobs)
  await inTransaction(db, async (tx) => {
    for (const key of await findUnfinished(tx)) await sendJob(boss, tx, key)
  })
  if (before.length > 0)
    await boss.deleteJob(
      jobs,
      before.map(({ id }) => id),
    )
}

async function findUnfinished(tx: Tx): Promise<ImportKey[]> {
  const { rows } = await tx.query<ImportKey>(
    `select account_id as "accountId", id as "importId" from imports where status in ('queued', 'processing') order by id`,
  )
  return rows
}

/** pg-boss refuses members that are undefined. */
function definedOf({
  connectionString,
  host,
  port,
  user,
  password,
  database,
  ssl,
  stream,
}: ReturnType<typeof configOf>) {
  return {
    ...(stream && { stream }),
    ...(connectionString !== undefined && { connectionString }),
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    ...(user !== undefined && { user }),
    ...(password !== undefined && { password }),
    ...(database !== undefined && { database }),
    ...(ssl !== undefined && { ssl }),
    // Longer than between two polls; its default is ten seconds.
    idleTimeoutMillis: 120_000,
  }
}
