import { afterAll, expect, test } from 'vitest'
import { createTestDatabase } from '../db/testing.ts'
import { newId } from '../ids.ts'
import { endPosts, releasePosts, releasePostsOf, type OutboxKey } from './outbox.ts'
import { insertTestAccount, testEnded } from './testing.ts'

const database = await createTestDatabase()
const { db } = database
afterAll(() => database.close())

/** A post that is due, leased to a node or to none. */
async function duePost(nodeId: string | null = null): Promise<{ accountId: string; rows: OutboxKey[] }> {
  const accountId = await insertTestAccount(db)
  const { rows } = await db.query<OutboxKey>(
    `insert into outbox (endpoint_id, due_at, event_id, account_id, leased_by, leased_until)
     values ($1, date_trunc('milliseconds', now()), $2, $3, $4, case when $4::uuid is not null then now() + interval '1 minute' end)
     returning endpoint_id as "endpointId", due_at as "dueAt", event_id as "eventId"`,
    [newId(), newId(), accountId, nodeId],
  )
  return { accountId, rows }
}

test('a post that was leased twice and ends twice at one time comes back once', async () => {
  const { accountId, rows } = await duePost()
  const ends = [5000, 6000].flatMap((retryMs) =>
    rows.map((key) => testEnded({ ...key, accountId }, { outcome: 'status', statusCode: 500, retryMs })),
  )
  await endPosts(db, ends)
  const { rows: again } = await db.query<{ try: number }>(`select try from outbox`)
  expect(again).toEqual([{ try: 2 }])
  const { rows: attempts } = await db.query(`select from attempts`)
  expect(attempts).toHaveLength(2)
})

test.each(['first', 'last'])(
  'a post that was leased twice and was taken once, %s, does not come back',
  async (taken) => {
    await db.query('truncate outbox')
    const { accountId, rows } = await duePost()
    const ends = rows.flatMap((key) => [
      testEnded({ ...key, accountId }),
      testEnded({ ...key, accountId }, { outcome: 'timeout', statusCode: null, retryMs: 5000 }),
    ])
    await endPosts(db, taken === 'first' ? ends : ends.toReversed())
    expect((await db.query('select from outbox')).rows).toEqual([])
  },
)

test('a node gives back only what is leased to it: the lease of another one stays', async () => {
  await db.query('truncate outbox')
  const [mine, theirs] = [newId(), newId()]
  const { rows } = await duePost(theirs)
  const isLeased = async () => (await db.query('select from outbox where leased_until > now()')).rows.length === 1
  await releasePosts(db, mine, rows)
  await releasePostsOf(db, mine)
  expect(await isLeased()).toBe(true)
  await releasePosts(db, theirs, rows)
  expect(await isLeased()).toBe(false)
})
