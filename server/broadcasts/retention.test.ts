import { expect, it } from 'vitest'
import { createTestAccount } from '../accounts/testing.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import { newId } from '../ground/base/ids.ts'
import { forgetRecipients } from './retention.ts'

const { db, sql } = await createTestDatabase()

it('the recipients of a finished broadcast are deleted with its messages, and no others', async () => {
  const [short, long] = [await createTestAccount(db), await createTestAccount(db)]
  await sql`update accounts set message_days = 10 where id = ${short.accountId}`
  const over = await make(short.accountId, 'completed', 11)
  const large = await make(short.accountId, 'completed', 12, 12_000)
  const rejected = await make(short.accountId, 'rejected', 11)
  const canceled = await make(short.accountId, 'canceled', 11)
  const unsettled = await make(short.accountId, 'canceled', 11)
  await sql`update broadcasts set is_settled = true where id = ${canceled}`
  const kept = [
    unsettled,
    await make(short.accountId, 'completed', 9),
    await make(short.accountId, 'sending', null),
    await make(short.accountId, 'paused', null),
    await make(long.accountId, 'completed', 11),
  ]
  // More than one statement's limit.
  const few = await Promise.all(Array.from({ length: 520 }, () => make(long.accountId, 'completed', 401, 1)))
  const before = await db.query('select * from broadcasts order by id')
  await forgetRecipients(db)
  expect(await Promise.all([over, large, rejected, canceled].map(countOf))).toEqual([0, 0, 0, 0])
  expect(await Promise.all(kept.map(countOf))).toEqual([3, 3, 3, 3, 3])
  expect((await sql`select from recipients where broadcast_id = any (${few})`).length).toBe(0)
  expect(await sql`select * from broadcasts order by id`).toEqual(before.rows)
})

/** A broadcast with recipients, that ended this many days ago; null: unfinished. */
async function make(accountId: string, status: string, daysAgo: number | null, count = 3): Promise<string> {
  const [campaign, id] = [newId(), newId()]
  await sql`insert into campaigns (account_id, id, name) values (${accountId}, ${campaign}, 'C')`
  await sql`insert into broadcasts (account_id, id, campaign_id, status, body, is_test, send_at, timezone, recipients, messages, completed_at)
    values (${accountId}, ${id}, ${campaign}, ${status}, '{"message":"x"}', false, now(), 'UTC', ${count}, ${count}, now() - make_interval(days => ${daysAgo}))`
  await sql`insert into recipients (account_id, broadcast_id, contact_id)
    select ${accountId}, ${id}, gen_random_uuid() from generate_series(1, ${count})`
  return id
}

const countOf = async (id: string): Promise<number> =>
  (await sql<{ n: number }>`select count(*)::int as n from recipients where broadcast_id = ${id}`)[0]?.n ?? 0
