import type { Db } from '../ground/db/db.ts'
import { dayOf } from '../ground/db/partitions.ts'

/**
 * Copies a message, `counted` times before the statistics of its day are collected and then `uncounted` times; returns the latter's ids, as in a busy
 * minute.
 */
export async function copyUncounted(db: Db, id: string, counted: number, uncounted: number): Promise<string[]> {
  const table = `messages${dayOf([id])}`
  await db.query(`alter table ${table} set (autovacuum_enabled = false)`)
  const { rows: columns } = await db.query<{ names: string }>(
    `select string_agg(column_name, ', ') as names from information_schema.columns where table_name = 'messages' and column_name <> 'id'`,
  )
  const names = columns[0]?.names
  const copy = async (from: number, count: number): Promise<string[]> => {
    const { rows } = await db.query<{ id: string }>(
      `insert into messages (id, ${names})
       select (left(id::text, 15) || 'fff-ffff-' || lpad(to_hex(n), 12, '0'))::uuid, ${names}
       from messages, generate_series($2::int, $2::int + $3::int - 1) n where id = $1
       returning id`,
      [id, from, count],
    )
    return rows.map((row) => row.id)
  }
  await copy(1, counted)
  await db.query(`analyze ${table}`)
  return copy(counted + 1, uncounted)
}
