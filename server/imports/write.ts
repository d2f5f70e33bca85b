/** The work of an import without its end: reads the stored file and writes its rows in batches, in a thread of its own (`worker.ts`). */
import { openOptions } from './doubt.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { isRetryable, isTooLong, isUnavailable } from '../ground/db/failure.ts'
import type { Db } from '../ground/db/db.ts'
import { hasContacts } from '../contacts/list.ts'
import { openRows } from './rows.ts'
import { beginImport, readNumbers } from './progress.ts'
import { type ImportFailure, type ImportStatus } from './store.ts'
import { BatchWriter, ClosedCampaign, ReadAgain, type WriteContext } from './writer.ts'
import { ZipError } from '../ground/tables/zip.ts'

export interface ImportKey {
  accountId: string
  importId: string
}

/** How reading ended: at the end of the file, `stopped` to continue elsewhere, or `lost` to another worker or a cancel. */
export type RowsResult = RowsEnd | 'stopped' | 'lost'

interface RowsEnd {
  status: ImportStatus
  failure: ImportFailure | null
  /** Committed rows; null: the current number. */
  rows: number | null
}

// Tries within half a minute, for errors that may be permanent.
const triesMax = 6
const pauseMsMax = 16_000
// An import that failed or ended its process this often at the same row will do so again. Not fewer: a process may be killed while it starts.
const resumesMax = 20
// Statements that are slow on a database that answers others: each try takes half a minute, and waiting makes none of them shorter.
const longTriesMax = 3
// Rows of a batch, smaller after each time-out.
const piecesRows = [Infinity, 250, 25]

/** Everything in the job but its end. */
export async function writeRows(context: WriteContext, key: ImportKey, signal: AbortSignal): Promise<RowsResult> {
  for (let size = 0; ;)
    try {
      return await writeAll({ ...context, pieceRows: piecesRows[size] }, key, signal)
    } catch (error) {
      if (error instanceof ClosedCampaign) return { status: 'failed', failure: 'campaign_closed', rows: null }
      if (error instanceof TooLong) {
        if (++size === piecesRows.length) return { status: 'failed', failure: 'database_too_slow', rows: null }
      } else if (!(error instanceof ReadAgain)) throw error
    }
}

async function writeAll(context: WriteContext, key: ImportKey, signal: AbortSignal): Promise<RowsResult> {
  const { rowsMax = 1_000_000 } = context
  const { accountId, importId } = key
  const again = <T>(work: () => Promise<T>): Promise<T> => retry(work, signal, 1000, () => isAnswering(context.db))
  const job = await again(() => beginImport(context.db, accountId, importId))
  if (!job) return 'lost'
  if (job.resumes > resumesMax) return { status: 'failed', failure: 'internal_error', rows: null }
  if (job.isOfClosed) return { status: 'canceled', failure: null, rows: null }
  const meetsOthers = await again(() => hasContacts(context.db, accountId, job.campaignId))
  const writer = new BatchWriter(context, accountId, job, meetsOthers)
  for (let first = 0; first < job.processed;) {
    const batches = await again(() => readNumbers(context.db, accountId, importId, first, job.processed))
    for (const batch of batches) writer.know(batch)
    first = (batches.at(-1)?.firstRow ?? job.processed) + 1
  }
  const source = openRows(context.db, accountId, job, again)
  let count = job.resume?.mark?.rows ?? 0
  let failure: ImportFailure | null = null
  try {
    const optionsFor = openOptions(job.options)
    read: for await (const rows of source.pieces) {
      const options = optionsFor(rows)
      for (const row of rows) {
        if (count === rowsMax) {
          failure = 'too_many_rows'
          break read
        }
        count++
        writer.add(row, options)
        if (!writer.isFull) continue
        if (!(await writer.flush(source, again))) return 'lost'
        if (signal.aborted) return (await writer.settle()) ? 'stopped' : 'lost'
      }
    }
    if (count === 0) failure = 'no_rows'
  } catch (error) {
    if (!(error instanceof ZipError)) throw error
    failure = error.isTooLarge ? 'too_large' : 'damaged_file'
  }
  if (!(await writer.flush(source, again)) || !(await writer.settle())) return 'lost'
  if (failure === null && writer.hasOnlyFailures) failure = 'no_good_rows'
  const status = failure ? 'failed' : writer.hasFailures ? 'completed_with_errors' : 'completed'
  return { status, failure, rows: writer.committed }
}

/**
 * Repeats statements that an unavailable or full database refused until it takes them, however long: the job queue's tries are for faults of an
 * import. A lost race, or a canceled statement, is repeated for some 30 s in all; then the job queue tries again later. @throws TooLong if statements
 * take too long while `answers` says that the database does answer.
 */
export async function retry<T>(
  work: () => Promise<T>,
  signal: AbortSignal,
  pauseMs = 1000,
  answers: () => Promise<boolean> = () => Promise.resolve(false),
): Promise<T> {
  for (let tries = 1, longTries = 0; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (isTooLong(error) && !signal.aborted && (await answers()) && ++longTries === longTriesMax)
        throw new TooLong('a statement took too long, again and again', { cause: error })
      const isPatient = isUnavailable(error) || (isRetryable(error) && tries < triesMax)
      if (!isPatient || signal.aborted) throw error
      // An abort only ends the wait; the next try throws it.
      await sleep(Math.min(pauseMs * 2 ** (tries - 1), pauseMsMax), undefined, { signal }).catch(() => {})
    }
  }
}

class TooLong extends Error {}

const isAnswering = (db: Db): Promise<boolean> =>
  db.query('select 1').then(
    () => true,
    () => false,
  )
