/** Days that no account keeps any more go whole, with their partitions. */
import type { Db } from '../ground/db/db.ts'
import type { Log } from '../ground/db/log.ts'
import { dropPartitions } from '../ground/db/partition-drop.ts'
import { timeOfSuffix, type Partitioned } from '../ground/db/partitions.ts'
import { firstIdAt } from '../ground/base/ids.ts'
import { carrierIdDays } from '../ledger/no-receipt.ts'

const dayMs = 86_400_000

/** The longest that any account keeps messages and events, in days; and what time it is for the database. */
export async function readLongest(db: Db): Promise<{ messageDays: number; eventDays: number; nowMs: number }> {
  const { rows } = await db.query<{ messageDays: number | null; eventDays: number | null; now: Date }>(
    `select max(message_days) as "messageDays", max(event_days) as "eventDays", now() as now from accounts`,
  )
  const { messageDays, eventDays, now } = rows[0] ?? {}
  // Without accounts there is nothing to lose, and nothing to gain.
  return { messageDays: messageDays ?? 400, eventDays: eventDays ?? 400, nowMs: now?.getTime() ?? 0 }
}

/**
 * Drops the partitions of days that are past the longest retention of all accounts, by the clock of this process and by that of the database:
 * one machine whose clock is wrong must not take away what everybody keeps. A day of messages stays while a late receipt may name it, and
 * while a message of it has yet to be sent.
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

// What a message leaves beside its days, by its id, and nothing forgets by its own age.
const traces = ['short_links', 'resends', 'opt_out_suspicions']

/**
 * Deletes a piece of what is left of messages that went with their day; short_links by index short_links_age, the other two are small. Returns
 * how much of one table; call again while it is `limit`.
 */
export async function forgetTraces(db: Db, limit: number): Promise<number> {
  const { rows } = await db.query<{ suffix: string | null }>(
    `select min(right(c.relname, 9)) as suffix
     from pg_inherits i
     join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'messages'::regclass and c.relname ~ '_[0-9]{8}$'`,
  )
  const suffix = rows[0]?.suffix
  if (!suffix) return 0
  let most = 0
  for (const table of traces) {
    const { rowCount } = await db.query(
      `delete from ${table}
       where ctid = any (array(select ctid from ${table} where message_id < $1 limit $2))`,
      [firstIdAt(timeOfSuffix(suffix)), limit],
    )
    most = Math.max(most, rowCount ?? 0)
  }
  return most
}

/** Whether a message from before a time waits or is with a carrier. Reads the narrow tables of what waits, once a dropped day. */
async function isAwaited(db: Db, before: number): Promise<boolean> {
  const { rows } = await db.query<{ isAwaited: boolean }>(
    `select exists (select from delayed where message_id < $1)
       or exists (select from queue where message_id < $1)
       or exists (select from intents where message_id < $1) as "isAwaited"`,
    [firstIdAt(before)],
  )
  return rows[0]?.isAwaited ?? true
}
