/** What the ledger forgets: short-lived rows past their use. */
import type { Db } from '../db/db.ts'

// Small pieces: a long delete would hold its snapshot against every claim.
const pieceMax = 5000
/** Days past the receipt timeout for which a late receipt still finds its message. */
const carrierIdDays = 7
const receiptDays = 30
const idempotencyDays = 400
// Some carriers over HTTP repeat what was not acknowledged for a day.
const hashHours = 25

/** Deletes expired rows of carrier_ids, receipts, reply_hashes and idempotency_keys, in pieces. */
export async function forgetExpired(db: Db, receiptTimeoutHours: number): Promise<void> {
  const rules: [table: string, age: string, column: string][] = [
    ['carrier_ids', `${receiptTimeoutHours + carrierIdDays * 24} hours`, 'at'],
    ['receipts', `${receiptDays} days`, 'received_at'],
    ['reply_hashes', `${hashHours} hours`, 'received_at'],
    // A key lives as long as its message: no message is kept longer than this.
    ['idempotency_keys', `${idempotencyDays} days`, 'created_at'],
  ]
  for (const [table, age, column] of rules) {
    for (;;) {
      const { rowCount } = await db.query(
        `delete from ${table}
         where ctid = any (array(select ctid from ${table} where ${column} < now() - $1::interval limit $2))`,
        [age, pieceMax],
      )
      if ((rowCount ?? 0) < pieceMax) break
    }
  }
}
