/** Drops the partitions of days that no account keeps. */
import type { Db } from '../ground/db/db.ts'
import type { Log } from '../ground/db/log.ts'
import { dropPartitions } from '../ground/db/partition-drop.ts'
import { timeOfSuffix, type Partitioned } from '../ground/db/partitions.ts'
import { firstIdAt } from '../ground/base/ids.ts'
import { carrierIdDays } from '../ledger/no-receipt.ts'

const dayMs = 86_400_000

/** The longest retention of messages and events in days, and the database's time. */
export async function readLongest(db: Db): Promise<{ messageDays: number; eventDays: number; nowMs: number }> {
  const { rows } = await db.query<{ messageDays: number | null; eventDays: number | null; now: Date }>(
    `select max(message_days) as "messageDays", max(event_days) as "eventDays", now() as now from accounts`,
  )
  const { messageDays, eventDays, now } = rows[0] ?? {}
  // Without accounts no default can do harm.
  return { messageDays: messageDays ?? 400, eventDays: eventDays ?? 400, nowMs: now?.getTime() ?? 0 }
}

/**
 * Drops the partitions of days past the longest retention of all accounts, by the earlier of this process's and the database's clocks: one
 * machine with a wrong clock must not delete everyone's data. A day of messages stays while a late receipt may match it, and while one of
 * its messages is unsent.
 */
export async function dropOldDays(
  db: Db,
  log: Log,
  receiptTimeoutHours: number,
  ownMs: number = Date.now(),
): Promise<void> {
  const { messageDays, eventDays, nowMs } = await readLongest(db)
  const now = Math.min(ownMs, nowMs)
  const leastDays = Math.ceil(receiptTimeoutHours / 24) + carrierIdDays + 1
  const isKept = (endsAt: number): Promise<boolean> => isAwaited(db, endsAt)
  const messages: readonly Partitioned[] = ['submissions', 'outcomes', 'messages']
  for (const table of messages)
    await dropPartitions(db, log, table, now - Math.max(messageDays, leastDays) * dayMs, { isKept })
  for (const table of ['attempts', 'events'] as const) await dropPartitions(db, log, table, now - eventDays * dayMs)
}

// Rows of a message outside its days, by its id, without an age limit of their own.
const orphanTables = ['short_links', 'resends', 'opt_out_suspicions']

/**
 * Deletes a batch of rows whose messages went with their day; short_links by index short_links_age, the other two are small. Returns the
 * number for one table; call again while it is `limit`.
 */
export async function deleteOrphans(db: Db, limit: number): Promise<number> {
  const { rows } = await db.query<{ suffix: string | null }>(
    `select min(right(c.relname, 9)) as suffix
     from pg_inherits i
     join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'messages'::regclass and c.relname ~ '_[0-9]{8}$'`,
  )
  const suffix = rows[0]?.suffix
  if (!suffix) return 0
  let most = 0
  for (const table of orphanTables) {
    const { rowCount } = await db.query(
      `delete from ${table}
       where ctid = any (array(select ctid from ${table} where message_id < $1 limit $2))`,
      [firstIdAt(timeOfSuffix(suffix)), limit],
    )
    most = Math.max(most, rowCount ?? 0)
  }
  return most
}

/** Whether a message from before a time is queued, delayed or with a carrier. Reads the narrow tables of these, once per dropped day. */
async function isAwaited(db: Db, before: number): Promise<boolean> {
  const { rows } = await db.query<{ isAwaited: boolean }>(
    `select exists (select from delayed where message_id < $1)
       or exists (select from queue where message_id < $1)
       or exists (select from intents where message_id < $1) as "isAwaited"`,
    [firstIdAt(before)],
  )
  return rows[0]?.isAwaited ?? true
}
