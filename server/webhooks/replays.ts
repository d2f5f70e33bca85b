/**
 * Posts the events of a time span again to one webhook, with their original ids. A replay is a row with a mark; a sweep moves the mark
 * through the log and inserts outbox rows, in one transaction, and no faster than they are posted. Its posts have their own outbox lane
 * (`endpoint_id` is the replay's id), so that new events do not wait for them.
 */
import { inTransaction, type Db, type Queryable } from '../ground/db/db.ts'
import { inTurn } from '../ground/db/in-turn.ts'
import { within } from '../ground/db/span.ts'
import { firstIdAt } from '../ground/base/ids.ts'
import type { PagePlace } from '../ground/http/page.ts'
import { listRows } from '../ground/http/search.ts'
import { isTaken } from '../post/attempt-rows.ts'

export interface ReplayInput {
  id: string
  endpointId: string
  since: Date
  until: Date
  types: readonly string[]
  onlyFailed: boolean
}

export interface ReplayRow {
  id: string
  endpointId: string
  fromId: string
  toId: string
  types: string[]
  onlyFailed: boolean
  status: 'running' | 'completed' | 'canceled'
  canceledReason: string | null
  mark: string
  events: number
  delivered: number
  failed: number
  createdAt: Date
  completedAt: Date | null
}

/** Running replays of one webhook. */
export const runningMax = 5

// Limits a replay's outbox rows, and the log read by a transaction: some 50 ms of work.
const waitingMax = 2000
const pieceMax = 2000
const sweepMs = 2000
const keepDays = 30

const columns = (r: string): string => `
  ${r}.id, ${r}.endpoint_id as "endpointId", ${r}.from_id as "fromId", ${r}.to_id as "toId", ${r}.types, ${r}.only_failed as "onlyFailed",
  ${r}.status, ${r}.canceled_reason as "canceledReason", ${r}.mark, ${r}.events, ${r}.delivered, ${r}.failed,
  ${r}.created_at as "createdAt", ${r}.completed_at as "completedAt"`

/** Inserts a replay unless the webhook has `runningMax`. Locks the webhook's row, so that two cannot both be the last. */
export async function insertReplay(tx: Queryable, accountId: string, input: ReplayInput): Promise<ReplayRow | null> {
  await tx.query('select id from webhooks where account_id = $1 and id = $2 for no key update', [
    accountId,
    input.endpointId,
  ])
  const { rows } = await tx.query<ReplayRow>(
    `
    insert into replays as r (account_id, id, endpoint_id, from_id, to_id, mark, types, only_failed)
    select $1, $2, $3, $4, $5, $4, $6, $7
    where (select count(*) from replays where account_id = $1 and endpoint_id = $3 and status = 'running') < $8
    returning ${columns('r')}`,
    [
      accountId,
      input.id,
      input.endpointId,
      firstIdAt(input.since.getTime()),
      firstIdAt(input.until.getTime()),
      input.types,
      input.onlyFailed,
      runningMax,
    ],
  )
  return rows[0] ?? null
}

/** By primary key. */
export async function findReplay(
  db: Queryable,
  accountId: string,
  endpointId: string,
  id: string,
): Promise<ReplayRow | null> {
  const { rows } = await db.query<ReplayRow>(
    `select ${columns('r')} from replays r where account_id = $1 and id = $3 and endpoint_id = $2`,
    [accountId, endpointId, id],
  )
  return rows[0] ?? null
}

/** A webhook's replays by replays_endpoint, in the order of `buildPage`. */
export const listReplays = (
  db: Queryable,
  accountId: string,
  endpointId: string,
  ...place: PagePlace
): Promise<ReplayRow[]> =>
  listRows(db, { table: 'replays', columns: columns('t'), accountId, key: { endpoint_id: endpointId } }, ...place)

/** Cancels a running replay; null if it is over. The next sweep removes its posts. */
export async function cancelReplay(tx: Queryable, accountId: string, id: string): Promise<ReplayRow | null> {
  const { rows } = await tx.query<ReplayRow>(
    `
    update replays r
    set status = 'canceled', canceled_reason = 'request', completed_at = now()
    where account_id = $1
      and id = $2
      and status = 'running'
    returning ${columns('r')}`,
    [accountId, id],
  )
  return rows[0] ?? null
}

/** Now, if there is work for the sweep. */
export const replaysDue = `
  select now() where exists (select from replays where status = 'running')
    or exists (select from replays r where status = 'canceled' and exists (select from outbox where endpoint_id = r.id))`

/**
 * The sweep: advances the running replays in turns, for a limited time, so that a long log does not delay new replays. Removes the posts of
 * canceled ones.
 */
