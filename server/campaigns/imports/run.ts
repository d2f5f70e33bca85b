/**
 * The import job: reads the stored bytes from the beginning, writes the rows in batches, and counts.
 *
 *   queued ─▶ processing ─▶ completed | completed_with_errors | failed          queued, processing ─▶ canceled
 *
 * Rows, errors and counts of a batch are one transaction, which takes place only where exactly the rows before it are committed. So a
 * job that is run again after a crash, or twice at once, goes on behind the last committed row, and no row is written or counted twice.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { inTransaction, type Db, type Tx } from '../../db/db.ts'
import { isRetryable } from '../../db/failure.ts'
import type { Log } from '../../db/log.ts'
import { recordEvents, type Outbox, type Posting, type Subscriptions } from '../../events.ts'
import type { Vault } from '../../sealing/vault.ts'
import { hasContacts } from '../contact-list.ts'
import { openRows } from './rows.ts'
import { showImport } from './show.ts'
import { beginImport, endImport, type ImportFailure, type ImportRow, type ImportStatus } from './store.ts'
import { BatchWriter, ClosedCampaign, type WriteContext } from './writer.ts'
import { ZipError } from './zip.ts'

/** What the job needs. */
export interface RunContext extends WriteContext {
  db: Db
  vault: Vault
  outbox: Outbox
  subscriptions: Pick<Subscriptions, 'wants'>
  log: Log
}

/** Which import. */
export interface ImportKey {
  accountId: string
  importId: string
}

/** How reading ended: at the end of the file, `stopped` and to go on elsewhere, or `lost`: somebody else ended it or works on it. */
export type RowsResult = { status: ImportStatus; failure: ImportFailure | null } | 'stopped' | 'lost'

/** How a run ended. */
export type RunResult = 'over' | 'stopped' | 'lost'

/** Most rows of a file. */
export const rowsMax = 1_000_000
const triesMax = 6

/** Runs an import until it is over, `signal` stops it between two batches, or somebody else has it. */
export async function runImport(
  context: RunContext,
  key: ImportKey,
  signal: AbortSignal,
  runRows: (key: ImportKey, signal: AbortSignal) => Promise<RowsResult> = (one, stop) => writeRows(context, one, stop),
): Promise<RunResult> {
  const result = await runRows(key, signal)
  if (typeof result === 'string') return result
  const ended = await retry(() => finishImport(context, key, result.status, result.failure), signal)
  return ended ? 'over' : 'lost'
}

/** Reads the file and writes its rows: all of the job but its end. */
export function writeRows(context: WriteContext, key: ImportKey, signal: AbortSignal): Promise<RowsResult> {
  return writeAll(context, key, signal).catch((error: unknown): RowsResult => {
    if (error instanceof ClosedCampaign) return { status: 'failed', failure: 'campaign_closed' }
    throw error
  })
}

async function writeAll(context: WriteContext, key: ImportKey, signal: AbortSignal): Promise<RowsResult> {
  const { accountId, importId } = key
  const again = <T>(work: () => Promise<T>): Promise<T> => retry(work, signal)
  const job = await again(() => beginImport(context.db, accountId, importId))
  if (!job) return 'lost'
  if (job.isOfClosed) return { status: 'canceled', failure: null }
  const meetsOthers = await again(() => hasContacts(context.db, accountId, job.campaignId))
  const writer = new BatchWriter(context, accountId, job, meetsOthers)
  const source = openRows(context.db, accountId, job, again)
  let count = 0
  let failure: ImportFailure | null = null
  try {
    read: for await (const rows of source.pieces) {
      for (const row of rows) {
        if (count === rowsMax) {
          failure = 'too_many_rows'
          break read
        }
        count++
        writer.add(row)
        if (!writer.isFull) continue
        if (!(await writer.flush(source.bytesRead(), again))) return 'lost'
        if (signal.aborted) return (await writer.settle()) ? 'stopped' : 'lost'
      }
    }
    if (count === 0) failure = 'no_rows'
  } catch (error) {
    if (!(error instanceof ZipError)) throw error
    failure = 'damaged_file'
  }
  if (!(await writer.flush(source.bytesRead(), again)) || !(await writer.settle())) return 'lost'
  return { status: failure ? 'failed' : writer.hasFailures ? 'completed_with_errors' : 'completed', failure }
}

/** Ends an import with its event in one transaction; null where it was over. */
export async function finishImport(
  context: Pick<RunContext, 'db' | 'outbox' | 'subscriptions'>,
  key: ImportKey,
  status: ImportStatus,
  failure: ImportFailure | null,
): Promise<ImportRow | null> {
  const { row, postings } = await inTransaction(context.db, (tx) => endWithEvent(tx, context, key, status, failure))
  context.outbox.offer(postings)
  return row
}

/** As `finishImport`, inside the caller's transaction; the postings are to be offered after its commit. */
export async function endWithEvent(
  tx: Tx,
  { outbox, subscriptions }: Pick<RunContext, 'outbox' | 'subscriptions'>,
  { accountId, importId }: ImportKey,
  status: ImportStatus,
  failure: ImportFailure | null,
): Promise<{ row: ImportRow | null; postings: Posting[] }> {
  const row = await endImport(tx, accountId, importId, status, failure)
  if (!row || !subscriptions.wants(accountId, 'import.completed')) return { row, postings: [] }
  const event = { accountId, type: 'import.completed' as const, data: { import: showImport(row) } }
  return { row, postings: await recordEvents(tx, [event], outbox) }
}

/** Repeats what a database that is away, or a lost race, refused; some 30 s in all, then the job queue tries again later. */
async function retry<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (!isRetryable(error) || tries >= triesMax || signal.aborted) throw error
      // An abort only ends the wait; the next try finds out.
      await sleep(500 * 2 ** tries, undefined, { signal }).catch(() => {})
    }
  }
}
