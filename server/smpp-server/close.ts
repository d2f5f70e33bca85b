/** What becomes of the SMPP credentials of an account that is destroyed. */
import type { Tx } from '../ground/db/db.ts'
import { deleteRowsOf } from '../ground/db/rows-of-account.ts'

/**
 * Deletes a piece of what waits for an account's SMPP clients and of what they have submitted, and then their credentials; answers how many.
 * Parts that never came together are few, and go with their credential.
 */
export async function deleteClientsOf(tx: Tx, accountId: string): Promise<number> {
  const waiting = await deleteRowsOf(tx, accountId, 'smpp_deliveries', 'smpp_submits')
  return waiting || deleteRowsOf(tx, accountId, 'smpp_credentials', 'smpp_cursors')
}
