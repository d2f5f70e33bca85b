/** The SQL of imports: the row of the job. Every query begins with the account. */
import type { Queryable, Tx } from '../ground/db/db.ts'
import type { PagePlace } from '../ground/http/page.ts'
import { listRows } from '../ground/http/search.ts'
import type { OnConflict } from '../contacts/store.ts'
import type { TableLayout, TableOptions } from './columns.ts'
import type { Repair } from '../ground/numbers/imported.ts'
import type { Doubt } from '../ground/numbers/national.ts'
import type { FaultGroup } from '../ground/tables/fault-groups.ts'
import type { Place } from '../ground/tables/source.ts'

export const importStatuses = [
  'queued',
  'processing',
  'completed',
  'completed_with_errors',
  'failed',
  'canceled',
] as const
export type ImportStatus = (typeof importStatuses)[number]
export type Format = 'json' | 'csv' | 'ndjson' | 'xlsx'

export type ImportFailure =
  | 'no_rows'
  | 'no_good_rows'
  | 'too_many_rows'
  | 'damaged_file'
  | 'too_large'
  | 'campaign_closed'
  | 'database_too_slow'
  | 'internal_error'

export interface AskedOptions extends TableOptions {
  onConflict: OnConflict
  defaultCountry: string | null
  /** Reads and counts, but writes no contacts. */
  isDryRun: boolean
  /** Of a text file, by its name in the WHATWG Encoding Standard. */
  encoding?: string | undefined
  /** Hidden rows of a workbook are imported too. */
  takesHidden?: boolean | undefined
}

export interface ImportOptions extends AskedOptions {
  /** Of CSV and workbooks. */
  table?: TableLayout
  sheet?: string
  /** If no country was given: which digits are likely national numbers. */
  doubt?: Doubt
}

/** Rows by result: processed = created + updated + skipped + duplicate + failed + hidden; opted_out are among them. */
export interface ImportCounts {
  processed: number
  created: number
  updated: number
  skipped: number
  duplicate: number
  optedOut: number
  failed: number
  /** Hidden by a filter or a person. */
  hidden: number
}

/** Repairs of numbers, with the number of rows. */
export type Repairs = Partial<Record<Repair | 'null_words', number>>

/** The numbers behind the first one in a cell. */
export interface FurtherNumbers {
  line: number
  number: string
  others: string[]
}

/** A position in the file, with the number of rows before it. */
export interface Mark extends Place {
  rows: number
}

export interface Resume {
  /** Behind committed rows; null if only reading from the beginning finds the next row. */
  mark: Mark | null
  /** Characters of bad rows so far. */
  badSize: number
}

export interface ImportRow extends ImportCounts {
  id: string
  campaignId: string
  status: ImportStatus
  format: Format
  options: ImportOptions
  failure: ImportFailure | null
  bytes: number
  bytesRead: number
  repairs: Repairs
  faults: FaultGroup[]
  cells: string[][] | null
  /** Of a dry run: its first good rows as contacts. */
  sample: unknown[] | null
  resume: Resume | null
  /** The first rows with several numbers in a cell. */
  furtherNumbers: FurtherNumbers[] | null
  total: number | null
  createdAt: Date
  startedAt: Date | null
  completedAt: Date | null
}

export const importColumns = `id, campaign_id as "campaignId", status, format, options, failure, bytes,
  bytes_read as "bytesRead", repairs, sample, resume, further_numbers as "furtherNumbers", total, processed, created, updated,
  skipped, duplicate, opted_out as "optedOut", failed, hidden, faults, cells, created_at as "createdAt", started_at as "startedAt",
  completed_at as "completedAt"`

/** Inserts an import before its bytes; the foreign key locks the campaign's row for key share. */
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

/** Sets what is known when all bytes are stored; by primary key. */
export async function completeUpload(
  tx: Tx,
  accountId: string,
  id: string,
  upload: { options: ImportOptions; bytes: number; total: number | null; cells: string[][] | null },
): Promise<ImportRow> {
  const { rows } = await tx.query<ImportRow>({
    name: 'complete-upload',
    text: `
      update imports
      set options = $3, bytes = $4, total = $5, cells = $6
      where account_id = $1
        and id = $2
      returning ${importColumns}`,
    values: [
      accountId,
      id,
      JSON.stringify(upload.options),
      upload.bytes,
      upload.total,
      upload.cells && JSON.stringify(upload.cells),
    ],
  })
  return only(rows)
}

/** Whether a campaign accepts no more contacts; by primary key. */
export async function isClosed(tx: Tx, accountId: string, campaignId: string): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'is-campaign-closed',
    text: `select from campaigns where account_id = $1 and id = $2 and status in ('archived', 'canceled')`,
    values: [accountId, campaignId],
  })
  return rowCount === 1
}

/** Unfinished imports of an account; by the account's part of the primary key. */
export async function listUnfinished(db: Queryable, accountId: string): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>({
    name: 'list-unfinished-imports',
    text: `select id from imports where account_id = $1 and status in ('queued', 'processing')`,
    values: [accountId],
  })
  return rows.map(({ id }) => id)
}

/**
 * Ends an unfinished import and drops its bytes and numbers. Null, without a change, if it was over, or if `committed` is given and another number of
 * rows is committed.
 */
export async function endImport(
  tx: Tx,
  accountId: string,
  id: string,
  status: ImportStatus,
  failure: ImportFailure | null,
  committed: number | null,
): Promise<ImportRow | null> {
  const { rows } = await tx.query<ImportRow>({
    name: 'end-import',
    text: `
      with ended as (
        update imports
        set status = $3, failure = $4, total = coalesce(total, case when coalesce($4::text, 'no_good_rows') = 'no_good_rows' and $3 <> 'canceled' then processed end),
          completed_at = now()
        where account_id = $1
          and id = $2
          and status in ('queued', 'processing')
          and ($5::bigint is null or committed_row = $5)
        returning ${importColumns}
      ), gone as (
        delete from import_chunks
        where account_id = $1
          and import_id = $2
          and exists (select from ended)
      ), known as (
        delete from import_numbers
        where account_id = $1
          and import_id = $2
          and exists (select from ended)
      )
      select * from ended`,
    values: [accountId, id, status, failure, committed],
  })
  return rows[0] ?? null
}

/** Reads an import by its primary key; locks nothing. */
export async function findImport(db: Queryable, accountId: string, id: string): Promise<ImportRow | null> {
  const { rows } = await db.query<ImportRow>({
    name: 'find-import',
    text: `select ${importColumns} from imports where account_id = $1 and id = $2`,
    values: [accountId, id],
  })
  return rows[0] ?? null
}

/** One page of a campaign's imports by imports_list, in the order of `buildPage`, with one row more than `limit`. */
export const listImports = (
  db: Queryable,
  accountId: string,
  campaignId: string,
  ...place: PagePlace
): Promise<ImportRow[]> =>
  listRows(db, { table: 'imports', columns: importColumns, accountId, key: { campaign_id: campaignId } }, ...place)

function only<Row>(rows: Row[]): Row {
  const [row] = rows
  if (row === undefined) throw new Error('the row that this transaction inserted is there')
  return row
}
