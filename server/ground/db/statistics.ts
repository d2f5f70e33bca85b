/**
 * Keeps statistics up to date with growth. The pipeline's statements are planned once; a plan from when a day's partition was empty reads
 * whole indexes later (measured: three quarters of PostgreSQL's time in the first minute of a day). ANALYZE makes every session plan again,
 * and autovacuum comes too late.
 */
import { nowMs } from './clock.ts'
import { inTransaction, type Db } from './db.ts'
import { partitionsOf } from './partitions.ts'

// Tables outside the partitions that the pipeline joins, or that are filled and emptied.
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
// Plans of look-ups by key need orders of magnitude only: a tenth of the default sample, at a tenth of the cost. Autovacuum samples all of
// it.
const statisticsTarget = 10
// Sixteen pages: below, every plan is fast.
const bytesMin = 131_072
const rowsMin = 1000

/**
 * Analyzes today's tables that have doubled since the last time, in size or rows: an emptied table, such as a queue, is refilled without
 * growing, and would count as empty. Returns their number.
 */
export async function followGrowth(db: Db, now: number = nowMs()): Promise<number> {
  const { rows } = await db.query<{ name: string }>({
    name: 'tables-that-grew',
    text: `select c.oid::regclass::text as name
     from unnest($1::text[]) as wanted (name)
     join pg_class c on c.oid = to_regclass(wanted.name)
     where pg_relation_size(c.oid) > 2 * c.relpages::bigint * current_setting('block_size')::int + $2
       or pg_stat_get_live_tuples(c.oid) > 2 * greatest(c.reltuples, 0) + $3`,
    values: [[...partitionsOf(now), ...others], bytesMin, rowsMin],
  })
  for (const { name } of rows)
    await inTransaction(db, async (tx) => {
      await tx.query(`set local default_statistics_target = ${statisticsTarget}`)
      // Skips tables under vacuum: a backend that waits for its end is not freed by our timeout, and each second would add one.
      await tx.query(`analyze (skip_locked) ${name}`)
    })
  return rows.length
}
