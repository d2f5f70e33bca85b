/** Cursors in accounts' event logs, for SMPP clients. */
import type { Tx } from '../ground/db/db.ts'
import { firstIdSql } from '../ground/base/ids.ts'

/** SQL: the smallest id of so many days ago by the clock of the database; clocks of processes may differ by days. */
export const firstIdOf = (daysAgo: number): string => firstIdSql(`now() - interval '${daysAgo} days'`)

/** SQL: no event recorded from now on has a smaller id. An id is made before its transaction commits, and no transaction lasts a day. */
export const floorNow: string = firstIdOf(1)

/** Inserts an account's missing cursor, at the oldest running transaction. */
export async function ensureCursor(tx: Tx, accountId: string): Promise<void> {
  await tx.query(
    `insert into smpp_cursors (account_id, txid, event_id, floor_id)
     values ($1, pg_snapshot_xmin(pg_current_snapshot()), '00000000-0000-0000-0000-000000000000', ${floorNow})
     on conflict (account_id) do nothing`,
    [accountId],
  )
}
