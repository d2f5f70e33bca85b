/**
 * Statistics that keep up with growth. The pipeline's statements are planned once and kept; a plan made while a day's partition was
 * empty reads whole indexes when it is not (measured: three quarters of PostgreSQL's time in the first minute of a day). ANALYZE makes
 * every session plan anew, and autovacuum comes for it only after a while.
 */
import type { Db } from './db.ts'
import { partitionsOf } from './partitions.ts'

// Tables outside the partitions that the pipeline joins.
const others = [
  'queue',
  'intents',
  'outbox',
  'delayed',
  'carrier_ids',
  'receipts',
  'idempotency_keys',
  'opt_outs',
  'contacts',
]
// Sixteen pages: below, every plan is fast.
const bytesMin = 131_072

/** Analyzes the tables of today that are more than twice as large as when they were last analyzed. Returns how many. */
export async function followGrowth(db: Db, now: number = Date.now()): Promise<number> {
  const { rows } = await db.query<{ name: string }>(
    `select c.oid::regclass::text as name
     from unnest($1::text[]) as wanted (name)
     join pg_class c on c.oid = to_regclass(wanted.name)
     where pg_relation_size(c.oid) > 2 * c.relpages::bigint * current_setting('block_size')::int + $2`,
    [[...partitionsOf(now), ...others], bytesMin],
  )
  for (const { name } of rows) await db.query(`analyze ${name}`)
  return rows.length
}
