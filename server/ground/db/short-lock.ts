/** Statements that lock a table against everybody, in such a way that nobody waits for them (decision 0029). */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from './db.ts'
import { codeOf } from './failure.ts'

// Making and dropping a partition lock it, its parent and the default partition against everybody, and those who come meanwhile wait behind
// that: it gives up so soon that three waits in a row are less than a tenth of a second.
const lockTimeoutMs = 25
const pauseMs = 250

/** Runs one statement when its locks are free; false where they were at none of so many tries: some seconds, where nobody says otherwise. */
export async function runWithShortLock(db: Db, statement: string, tries: number = 20): Promise<boolean> {
  for (let left = tries; left > 0; left--) {
    try {
      // One round trip, which is one transaction: nobody waits for this process while the locks are held.
      await db.query(`set local lock_timeout = ${lockTimeoutMs}; ${statement}`)
      return true
    } catch (error) {
      // 55P03 lock not available; 40P01 a deadlock, which the shorter lock_timeout mostly forestalls.
      if (!['55P03', '40P01'].includes(codeOf(error) ?? '')) throw error
      if (left > 1) await sleep(pauseMs)
    }
  }
  return false
}
