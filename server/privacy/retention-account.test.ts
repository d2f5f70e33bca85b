import { beforeEach, expect, it, vi } from 'vitest'
import { inTransaction, openPool } from '../ground/db/db.ts'
import { ensurePartitions } from '../ground/db/partitions.ts'
import { pipelineSettings } from '../ground/db/pipeline.ts'
import { createTestDatabase, untilBlocked, emptyTables } from '../ground/db/testing.ts'
import { firstIdAt, newId } from '../ground/base/ids.ts'
import { discardDue } from './redact-later.ts'
import { markAccounts, retainNext } from './retention-account.ts'
import { dropOldDays, deleteOrphans } from './retention-days.ts'
import { silent } from '../messages/testing.ts'

const dayMs = 86_400_000
const now = Date.now()
let accountId: string

const { db, sql, connection } = await createTestDatabase()
for (const ago of [450, 100, 40, 20, 0]) await ensurePartitions(db, silent, now - ago * dayMs)
beforeEach(async () => {
  await emptyTables(
    db,
    'accounts, messages, events, attempts, outcomes, submissions, discards, conversations, delayed, lanes',
  )
  accountId = await account()
})

let made = 0

it('removes texts older than the account’s period from messages and events, and leaves the rest', async () => {
  const sent = [await message(29.9), await message(0)]
  const replies = [await message(89.9, { direction: 'inbound', status: 'received' })]
  await message(30.1)
  await message(90.1, { direction: 'inbound', status: 'received' })
  const waiting = await message(60, { status: 'scheduled' })
  await retain()
  expect(await withText()).toEqual([...replies, waiting, ...sent])
  expect(await told()).toEqual([...replies, waiting, ...sent])
  expect(await ids('messages')).toHaveLength(6)
  expect(await ids('(select message_id as id from discards) d')).toEqual([waiting])
  await sql`update messages set status = 'failed' where id = ${waiting}`
  await sql`update discards set check_at = now()`
  await discardDue(db)
  expect(await withText()).toEqual([...replies, ...sent])
})

it('removes texts of final messages within minutes, if none are to be kept', async () => {
  accountId = await account({ message_body_days: 0, reply_body_days: 0 })
  const minutes = 1 / 1440
  await message(3 * minutes)
  await message(3 * minutes, { direction: 'inbound', status: 'received' })
  const open = await message(3 * minutes, { status: 'sent' })
  const young = await message(minutes)
  // A fixed clock: the young one would have aged during the tests before.
  vi.useFakeTimers({ toFake: ['Date'], now })
  await retain().finally(() => vi.useRealTimers())
  expect(await withText()).toEqual([open, young])
  const rows = await sql<{ isSoon: boolean }>`select due_at < now() + interval '61 seconds' as "isSoon"
    from retention_marks where account_id = ${accountId}`
  expect(rows).toEqual([{ isSoon: true }])
})

it('processes a message once, however often it runs', async () => {
  for (let i = 0; i < 20; i++) await message(40)
  await retain()
  await sql`update messages set body = 'came back'`
  await retain()
  expect(await withText()).toHaveLength(20)
})

it('deletes messages and events of accounts with shorter periods', async () => {
  const short = await account({ message_days: 10, event_days: 10, message_body_days: 10, reply_body_days: 10 })
  const kept: [string, string] = [await message(20), await message(9, {}, short)]
  const gone = await message(20, {}, short)
  const waiting = await message(20, { status: 'queued' }, short)
  await sql`insert into outcomes (account_id, status, message_id)
    values (${short}, 'failed', ${gone}), (${short}, 'failed', ${waiting}), (${accountId}, 'failed', ${kept[0]})`
  await sql`update messages set status = 'failed' where id = ${gone}`
  for (const [of, id] of [
    [short, gone],
    [accountId, kept[0]],
  ])
    await sql`insert into submissions (account_id, message_id, segment, try, link_id, state)
      values (${of}, ${id}, 1, 1, ${id}, 'accepted')`
  for (const [n, id] of [gone, kept[1]].entries())
    await sql`insert into conversations (account_id, id, our_number, their_number, last_reply_id, unread)
      values (${short}, ${newId()}, '1', ${String(n)}, ${id}, 0)`
  await retain()
  expect(await ids('messages')).toEqual([kept[0], waiting, kept[1]].sort())
  expect(await ids('(select message_id as id from events) e')).toEqual([...kept].sort())
  expect(await ids('attempts')).toHaveLength(2)
  expect(await ids('(select message_id as id from outcomes) o')).toEqual([kept[0], waiting].sort())
  expect(await ids('(select message_id as id from submissions) s')).toEqual([kept[0]])
  expect(await ids('(select last_reply_id as id from conversations) c')).toEqual([kept[1]])
})

