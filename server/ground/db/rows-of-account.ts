import type { Tx } from './db.ts'

const pieceRows = 2000

/**
 * Deletes a batch of an account's rows in a table whose key begins with the account; returns their number. By ctid, which is not unique in
 * a partitioned table: if statistics call a table empty, a join would look for each row among all (decision 0012).
 */
export async function deleteRowsOf(tx: Tx, accountId: string, table: string): Promise<number> {
  const piece = `select ctid from ${table} where account_id = $1 limit $2`
  const { rowCount } = await tx.query(`delete from ${table} where ctid = any (array(${piece}))`, [accountId, pieceRows])
  return rowCount ?? 0
}
