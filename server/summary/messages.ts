import type { Queryable } from '../ground/db/db.ts'
import { addUp, sums, type Sum } from '../usage/counts.ts'
import { counts } from '../usage/counts-sql.ts'

// A receipt is awaited for 72 hours.
const openHours = 96

/** An account's messages of today, and those of the last days without an end, from usage counts; without tests. By the unique key of tallies. */
export async function readMessages(db: Queryable, accountId: string, midnight: Date) {
  const { rows } = await db.query<Sum & { isToday: boolean }>({
    name: 'read-summary-counts',
    text: `
      select hour >= $2 as "isToday", ${sums}
      from ${counts(`account_id = $1 and hour >= $2::timestamptz - interval '${openHours} hours' and not is_test`)} c
      where hour >= $2
        or bucket in ('scheduled', 'queued', 'sent', 'unconfirmed')
      group by 1, bucket, currency`,
    values: [accountId, midnight],
  })
  const all = addUp(rows)
  const { messages, delivered, failed, replies } = addUp(rows.filter(({ isToday }) => isToday))
  return {
    today: { messages, delivered, failed, replies },
    in_progress: { queued: all.queued, sent: all.sent, unconfirmed: all.unconfirmed },
  }
}
