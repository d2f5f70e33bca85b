/** Counts again, for messages that bypassed the ledger's statements: a seed, a test, a restored table. */
import { inTransaction, type Db } from '../ground/db/db.ts'
import { countsOfMessages } from './counts-sql.ts'

/** Counts all messages again. Locks the counts against every writer until all messages are read: not for a busy installation. */
export function recountCounters(db: Db): Promise<void> {
  return inTransaction(db, async (tx) => {
    await tx.query('lock table tally_deltas, tallies in share row exclusive mode')
    await tx.query('delete from tally_deltas')
    await tx.query('delete from tallies')
    await tx.query(
      `insert into tallies (account_id, hour, campaign_id, broadcast_id, type, is_test, country, carrier_id, segments, bucket, error_code, currency,
         messages, cost)
       select account_id, hour, campaign_id, broadcast_id, type, is_test, country, carrier_id, segments, bucket, error_code, currency, messages, cost
       from ${countsOfMessages} c`,
    )
  })
}
