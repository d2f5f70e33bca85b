/** The end of day partitions: dropped whole when nobody keeps their day any more, without making anybody wait for it. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from './db.ts'
import { codeOf } from './failure.ts'
import type { Log } from './log.ts'
import { forgetDay, timeOfSuffix, type Partitioned } from './partitions.ts'

// A DROP locks the partition, its parent and the default partition against everybody, and those who come meanwhile wait behind it: it
// gives up so soon that three waits in a row are less than a tenth of a second. DETACH CONCURRENTLY would not lock, but PostgreSQL
// refuses it where there is a default partition.
const lockTimeoutMs = 25
const triesMax = 20
const pauseMs = 250

/**
 * Drops partitions of a table whose whole day is older than a time, the oldest first; returns how many. A partition that is in use is
 * tried for some seconds, and left to the next call then. Rows in the default partition stay.
 */
export async function dropPartitions(
  db: Db,
  log: Log,
  table: Partitioned,
  before: number,
  options: { triesMax?: number; isKept?: (endsAt: number) => Promise<boolean> } = {},
): Promise<number> {
  const { rows } = await db.query<{ suffix: string }>(
    `select right(c.relname, 9) as suffix
     from pg_inherits i
     join pg_class c on c.oid = i.inhrelid
     where i.inhparent = $1::regclass and c.relname ~ '_[0-9]{8}$'
     order by 1`,
    [table],
  )
  let dropped = 0
  for (const { suffix } of rows) {
    const endsAt = timeOfSuffix(suffix) + 86_400_000
    if (endsAt > before || (await options.isKept?.(endsAt))) break
    const name = `${table}${suffix}`
    // Who names the partition looks it up first: from now on nobody here does.
    forgetDay(suffix)
    if (!(await dropPartition(db, name, options.triesMax ?? triesMax))) {
      log.warn({ partition: name }, 'partition not dropped')
      break
    }
    log.info({ partition: name }, 'partition dropped')
    dropped++
  }
  return dropped
}

async function dropPartition(db: Db, name: string, tries: number): Promise<boolean> {
  for (let left = tries; left > 0; left--) {
    try {
      // One round trip, which is one transaction: nobody waits for this process while the locks are held.
      await db.query(`set local lock_timeout = ${lockTimeoutMs}; drop table if exists ${name}`)
      return true
    } catch (error) {
      // 55P03 lock not available; 40P01 a deadlock, which the shorter lock_timeout mostly forestalls.
      if (!['55P03', '40P01'].includes(codeOf(error) ?? '')) throw error
      if (left > 1) await sleep(pauseMs)
    }
  }
  return false
}
