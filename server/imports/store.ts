/** The SQL of imports: the row of the job. Every query begins with the account. */
import type { Db, Queryable, Tx } from '../ground/db/db.ts'
import { wayOf, type Position } from '../ground/http/page.ts'
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

/** Why a whole import failed. */
export type ImportFailure =
  | 'no_rows'
  | 'no_good_rows'
  | 'too_many_rows'
  | 'damaged_file'
  | 'too_large'
  | 'campaign_closed'
  | 'database_too_slow'
  | 'internal_error'

/** What the caller asked for. */
export interface AskedOptions extends TableOptions {
  onConflict: OnConflict
  defaultCountry: string | null
  /** Reads and counts, and writes no contact. */
  isDryRun: boolean
  /** Of a text file, by its name in the WHATWG's standard. */
  encoding?: string | undefined
  /** Rows of a workbook that are hidden are taken, too. */
  takesHidden?: boolean | undefined
}

/** What the caller asked for, and what was learnt from the file. */
export interface ImportOptions extends AskedOptions {
  /** Of CSV and workbooks. */
  table?: TableLayout
  sheet?: string
  /** Without a country: which digits are rather national numbers. */
  doubt?: Doubt
}

/** How many rows met which end: processed = created + updated + skipped + duplicate + failed + hidden; opted_out are among them. */
export interface ImportCounts {
  processed: number
  created: number
  updated: number
  skipped: number
  duplicate: number
  optedOut: number
  failed: number
  /** Rows that a filter or a person hides. */
  hidden: number
}

/** What was mended in how many rows. */
export type Repairs = Partial<Record<Repair | 'null_words', number>>

/** Numbers that a cell had behind the one that was taken. */
export interface FurtherNumbers {
  line: number
  number: string
  others: string[]
}

/** A place in the file behind so many rows. */
export interface Mark extends Place {
  rows: number
}

/** Where an import goes on. */
export interface Resume {
  /** Behind rows that are committed; null: only reading from the beginning finds the rows behind them. */
  mark: Mark | null
  /** Characters of the bad rows so far. */
  badSize: number
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
  bytesRead: number
  repairs: Repairs
  faults: FaultGroup[]
  /** Of a dry run: three cells of each column. */
  cells: string[][] | null
  /** Of a dry run: its first good rows, as they would be stored. */
  sample: unknown[] | null
  resume: Resume | null
  /** The first rows whose cell had several numbers. */
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

/** Sets what is known when all bytes are there; by primary key. */
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

/** Whether a campaign takes no contacts any more; by primary key. */
export async function isClosed(tx: Tx, accountId: string, campaignId: string): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'is-campaign-closed',
    text: `select from campaigns where account_id = $1 and id = $2 and status in ('archived', 'canceled')`,
    values: [accountId, campaignId],
  })
  return rowCount === 1
}

/** Imports of an account that are not over; by the account's part of the primary key. */
export async function listUnfinished(db: Queryable, accountId: string): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>({
    name: 'list-unfinished-imports',
    text: `select id from imports where account_id = $1 and status in ('queued', 'processing')`,
    values: [accountId],
  })
  return rows.map(({ id }) => id)
}

/**
 * Ends an import that is not over and drops its bytes and numbers; null where it was over, or where `committed` rows are named and others are
 * committed: then it stays as it is.
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

/** One page of a campaign's imports by imports_list, in the order that `buildPage` expects, with one row more than `limit`. */
export async function listImports(
  db: Db,
  accountId: string,
  campaignId: string,
  limit: number,
  position: Position | null,
): Promise<ImportRow[]> {
  const { beyond, order } = wayOf(position)
  const { rows } = await db.query<ImportRow>({
    name: `list-imports-${order}`,
    text: `
      select ${importColumns}
      from imports
      where account_id = $1
        and campaign_id = $2
        and ($3::uuid is null or id ${beyond} $3)
      order by id ${order}
      limit $4`,
    values: [accountId, campaignId, position?.id ?? null, limit + 1],
  })
  return rows
}

function only<Row>(rows: Row[]): Row {
  const [row] = rows
  if (row === undefined) throw new Error('the row that this transaction inserted is there')
  return row
}
