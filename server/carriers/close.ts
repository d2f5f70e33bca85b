/** What becomes of the sender pools of an account that is destroyed. Its numbers stay: whoever operates the installation hands them out. */
import type { Tx } from '../db/db.ts'

const rowsMax = 2000

/** Deletes a piece of who is used to which number of a pool, and then the pools; answers how many. Prefixes of their primary keys. */
export async function deletePoolsOf(tx: Tx, accountId: string): Promise<number> {
  const { rowCount } = await tx.query({
    name: 'delete-affinities-of-account',
    text: `
      delete from sender_affinity
      where ctid = any (array(select ctid from sender_affinity where account_id = $1 limit $2))`,
    values: [accountId, rowsMax],
  })
  if (rowCount) return rowCount
  return (await tx.query('delete from sender_pools where account_id = $1', [accountId])).rowCount ?? 0
}
