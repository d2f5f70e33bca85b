/**
 * The import job: reads the stored bytes from the beginning, writes the rows in batches, and counts.
 *
 *   queued ─▶ processing ─▶ completed | completed_with_errors | failed          queued, processing ─▶ canceled
 *
 * The rows, errors and counts of a batch are one transaction, which commits only if exactly the rows before it are committed. So a job that runs
 * again after a crash, or twice at once, continues behind the last committed row, and no row is written or counted twice. Commits do not wait for
 * the disk: rows that a crash of the database loses are read again. Each batch also stores its position in the file and its numbers, so the next run
 * continues there and knows all earlier numbers.
 */
import { inTransaction, type Tx } from '../ground/db/db.ts'
import { recordEvents, type Posting, type Needs } from '../events/events.ts'
import { showImport } from './show.ts'
import { readCommitted } from './progress.ts'
import { endImport, type ImportFailure, type ImportRow, type ImportStatus } from './store.ts'
import { retry, type ImportKey, type RowsResult } from './write.ts'

export type RunContext = Needs<'db' | 'outbox' | 'subscriptions' | 'log'>

export type RunResult = 'over' | 'stopped' | 'lost'

/** Runs an import until it is over, `signal` stops it between two batches, or somebody else has it. `runRows` does all but its end. */
export async function runImport(
  context: RunContext,
  key: ImportKey,
  signal: AbortSignal,
  runRows: (key: ImportKey, signal: AbortSignal) => Promise<RowsResult>,
): Promise<RunResult> {
  for (;;) {
    const result = await runRows(key, signal)
    if (typeof result === 'string') return result
    const { status, failure, rows } = result
    if (await retry(() => finishImport(context, key, status, failure, rows), signal)) return 'over'
    if ((await retry(() => readCommitted(context.db, key.accountId, key.importId), signal)) === null) return 'lost'
  }
}

export async function finishImport(
  context: Pick<RunContext, 'db' | 'outbox' | 'subscriptions'>,
  key: ImportKey,
  status: ImportStatus,
  failure: ImportFailure | null,
  rows: number | null = null,
): Promise<ImportRow | null> {
  const { row, postings } = await inTransaction(context.db, (tx) =>
    endWithEvent(tx, context, key, status, failure, rows),
  )
  context.outbox.offer(postings)
  return row
}

/** As `finishImport`, in the caller's transaction; offer the postings after its commit. */
export async function endWithEvent(
  tx: Tx,
  { outbox, subscriptions }: Pick<RunContext, 'outbox' | 'subscriptions'>,
  { accountId, importId }: ImportKey,
  status: ImportStatus,
  failure: ImportFailure | null,
  rows: number | null = null,
): Promise<{ row: ImportRow | null; postings: Posting[] }> {
  const row = await endImport(tx, accountId, importId, status, failure, rows)
  if (!row || !subscriptions.wants(accountId, 'import.completed')) return { row, postings: [] }
  const event = { accountId, type: 'import.completed' as const, data: { import: showImport(row) } }
  return { row, postings: await recordEvents(tx, [event], outbox) }
}