it('deletes an unfinished message after its period as soon as it is final', async () => {
  const short = await account({ message_days: 1, message_body_days: 1, reply_body_days: 1 })
  const sent = await message(1.5, { status: 'sent', sent_at: new Date(now - 1.5 * dayMs) }, short)
  const kept = await message(1.5)
  await sql`insert into submissions (account_id, message_id, segment, try, link_id, state)
    values (${short}, ${sent}, 1, 1, ${sent}, 'accepted')`
  const discard = async (): Promise<string[]> => {
    await retain()
    await sql`update discards set check_at = now()`
    await discardDue(db)
    return ids('messages')
  }
  expect(await discard()).toEqual([sent, kept].sort())
  // Its receipt never came.
  await sql`update messages set status = 'unconfirmed', expires_at = now() where id = ${sent}`
  await sql`insert into outcomes (account_id, status, message_id) values (${short}, 'unconfirmed', ${sent})`
  expect(await discard()).toEqual([kept])
  for (const table of ['outcomes', 'submissions', 'discards'])
    expect(await ids(`(select message_id as id from ${table}) t`)).toEqual([])
})

it('processes each day once, even if an account has nothing in it, and finds late rows', async () => {
  await message(75)
  await account()
  await retain()
  const rows = await sql<{
    bodiesTo: string
    repliesTo: string
  }>`select bodies_to as "bodiesTo", reply_bodies_to as "repliesTo"
    from retention_marks`
  expect(rows).toHaveLength(2)
  for (const { bodiesTo, repliesTo } of rows) {
    expect(bodiesTo > firstIdAt(now - 33 * dayMs)).toBe(true)
    expect(repliesTo > firstIdAt(now - 93 * dayMs)).toBe(true)
  }
  await message(30.5)
  await retain()
  expect(await withText()).toEqual([])
})

it('divides accounts between processes, with the pipeline’s settings', async () => {
  for (let i = 0; i < 5; i++) {
    const of = await account()
    for (let j = 0; j < 30; j++) await message(40, {}, of)
  }
  const pools = [1, 2].map((n) => openPool(connection, { name: `p${n}`, max: 1, settings: pipelineSettings }))
  await markAccounts(db)
  await Promise.all(
    pools.map(async (pool) => {
      while ((await retainNext(pool)) > 0);
    }),
  )
  await Promise.all(pools.map((pool) => pool.end()))
  await retain()
  expect(await withText()).toEqual([])
  expect(await told()).toEqual([])
})

it('yields to others if one account’s fails each time', async () => {
  const other = await account()
  await message(30.1)
  await message(30.1, {}, other)
  await markAccounts(db)
  await sql`update retention_marks set due_at = now() - interval '1 minute' where account_id = ${accountId}`
  await db.query(
    `create or replace function fail() returns trigger language plpgsql as $$ begin raise 'a bug'; end $$;
     create trigger fail before update on messages for each row when (old.account_id = '${accountId}') execute function fail()`,
  )
  await expect(retainDue()).rejects.toThrow('a bug')
  await retainDue()
  expect(await ids('(select account_id as id from messages where body is not null) m')).toEqual([accountId])
  await sql`drop trigger fail on messages`
  await retain()
  expect(await withText()).toEqual([])
})

it('drops days that no account keeps, except those with a waiting message, and the rest of their messages', async () => {
  await account({ message_days: 60, event_days: 20 })
  const days = async (table: string): Promise<string> => {
    const [row] = await sql<{ oldest: string }>`select min(right(c.relname, 8)) as oldest
      from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = ${table}::regclass and c.relname ~ '_[0-9]{8}$'`
    return row?.oldest ?? ''
  }
  const dayOf = (ago: number): string => new Date(now - ago * dayMs).toISOString().slice(0, 10).replaceAll('-', '')
  expect(await days('messages')).toBe(dayOf(451))
  const waiting = await message(449.5, { status: 'scheduled' })
  const lane = newId()
  await sql`insert into lanes (id, account_id, type) values (${lane}, ${accountId}, 'otp')`
  await sql`insert into delayed (account_id, message_id, lane_id, segments, due_at)
    values (${accountId}, ${waiting}, ${lane}, 1, now() + interval '1 day')`
  await dropOldDays(db, silent, 72, now)
  expect([dayOf(450), dayOf(449)]).toContain(await days('messages'))
  expect(await ids('messages')).toEqual([waiting])
  const today = newId()
  for (const id of [waiting, today]) {
    await sql`insert into opt_out_suspicions (account_id, message_id, number)
      values (${accountId}, ${id}, '15551230001')`
    await sql`insert into resends (account_id, message_id, tries, actor_kind, actor_id, request_id)
      values (${accountId}, ${id}, 1, 'key', '', '')`
  }
  expect(await deleteOrphans(db, 10)).toBe(0)
  // The default account keeps events for 30 days: the oldest day is empty.
  expect(await days('events')).toBe(dayOf(21))
  await sql`truncate delayed`
  await dropOldDays(db, silent, 72, now)
  expect(await ids('messages')).toEqual([])
  expect(await days('messages')).toBe(dayOf(101))
  expect(await deleteOrphans(db, 10)).toBe(1)
  for (const table of ['opt_out_suspicions', 'resends'])
    expect(await ids(`(select message_id as id from ${table}) t`)).toEqual([today])
})

