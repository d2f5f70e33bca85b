import fc from 'fast-check'
import { expect, test } from 'vitest'
import { columns, type Item } from './array.ts'
import { times, uuids } from './binary-array.ts'
import { createTestDatabase } from './testing.ts'

const { db } = await createTestDatabase()

test('PostgreSQL reads columns of UUIDs as it reads their text', async () => {
  const items = fc.array(
    fc.option(
      fc.oneof(
        fc.uuid(),
        fc.uuid().map((uuid) => uuid.toUpperCase()),
      ),
    ),
    { maxLength: 40 },
  )
  await fc.assert(
    fc.asyncProperty(items, async (column: Item[]) => {
      const both = await read('uuid', columns([uuids(column as (string | null)[]), column]))
      expect(both.every(([binary, text]) => binary === text)).toBe(true)
      if (column.some((item) => item !== null)) expect(both).toHaveLength(column.length)
    }),
    { numRuns: 60 },
  )
})

test('PostgreSQL reads columns of times as it reads their text', async () => {
  const min = new Date('1900-01-01T00:00:00Z')
  const max = new Date('2261-01-01T00:00:00Z')
  const items = fc.array(fc.option(fc.date({ min, max, noInvalidDate: true })), { maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(items, async (column: (Date | null)[]) => {
      const both = await read('timestamptz', columns([times(column), column]))
      expect(both.map(([binary]) => binary)).toEqual(both.map(([, text]) => text))
      if (column.some((item) => item !== null)) expect(both).toHaveLength(column.length)
    }),
    { numRuns: 60 },
  )
})

test('an invalid UUID is refused', () => {
  const uuid = '01890a5d-ac96-774b-bcce-b302099a8057'
  for (const bad of [
    '',
    uuid.slice(1),
    `${uuid}0`,
    uuid.replace('a', 'g'),
    uuid.replace('0', 'é'),
    uuid.replace('7', '\u{1F600}'),
  ])
    expect(() => uuids([uuid, bad])).toThrow(RangeError)
})

async function read(type: string, [left, right]: unknown[]): Promise<unknown[][]> {
  const { rows } = await db.query<{ left: unknown; right: unknown }>(
    `select l.item as left, r.item as right
     from unnest($1::${type}[]) with ordinality as l (item, n)
     full join unnest($2::${type}[]) with ordinality as r (item, n) using (n)
     order by n`,
    [left, right],
  )
  return rows.map((row) => [row.left, row.right])
}
