import { inTransaction, type Db, type Tx } from './db.ts'
import { isPassing } from './failure.ts'

/**
 * Claims one item and works on it, in one transaction; returns the work's result, null without an item. A failing item is delayed, so that
 * others continue.
 */
export async function claimOne<One, Done>(
  db: Db,
  claim: (tx: Tx) => Promise<One | null | undefined>,
  work: (tx: Tx, one: One) => Promise<Done>,
  putOff: (one: One) => Promise<void>,
): Promise<Done | null> {
  let claimed: One | null | undefined
  try {
    return await inTransaction(db, async (tx) => {
      claimed = await claim(tx)
      return claimed ? work(tx, claimed) : null
    })
  } catch (error) {
    if (claimed && !isPassing(error)) await putOff(claimed)
    throw error
  }
}
