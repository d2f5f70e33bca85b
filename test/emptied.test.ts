/**
 * PostgreSQL takes a table for empty if a vacuum found it so after DELETE, until it is analyzed. Looking up a few rows must not read all of them
 * for each.
 */
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inTransaction, openPool, type Db } from '../server/ground/db/db.ts'
import { pipelineSettings } from '../server/ground/db/pipeline.ts'
import { settleDeliveries, type DeliveryKey } from '../server/smpp-server/delivery.ts'
import { createTestDatabase, type TestDatabase } from '../server/ground/db/testing.ts'
import { firstIdAt, newId } from '../server/ground/base/ids.ts'
import { writeAnswers, type Answer } from '../server/ledger/answer.ts'
import { cancelWaiting } from '../server/messages/cancel.ts'
import { cancelMessagesOf } from '../server/messages/close.ts'
import { claimMessages } from '../server/queue/claim.ts'
import { expireMessages, queueDue } from '../server/queue/due.ts'
import { writePlainAnswers, type PlainAnswer } from '../server/ledger/short-cut.ts'
import { hintAdoption, hintLate } from '../server/ledger/without-id.ts'
import { discardDue } from '../server/privacy/redact-later.ts'
import { releaseHeld } from '../server/quiet-hours/hold.ts'
import { openLedgerTest, testAnswer, type LedgerTest } from '../server/messages/testing.ts'
import { until } from './until.ts'
import { endPosts } from '../server/post/ended.ts'
import { claimPosts, dropPosts, releasePosts, type OutboxKey } from '../server/post/outbox.ts'
import { enqueueReplays } from '../server/webhooks/replays.ts'
import { testEnded } from '../server/webhooks/testing.ts'

const rows = 4000

