/** Deletes empty parts of lanes (`backlogs`); claims create them when messages must wait. */
import { inTransaction, type Db } from '../ground/db/db.ts'
import { codeOf } from '../ground/db/failure.ts'

const pieceMax = 1000
// Keeps parts that are used every day from being created every hour.
const idle = `created_at < now() - interval '1 day' and not exists (select from queue q where q.lane_id = b.id)`
// A claim waits no longer than this, as for a partition drop.
const lockTimeoutMs = 25

/**
 * Deletes empty parts that are a day old, by the primary keys of both tables; parts in use are left for the next sweep. Safe in several
 * processes.
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
 * A claim may have just read a part that it will fill: it holds the table's insert lock until its commit, even if it creates none. A lock
 * against inserts waits for such claims, and later ones read afterwards.
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
