/** The queue of import jobs: pg-boss in its own schema of the same PostgreSQL, so that a job is enqueued by the transaction that stores its import. */
import { PgBoss } from 'pg-boss'
import { configOf } from '../ground/db/address.ts'
import { inTransaction, openPool, type Connection, type Db, type Tx } from '../ground/db/db.ts'
import type { Log } from '../ground/db/log.ts'
import { queueSchemaOf, schemaOf } from '../ground/db/schema-name.ts'
import { Repeated } from '../ground/http/repeated.ts'
import type { ImportKey } from './write.ts'

/** The queue of imports. */
export const jobs = 'imports'

/** The queue of those that could not go on. */
export const lostJobs = 'imports-lost'

/** Opens the queue, creating or migrating its tables under pg-boss's own lock. */
export async function openJobs(
  connection: Connection,
  log: Log,
  { isRunning, max }: { isRunning: boolean; max: number },
): Promise<{ boss: PgBoss; failures: Repeated }> {
  const { schema, isThere } = await findQueue(connection)
  const boss = new PgBoss({
    ...definedOf(configOf(connection)),
    schema,
    // Who may make no schema, and got one from an administrator, is not to try.
    createSchema: !isThere,
    application_name: 'heliogram imports',
    max,
    useListenNotify: isRunning,
    supervise: isRunning,
    schedule: false,
    // How soon a job of a process that was killed is noticed, together with heartbeatSeconds.
    superviseIntervalSeconds: 10,
    monitorIntervalSeconds: 10,
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
    // An import of the largest size takes minutes; the heartbeat, not this, tells that one is lost.
    expireInSeconds: 6 * 3600,
    // Without an end: what does not move on ends by itself (`resumesMax`), and the rest was not at fault when its process was killed.
    retryLimit: 100_000,
    retryDelay: 2,
    retryBackoff: true,
    retryDelayMax: 20,
    deadLetter: lostJobs,
    deleteAfterSeconds: 86_400,
  })
  return { boss, failures }
}

/** The schema of the queue, and whether it is there. */
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

/** Enqueues the job of an import in a transaction. */
export async function sendJob(boss: PgBoss, tx: Tx, key: ImportKey): Promise<void> {
  const group = { id: key.accountId }
  await boss.send(jobs, key, { group, db: { executeSql: (text, values) => tx.query(text, values) } })
}

/**
 * Enqueues the jobs of all imports that are not over, of a database that was restored without its queue; they go on behind their last committed
 * row. Returns how many.
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
 * Replaces all jobs at the start of a process that is alone: those that were under way died with the process before, which the queue would notice
 * half a minute later. A crash in between leaves two jobs of an import, of which one finds nothing to do.
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

/** pg-boss takes a connection's parts, but not their absence as undefined. */
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
  }
}
