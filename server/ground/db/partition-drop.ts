/** Drops day partitions past retention as a whole, without delaying others. */
import { firstIdAt } from './uuid.ts'
import type { Db } from './db.ts'
import type { Log } from './log.ts'
import { forgetDay, timeOfSuffix, type Partitioned } from './partitions.ts'
import { runWithShortLock } from './short-lock.ts'

/**
 * Drops partitions older than a time by a whole day, the oldest first; returns their number. Tries a partition in use for some seconds,
 * then leaves it to the next call. Deletes equally old rows of the default partition.
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
    // Statements check for the partition first: from now on this process does not name it.
    forgetDay(suffix)
    // DETACH CONCURRENTLY would not lock, but PostgreSQL refuses it with a default partition.
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

/** The column of each table that decides the day. */
const keyOf: Record<Partitioned, string> = {
  messages: 'id',
  submissions: 'message_id',
  outcomes: 'message_id',
  events: 'id',
  attempts: 'id',
}

// Small batches: the snapshot of a long delete slows every claim.
const pieceMax = 5000

/**
 * Deletes old rows of a default partition, in batches: from wrong clocks, or days without a partition. Reads the whole partition, which is
 * nearly always empty.
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
