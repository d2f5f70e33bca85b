/** Days that no account keeps any more go whole, with their partitions. */
import type { Db } from '../db/db.ts'
import type { Log } from '../db/log.ts'
import { dropPartitions } from '../db/partition-drop.ts'
import type { Partitioned } from '../db/partitions.ts'
import { firstIdAt } from '../ids.ts'
import { carrierIdDays } from './retention.ts'

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
