/** How far the event log of an account was read for its SMPP clients. */
import type { Tx } from '../db/db.ts'
import { firstIdAt } from '../ids.ts'

// An event's id is made before its transaction commits, and no transaction lasts a day.
const lagMsMax = 86_400_000

/** No event that is recorded from now on has a smaller id. */
export const floorNow = (): string => firstIdAt(Date.now() - lagMsMax)

/** Begins to follow an account's events where nobody did: from the oldest transaction that is still running. */
export async function ensureCursor(tx: Tx, accountId: string): Promise<void> {
  await tx.query(
    `insert into smpp_cursors (account_id, txid, event_id, floor_id)
     values ($1, pg_snapshot_xmin(pg_current_snapshot()), '00000000-0000-0000-0000-000000000000', $2)
     on conflict (account_id) do nothing`,
    [accountId, floorNow()],
  )
}
