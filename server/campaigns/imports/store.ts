/** The SQL of imports: the job's row, the uploaded bytes, the errors. Every query begins with the account. */
import type { Db, Queryable, Tx } from '../../db/db.ts'
import type { Position } from '../../page.ts'
import type { OnConflict } from '../contacts.ts'

export const importStatuses = [
  'queued',
  'processing',
  'completed',
  'completed_with_errors',
  'failed',
  'canceled',
] as const
export type ImportStatus = (typeof importStatuses)[number]
export type Format = 'json' | 'csv' | 'ndjson'

/** Why a whole import failed. */
export type ImportFailure = 'no_rows' | 'too_many_rows' | 'internal_error'

/** How a CSV file is read, known from its first line. */
export interface CsvLayout {
  delimiter: string
  /** Column names as in the file, in order. */
  header: string[]
  /** For each column the field or `attributes.<name>` it fills, or null where it is ignored. */
  targets: (string | null)[]
}

/** What the caller asked for, and what was learnt from the first bytes. */
export interface ImportOptions {
  onConflict: OnConflict
  defaultCountry: string | null
  csv?: CsvLayout
}

/** How many rows met which end: processed = created + updated + skipped + duplicate + failed; opted_out are among them. */
export interface ImportCounts {
  processed: number
  created: number
  updated: number
  skipped: number
  duplicate: number
  optedOut: number
  failed: number
}

/** A row of `imports`. */
export interface ImportRow extends ImportCounts {
  id: string
  campaignId: string
  status: ImportStatus
  format: Format
  options: ImportOptions
  failure: ImportFailure | null
  bytes: number
  total: number | null
  createdAt: Date
  startedAt: Date | null
  completedAt: Date | null
}

/** One reason for which a row was not taken. */
export interface RowError {
  line: number
  code: string
  column: string | null
  value: string | null
  detail: string
  suggestion: string | null
}

const columns = `id, campaign_id as "campaignId", status, format, options, failure, bytes, total, processed, created, updated,
  skipped, duplicate, opted_out as "optedOut", failed, created_at as "createdAt", started_at as "startedAt",
  completed_at as "completedAt"`

/** Bytes of each stored piece but the last: the offset of a byte tells its piece. */
export const chunkBytes = 262_144

/** Inserts an import, before its bytes; the foreign key takes the campaign's row for key share. */
export async function insertImport(
  tx: Tx,
  accountId: string,
  id: string,
  campaignId: string,
  format: Format,
): Promise<void> {
  await tx.query({
    name: 'insert-import',
    text: 'insert into imports (account_id, id, campaign_id, format) values ($1, $2, $3, $4)',
    values: [accountId, id, campaignId, format],
  })
}

/** Inserts one piece of the uploaded bytes. */
export async function insertChunk(
  tx: Tx,
  accountId: string,
  id: string,
  position: number,
  bytes: Buffer,
): Promise<void> {
  await tx.query({
    name: 'insert-import-chunk',
    text: 'insert into import_chunks (account_id, import_id, position, bytes) values ($1, $2, $3, $4)',
    values: [accountId, id, position, bytes],
  })
}

/** Sets what is known when all bytes are there; by primary key. */
export async function completeUpload(
  tx: Tx,
  accountId: string,
  id: string,
  upload: { options: ImportOptions; bytes: number; total: number | null },
): Promise<ImportRow> {
  const { rows } = await tx.query<ImportRow>({
    name: 'complete-upload',
    text: `
      update imports
      set options = $3, bytes = $4, total = $5
      where account_id = $1
        and id = $2
      returning ${columns}`,
    values: [accountId, id, JSON.stringify(upload.options), upload.bytes, upload.total],
  })
  return only(rows)
}

/** Reads one piece by the primary key; null behind the last. */
export async function readChunk(db: Db, accountId: string, id: string, position: number): Promise<Buffer | null> {
  const { rows } = await db.query<{ bytes: Buffer }>({
    name: 'read-import-chunk',
    text: `
      select bytes
      from import_chunks
      where account_id = $1
        and import_id = $2
        and position = $3`,
    values: [accountId, id, position],
  })
  return rows[0]?.bytes ?? null
}

/** Takes an import that is not over to work on it, again after a crash; null where it is over. By primary key. */
export async function beginImport(db: Db, accountId: string, id: string): Promise<ImportRow | null> {
  const { rows } = await db.query<ImportRow>({
    name: 'begin-import',
    text: `
      update imports
      set status = 'processing', started_at = coalesce(started_at, now())
      where account_id = $1
        and id = $2
        and status in ('queued', 'processing')
      returning ${columns}`,
    values: [accountId, id],
  })
  return rows[0] ?? null
}

