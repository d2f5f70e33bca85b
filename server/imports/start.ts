/** Runs imports as jobs (`jobs.ts`); the transaction of an upload enqueues its job. */
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

export interface Imports {
  /** Connections for uploads alone: an upload's transaction stays open for as long as the file arrives, and must not starve other work. */
  uploads: Db
  /** The pace of one upload. */
  openStride(): Stride
  /** Enqueues the job of an import in the transaction that stores it. */
  enqueue(tx: Tx, key: ImportKey): Promise<void>
  /** Stops between two batches. Unfinished imports continue at the next start, or at once on another node. */
  close(): Promise<void>
}

interface ImportsOptions extends RunContext {
  connection: Connection
  /** For the thread's vault. */
  keyFile: ThreadInput['keyFile']
  /** Whether contacts are encrypted; default: no. */
  isSealing?: boolean
  /** Countries whose numbers may have any length; default: none. */
  anyLengthCountries?: readonly string[]
  /** Whether this process runs imports (role `jobs`) or only enqueues them (role `api`). */
  isRunning: boolean
  /** No other process runs imports of this database. */
  isAlone?: boolean
  meter?: Pick<Meter, 'flushes'>
}

/** Imports at a time in a process: each keeps a core busy. One account can use all but one. */
const importsMax = 2
const importsOfAccountMax = importsMax - 1
/** Uploads at a time in a process; others wait for five seconds, then get an error that asks to retry. */
export const uploadsMax = 4

/** With `isRunning`, also begins to work. */
export async function startImports(options: ImportsOptions): Promise<Imports> {
  const { connection, log, isRunning } = options
  const { boss, failures } = await openJobs(connection, log, {
    isRunning,
    isAlone: options.isAlone === true,
    max: importsMax + 1,
  })
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
    isBulk: true,
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
  // A worker fetches when a job is sent, and again after each. The poll is the longest wait of a retry that is due.
  const polling = { batchSize: 1, pollingIntervalSeconds: 15, notifyPollingIntervalSeconds: 15 } as const
  const worker = await boss.work(
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
      boss.notifyWorker(worker)
      // Not a failure for the retry count: a new job for the next worker.
      if (result === 'stopped') await boss.send(jobs, job.data, { group: { id: job.data.accountId } })
    },
  )
  await boss.work(lostJobs, polling, async ([job]: Job<ImportKey>[]) => {
    if (!job) return
    context.log.error({ import: job.data.importId }, 'import failed')
    await finishImport(context, job.data, 'failed', 'internal_error')
  })
}
