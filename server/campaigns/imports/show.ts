/** An import in answers and events. */
import { Type, type Static } from 'typebox'
import { IdOf, Nullable, showTime, Timestamp } from '../../http.ts'
import { showId } from '../../ids.ts'
import { importStatuses, type ImportFailure, type ImportRow } from './store.ts'

const Count = (description: string) => Type.Integer({ minimum: 0, description })

/** An import job. */
export const Import = Type.Object(
  {
    id: IdOf('imp', 'Id of the import.'),
    object: Type.Literal('import'),
    campaign: IdOf('cmp', 'Where the contacts go.'),
    status: Type.Enum([...importStatuses], {
      description: '`completed_with_errors`: some rows failed, all others are there.',
    }),
    format: Type.Enum(['json', 'csv', 'ndjson']),
    on_conflict: Type.Enum(['update', 'skip']),
    default_country: Nullable(Type.String()),
    counts: Type.Object(
      {
        total: Nullable(Count('Rows of the file; null until all of it is read.')),
        processed: Count('Rows read so far; the sum of created, updated, skipped, duplicate and failed.'),
        created: Count('New contacts.'),
        updated: Count('Contacts that were there.'),
        skipped: Count('Contacts that were there and were left alone.'),
        duplicate: Count('Rows with a number that an earlier row of the file has; the first row counts.'),
        opted_out: Count('Of the contacts, those whose number has opted out; nothing is sent to them.'),
        failed: Count('Rows with errors.'),
      },
      { description: 'Grows while the import runs.' },
    ),
    mapping: Nullable(
      Type.Record(Type.String(), Nullable(Type.String()), {
        description: 'For each column of a CSV file the field it fills; null where it is ignored.',
      }),
    ),
    failure: Nullable(Type.Object({ code: Type.String(), detail: Type.String() })),
    errors_url: Type.String({
      description: 'Errors by row; with `Accept: text/csv` the bad rows. The first 100,000 bad rows.',
    }),
    created_at: Timestamp('When it was accepted.'),
    started_at: Nullable(Timestamp('When it began to run.')),
    completed_at: Nullable(Timestamp('When it was over.')),
  },
  { $id: 'Import' },
)

const failureDetails: Record<ImportFailure, string> = {
  no_rows: 'The file has no rows.',
  too_many_rows: 'The file has more than 1,000,000 rows; those before are there. Split the file.',
  internal_error: 'The import failed for a reason of ours; rows that were counted are there. Send the file again.',
}

/** The public form of an import. */
export function showImport(row: ImportRow): Static<typeof Import> {
  const id = showId('imp', row.id)
  const { csv } = row.options
  return {
    id,
    object: 'import',
    campaign: showId('cmp', row.campaignId),
    status: row.status,
    format: row.format,
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
    },
    mapping: csv ? Object.fromEntries(csv.header.map((name, at) => [name, csv.targets[at] ?? null])) : null,
    failure: row.failure && { code: row.failure, detail: failureDetails[row.failure] },
    errors_url: `/v1/imports/${id}/errors`,
    created_at: row.createdAt.toISOString(),
    started_at: showTime(row.startedAt),
    completed_at: showTime(row.completedAt),
  }
}