/**
 * Adds the counts of one batch in the transaction of its rows. False, and the caller must roll back, where another worker has
 * committed rows since `processedBefore` or the import was canceled: a compare-and-set on the number of processed rows.
 */
export async function addCounts(
  tx: Tx,
  accountId: string,
  id: string,
  processedBefore: number,
  added: ImportCounts,
): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'add-import-counts',
    text: `
      update imports
      set committed_row = committed_row + $4,
        processed = processed + $4,
        created = created + $5,
        updated = updated + $6,
        skipped = skipped + $7,
        duplicate = duplicate + $8,
        opted_out = opted_out + $9,
        failed = failed + $10
      where account_id = $1
        and id = $2
        and status = 'processing'
        and committed_row = $3`,
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
    ],
  })
  return rowCount === 1
}

/** Ends an import that is not over and drops its bytes; null where it was over. */
export async function endImport(
  tx: Tx,
  accountId: string,
  id: string,
  status: ImportStatus,
  failure: ImportFailure | null,
): Promise<ImportRow | null> {
  const { rows } = await tx.query<ImportRow>({
    name: 'end-import',
    text: `
      with gone as (
        delete from import_chunks
        where account_id = $1
          and import_id = $2
      )
      update imports
      set status = $3, failure = $4, total = coalesce(total, case when $4::text is null and $3 <> 'canceled' then processed end),
        completed_at = now()
      where account_id = $1
        and id = $2
        and status in ('queued', 'processing')
      returning ${columns}`,
    values: [accountId, id, status, failure],
  })
  return rows[0] ?? null
}

/** Reads an import by its primary key; locks nothing. */
export async function findImport(db: Queryable, accountId: string, id: string): Promise<ImportRow | null> {
  const { rows } = await db.query<ImportRow>({
    name: 'find-import',
    text: `select ${columns} from imports where account_id = $1 and id = $2`,
    values: [accountId, id],
  })
  return rows[0] ?? null
}

/** One page of a campaign's imports by imports_list, in the order that `buildPage` expects, with one row more than `limit`. */
export async function listImports(
  db: Db,
  accountId: string,
  campaignId: string,
  limit: number,
  position: Position | null,
): Promise<ImportRow[]> {
  const isAfter = position?.direction === 'after'
  const { rows } = await db.query<ImportRow>({
    name: `list-imports-${isAfter ? 'after' : 'before'}`,
    text: `
      select ${columns}
      from imports
      where account_id = $1
        and campaign_id = $2
        and ($3::uuid is null or id ${isAfter ? '>' : '<'} $3)
      order by id ${isAfter ? 'asc' : 'desc'}
      limit $4`,
    values: [accountId, campaignId, position?.id ?? null, limit + 1],
  })
  return rows
}

/** Inserts errors; `record` is the row as it came, for the file of bad rows. Of two errors with one code in a row the first stays. */
export async function insertErrors(
  tx: Tx,
  accountId: string,
  id: string,
  errors: (RowError & { record: unknown })[],
): Promise<void> {
  if (errors.length === 0) return
  await tx.query({
    name: 'insert-import-errors',
    text: `
      insert into import_errors (account_id, import_id, line, code, "column", value, detail, suggestion, record)
      select $1, $2, e.*
      from unnest($3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::jsonb[]) as e
      on conflict do nothing`,
    values: [
      accountId,
      id,
      errors.map((error) => error.line),
      errors.map((error) => error.code),
      errors.map((error) => error.column),
      errors.map((error) => error.value),
      errors.map((error) => error.detail),
      errors.map((error) => error.suggestion),
      errors.map((error) => JSON.stringify(error.record)),
    ],
  })
}

/** Errors behind a line and code, in the order of the primary key, which serves it. */
export async function readErrors(
  db: Db,
  accountId: string,
  id: string,
  after: { line: number; code: string },
  limit: number,
): Promise<(RowError & { record: unknown })[]> {
  const { rows } = await db.query<RowError & { record: unknown }>({
    name: 'read-import-errors',
    text: `
      select line, code, "column", value, detail, suggestion, record
      from import_errors
      where account_id = $1
        and import_id = $2
        and (line, code) > ($3, $4)
      order by line, code
      limit $5`,
    values: [accountId, id, after.line, after.code, limit],
  })
  return rows
}

function only<Row>(rows: Row[]): Row {
  const [row] = rows
  if (row === undefined) throw new Error('the row that this transaction inserted is there')
  return row
}