let database: TestDatabase
let ledger: LedgerTest
// One connection each, so that statistics can be flushed.
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
    select $2, date_trunc('milliseconds', now()) + n * interval '1 second', gen_random_uuid(), $1 from ${series}`,
  queue: `insert into queue (lane_id, message_id, account_id, segments) select $2, gen_random_uuid(), $1, 1 from ${series}`,
  intents: `insert into intents (node_id, account_id, message_id, segment, try, link_id)
    select $2, $1, gen_random_uuid(), 1, 1, $2 from ${series}`,
  nameless_tries: `insert into nameless_tries (account_id, message_id, segment, try, link_id, segments, their_number, reference, intent_at, check_at)
    select $1, gen_random_uuid(), 1, 1, $2, 1, n, 0, now(), now() + interval '1 hour' from ${series}`,
  receipts: `insert into receipts (link_id, raw_id, state, done_date, match_id, stat)
    select $2, n, 'delivered', '', n, 'DELIVRD' from ${series} where $1::uuid is not null`,
  smpp_deliveries: `insert into smpp_deliveries (account_id, credential_id, id, kind, subject_id, source, destination)
    select $1, $2, gen_random_uuid(), 'receipt', gen_random_uuid(), '', '' from ${series}`,
  discards: `insert into discards (account_id, message_id, check_at)
    select $1, gen_random_uuid(), now() + interval '1 hour' from ${series} where $2::uuid is not null`,
  delayed: `insert into delayed (account_id, message_id, lane_id, segments, due_at, held_at)
    select $1, gen_random_uuid(), $2, 1, now() + interval '1 hour', now() from ${series}`,
}
type Table = keyof typeof fills

/** Fills a table, deletes the rows, vacuums, and fills it again, on the measured connection: others flush their statistics when they like. */
async function refill(db: Db, table: Table, other?: string): Promise<void> {
  const { rows: lanes } = await db.query<{ id: string }>('select id from lanes limit 1')
  const fill = () => db.query(fills[table], [ledger.accountId, other ?? lanes[0]?.id ?? newId()])
  await db.query(`alter table ${table} set (autovacuum_enabled = false)`)
  await fill()
  await db.query(`delete from ${table}`)
  await tellReads(db)
  // A vacuum keeps what a transaction may still see; idle ones are ended after 30 s.
  const isEmpty = async (): Promise<boolean> => {
    await db.query(`vacuum (analyze, truncate off) ${table}`)
    const { rows: dead } = await db.query('select from pg_stat_user_tables where relname = $1 and n_dead_tup > 0', [
      table,
    ])
    return dead.length === 0
  }
  await until('a vacuum that finds it empty', isEmpty, 90_000).catch(async (error: unknown) => {
    const { rows: others } = await db.query(
      `select pid, datname, backend_type, state, backend_xid, backend_xmin, wait_event, xact_start, left(query, 200) as query
       from pg_stat_activity where backend_xid is not null or backend_xmin is not null`,
    )
    throw new Error(`${String(error)} beside ${JSON.stringify(others)}`)
  })
  await fill()
}

/** Statistics are otherwise flushed at the end of a transaction, or later. */
const tellReads = (db: Db): Promise<unknown> => db.query('select pg_stat_force_next_flush()')

/** The rows and index entries of a table that a connection reads during `run`. */
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

// A join with a table taken for empty reads it once, and the batch again for each of its rows: only time shows that, no statistics. Six batches
// of this size.
const [batches, size] = [6, 100]

/** The ratio of batch times with and without all other rows: the fastest of three each. */
async function compareBesideOthers(
  write: (batch: number) => Promise<unknown>,
  removeOthers: () => Promise<unknown>,
): Promise<number> {
  const beside = await fastest([0, 1, 2].map((batch) => () => write(batch)))
  await removeOthers()
  return beside / (await fastest([3, 4, 5].map((batch) => () => write(batch))))
}

async function fastest(runs: (() => Promise<unknown>)[]): Promise<number> {
  const { rows: backends } = await pools.pipeline.query<{ pid: number }>('select pg_backend_pid() as pid')
  // CPU time, because other programs may use the machine; wall time if the kernel does not report it.
  const read = (): Promise<number> =>
    readFile(`/proc/${backends[0]?.pid}/schedstat`, 'utf8').then(
      (text) => Number(text.split(' ', 1)[0]),
      () => performance.now() * 1e6,
    )
  let least = Infinity
  for (const run of runs) {
    const before = await read()
    await run()
    least = Math.min(least, (await read()) - before)
  }
  return least
}

describe.each(['requests', 'pipeline'] as const)('on the connections of the %s', (name) => {
  it('replays search for the rest of canceled ones', async () => {
    await refill(pools[name], 'outbox')
    expect(await countReads(pools[name], 'outbox', () => enqueueReplays(pools[name]))).toBeLessThan(5 * rows)
  })

  it.each(['queue', 'delayed'] as const)('cancel and close take their work out of %s', async (table) => {
    const sent = await Promise.all(Array.from({ length: 50 }, () => ledger.send()))
    await refill(pools[name], table)
    const [{ accountId }, ids] = [ledger, sent.map(({ id }) => id)]
    const cancel = () => inTransaction(pools[name], (tx) => cancelWaiting(tx, accountId, { ids }))
    expect(await countReads(pools[name], table, cancel)).toBeLessThan(5 * rows)
    const ending = { accountId, isStop: true }
    const close = () => inTransaction(pools[name], (tx) => cancelMessagesOf(tx, ending, ledger.context))
    expect(await countReads(pools[name], table, close)).toBeLessThan(5 * rows)
  })

  it('held messages continue after the words were changed', async () => {
    await database.db.query(`update accounts set quiet_hours_changed_at = now() - interval '1 hour'`)
    await refill(pools[name], 'delayed')
    expect(await countReads(pools[name], 'delayed', () => releaseHeld(pools[name]))).toBeLessThan(5 * rows)
  })
})

describe('the pipeline', () => {
  it.each(['delayed', 'queue'] as const)('takes a piece of due or expired work out of %s', async (table) => {
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

  it.each(['are remembered', 'are not'])(
    'ends the intents of messages that %s, however many others there are',
    async (which) => {
      await Promise.all(Array.from({ length: batches * size }, () => ledger.send({ type: 'marketing' })))
      await refill(pools.pipeline, 'intents')
      const { rows: lanes } = await database.db.query<{ id: string }>(`select id from lanes where type = 'marketing'`)
      const rooms = [{ id: ledger.linkId, carrierId: ledger.carrierId }]
      const context = { ...ledger.context, db: pools.pipeline }
      const { handovers } = await claimMessages(context, ledger.nodeId, rooms, lanes[0]?.id ?? '', firstIdAt(0), rows)
      expect(handovers).toHaveLength(batches * size)
      const write = (batch: number): Promise<unknown> => {
        const some = handovers.slice(batch * size, (batch + 1) * size)
        const answers = some.map((one) => testAnswer(one, ledger.nodeId))
        if (which === 'are not') return writeAnswers(pools.pipeline, answers, () => false)
        const submitted = some
          .map(({ id }) => ledger.context.recent.takeSubmitted(id, 1))
          .filter((one) => one !== undefined)
        const plain = submitted.map((one, i): PlainAnswer => ({ ...one, answer: answers[i] as Answer }))
        expect(plain).toHaveLength(size)
        return writePlainAnswers(pools.pipeline, plain, ledger.context.recent)
      }
      const removeOthers = () => database.db.query(`delete from intents where node_id <> $1`, [ledger.nodeId])
      expect(await compareBesideOthers(write, removeOthers)).toBeLessThan(3)
      const { rows: left } = await database.db.query(`select from intents`)
      expect(left).toEqual([])
    },
  )

  it('writes responses, however many receipts wait for others', async () => {
    const { pipeline } = pools
    await refill(pipeline, 'receipts', ledger.linkId)
    const handovers = await Promise.all(Array.from({ length: batches * size }, () => ledger.lease()))
    const write = (batch: number): Promise<unknown> => {
      const answers = handovers.slice(batch * size, (batch + 1) * size).map((one) => testAnswer(one, ledger.nodeId))
      return writeAnswers(pipeline, answers, () => false)
    }
    const removeOthers = () => database.db.query(`delete from receipts`)
    expect(await compareBesideOthers(write, removeOthers)).toBeLessThan(3)
  })

  it.each([hintLate, hintAdoption])('checks tries soon (%o), however many others there are', async (hint) => {
    const { pipeline } = pools
    await refill(pipeline, 'nameless_tries')
    const { rows: tries } = await pipeline.query<
      Parameters<typeof hintLate>[1][0] & { linkId: string; source: string }
    >(
      `select account_id as "accountId", message_id as "messageId", link_id as "linkId", their_number as source from nameless_tries order by their_number::int`,
    )
    const write = (batch: number): Promise<unknown> =>
      inTransaction(pipeline, (tx) => hint(tx, tries.slice(batch * size, (batch + 1) * size)))
    const removeOthers = () =>
      pipeline.query(`delete from nameless_tries where their_number::int > $1`, [batches * size])
    expect(await compareBesideOthers(write, removeOthers)).toBeLessThan(3)
    const { rowCount } = await pipeline.query(`select from nameless_tries where check_at <= now()`)
    expect(rowCount).toBe(batches * size)
  })

  it.each(['ends', 'drops'])('%s posts, however many others there are', async (which) => {
    const { pipeline } = pools
    await refill(pipeline, 'outbox')
    const { rows: keys } = await pipeline.query<OutboxKey>(
      `select endpoint_id as "endpointId", due_at as "dueAt", event_id as "eventId" from outbox limit $1`,
      [batches * size],
    )
    const write = (batch: number): Promise<unknown> => {
      const some = keys.slice(batch * size, (batch + 1) * size)
      return which === 'drops'
        ? dropPosts(pipeline, some)
        : endPosts(
            pipeline,
            some.map((key) => testEnded({ ...key, accountId: ledger.accountId })),
          )
    }
    const ids = keys.map(({ eventId }) => eventId)
    const removeOthers = () => database.db.query(`delete from outbox where event_id <> all ($1)`, [ids])
    expect(await compareBesideOthers(write, removeOthers)).toBeLessThan(3)
    expect((await database.db.query(`select from outbox`)).rows).toEqual([])
  })

  it('removes texts or postpones this when it is due, however many other records wait', async () => {
    await refill(pools.pipeline, 'discards')
    const sent = await Promise.all(Array.from({ length: batches * size }, () => ledger.send({ type: 'otp' })))
    const ids = sent.map(({ id }) => id)
    // Only the first of each batch is over.
    await database.db.query(
      `insert into discards (account_id, message_id, check_at)
       select $1, id, now() - interval '1 hour' + n * interval '1 second' from unnest($2::uuid[]) with ordinality as d (id, n)`,
      [ledger.accountId, ids],
    )
    const over = ids.filter((_, i) => i % size === 0)
    await database.db.query(`update messages set status = 'delivered' where id = any ($1)`, [over])
    const write = () => discardDue(pools.pipeline, size)
    const removeOthers = () => database.db.query(`delete from discards where message_id <> all ($1)`, [ids])
    expect(await compareBesideOthers(write, removeOthers)).toBeLessThan(3)
    const { rows: left } = await database.db.query(`select from discards where check_at > now()`)
    expect(left).toHaveLength(batches * (size - 1))
    const { rows: bare } = await database.db.query<{ id: string }>(`select id from messages where body is null`)
    expect(bare.map(({ id }) => id).sort()).toEqual(over.sort())
  })

  it('claims posts, however many others are due', async () => {
    const { pipeline } = pools
    await refill(pipeline, 'outbox')
    await pipeline.query(`update outbox set due_at = due_at - interval '1 day'`)
    const { rows: one } = await pipeline.query<{ id: string }>(`select endpoint_id as id from outbox limit 1`)
    const claim = { endpointId: one[0]?.id ?? '', limit: size, from: null }
    let claimed = 0
    const write = async () => {
      claimed += (await claimPosts(pipeline, ledger.nodeId, 60, [claim])).rows.length
    }
    const removeOthers = () =>
      database.db.query(
        `delete from outbox where leased_by is null and (due_at, event_id) not in (
           select due_at, event_id from outbox where leased_by is null order by due_at, event_id limit $1)`,
        [3 * size],
      )
    expect(await compareBesideOthers(write, removeOthers)).toBeLessThan(3)
    expect(claimed).toBe(batches * size)
  })

  it('settles deliveries to SMPP clients, however many others there are', async () => {
    const { pipeline } = pools
    const credentialId = newId()
    await database.db.query(
      `insert into smpp_credentials (account_id, id, system_id, password_hash, name, sessions_max, window_max, pace, default_alphabet,
         receives_replies, reply_concatenation)
       values ($1, $2, 'client', '', 'client', 1, 1, 1, 'gsm7', true, 'payload')`,
      [ledger.accountId, credentialId],
    )
    await refill(pipeline, 'smpp_deliveries', credentialId)
    const { rows: keys } = await pipeline.query<DeliveryKey>(
      `select account_id as "accountId", credential_id as "credentialId", id, part from smpp_deliveries limit $1`,
      [batches * size],
    )
    const write = (batch: number): Promise<unknown> => {
      const some = keys.slice(batch * size, (batch + 1) * size)
      return settleDeliveries(
        pipeline,
        some.map((key, i) => ({ ...key, retrySeconds: i === size - 1 ? 60 : null })),
      )
    }
    const ids = keys.map(({ id }) => id)
    const removeOthers = () => database.db.query(`delete from smpp_deliveries where id <> all ($1)`, [ids])
    expect(await compareBesideOthers(write, removeOthers)).toBeLessThan(3)
    const { rows: left } = await database.db.query(
      `select from smpp_deliveries where due_at > now() + interval '50 seconds'`,
    )
    expect(left).toHaveLength(batches)
  })

  it('claims posts, returns them and drops them', async () => {
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
