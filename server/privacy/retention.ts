import type { WithRooms } from '../events/face.ts'
import type { Db } from '../ground/db/db.ts'
import { untilDone } from '../ground/base/sweeps.ts'

// Small batches: the snapshot of a long delete slows every claim.
const pieceMax = 5000
const receiptDays = 30

/** Deletes expired rows of the rooms' tables, and receipts, in batches. `messageDays` is the longest that an account keeps messages. */
export async function forgetExpired(
  { db, rooms }: { db: Db } & WithRooms,
  limits: { receiptTimeoutHours: number; messageDays: number },
  isOver = (): boolean => false,
): Promise<void> {
  for (const { table, age, column } of rooms.flatMap(({ retain }) => retain ?? [])) {
    await untilDone(isOver, pieceMax, async (limit) => {
      const { rowCount } = await db.query(
        `delete from ${table}
         where ctid = any (array(select ctid from ${table} where ${column} < now() - $1::interval limit $2))`,
        [typeof age === 'string' ? age : age(limits), limit],
      )
      return rowCount ?? 0
    })
  }
  await untilDone(isOver, pieceMax, () => forgetReceipts(db))
}

/** Deletes a batch of expired receipts, and counts the unmatched ones. Index receipts_received_at. */
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
