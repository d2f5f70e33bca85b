/** An attempt answers every list alike, whether its row has other attempts or not. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { inTransaction } from '../ground/db/db.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import { firstIdAt, newId } from '../ground/base/ids.ts'
import type { Position } from '../ground/http/page.ts'
import { endPosts, type Ended } from '../post/ended.ts'
import { deleteAttempts, forgetAnswers } from './erase.ts'
import { listAttempts, listAttemptsOfEvent, type AttemptRow } from './attempts.ts'
import { readBackward, readRefused } from './events-store.ts'
import { enqueueReplays, insertReplay } from './replays.ts'
import { insertTestAccount, testEnded } from './testing.ts'
import { until } from '../../test/until.ts'

const { db, sql } = await createTestDatabase()

const endpoints = [newId(), newId()]
const number = '+447700900123'
const type = 'message.delivered'

interface Drawn {
  endpoint: number
  event: number
  outcome: 'ok' | 'status'
  try: number
  head: string | null
  headers: string | null
  url: string
  batchId: string | null
  ms: number | null
  isRetried: boolean
}
const shared = { url: 'https://example.com/', batchId: null, ms: 1, isRetried: false }
const taken = { outcome: 'ok', try: 1, head: null, headers: null, ...shared } as const
const few = <T>(...values: T[]) => fc.constantFrom(...values)
const drawn: fc.Arbitrary<Drawn> = fc.record({
  endpoint: few(0, 0, 0, 1),
  event: fc.nat(4),
  outcome: few('ok', 'ok', 'ok', 'status'),
  try: few(1, 1, 1, 2),
  head: few(null, null, 'thanks'),
  headers: few(null, null, '{"x-id":"1"}'),
  url: few('https://example.com/', 'https://example.com/', `https://example.com/?to=${number}`),
  batchId: few(null, null, null, newId()),
  ms: few(null, 0, 7),
  isRetried: few(false, false, true),
})

/** Two accounts with the same events; the second's ends are written in one flush. */
async function write(all: readonly Drawn[]): Promise<{ accountIds: string[]; eventIds: string[] }> {
  const accountIds = [await insertTestAccount(db), await insertTestAccount(db)]
  const eventIds = Array.from({ length: 5 }, (_, n) => newId(Date.now() - 9000 + n * 1700))
  await sql`insert into events (account_id, id, type, payload, created_at)
    select a, e, ${type}, '{"data":{}}', now() from unnest(${accountIds}::uuid[]) a, unnest(${eventIds}::uuid[]) e`
  const startedAt = Date.now()
  const ended = all.map((one, n): Ended => {
    const { outcome, head, headers, ms } = one
    const isRetried = outcome !== 'ok' && one.isRetried
    const key = { endpointId: endpoints[one.endpoint] ?? '', eventId: eventIds[one.event] ?? '', dueAt: new Date(n) }
    const answer = { responseHead: head, responseHeaders: headers, connectMs: ms, firstByteMs: ms, durationMs: n }
    const end = testEnded({ ...key, accountId: '' }, { outcome, ...answer, retryMs: isRetried ? 60_000 : null })
    end.post.try = one.try
    return { ...end, url: one.url, batchId: one.batchId, startedAt: new Date(startedAt - 50 * n) }
  })
  const of = (accountId = ''): Ended[] => ended.map((one) => ({ ...one, post: { ...one.post, accountId } }))
  for (const one of of(accountIds[0])) await endPosts(db, [one])
  if (ended.length > 0) await endPosts(db, of(accountIds[1]))
  await untilSettled()
  return { accountIds, eventIds }
}

/** Readers wait for transactions that began before, also those of other databases of the server. */
async function untilSettled(): Promise<void> {
  const [now] = await sql`select pg_current_xact_id()::text as id`
  await until('every earlier transaction is over', async () => {
    const [row] = await sql`select ${now?.['id']}::xid8 < pg_snapshot_xmin(pg_current_snapshot()) as "isOver"`
    return row?.['isOver'] === true
  })
}

