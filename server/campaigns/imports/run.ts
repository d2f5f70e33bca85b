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
import { newId } from '../../ids.ts'
import { upsertContacts, type NewContact } from '../contacts.ts'
import { readCsv, readJsonLines, type SourceRow } from './records.ts'
import { readRow } from './row.ts'
import { NumberSet } from './seen.ts'
import { showImport } from './show.ts'
import {
  addCounts,
  beginImport,
  endImport,
  insertErrors,
  readChunk,
  type ImportFailure,
  type ImportRow,
  type ImportStatus,
  type RowError,
} from './store.ts'

/** What the job needs. */
export interface RunContext {
  db: Db
  outbox: Outbox
  subscriptions: Pick<Subscriptions, 'wants'>
  log: Log
}

/** Which import. */
export interface ImportKey {
  accountId: string
  importId: string
}

/** How a run ended: `stopped` goes on elsewhere, `lost` means that somebody else ended it or works on it. */
export type RunResult = 'over' | 'stopped' | 'lost'

/** Most rows of a file. */
export const rowsMax = 1_000_000
/** Bad rows of which errors are kept; the rest are only counted. Enough to correct by hand, too few to fill a disk. */
export const badRowsMax = 100_000
// Measured: 500 to 2000 are alike; more only makes progress coarser.
const batchRows = 1000
const triesMax = 6

/** Runs an import until it is over, `signal` stops it between two batches, or somebody else has it. */
export async function runImport(context: RunContext, key: ImportKey, signal: AbortSignal): Promise<RunResult> {
  const { accountId, importId } = key
  const job = await retry(() => beginImport(context.db, accountId, importId), signal)
  if (!job) return 'lost'
  const writer = new BatchWriter(context, accountId, job)
  const read = (position: number): Promise<Buffer | null> =>
    retry(() => readChunk(context.db, accountId, importId, position), signal)
  const rows = job.options.csv ? readCsv(read, job.options.csv.delimiter) : readJsonLines(read)
  let count = 0
  for await (const row of rows) {
    if (++count > rowsMax) break
    writer.add(row)
    if (!writer.isFull) continue
    if (!(await retry(() => writer.flush(), signal))) return 'lost'
    if (signal.aborted) return 'stopped'
  }
  if (!(await retry(() => writer.flush(), signal))) return 'lost'
  const failure: ImportFailure | null = count === 0 ? 'no_rows' : count > rowsMax ? 'too_many_rows' : null
  const status = failure ? 'failed' : writer.hasFailures ? 'completed_with_errors' : 'completed'
  const ended = await retry(() => finishImport(context, key, status, failure), signal)
  return ended ? 'over' : 'lost'
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

/** Collects rows and writes them a batch at a time; rows that an earlier run committed are read again only to know their numbers. */
class BatchWriter {
  readonly #context: RunContext
  readonly #accountId: string
  readonly #job: ImportRow
  readonly #seen = new NumberSet()
  #committed: number
  #rowsRead = 0
  #badRows: number
  #contacts: (NewContact & { id: string })[] = []
  #errors: (RowError & { record: unknown })[] = []
  #duplicates = 0
  #failed = 0

  constructor(context: RunContext, accountId: string, job: ImportRow) {
    this.#context = context
    this.#accountId = accountId
    this.#job = job
    this.#committed = job.processed
    this.#badRows = job.failed
  }

  get hasFailures(): boolean {
    return this.#badRows > 0
  }

  get isFull(): boolean {
    return this.#rowsRead - this.#committed >= batchRows
  }

  add(row: SourceRow): void {
    const isDone = ++this.#rowsRead <= this.#committed
    const read = readRow(row, this.#job.options)
    if ('contact' in read) {
      const isNew = this.#seen.add(read.contact.phoneNumber)
      if (isDone) return
      if (isNew) this.#contacts.push({ id: newId(), ...read.contact })
      else this.#duplicates++
      return
    }
    if (isDone) return
    this.#failed++
    if (this.#badRows++ < badRowsMax) {
      const record = storable(row.record)
      this.#errors.push(...read.errors.map((error) => ({ ...error, record })))
    }
  }

  /** Writes what was added; false where the import is no longer ours. After an error it may be called again. */
  async flush(): Promise<boolean> {
    const { id, campaignId, options } = this.#job
    const processed = this.#rowsRead - this.#committed
    if (processed <= 0) return true
    const isOurs = await inTransaction(this.#context.db, async (tx) => {
      const counts = await upsertContacts(tx, this.#accountId, campaignId, this.#contacts, options.onConflict)
      await insertErrors(tx, this.#accountId, id, this.#errors)
      const added = { ...counts, processed, duplicate: this.#duplicates, failed: this.#failed }
      if (await addCounts(tx, this.#accountId, id, this.#committed, added)) return true
      throw new LostImport()
    }).catch((error: unknown) => {
      if (error instanceof LostImport) return false
      throw error
    })
    if (!isOurs) return false
    this.#committed = this.#rowsRead
    this.#contacts = []
    this.#errors = []
    this.#duplicates = 0
    this.#failed = 0
    return true
  }
}

/** Rolls a batch back: its rows are another worker's, or nobody wants them any more. */
class LostImport extends Error {}

/** PostgreSQL's jsonb has no NUL. */
const storable = (record: unknown): unknown =>
  Array.isArray(record)
    ? record.map((cell: unknown) => (typeof cell === 'string' ? cell.replaceAll('\0', '\uFFFD') : cell))
    : record

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