it('deletes nothing because one machine’s clock is wrong', async () => {
  const kept = [await message(0), await message(19)]
  vi.useFakeTimers({ toFake: ['Date'], now: now + 5000 * dayMs })
  try {
    await retain()
    await dropOldDays(db, silent, 72)
  } finally {
    vi.useRealTimers()
  }
  expect(new Set(await ids('messages where body is not null'))).toEqual(new Set(kept))
  expect(await ids('events')).toHaveLength(kept.length)
})

it.each(['by their age', 'late, from a note'])(
  'deletes messages while receipts are matched to their tries, and holds nothing that this needs: %s',
  async (way) => {
    const short = await account({ message_days: 10, message_body_days: 10 })
    const id = await message(20, { status: 'unconfirmed', expires_at: new Date(now - 17 * dayMs) }, short)
    const key = [short, id]
    await db.query(
      `insert into submissions (account_id, message_id, segment, try, link_id, state, intent_at) values ($1, $2, 1, 1, $2, 'unknown', now())`,
      key,
    )
    await db.query(
      `insert into nameless_tries (account_id, message_id, segment, try, link_id, segments, their_number, reference, intent_at)
       values ($1, $2, 1, 1, $2, 1, '15551230001', 1, now())`,
      key,
    )
    const isLate = way.startsWith('late')
    if (isLate) await db.query(`insert into discards (account_id, message_id, check_at) values ($1, $2, now())`, key)
    let deleting: Promise<unknown> = Promise.resolve()
    await inTransaction(db, async (tx) => {
      // In adoption's lock order.
      await tx.query('select from nameless_tries where message_id = $1 for update', [id])
      deleting = isLate ? discardDue(db) : retain()
      deleting.catch(() => {})
      await untilBlocked(db, 1)
      await tx.query('select from submissions where message_id = $1 for update', [id])
      await tx.query('select from messages where id = $1 for update', [id])
    })
    await deleting
    for (const table of ['submissions', 'nameless_tries', 'discards'])
      expect(await ids(`(select message_id as id from ${table}) t`)).toEqual([])
    expect(await ids(`messages where id = '${id}'`)).toEqual([])
  },
)

async function account(days: Record<string, number> = {}): Promise<string> {
  const id = newId()
  await sql`insert into accounts (id, name) values (${id}, 'x')`
  for (const [column, value] of Object.entries(days))
    await db.query(`update accounts set ${column} = $2 where id = $1`, [id, value])
  return id
}

/** A message of some age in days, with an event that holds its text. */
async function message(ageDays: number, changes: Record<string, unknown> = {}, of = accountId): Promise<string> {
  const id = firstIdAt(now - ageDays * dayMs).replace(/.{12}$/, String(++made).padStart(12, '0'))
  const row = {
    account_id: of,
    id,
    status: 'delivered',
    their_number: '15551230001',
    our_number: '15557654321',
    body: 'a text',
    encoding: 'GSM-7',
    characters: 6,
    segments: 1,
    created_at: new Date(now - ageDays * dayMs),
    ...changes,
  }
  const names = Object.keys(row)
  await db.query(
    `insert into messages (${names.join()}) values (${names.map((_, i) => `$${i + 1}`).join()})`,
    Object.values(row),
  )
  const eventId = firstIdAt(now - ageDays * dayMs).replace(/.{12}$/, String(++made).padStart(12, '0'))
  const payload = JSON.stringify({ data: { message: { object: 'message', message: 'a text' } } })
  await sql`insert into events (account_id, id, type, message_id, payload)
    values (${of}, ${eventId}, 'message.sent', ${id}, ${payload})`
  await sql`insert into attempts (account_id, id, endpoint_id, event_id, try, outcome, duration_ms)
    values (${of}, ${eventId}, ${eventId}, ${eventId}, 1, 'ok', 1)`
  return id
}

async function retainDue(): Promise<void> {
  while ((await retainNext(db)) > 0);
}

async function retain(): Promise<void> {
  await sql`update retention_marks set due_at = now()`
  await markAccounts(db)
  await retainDue()
}

const ids = async (from: string): Promise<string[]> =>
  (await db.query<{ id: string }>(`select id from ${from} order by 1`)).rows.map(({ id }) => id)
const withText = (): Promise<string[]> => ids(`messages where body is not null`)
const told = (): Promise<string[]> => ids(`(select message_id as id from events where payload like '%a text%') e`)
