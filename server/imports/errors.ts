/** The SQL of row errors. Every query begins with the account. */
import { columns, fieldsOf } from '../ground/db/array.ts'
import type { Queryable, Tx } from '../ground/db/db.ts'
import type { FieldErrorCode } from '../ground/base/errors.ts'
import type { RowFailure } from '../ground/tables/fault-groups.ts'

export interface RowError extends RowFailure {
  value: string | null
  suggestion: string | null
}

// Errors of one code in a row. Names in JSON may have any length.
const othersMax = 9
const nameMax = 100

/** One error for each code, the first, which names the others: each is stored with its row, and a row may have a hundred errors. */
export function joinErrors(errors: readonly RowError[]): RowError[] {
  const byCode = new Map<FieldErrorCode, { first: RowError; others: string[] }>()
  for (const error of errors) {
    const known = byCode.get(error.code)
    if (known) known.others.push(`${(error.column ?? 'the row').slice(0, nameMax).toWellFormed()} ${error.detail}`)
    else byCode.set(error.code, { first: error, others: [] })
  }
  return [...byCode.values()].map(({ first, others }) => {
    const more = others.length > othersMax ? [`and ${others.length - othersMax} more`] : []
    return { ...first, detail: [first.detail, ...others.slice(0, othersMax), ...more].join('; ') }
  })
}

/** `record` is the original row, for the file of bad rows. Of two errors with one code in a row, the first stays. */
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
      // pg's array format escapes rows full of quotes to twenty times their size.
      ...columns([
        ...fieldsOf(errors, 'line', 'code', 'column', 'value', 'detail', 'suggestion'),
        errors.map((error) => JSON.stringify(error.record)),
      ]),
    ],
  })
}

/** A position in an import's errors: the line and code of one error. */
export interface ErrorPlace {
  line: number
  code: string
  isBefore?: boolean
}

/** The errors next to a position, nearest first; the primary key serves this order. */
export async function readErrors(
  db: Queryable,
  accountId: string,
  id: string,
  { line, code, isBefore = false }: ErrorPlace,
  limit: number,
): Promise<(RowError & { record: unknown })[]> {
  const { rows } = await db.query<RowError & { record: unknown }>({
    name: `read-import-errors-${isBefore ? 'before' : 'behind'}`,
    text: `
      select line, code, "column", value, detail, suggestion, record
      from import_errors
      where account_id = $1
        and import_id = $2
        and (line, code) ${isBefore ? '<' : '>'} ($3, $4)
      order by ${isBefore ? 'line desc, code desc' : 'line, code'}
      limit $5`,
    values: [accountId, id, line, code, limit],
  })
  return rows
}
