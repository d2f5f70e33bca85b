import { expect, it } from 'vitest'
import { createTestAccount } from '../accounts/testing.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import { newId } from '../ground/base/ids.ts'
import { forgetRecipients } from './retention.ts'

const { db } = await createTestDatabase()

/** A broadcast with recipients, that ended this many days ago; null: unfinished. */
async function make(accountId: string, status: string, daysAgo: number | null, count = 3): Promise<string> {
  const [campaign, id] = [newId(), newId()]
  await db.query(`insert into campaigns (account_id, id, name) values ($1, $2, 'C')`, [accountId, campaign])
  await db.query(
    `insert into broadcasts (account_id, id, campaign_id, status, body, is_test, send_at, timezone, recipients, messages, completed_at)
     values ($1, $2, $3, $4, '{"message":"x"}', false, now(), 'UTC', $5, $5, now() - make_interval(days => $6))`,
    [accountId, id, campaign, status, count, daysAgo],
  )
  await db.query(
    `insert into recipients (account_id, broadcast_id, contact_id) select $1, $2, gen_random_uuid() from generate_series(1, $3)`,
    [accountId, id, count],
  )
  return id
}

const countOf = async (id: string): Promise<number> =>
  (await db.query<{ n: number }>('select count(*)::int as n from recipients where broadcast_id = $1', [id])).rows[0]
    ?.n ?? 0

it('the recipients of a finished broadcast are deleted with its messages, and no others', async () => {
  const [short, long] = [await createTestAccount(db), await createTestAccount(db)]
  await db.query('update accounts set message_days = 10 where id = $1', [short.accountId])
  const over = await make(short.accountId, 'completed', 11)
  const large = await make(short.accountId, 'completed', 12, 12_000)
  const rejected = await make(short.accountId, 'rejected', 11)
  const canceled = await make(short.accountId, 'canceled', 11)
  const unsettled = await make(short.accountId, 'canceled', 11)
  await db.query('update broadcasts set is_settled = true where id = $1', [canceled])
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
  expect((await db.query('select from recipients where broadcast_id = any ($1)', [few])).rowCount).toBe(0)
  expect((await db.query('select * from broadcasts order by id')).rows).toEqual(before.rows)
})
