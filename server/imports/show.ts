/** An import in responses and events. */
import { Type, type Static } from 'typebox'
import { IdOf, Nullable, showTime, Timestamp, type Caller } from '../ground/http/http.ts'
import { showId } from '../ground/base/ids.ts'
import { Faults, repairCounts, showFindings, Warnings } from '../ground/tables/number-findings.ts'
import { signTargets } from './consent-columns.ts'
import { importStatuses, type ImportFailure, type ImportRow } from './store.ts'

const Count = (description: string) => Type.Integer({ minimum: 0, description })

const counted = 'rows that were counted are there'
/** Why an import failed, what it kept (a dry run nothing), and the advice. */
const failures: Record<ImportFailure, readonly [why: string, kept?: string, advice?: string]> = {
  no_rows: ['The file has no rows'],
  no_good_rows: ['No row could be imported: `faults` lists the errors, and how to correct such rows'],
  too_many_rows: ['The file has more than 1,000,000 rows', 'rows before that are imported', 'Split the file.'],
  damaged_file: ['The file cannot be read to its end', 'rows before that are imported', 'Save it again, or as CSV.'],
  too_large: [
    'The workbook inflates to more than 1 GiB, to more than 100 times its size, or to more than 64 MiB of different texts',
    'rows before that are imported',
    'Save it as CSV.',
  ],
  campaign_closed: ['The campaign was archived or canceled meanwhile', counted],
  database_too_slow: [
    'The database took too long to write rows, even a few at a time',
    counted,
    'Ask the operator to check its load and locks, then send the file again.',
  ],
  internal_error: ['The import failed because of an error in Heliogram', counted, 'Send the file again.'],
}

function tellFailure(failure: ImportFailure, isDryRun: boolean): string {
  const [why, kept, advice] = failures[failure]
  const state = kept === undefined ? '' : `; ${isDryRun ? 'nothing was written' : kept}`
  return `${why}${state}.${advice === undefined ? '' : ` ${advice}`}`
}

export const Import = Type.Object(
  {
    id: IdOf('imp', 'Id of the import.'),
    object: Type.Literal('import'),
    campaign: IdOf('cmp', 'Campaign of the contacts.'),
    status: Type.Enum([...importStatuses], {
      description: '`completed_with_errors`: some rows failed, all others were imported.',
    }),
    format: Type.Enum(['json', 'csv', 'ndjson', 'xlsx']),
    dry_run: Type.Boolean({ description: 'Dry run: nothing was written; counts are what an import would have done.' }),
    on_conflict: Type.Enum(['update', 'skip']),
    default_country: Nullable(Type.String()),
    counts: Type.Object(
      {
        total: Nullable(Count('Rows of the file; null until it is read completely.')),
        processed: Count('Rows read so far; the sum of created, updated, skipped, duplicate, failed and hidden.'),
        created: Count('New contacts.'),
        updated: Count('Contacts that already existed and were updated.'),
        skipped: Count('Contacts that already existed and were not changed.'),
        duplicate: Count(
          'Rows with a number of an earlier row. The first row counts, but a consent of `opted_out` counts in any.',
        ),
        opted_out: Count('Of the contacts, those whose number has opted out; nothing can be sent to them.'),
        failed: Count('Rows with errors.'),
        hidden: Count('Hidden rows of a workbook: they are left out, but opt-outs in them count.'),
      },
      { description: 'Grows while the import runs.' },
    ),
    progress: Type.Number({ minimum: 0, maximum: 1, description: 'The part of the file that was read.' }),
    detected: Type.Object(
      {
        encoding: Nullable(
          Type.String({
            description: 'For a text file, by its name in the WHATWG Encoding Standard.',
            examples: ['utf-8'],
          }),
        ),
        delimiter: Nullable(Type.String()),
        sheet: Nullable(Type.String()),
        header_line: Nullable(Type.Integer({ description: 'The line with the names of the columns; 0: none.' })),
        number_column: Nullable(Type.String({ description: 'The column that the numbers are read from.' })),
        consent_columns: Type.Array(Type.String(), {
          description: 'Columns with consents and opt-outs.',
        }),
        attribute_columns: Type.Array(Type.String(), {
          description: 'Columns that are not fields of a contact, and were kept as attributes.',
        }),
      },
      { description: 'How the file was read; null and empty if it is not a table.' },
    ),
    repairs: Type.Partial(
      Type.Object({
        ...repairCounts,
        null_words: Count('Rows with a cell of `\\N`, NULL, #N/A or the like, which was read as empty.'),
      }),
    ),
    columns: Nullable(
      Type.Array(
        Type.Object({
          name: Type.String(),
          field: Nullable(Type.String()),
          sample: Nullable(
            Type.Array(Type.String(), { description: 'Up to three cells. Null without `contacts:read`.' }),
          ),
        }),
        { description: 'The columns of a table, in the response to the upload and in a dry run.' },
      ),
    ),
    faults: Faults,
    warnings: Warnings,
    further_numbers: Type.Array(
      Type.Object({
        line: Type.Integer(),
        number: Type.String({ description: 'The number that was used.' }),
        others: Type.Array(Type.String()),
      }),
      { description: 'Cells with several numbers: the first 100 such rows. Empty without `contacts:read`.' },
    ),
    sample: Nullable(
      Type.Array(Type.Unsafe<unknown>({ type: 'object', additionalProperties: true }), {
        description: 'In a dry run, the first 20 good rows as they would be stored.',
      }),
    ),
    mapping: Nullable(
      Type.Record(Type.String(), Nullable(Type.String()), {
        description: 'The field that each column of a table fills; null if it is ignored.',
      }),
    ),
    failure: Nullable(Type.Object({ code: Type.String({ examples: Object.keys(failures) }), detail: Type.String() })),
    errors_url: Type.String({
      description: 'Errors by row; with `Accept: text/csv` the bad rows. The first 100,000 bad rows.',
    }),
    created_at: Timestamp('When it was accepted.'),
    started_at: Nullable(Timestamp('When it started.')),
    completed_at: Nullable(Timestamp('When it ended.')),
  },
  { $id: 'Import' },
)

