/** The rows of an import are deleted with messages of the same age; its counts stay in its own row. */
import type { Db } from '../ground/db/db.ts'
import { firstIdSql } from '../ground/base/ids.ts'

// Imports with lower ids are older than the account's retention period.
const firstKept = firstIdSql('now() - make_interval(days => a.message_days)')

/**
 * Deletes up to `limit` bad rows of imports older than their account's retention period for messages, by primary key, one account after the other,
 * and all their samples: imports are few. Returns the number of deleted rows; call again while it is `limit`.
 */
export async function forgetImportRows(db: Db, limit: number): Promise<number> {
  await db.query({
    name: 'forget-import-samples',
    text: `
      update imports i
      set sample = null, cells = null, further_numbers = null
      from accounts a
      where i.account_id = a.id
        and i.id < ${firstKept}
        and num_nonnulls(i.sample, i.cells, i.further_numbers) > 0`,
  })
  const { rowCount } = await db.query({
    name: 'forget-import-errors',
    text: `
      delete from import_errors
      where ctid = any (array(
        select e.ctid
        from accounts a
        cross join lateral (
          select ctid
          from import_errors
          where account_id = a.id
            and import_id < ${firstKept}
          limit $1
        ) e
        limit $1
      ))`,
    values: [limit],
  })
  return rowCount ?? 0
}