/** All pages of a list of attempts, in both directions. Their order is that of their ids, which differ. */
async function readAll(read: (limit: number, position: Position | null) => Promise<AttemptRow[]>) {
  const whole = await read(1000, null)
  const ids = whole.map(({ id }) => id)
  expect(ids).toEqual(ids.toSorted().toReversed())
  expect(new Set(ids).size).toBe(ids.length)
  const n = ids.length >> 1
  const id = ids[n]
  const idsAt = async (direction: Position['direction']) =>
    id === undefined ? [] : (await read(1, { id, direction })).map((row) => row.id)
  expect(await idsAt('before')).toEqual(ids.slice(n + 1, n + 3))
  expect(await idsAt('after')).toEqual(ids.slice(Math.max(0, n - 2), n).toReversed())
  return whole.map(({ id: _id, nextAttemptAt, ...row }) => JSON.stringify([row, nextAttemptAt !== null])).toSorted()
}

async function readEverything(accountId: string, eventIds: readonly string[]) {
  const found: unknown[] = []
  for (const endpoint of endpoints)
    for (const isSuccess of [null, true, false])
      found.push(await readAll((limit, place) => listAttempts(db, accountId, endpoint, isSuccess, limit, place)))
  for (const id of eventIds) {
    const event = { id, type, messageId: null }
    found.push(await readAll((limit, place) => listAttemptsOfEvent(db, accountId, event, limit, place)))
  }
  const filter = { types: null, messageId: null }
  for (const isDelivered of [true, false])
    found.push((await readBackward(db, accountId, { ...filter, isDelivered }, 100, null)).map(({ id }) => id))
  const refused = await readRefused(db, accountId, { ...filter, isDelivered: false }, 5, { after: firstIdAt(0) })
  return [...found, refused.map(({ id }) => id)]
}

async function replayFailed(accountId: string): Promise<unknown> {
  const id = newId()
  const [endpointId = ''] = endpoints
  await sql`insert into webhooks (account_id, id, url, events, secret) values (${accountId}, ${endpointId}, 'https://example.com/', '{*}', '')`
  const span = { since: new Date(Date.now() - 60_000), until: new Date(Date.now() + 60_000) }
  const input = { id, endpointId, ...span, types: [type], onlyFailed: true }
  await inTransaction(db, (tx) => insertReplay(tx, accountId, input))
  await untilSettled()
  await enqueueReplays(db)
  return sql`select event_id from outbox where endpoint_id = ${id} order by event_id`
}

test('attempts in one row answer every list as those in rows of their own, also after erasure and deletion', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(drawn, { maxLength: 20, size: 'max' }), fc.nat(4), async (all, erased) => {
      const { accountIds, eventIds } = await write(all)
      const same = async (step: (accountId: string) => Promise<unknown>): Promise<void> => {
        const [alone, together] = [await step(accountIds[0] ?? ''), await step(accountIds[1] ?? '')]
        expect(together).toEqual(alone)
      }
      await same((accountId) => readEverything(accountId, eventIds))
      await same(replayFailed)
      await same(async (accountId) => {
        const forgotten = eventIds.slice(erased, erased + 2)
        await inTransaction(db, (tx) => forgetAnswers(tx, accountId, forgotten, number))
        return readEverything(accountId, eventIds)
      })
      await same(async (accountId) => {
        while (await inTransaction(db, (tx) => deleteAttempts(tx, accountId, newId(Date.now() + 60_000), 3)));
        return readEverything(accountId, eventIds)
      })
    }),
    { numRuns: 5 },
  )
}, 120_000)

test('the ends of a flush with one answer are one row', async () => {
  const one: Drawn = { ...taken, endpoint: 0, event: 3 }
  const { accountIds } = await write(Array.from({ length: 40 }, () => one))
  const rows =
    await sql`select account_id as id, count(*)::int from attempts where account_id = any (${accountIds}) group by 1 order by 2`
  expect(rows).toEqual([
    { id: accountIds[1], count: 1 },
    { id: accountIds[0], count: 40 },
  ])
})
