/**
 * Tables that are emptied by DELETE are taken for tables of no rows when a vacuum found them so, until somebody analyzes them. What looks
 * for a few of their rows must not read all of them again for each.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inTransaction, openPool, type Db } from '../server/db/db.ts'
import { pipelineSettings } from '../server/db/pipeline.ts'
import { createTestDatabase, type TestDatabase } from '../server/db/testing.ts'
import { newId } from '../server/ids.ts'
import { cancelWaiting } from '../server/messages/cancel.ts'
import { cancelMessagesOf } from '../server/messages/close.ts'
import { expireMessages, queueDue } from '../server/messages/claim.ts'
import { releaseHeld } from '../server/messages/quiet-hours-hold.ts'
import { openLedgerTest, until, type LedgerTest } from '../server/messages/testing.ts'
import { claimPosts, dropPosts, releasePosts, type OutboxKey } from '../server/webhooks/outbox.ts'
import { feedReplays } from '../server/webhooks/replays.ts'

const rows = 4000

let database: TestDatabase
let ledger: LedgerTest
// One connection each: it is asked to tell at once what it has read.
let pools: Record<'requests' | 'pipeline', Db>
beforeAll(async () => {
  database = await createTestDatabase()
  ledger = await openLedgerTest(database.db)
  const open = (name: string, settings = {}): Db => openPool(database.connection, { name, max: 1, settings })
  pools = { requests: open('requests'), pipeline: open('pipeline', pipelineSettings) }
})
afterAll(async () => {
  await pools.requests.end()
  await pools.pipeline.end()
  await database.close()
})

const series = `generate_series(1, ${rows}) n`
const fills = {
  outbox: `insert into outbox (endpoint_id, due_at, event_id, account_id)
    select $2, now() + n * interval '1 second', gen_random_uuid(), $1 from ${series}`,
  queue: `insert into queue (lane_id, message_id, account_id, segments) select $2, gen_random_uuid(), $1, 1 from ${series}`,
  delayed: `insert into delayed (account_id, message_id, lane_id, segments, due_at, held_at)
    select $1, gen_random_uuid(), $2, 1, now() + interval '1 hour', now() from ${series}`,
}
type Table = keyof typeof fills

/**
 * Fills a table, empties it, has a vacuum find it empty, and fills it again: on the connection that is measured next, because another would
 * tell what it has read when it likes.
 */
async function refill(db: Db, table: Table): Promise<void> {
  const { rows: lanes } = await db.query<{ id: string }>('select id from lanes limit 1')
  const fill = () => db.query(fills[table], [ledger.accountId, lanes[0]?.id ?? newId()])
  await db.query(`alter table ${table} set (autovacuum_enabled = false)`)
  await fill()
  await db.query(`delete from ${table}`)
  await tellReads(db)
  // A vacuum leaves what a snapshot of this moment may still see, as that of an autovacuum beside it.
  await until('a vacuum that finds it empty', async () => {
    await db.query(`vacuum (analyze, truncate off) ${table}`)
    const { rows: dead } = await db.query('select from pg_stat_user_tables where relname = $1 and n_dead_tup > 0', [
      table,
    ])
    return dead.length === 0
  })
  await fill()
}

/** A connection tells the others what it has read and changed when its transaction ends, else when it likes. */
const tellReads = (db: Db): Promise<unknown> => db.query('select pg_stat_force_next_flush()')

/** How many rows of a table, and entries of its indexes, a connection reads meanwhile. */
async function countReads(db: Db, table: Table, run: () => Promise<unknown>): Promise<number> {
  const read = async (): Promise<number> => {
    await tellReads(db)
    const { rows: counted } = await db.query<{ reads: number }>(
      `select (seq_tup_read + (select sum(idx_tup_read) from pg_stat_user_indexes i where i.relid = t.relid))::int as reads
       from pg_stat_user_tables t where relname = $1`,
      [table],
    )
    return counted[0]?.reads ?? NaN
  }
  const before = await read()
  await run()
  return (await read()) - before
}

describe.each(['requests', 'pipeline'] as const)('on the connections of the %s', (name) => {
  it('replays look for what canceled ones have left', async () => {
    await refill(pools[name], 'outbox')
    expect(await countReads(pools[name], 'outbox', () => feedReplays(pools[name]))).toBeLessThan(5 * rows)
  })

  it.each(['queue', 'delayed'] as const)('cancel and close take out of %s what they are about', async (table) => {
    const sent = await Promise.all(Array.from({ length: 50 }, () => ledger.send()))
    await refill(pools[name], table)
    const [{ accountId }, ids] = [ledger, sent.map(({ id }) => id)]
    const cancel = () => inTransaction(pools[name], (tx) => cancelWaiting(tx, accountId, { ids }))
    expect(await countReads(pools[name], table, cancel)).toBeLessThan(5 * rows)
    const ending = { accountId, isStop: true }
    const close = () => inTransaction(pools[name], (tx) => cancelMessagesOf(ledger.context)(tx, ending))
    expect(await countReads(pools[name], table, close)).toBeLessThan(5 * rows)
  })

  it('what is held goes on where the words were changed', async () => {
    await database.db.query(`update accounts set quiet_hours_changed_at = now() - interval '1 hour'`)
    await refill(pools[name], 'delayed')
    expect(await countReads(pools[name], 'delayed', () => releaseHeld(pools[name]))).toBeLessThan(5 * rows)
  })
})

describe('the pipeline', () => {
  it.each(['delayed', 'queue'] as const)('takes a piece of what is due or over out of %s', async (table) => {
    await refill(pools.pipeline, table)
    await pools.pipeline.query(
      table === 'queue' ? `update queue set expires_at = now()` : `update delayed set due_at = now(), held_at = null`,
    )
    const take = () =>
      table === 'queue'
        ? expireMessages({ ...ledger.context, db: pools.pipeline }, 1000)
        : queueDue(pools.pipeline, 1000)
    expect(await countReads(pools.pipeline, table, take)).toBeLessThan(5 * rows)
    const { rows: left } = await database.db.query<{ count: number }>(`select count(*)::int as count from ${table}`)
    expect(left[0]?.count).toBe(rows - 1000)
  })

  it('claims posts, gives them back and drops them', async () => {
    const { pipeline } = pools
    await refill(pipeline, 'outbox')
    await pipeline.query(`update outbox set due_at = due_at - interval '1 day'`)
    const { rows: all } = await pipeline.query<OutboxKey>(
      `select endpoint_id as "endpointId", due_at as "dueAt", event_id as "eventId" from outbox limit 500`,
    )
    const claim = [{ endpointId: all[0]?.endpointId ?? '', limit: 500, from: null }]
    const steps = [
      () => claimPosts(pipeline, ledger.nodeId, 60, claim),
      () => releasePosts(pipeline, ledger.nodeId, all),
      () => dropPosts(pipeline, all),
    ]
    for (const step of steps) expect(await countReads(pipeline, 'outbox', step)).toBeLessThan(5 * rows)
  })
})