export async function enqueueReplays(db: Db, forMs: number = sweepMs): Promise<void> {
  const end = performance.now() + forMs
  const { rows } = await db.query<{ accountId: string; id: string }>({
    name: 'running-replays',
    text: `select account_id as "accountId", id from replays where status = 'running' order by id`,
  })
  try {
    for (let busy = rows; busy.length > 0;) {
      const more: typeof busy = []
      await inTurn(busy, async (one) => void ((await enqueue(db, one.accountId, one.id)) && more.push(one)))
      busy = performance.now() < end ? more : []
    }
  } finally {
    await dropCanceled(db)
  }
}

/**
 * By the primary key of the outbox, one probe for each canceled replay. A post in flight may return once more as a retry, and a process
 * that starts days later may find them all. Skips locked rows, and looks again later.
 */
async function dropCanceled(db: Db): Promise<void> {
  await db.query(`
    delete from outbox
    where ctid = any (array(
      select o.ctid
      from replays r
      cross join lateral (select ctid from outbox where endpoint_id = r.id for update skip locked) o
      where r.status = 'canceled'))`)
}

export async function forgetReplays(db: Db): Promise<void> {
  await db.query(`delete from replays where completed_at < now() - make_interval(days => $1)`, [keepDays])
}

/**
 * Advances a replay by one piece; returns whether there is more to do now. Skips a locked row: one process enqueues a replay at a time. Mark
 * and outbox change in one transaction, so a crash keeps them consistent.
 */
async function enqueue(db: Db, accountId: string, id: string): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const { rows } = await tx.query<ReplayRow & { isEnabled: boolean | null; isSettled: boolean; waiting: number }>(
      `
      select ${columns('r')}, w.enabled as "isEnabled", r.txid < pg_snapshot_xmin(pg_current_snapshot()) as "isSettled",
        (select count(*)::int from (select from outbox where endpoint_id = r.id limit $3) o) as waiting
      from replays r
      left join webhooks w on w.account_id = r.account_id and w.id = r.endpoint_id
      where r.account_id = $1
        and r.id = $2
        and r.status = 'running'
      for update of r skip locked`,
      [accountId, id, waitingMax],
    )
    const [replay] = rows
    if (!replay) return false
    if (!replay.isEnabled) {
      await end(tx, accountId, id, 'canceled', replay.isEnabled === null ? 'webhook_deleted' : 'webhook_disabled')
      return false
    }
    if (!replay.isSettled || replay.waiting >= waitingMax) return false
    const passed = replay.mark < replay.toId ? await pass(tx, accountId, replay) : 0
    if (passed > 0) return true
    if (replay.waiting > 0) return false
    // Checked again under the lock: another process may have fed the last piece since the count.
    const { rowCount } = await tx.query('select from outbox where endpoint_id = $1 limit 1', [id])
    if (rowCount === 0) await end(tx, accountId, id, 'completed', null)
    return false
  })
}

const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/**
 * Inserts the next piece of the log into the outbox and moves the mark; returns the number of events passed. Reads the log by its primary
 * key, in the remaining days of the replay; failures by attempts_failed, attempts_event and attempts_more, since those days.
 */
async function pass(tx: Queryable, accountId: string, replay: ReplayRow): Promise<number> {
  const { mark: first, toId: last } = replay
  const days = within({ first, last: lastId })
  const isFailed = `
    exists (
      select from attempts a
      where a.account_id = $1
        and a.event_id = p.id
        and a.id > p.id
        and a.id ${days}
        and a.endpoint_id = $5
        and a.outcome <> 'ok'
    )
    and not ${isTaken('$1', 'p.id', `and taken.endpoint_id = $5 and taken.id ${days}`)}`
  const { rows } = await tx.query<{ passed: number }>(
    `
    with passed as materialized (
      select id, type
      from events
      where account_id = $1
        and id > $3
        and id < $4
        and id ${within({ first, last })}
      order by id
      limit $8
    ), posted as (
      insert into outbox (endpoint_id, due_at, event_id, account_id, target_id)
      select $2, date_trunc('milliseconds', now()), p.id, $1, $5
      from passed p
      where p.type = any ($6)
        and (not $7 or ${isFailed})
      returning 1
    )
    update replays
    set mark = coalesce((select id from passed order by id desc limit 1), to_id),
      events = events + (select count(*) from posted)
    where account_id = $1
      and id = $2
    returning (select count(*)::int from passed) as passed`,
    [accountId, replay.id, replay.mark, replay.toId, replay.endpointId, replay.types, replay.onlyFailed, pieceMax],
  )
  return rows[0]?.passed ?? 0
}

/** Ends a running replay (primary key; its row is locked). */
async function end(
  tx: Queryable,
  accountId: string,
  id: string,
  status: 'completed' | 'canceled',
  reason: string | null,
): Promise<void> {
  await tx.query(
    `update replays set status = $3, canceled_reason = $4, completed_at = now() where account_id = $1 and id = $2`,
    [accountId, id, status, reason],
  )
}
