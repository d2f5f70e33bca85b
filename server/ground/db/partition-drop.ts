/** The end of day partitions: dropped whole when nobody keeps their day any more, without making anybody wait for it. */
import { firstIdAt } from './uuid.ts'
import type { Db } from './db.ts'
import type { Log } from './log.ts'
import { forgetDay, timeOfSuffix, type Partitioned } from './partitions.ts'
import { runWithShortLock } from './short-lock.ts'

/**
 * Drops partitions of a table whose whole day is older than a time, the oldest first; returns how many. A partition that is in use is
 * tried for some seconds, and left to the next call then. What is as old and in the default partition is deleted.
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
    // DETACH CONCURRENTLY would not lock, but PostgreSQL refuses it where there is a default partition.
    if (!(await runWithShortLock(db, `drop table if exists ${name}`, options.triesMax))) {
      log.warn({ partition: name }, 'partition not dropped')
      break
    }
    log.info({ partition: name }, 'partition dropped')
    dropped++
  }
  if (!(await options.isKept?.(before))) await deleteStrays(db, table, before)
  return dropped
}

/** By which the rows of each table have their day. */
const keyOf: Record<Partitioned, string> = {
  messages: 'id',
  submissions: 'message_id',
  outcomes: 'message_id',
  events: 'id',
  attempts: 'id',
}

// Small pieces: a long delete would hold its snapshot against every claim.
const pieceMax = 5000

/**
 * Deletes what is older than a time from a default partition, in pieces: rows of clocks that were off, and of days that were not made in time.
 * Reads all that is in it, which is nothing at most times.
 */
async function deleteStrays(db: Db, table: Partitioned, before: number): Promise<void> {
  const strays = `${table}_default`
  for (;;) {
    const { rowCount } = await db.query(
      `delete from ${strays}
       where ctid = any (array(select ctid from ${strays} where ${keyOf[table]} < $1 limit $2))`,
      [firstIdAt(before), pieceMax],
    )
    if ((rowCount ?? 0) < pieceMax) return
  }
}
