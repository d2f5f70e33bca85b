import fc from 'fast-check'
import { expect, test } from 'vitest'
import { arrayLiteral, columns } from './array.ts'
import { createTestDatabase } from './testing.ts'

const { db, sql } = await createTestDatabase()

test('every text returns from the database unchanged', async () => {
  const text = fc.oneof(
    fc.constantFrom('', 'null', 'NULL', '{}', '"', '\\', 'a,b', ' ', '\n', '\\x00', 'é 👋'),
    fc.string({ unit: 'grapheme' }).map((one) => one.replaceAll('\0', '')),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(fc.option(text), { maxLength: 20 }), async (items) => {
      const [row] = await sql<{ items: (string | null)[] }>`select ${arrayLiteral(items)}::text[] as items`
      expect(row?.items).toEqual(items)
    }),
    { numRuns: 300 },
  )
})

test('times, octets, numbers and booleans keep their values', async () => {
  const at = new Date('2026-11-21T02:13:16.934Z')
  const { rows } = await db.query<{ at: Date; octets: Buffer; number: number; flag: boolean }>(
    'select * from unnest($1::timestamptz[], $2::bytea[], $3::int[], $4::boolean[]) as t (at, octets, number, flag)',
    columns([
      [at, null],
      [Buffer.from([0, 255, 92]), null],
      [-7, null],
      [true, null],
    ]),
  )
  expect(rows).toEqual([
    { at, octets: Buffer.from([0, 255, 92]), number: -7, flag: true },
    { at: null, octets: null, number: null, flag: null },
  ])
})

test('times of every precision are read to the millisecond', async () => {
  const rows = await sql<{ at: Date }>`select at
    from unnest('{2026-11-21 02:13:16+00,2026-11-21 02:13:16.9+00,2026-11-21 02:13:16.934567+00,0099-01-01 00:00:00+00}'::timestamptz[]) as at`
  expect(rows.slice(0, 3).map((row) => row.at.toISOString())).toEqual([
    '2026-11-21T02:13:16.000Z',
    '2026-11-21T02:13:16.900Z',
    '2026-11-21T02:13:16.934Z',
  ])
})
