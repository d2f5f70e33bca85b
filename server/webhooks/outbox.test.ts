import { afterAll, expect, test } from 'vitest'
import { createTestDatabase } from '../db/testing.ts'
import { newId } from '../ids.ts'
import { endPosts, type OutboxKey } from './outbox.ts'
import { insertTestAccount, testEnded } from './testing.ts'

const database = await createTestDatabase()
const { db } = database
afterAll(() => database.close())

test('a post that was leased twice and ends twice at one time comes back once', async () => {
  const accountId = await insertTestAccount(db)
  const { rows } = await db.query<OutboxKey>(
    `insert into outbox (endpoint_id, due_at, event_id, account_id) values ($1, date_trunc('milliseconds', now()), $2, $3)
     returning endpoint_id as "endpointId", due_at as "dueAt", event_id as "eventId"`,
    [newId(), newId(), accountId],
  )
  const ends = [5000, 6000].flatMap((retryMs) =>
    rows.map((key) => testEnded({ ...key, accountId }, { outcome: 'status', statusCode: 500, retryMs })),
  )
  await endPosts(db, ends)
  const { rows: again } = await db.query<{ try: number }>(`select try from outbox`)
  expect(again).toEqual([{ try: 2 }])
  const { rows: attempts } = await db.query(`select from attempts`)
  expect(attempts).toHaveLength(2)
})
