/** What becomes of the sender pools of an account that is destroyed. Its numbers stay: whoever operates the installation hands them out. */
import type { Tx } from '../ground/db/db.ts'
import { deleteRowsOf } from '../ground/db/rows-of-account.ts'

/** Deletes a piece of who is used to which number of a pool, and then the pools; answers how many. */
export async function deletePoolsOf(tx: Tx, accountId: string): Promise<number> {
  return (await deleteRowsOf(tx, accountId, 'sender_affinity')) || deleteRowsOf(tx, accountId, 'sender_pools')
}
