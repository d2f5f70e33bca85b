/** What the ledger forgets: short-lived rows past their use. */
import type { Db } from '../ground/db/db.ts'
import { untilDone } from '../ground/base/sweeps.ts'

// Small pieces: a long delete would hold its snapshot against every claim.
const pieceMax = 5000
/** Days past the receipt timeout for which a late receipt still finds its message. */
export const carrierIdDays = 7
const receiptDays = 30
// Longer than any message is valid: none is sent again after it.
const crashDays = 4
// At least: whoever repeats a request may be slow.
const idempotencyDaysMin = 30
// Replies to numbers that were nobody's: only an operator can give them to somebody.
const orphanDays = 90
// Some carriers over HTTP repeat what was not acknowledged for a day.
const hashHours = 25

/**
 * Deletes expired rows of carrier_ids, nameless_tries, crashes, receipts, reply_hashes, reply_sessions, orphan_replies and idempotency_keys, in pieces.
 * `messageDays` is the longest that an account keeps messages.
 */
export async function forgetExpired(
  db: Db,
  receiptTimeoutHours: number,
  messageDays: number,
  isOver = (): boolean => false,
): Promise<void> {
  const rules: [table: string, age: string, column: string][] = [
    ['carrier_ids', `${receiptTimeoutHours + carrierIdDays * 24} hours`, 'at'],
    ['nameless_tries', `${receiptTimeoutHours + carrierIdDays * 24} hours`, 'noted_at'],
    ['crashes', `${crashDays} days`, 'at'],
    ['reply_hashes', `${hashHours} hours`, 'received_at'],
    ['reply_sessions', `${hashHours} hours`, 'over_at'],
    ['orphan_replies', `${orphanDays} days`, 'received_at'],
    // A key lives as long as its message: no message is kept longer than this.
    ['idempotency_keys', `${Math.max(messageDays, idempotencyDaysMin)} days`, 'created_at'],
  ]
  for (const [table, age, column] of rules) {
    await untilDone(isOver, pieceMax, async (limit) => {
      const { rowCount } = await db.query(
        `delete from ${table}
         where ctid = any (array(select ctid from ${table} where ${column} < now() - $1::interval limit $2))`,
        [age, limit],
      )
      return rowCount ?? 0
    })
  }
  await untilDone(isOver, pieceMax, () => forgetReceipts(db))
}

/** Deletes a piece of expired receipts, and counts those that found no message. Index receipts_received_at. */
async function forgetReceipts(db: Db): Promise<number> {
  const { rows } = await db.query<{ gone: number }>(
    `with gone as (
       delete from receipts
       where ctid = any (array(select ctid from receipts where received_at < now() - make_interval(days => $1) limit $2))
       returning link_id, message_id
     ), counted as (
       insert into forgotten_receipts as f (link_id, count)
       select g.link_id, count(*)
       from gone g
       join links l on l.id = g.link_id
       where g.message_id is null
       group by g.link_id
       on conflict (link_id) do update set count = f.count + excluded.count, last_at = now()
     )
     select count(*)::int as gone from gone`,
    [receiptDays, pieceMax],
  )
  return rows[0]?.gone ?? 0
}
