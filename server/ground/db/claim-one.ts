/** Work on one of many, claimed in the transaction that does it. */
import { inTransaction, type Db, type Tx } from './db.ts'
import { isPassing } from './failure.ts'

/**
 * Claims one and works on it, in one transaction; answers what the work did, and null where there is none. One that fails is put off and
 * tried again: others go on meanwhile.
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
