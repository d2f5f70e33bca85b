/** What becomes of the SMPP credentials of an account that is destroyed. */
import type { Tx } from '../db/db.ts'

const rowsMax = 2000

/**
 * Deletes a piece of what waits for an account's SMPP clients and of what they have submitted, and then their credentials; answers how many.
 * Prefixes of their primary keys.
 */
export async function deleteClientsOf(tx: Tx, accountId: string): Promise<number> {
  const { rows } = await tx.query<{ count: number }>({
    name: 'delete-smpp-of-account',
    text: `
      with delivery as (
        delete from smpp_deliveries
        where ctid = any (array(select ctid from smpp_deliveries where account_id = $1 limit $2))
        returning 1
      ), submit as (
        delete from smpp_submits
        where ctid = any (array(select ctid from smpp_submits where account_id = $1 limit $2))
        returning 1
      )
      select ((select count(*) from delivery) + (select count(*) from submit))::int as count`,
    values: [accountId, rowsMax],
  })
  if (rows[0]?.count) return rows[0].count
  // Parts that never came together are few, and go with their credential.
  const { rowCount } = await tx.query('delete from smpp_credentials where account_id = $1', [accountId])
  await tx.query('delete from smpp_cursors where account_id = $1', [accountId])
  return rowCount ?? 0
}
