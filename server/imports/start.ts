/** Imports as jobs (`jobs.ts`), which are enqueued by the transaction of the upload. */
import type { Job, PgBoss } from 'pg-boss'
import { openPool, type Connection, type Db, type Tx } from '../ground/db/db.ts'
import type { Meter } from '../ground/metrics/meter.ts'
import { jobs, lostJobs, openJobs, replaceJobs, sendJob } from './jobs.ts'
import { rowSchema } from './row-schema.ts'
import { finishImport, runImport, type RunContext } from './run.ts'
import { Stride } from './stride.ts'
import { ImportThreads } from './thread.ts'
import type { ThreadInput } from './thread-orders.ts'
import type { ImportKey } from './write.ts'

/** What `startImports` gives: a way to hand imports over, and the end of it. */
export interface Imports {
  /** Connections for uploads alone: a transaction stays open as long as a file comes, and must not starve everything else. */
  uploads: Db
  /** The steps of one upload. */
  openStride(): Stride
  /** Enqueues the job of an import in the transaction that stores it. */
  enqueue(tx: Tx, key: ImportKey): Promise<void>
  /** Stops between two batches; what is not over goes on at the next start, or at another node at once. */
  close(): Promise<void>
}

interface ImportsOptions extends RunContext {
  connection: Connection
  /** For the vault of the thread. */
  keyFile: ThreadInput['keyFile']
  /** Whether contacts are encrypted; default: no. */
  isSealing?: boolean
  /** Whose numbers may have any length; default: nobody's. */
  anyLengthCountries?: readonly string[]
  /** Whether this process runs imports (role `jobs`) or only hands them over (role `api`). */
  isRunning: boolean
  /** No other process runs imports of this database. */
  isAlone?: boolean
  /** Counts the messages that are accepted, for which imports step back. */
  meter?: Pick<Meter, 'flushes'>
}

/** Imports at a time in this process: each keeps a core busy. One of them is left to other accounts. */
const importsMax = 2
const importsOfAccountMax = importsMax - 1
/** Uploads at a time in a process; more wait for five seconds and are then asked to come again. */
export const uploadsMax = 4

/** Opens the queue, and with `isRunning` begins to work. */
export async function startImports(options: ImportsOptions): Promise<Imports> {
  const { connection, log, isRunning } = options
  const { boss, failures } = await openJobs(connection, log, { isRunning, max: importsMax + 1 })
  const stop = new AbortController()
  const countAccepted = (): number => options.meter?.flushes.accept.items ?? 0
  const { keyFile, isSealing = false, anyLengthCountries = [] } = options
  const input = { connection, keyFile, isSealing, rowSchema, anyLengthCountries }
  const threads = new ImportThreads(input, countAccepted)
  if (isRunning && options.isAlone === true) await replaceJobs(boss, options.db)
  if (isRunning) await work(boss, options, threads, stop.signal)
  const uploads = openPool(connection, {
    name: 'uploads',
    max: uploadsMax,
    onError: (error) => log.warn({ reason: error.message }, 'upload connection lost'),
  })
  return {
    uploads,
    openStride: () => new Stride(countAccepted),
    enqueue: async (tx, key) => {
      await sendJob(boss, tx, key)
    },
    close: async () => {
      stop.abort()
      await Promise.all([boss.offWork(jobs), boss.offWork(lostJobs)])
      await boss.stop({ timeout: 5000 })
      failures.flush()
      await threads.close()
      await uploads.end()
    },
  }
}

async function work(boss: PgBoss, context: RunContext, threads: ImportThreads, stop: AbortSignal): Promise<void> {
  // One job a fetch, so burst mode, which full batches set off, has no use here; the poll is what an import waits at most that
  // came while all workers were busy.
  const polling = { batchSize: 1, pollingIntervalSeconds: 2, notifyPollingIntervalSeconds: 2 } as const
  await boss.work(
    jobs,
    {
      ...polling,
      localConcurrency: importsMax,
      localGroupConcurrency: importsOfAccountMax,
      heartbeatRefreshSeconds: 5,
    },
    async ([job]: Job<ImportKey>[]) => {
      if (!job) return
      const startedMs = performance.now()
      const result = await runImport(context, job.data, AbortSignal.any([stop, job.signal]), (key, signal) =>
        threads.run(key, signal),
      ).catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error)
        context.log.warn({ import: job.data.importId, reason }, 'import was interrupted')
        throw error
      })
      context.log.info(
        { import: job.data.importId, result, ms: Math.round(performance.now() - startedMs) },
        'import ran',
      )
      // Not a failure that a retry would count: a job of its own for whoever is next.
      if (result === 'stopped') await boss.send(jobs, job.data, { group: { id: job.data.accountId } })
    },
  )
  await boss.work(lostJobs, polling, async ([job]: Job<ImportKey>[]) => {
    if (!job) return
    context.log.error({ import: job.data.importId }, 'import failed')
    await finishImport(context, job.data, 'failed', 'internal_error')
  })
}
