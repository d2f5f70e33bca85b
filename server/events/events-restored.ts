/** The event log of a database that was restored from a dump, on a server that counts its transactions again. */
import type { Db } from '../ground/db/db.ts'
import type { Log } from '../ground/db/log.ts'
import { liftTimeouts } from '../ground/db/timeouts.ts'

// Any number that nobody else locks.
const lockKey = 1_870_031
// Each is a probe of `events_order` for every day; a dump has old numbers of all accounts.
const accountsMax = 100
// The log of a month is written again, once.
const withinMs = 86_400_000
// The log, and who reads it.
const tables = ['events', 'replays', 'smpp_cursors']

/**
 * Brings the numbers of transactions in the log, and those of who reads it, below those that this server gives, in their order. It is read in
 * that order and not beyond what still runs: after larger numbers, which another server gave, nobody who reads on would find what happens
 * now. To be called at each start, before anything is recorded; safe from several processes.
 */
export async function renumberEvents(db: Db, log: Log): Promise<void> {
  if (!(await isAhead(db))) return
  log.warn({}, 'the database was restored from a dump: renumbering its event log')
  // A statement of its own behind the lock: what another process has moved has nothing more to be moved by.
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

// What has no room below all others is told apart by its ids alone: it is old.
const moved = 'txid = greatest(txid::text::numeric - by, 0)::text::xid8'

/** Whether there is a number that this server has not given yet. */
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
