import { expect, it } from 'vitest'
import { createTestAccount } from '../accounts/testing.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import { firstIdAt, newId } from '../ground/base/ids.ts'
import { forgetImportRows } from './retention.ts'

const { db, sql } = await createTestDatabase()

it('bad rows and samples of an import are deleted with messages of its time, and its counts stay', async () => {
  const [short, long] = [await createTestAccount(db), await createTestAccount(db)]
  await sql`update accounts set message_days = 10 where id = ${short.accountId}`
  const gone = [await make(short.accountId, 11), await make(short.accountId, 300), await make(long.accountId, 401)]
  const kept = [await make(short.accountId, 9), await make(long.accountId, 399)]
  const counts: number[] = []
  do counts.push(await forgetImportRows(db, 4))
  while (counts.at(-1) === 4)
  expect(counts).toEqual([4, 4, 1])
  const rows = await sql<{
    id: string
    failed: number
    errors: number
    hasSample: boolean
  }>`select id, failed::int as failed, sample is not null as "hasSample",
      (select count(*)::int from import_errors e where e.account_id = i.account_id and e.import_id = i.id) as errors
    from imports i`
  const expected = [
    ...gone.map((id) => ({ id, failed: 3, hasSample: false, errors: 0 })),
    ...kept.map((id) => ({ id, failed: 3, hasSample: true, errors: 3 })),
  ]
  expect(rows).toHaveLength(5)
  expect(rows).toEqual(expect.arrayContaining(expected))
})

/** An import of some days ago, with bad rows and a sample. */
async function make(accountId: string, daysAgo: number): Promise<string> {
  const [campaign, id] = [newId(), firstIdAt(Date.now() - daysAgo * 86_400_000).replace(/.{12}$/, newId().slice(-12))]
  await sql`insert into campaigns (account_id, id, name) values (${accountId}, ${campaign}, 'C')`
  await sql`insert into imports (account_id, id, campaign_id, status, format, failed, sample)
    values (${accountId}, ${id}, ${campaign}, 'completed_with_errors', 'csv', 3, '[{"phone_number":"15551230001"}]')`
  await sql`insert into import_errors (account_id, import_id, line, code, value, detail)
    select ${accountId}, ${id}, line, 'invalid_phone_number', '+1555123', 'is too short'
    from generate_series(1, 3) line`
  return id
}
