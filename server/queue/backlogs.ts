/** The parts of lanes (`backlogs`) that nothing waits in: claims make a part when something has to wait, and again when it has gone. */
import { inTransaction, type Db } from '../ground/db/db.ts'
import { codeOf } from '../ground/db/failure.ts'

const pieceMax = 1000
// A part that is used every day need not be made every hour.
const idle = `created_at < now() - interval '1 day' and not exists (select from queue q where q.lane_id = b.id)`
// Claims wait for no longer, as for a partition that is dropped.
const lockTimeoutMs = 25

/**
 * Deletes parts that are a day old and in which nothing waits, by the primary keys of both tables; those that are in use at the moment are left
 * for the next time. Safe in several processes.
 */
export async function forgetBacklogs(db: Db): Promise<void> {
  for (let after = '00000000-0000-0000-0000-000000000000'; ;) {
    const { rows } = await db.query<{ id: string; isIdle: boolean }>({
      name: 'find-backlogs',
      text: `
        select id, ${idle} as "isIdle"
        from backlogs b
        where id > $1
        order by id
        limit $2`,
      values: [after, pieceMax],
    })
    const last = rows.at(-1)
    if (!last) return
    after = last.id
    const ids = rows.flatMap((row) => (row.isIdle ? [row.id] : []))
    if (ids.length > 0) await deleteIdle(db, ids)
  }
}

/**
 * Who puts something into a part may just have read it: a claim holds the table's lock of who inserts until its commit, also where it makes
 * none. Under a lock against that no claim is between the two, and one that waits for it reads afterwards.
 */
async function deleteIdle(db: Db, ids: readonly string[]): Promise<void> {
  try {
    await inTransaction(db, async (tx) => {
      await tx.query(`set local lock_timeout = ${lockTimeoutMs}; lock table backlogs in share row exclusive mode`)
      await tx.query(`delete from backlogs b where id = any ($1::uuid[]) and ${idle}`, [ids])
    })
  } catch (error) {
    if (codeOf(error) !== '55P03') throw error
  }
}
