/** The SQL of an import while it runs: its progress, batch by batch. Every query begins with the account. */
import type { Db, Tx } from '../ground/db/db.ts'
import type { FaultGroup } from '../ground/tables/fault-groups.ts'
import {
  importColumns,
  type FurtherNumbers,
  type ImportCounts,
  type ImportRow,
  type Repairs,
  type Resume,
} from './store.ts'

/**
 * Takes an unfinished import to work on it, again after a crash; null if it is over. By primary key. `isOfClosed`: its account is closed, so write
 * nothing more. `resumes`: how often it was taken before without a row since.
 */
export async function beginImport(
  db: Db,
  accountId: string,
  id: string,
): Promise<(ImportRow & { isOfClosed: boolean; resumes: number }) | null> {
  const { rows } = await db.query<ImportRow & { isOfClosed: boolean; resumes: number }>({
    name: 'begin-import',
    text: `
      update imports
      set status = 'processing', started_at = coalesce(started_at, now()), resumed_row = committed_row,
        resumes = case when started_at is null or committed_row > resumed_row then 0 else resumes + 1 end
      where account_id = $1
        and id = $2
        and status in ('queued', 'processing')
      returning ${importColumns}, resumes,
        (select a.status = 'closed' from accounts a where a.id = account_id) as "isOfClosed"`,
    values: [accountId, id],
  })
  return rows[0] ?? null
}

export interface Progress extends ImportCounts {
  bytesRead: number
  repairs: Repairs
  faults: FaultGroup[]
  sample: unknown[] | null
  furtherNumbers: FurtherNumbers[]
  resume: Resume
  /** Of the batch; see `import_numbers`. */
  numbers: Numbers
}

export interface Numbers {
  seen: string[]
  outs: string[]
}

/**
 * Adds the counts and numbers of one batch in the transaction of its rows. False, and the caller must roll back, if another worker has committed rows
 * since `processedBefore` or the import was canceled: a compare-and-set on the number of processed rows.
 */
export async function addCounts(
  tx: Tx,
  accountId: string,
  id: string,
  processedBefore: number,
  added: Progress,
): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'add-import-counts',
    text: `
      with counted as (
      update imports
      set committed_row = committed_row + $4,
        processed = processed + $4,
        created = created + $5,
        updated = updated + $6,
        skipped = skipped + $7,
        duplicate = duplicate + $8,
        opted_out = opted_out + $9,
        failed = failed + $10,
        bytes_read = $11,
        repairs = $12,
        sample = coalesce($13, sample),
        hidden = hidden + $14,
        faults = $15,
        resume = $16,
        further_numbers = $19
      where account_id = $1
        and id = $2
        and status = 'processing'
        and committed_row = $3
      returning id
      )
      insert into import_numbers (account_id, import_id, first_row, numbers, outs)
      select $1, id, $3, $17, $18
      from counted`,
    values: [
      accountId,
      id,
      processedBefore,
      added.processed,
      added.created,
      added.updated,
      added.skipped,
      added.duplicate,
      added.optedOut,
      added.failed,
      added.bytesRead,
      JSON.stringify(added.repairs),
      added.sample && JSON.stringify(added.sample),
      added.hidden,
      JSON.stringify(added.faults),
      JSON.stringify(added.resume),
      added.numbers.seen.join(' '),
      added.numbers.outs.join(' '),
      added.furtherNumbers.length > 0 ? JSON.stringify(added.furtherNumbers) : null,
    ],
  })
  return rowCount === 1
}

// Each has a few dozen kilobytes.
const batchesPerPage = 50

/** Numbers of the batches before a row, by the primary key; at most a page, from batch `first` on. */
export async function readNumbers(
  db: Db,
  accountId: string,
  id: string,
  first: number,
  end: number,
): Promise<(Numbers & { firstRow: number })[]> {
  const { rows } = await db.query<{ firstRow: number; numbers: string; outs: string }>({
    name: 'read-import-numbers',
    text: `
      select first_row as "firstRow", numbers, outs
      from import_numbers
      where account_id = $1
        and import_id = $2
        and first_row >= $3
        and first_row < $4
      order by first_row
      limit $5`,
    values: [accountId, id, first, end, batchesPerPage],
  })
  const listOf = (text: string): string[] => (text === '' ? [] : text.split(' '))
  return rows.map(({ firstRow, numbers, outs }) => ({ firstRow, seen: listOf(numbers), outs: listOf(outs) }))
}

/** Committed rows of an import in progress; null if it is over. By primary key. */
export async function readCommitted(db: Db, accountId: string, id: string): Promise<number | null> {
  const { rows } = await db.query<{ committed: number }>({
    name: 'read-import-committed',
    text: `
      select committed_row as committed
      from imports
      where account_id = $1
        and id = $2
        and status = 'processing'`,
    values: [accountId, id],
  })
  return rows[0]?.committed ?? null
}