export function showImport(row: ImportRow, { scopes }: Partial<Pick<Caller, 'scopes'>> = {}): Static<typeof Import> {
  const id = showId('imp', row.id)
  const { table, encoding, sheet, isDryRun } = row.options
  const canRead = !scopes || scopes.has('contacts:read')
  const isOver = row.completedAt !== null && row.status !== 'canceled'
  return {
    id,
    object: 'import',
    campaign: showId('cmp', row.campaignId),
    status: row.status,
    format: row.format,
    dry_run: isDryRun,
    on_conflict: row.options.onConflict,
    default_country: row.options.defaultCountry,
    counts: {
      total: row.total,
      processed: row.processed,
      created: row.created,
      updated: row.updated,
      skipped: row.skipped,
      duplicate: row.duplicate,
      opted_out: row.optedOut,
      failed: row.failed,
      hidden: row.hidden,
    },
    progress: isOver ? 1 : row.bytes === 0 ? 0 : Math.round((row.bytesRead / row.bytes) * 1000) / 1000,
    detected: {
      encoding: encoding ?? null,
      delimiter: table?.delimiter ?? null,
      sheet: sheet ?? null,
      header_line: table?.headerLine ?? null,
      number_column: (table && table.header[table.targets.indexOf('phone_number')]) ?? null,
      consent_columns: table ? table.header.filter((_, at) => saysConsent(table.targets[at])) : [],
      attribute_columns: table ? table.header.filter((_, at) => isAttribute(table.targets[at])) : [],
    },
    repairs: row.repairs,
    columns:
      (table &&
        row.cells &&
        table.header.map((name, at) => ({
          name,
          field: table.targets[at] ?? null,
          sample: canRead ? (row.cells?.[at] ?? []) : null,
        }))) ??
      null,
    ...findingsOf(row),
    further_numbers: canRead ? (row.furtherNumbers ?? []) : [],
    sample: row.sample,
    mapping: table ? Object.fromEntries(table.header.map((name, at) => [name, table.targets[at] ?? null])) : null,
    failure: row.failure && { code: row.failure, detail: tellFailure(row.failure, isDryRun) },
    errors_url: `/v1/imports/${id}/errors`,
    created_at: row.createdAt.toISOString(),
    started_at: showTime(row.startedAt),
    completed_at: showTime(row.completedAt),
  }
}

const saysConsent = (target: string | null | undefined): boolean =>
  target !== null && target !== undefined && consentFields.includes(target)

const isAttribute = (target: string | null | undefined): boolean =>
  target === 'attributes' || target?.startsWith('attributes.') === true

const consentFields = ['consent', ...Object.values(signTargets)]

function findingsOf({ faults, options }: ImportRow) {
  const { table, doubt = null, defaultCountry, mapping } = options
  const file = { table: table ?? null, numberField: 'phone_number', consentFields, defaultCountry, mapping }
  const numberColumn = table?.header[table.targets.indexOf('phone_number')] ?? 'phone_number'
  return showFindings({ faults, warnings: table?.warnings ?? [], doubt }, file, numberColumn)
}
