/** Repairs the event log of a database that was restored from a dump, on a server whose transaction numbers restarted. */
import type { Db } from '../ground/db/db.ts'
import type { Log } from '../ground/db/log.ts'
import { liftTimeouts } from '../ground/db/timeouts.ts'

// Arbitrary, but used by no other lock.
const lockKey = 1_870_031
// Each is a probe of `events_order` per day; a dump has old numbers of all accounts.
const accountsMax = 100
// Rewrites the log of a month, once.
const withinMs = 86_400_000
const tables = ['events', 'replays', 'smpp_cursors']

/**
 * Moves the transaction numbers of the log and its readers below those of this server, in their order. Readers follow that order and stop
 * at running transactions: behind larger numbers from another server, they would never find new events. Runs at each start, before the
 * first event; safe from several processes.
 */
export async function renumberEvents(db: Db, log: Log): Promise<void> {
  if (!(await isAhead(db))) return
  log.warn({}, 'the database was restored from a dump: renumbering its event log')
  // A separate statement after the lock: rows that another process has moved need no further move.
  const moves = tables.map((table) => `moved_${table} as (update ${table} set ${moved} from ahead where by > 0)`)
  await db.query({
    text: `
      ${liftTimeouts(true)};
      select pg_advisory_xact_lock(${lockKey});
      with ahead as materialized (
        select max(txid)::text::numeric - pg_snapshot_xmax(pg_current_snapshot())::text::numeric + 1 as by
        from (${tables.map((table) => `select txid from ${table}`).join(' union all ')}) known
      ), ${moves.join(', ')}
      select by from ahead`,
    query_timeout: withinMs,
  } as { text: string })
}

// Old events without room below all others share number 0, and only their ids order them.
const moved = 'txid = greatest(txid::text::numeric - by, 0)::text::xid8'

async function isAhead(db: Db): Promise<boolean> {
  const { rows } = await db.query<{ isAhead: boolean }>(
    `select exists (
       select from (
         (
           select newest.txid
           from accounts a
           cross join lateral (select txid from events where account_id = a.id order by txid desc limit 1) newest
           limit $1
         )
         union all select txid from replays
         union all select txid from smpp_cursors
       ) known
       where txid >= pg_snapshot_xmax(pg_current_snapshot())
     ) as "isAhead"`,
    [accountsMax],
  )
  return rows[0]?.isAhead ?? false
}
