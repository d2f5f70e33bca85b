import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createTestAccount } from '../../accounts/testing.ts'
import { createTestDatabase } from '../db/testing.ts'
import { newId } from '../base/ids.ts'
import type { Position } from './page.ts'
import { findRows, hasWords, type Search } from './search.ts'

const made: { id: string; name: string }[] = []

const { db, sql } = await createTestDatabase()
const { accountId } = await createTestAccount(db)
const { accountId: other } = await createTestAccount(db)
for (let n = 0; n < 40; n++) {
  const row = { id: newId(), name: ['Ärger', 'Autumn Sale', '50% off'][n % 7] ?? 'none' }
  made.push(row)
  for (const account of [accountId, other])
    await sql`insert into campaigns (account_id, id, name)
      values (${account}, ${account === other ? newId() : row.id}, ${row.name})`
}

it('reading a list to its end, in windows of any size, returns every matching row once, in order, and only the account’s', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('ärger', 'sale AUTUMN', 'au sa', '%', 'off 50', 'no such', ''),
      fc.constantFrom<Position['direction']>('before', 'after'),
      fc.integer({ min: 1, max: 9 }),
      fc.record({ rows: fc.integer({ min: 1, max: 45 }), windows: fc.integer({ min: 1, max: 3 }) }),
      async (words, direction, limit, bounds) => {
        const search: Search = {
          table: 'campaigns',
          columns: 'id, name',
          accountId,
          found: () => [],
          matches: (value) => hasWords('t.name', words, value),
        }
        const isMatch = (name: string): boolean =>
          words.split(' ').every((word) => name.toLowerCase().includes(word.toLowerCase()))
        const wanted = made.filter(({ name }) => isMatch(name))
        const seen: string[] = []
        const first =
          direction === 'before' ? 'ffffffff-ffff-ffff-ffff-ffffffffffff' : '00000000-0000-0000-0000-000000000000'
        for (let from: string | null = first; from !== null;) {
          const { rows, edge = null }: { rows: { id: string }[]; edge?: string | null } = await findRows(
            db,
            search,
            limit,
            { direction, id: from },
            bounds,
          )
          seen.push(...rows.slice(0, limit).map(({ id }) => id))
          from = rows.length > limit ? (seen.at(-1) ?? null) : edge
        }
        const ids = wanted.map(({ id }) => id)
        expect(seen).toEqual(direction === 'before' ? ids.reverse() : ids)
      },
    ),
    { numRuns: 60 },
  )
})
