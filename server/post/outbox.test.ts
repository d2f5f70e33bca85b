import { expect, test } from 'vitest'
import { createTestDatabase } from '../ground/db/testing.ts'
import { firstIdAt, newId } from '../ground/base/ids.ts'
import { endPosts } from './ended.ts'
import { claimPosts, releasePosts, releasePostsOf, type OutboxKey } from './outbox.ts'
import { insertTestAccount, insertTestWebhook, testEnded } from '../webhooks/testing.ts'

const { db, sql } = await createTestDatabase()

test('a post that was leased twice and fails twice at once is queued once', async () => {
  const { accountId, rows } = await duePost()
  const ends = [5000, 6000].flatMap((retryMs) =>
    rows.map((key) => testEnded({ ...key, accountId }, { outcome: 'status', statusCode: 500, retryMs })),
  )
  await endPosts(db, ends)
  const again = await sql<{ try: number }>`select try from outbox`
  expect(again).toEqual([{ try: 2 }])
  const attempts = await sql`select from attempts`
  expect(attempts).toHaveLength(2)
})

test.each(['first', 'last'])(
  'a post that was leased twice and succeeded once, %s, is not queued again',
  async (taken) => {
    await sql`truncate outbox`
    const { accountId, rows } = await duePost()
    const ends = rows.flatMap((key) => [
      testEnded({ ...key, accountId }),
      testEnded({ ...key, accountId }, { outcome: 'timeout', statusCode: null, retryMs: 5000 }),
    ])
    await endPosts(db, taken === 'first' ? ends : ends.toReversed())
    expect(await sql`select from outbox`).toEqual([])
  },
)

test('a node returns only its own leases', async () => {
  await sql`truncate outbox`
  const [mine, theirs] = [newId(), newId()]
  const { rows } = await duePost(theirs)
  const isLeased = async () => (await sql`select from outbox where leased_until > now()`).length === 1
  await releasePosts(db, mine, rows)
  await releasePostsOf(db, mine)
  expect(await isLeased()).toBe(true)
  await releasePosts(db, theirs, rows)
  expect(await isLeased()).toBe(false)
})

/** Posts of one message's events to an ordered endpoint: the first is due in an hour, the others now. */
async function heldPosts(): Promise<{ accountId: string; endpointId: string; eventIds: string[] }> {
  await sql`truncate outbox`
  const accountId = await insertTestAccount(db)
  const { id: endpointId } = await insertTestWebhook(db, accountId, 'https://example.com/')
  await sql`update webhooks set ordered = true where id = ${endpointId}`
  const eventIds = [firstIdAt(Date.now() - 60_000), newId()]
  await sql`insert into outbox (endpoint_id, due_at, event_id, account_id, message_id, sequence)
    select ${endpointId}, date_trunc('milliseconds', now()) + case n when 1 then interval '1 hour' else interval '0' end, id, ${accountId}, ${newId()}, n
    from unnest(${eventIds}::uuid[]) with ordinality as e (id, n)`
  return { accountId, endpointId, eventIds }
}

test('a post that waits for its message’s earlier event is postponed beside a redelivery of its own event', async () => {
  const { accountId, endpointId, eventIds } = await heldPosts()
  const [first, second] = eventIds
  const before = await sql<{ dueAt: Date }>`insert into outbox (endpoint_id, due_at, event_id, account_id, target_id)
    select endpoint_id, due_at, ${second}, account_id, endpoint_id from outbox
    where endpoint_id = ${endpointId} and event_id = ${first}
    returning due_at as "dueAt"`
  const other = await duePost()
  const { rows, held } = await claimPosts(
    db,
    newId(),
    60,
    [endpointId, other.rows[0]?.endpointId ?? ''].map((id) => ({ endpointId: id, limit: 8, from: null })),
  )
  expect([rows.map((row) => row.accountId), held]).toEqual([[other.accountId], new Map([[endpointId, 1]])])
  const after = await sql<{ dueAt: Date }>`select due_at as "dueAt" from outbox
    where account_id = ${accountId} and event_id = ${second} order by due_at`
  const at = before[0]?.dueAt.getTime() ?? 0
  expect(after.map(({ dueAt }) => dueAt.getTime())).toEqual([at, at + 1])
})

test('posts that waited when their endpoint was disabled do not delay later ones after it is enabled', async () => {
  const { endpointId, eventIds } = await heldPosts()
  const claim = async () => (await claimPosts(db, newId(), 60, [{ endpointId, limit: 8, from: null }])).rows
  expect(await claim()).toEqual([])
  const makeDue = () => sql`update outbox set due_at = now() where event_id = ${eventIds[1]}`
  await sql`update webhooks set posts_since = now() - interval '30 seconds' where id = ${endpointId}`
  const lease = (until: string) =>
    db.query(`update outbox set leased_until = ${until} where event_id = $1`, [eventIds[0]])
  // The running post may still arrive.
  await lease(`now() + interval '1 minute'`)
  await makeDue()
  expect(await claim()).toEqual([])
  await lease('null')
  await makeDue()
  expect((await claim()).map(({ eventId }) => eventId)).toEqual([eventIds[1]])
})

/** A due post, leased to a node or to none. */
async function duePost(nodeId: string | null = null): Promise<{ accountId: string; rows: OutboxKey[] }> {
  const accountId = await insertTestAccount(db)
  const rows =
    await sql<OutboxKey>`insert into outbox (endpoint_id, due_at, event_id, account_id, leased_by, leased_until)
    values (${newId()}, date_trunc('milliseconds', now()), ${newId()}, ${accountId}, ${nodeId}, case when ${nodeId}::uuid is not null then now() + interval '1 minute' end)
    returning endpoint_id as "endpointId", due_at as "dueAt", event_id as "eventId"`
  return { accountId, rows }
}
