/** Statements with exclusive locks that hardly delay others (decision 0029). */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from './db.ts'
import { codeOf } from './failure.ts'

// Creating or dropping a partition locks it, its parent and the default partition exclusively, and others queue behind the wait: three
// waits in a row are less than a tenth of a second.
const lockTimeoutMs = 25
const pauseMs = 250

/** Runs one statement when its locks are free; false if all tries failed: some seconds, by default. */
export async function runWithShortLock(db: Db, statement: string, tries: number = 20): Promise<boolean> {
  for (let left = tries; left > 0; left--) {
    try {
      // One round trip and one transaction: the locks do not wait for this process.
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
