/**
 * Statistics that keep up with growth. The pipeline's statements are planned once and kept; a plan made while a day's partition was
 * empty reads whole indexes when it is not (measured: three quarters of PostgreSQL's time in the first minute of a day). ANALYZE makes
 * every session plan again, and autovacuum comes for it only after a while.
 */
import { nowMs } from './clock.ts'
import { inTransaction, type Db } from './db.ts'
import { partitionsOf } from './partitions.ts'

// Tables outside the partitions that the pipeline joins, and all that are filled and emptied.
const others = [
  'queue',
  'intents',
  'outbox',
  'delayed',
  'discards',
  'nameless_tries',
  'recipients',
  'smpp_deliveries',
  'carrier_ids',
  'receipts',
  'idempotency_keys',
  'opt_outs',
  'contacts',
]
// Plans of look-ups by key want orders of magnitude: a tenth of the rows that are sampled by default, at a tenth of the cost. Autovacuum samples
// all of them when it comes.
const statisticsTarget = 10
// Sixteen pages: below, every plan is fast.
const bytesMin = 131_072
const rowsMin = 1000

/**
 * Analyzes the tables of today that are more than twice as large as when they were last analyzed, or have more than twice as many rows: a
 * table that was emptied, as queues are, is filled again without growing, and is taken for one of no rows all the while. Returns how many.
 */
export async function followGrowth(db: Db, now: number = nowMs()): Promise<number> {
  const { rows } = await db.query<{ name: string }>(
    `select c.oid::regclass::text as name
     from unnest($1::text[]) as wanted (name)
     join pg_class c on c.oid = to_regclass(wanted.name)
     where pg_relation_size(c.oid) > 2 * c.relpages::bigint * current_setting('block_size')::int + $2
       or pg_stat_get_live_tuples(c.oid) > 2 * greatest(c.reltuples, 0) + $3`,
    [[...partitionsOf(now), ...others], bytesMin, rowsMin],
  )
  for (const { name } of rows)
    await inTransaction(db, async (tx) => {
      await tx.query(`set local default_statistics_target = ${statisticsTarget}`)
      // One that somebody vacuums is left: a backend that waits for its end is not freed by our own giving up, and each second adds one.
      await tx.query(`analyze (skip_locked) ${name}`)
    })
  return rows.length
}
