import fc from 'fast-check'
import { expect, test } from 'vitest'
import { everyPlace, rowParameters } from './rows.ts'
import { createTestDatabase } from './testing.ts'

const { db } = await createTestDatabase()

const rows = rowParameters(
  { id: 'uuid', own: 'text' },
  { text: 'text', int: 'int', flag: 'boolean', at: 'timestamptz', uuid: 'uuid', bytes: 'bytea' },
)
const picks = {
  id: ({ id }: Row) => id,
  own: ({ own }: Row) => own,
  text: ({ text }: Row) => text,
  int: ({ int }: Row) => int,
  flag: ({ flag }: Row) => flag,
  at: ({ at }: Row) => at,
  uuid: ({ uuid }: Row) => uuid,
  bytes: ({ bytes }: Row) => bytes,
}

const nothing = { own: null, text: null, int: null, flag: null, at: null, uuid: null, bytes: null }
const ids = ['0198f5a0-0000-7000-8000-000000000001', '0198f5a0-0000-7000-8000-000000000002'] as const
const full = {
  own: 'x',
  text: 'a "quoted", {odd} \\ null',
  int: -7,
  flag: false,
  at: new Date('2026-11-26T10:00:00.123Z'),
  uuid: ids[0],
  bytes: Buffer.from([0, 255]),
}

test('a column with the same value in every row is sent as one value', async () => {
  const batch = ids.map((id, i) => ({ ...full, id, own: `${i}`, at: new Date(full.at) }))
  const parameters = rows.encode(batch, picks)
  expect(parameters).toHaveLength(rows.count)
  expect(parameters.slice(2, 8)).toEqual(['{}', '{}', '{}', '{}', '{}', '{}'])
  expect(parameters.slice(8)).toEqual([full.text, -7, false, full.at.toISOString(), ids[0], full.bytes])
  expect(await read(batch)).toEqual(numbered(batch))
})

test('the word null, an empty text and null are distinct', async () => {
  for (const text of ['null', 'NULL', '', null]) {
    const batch = ids.map((id) => ({ ...nothing, id, text }))
    expect(await read(batch)).toEqual(numbered(batch))
  }
  const mixed = [null, ''].map((text, i) => ({ ...nothing, id: ids[i] ?? '', text }))
  expect(await read(mixed)).toEqual(numbered(mixed))
})

test('values are read unchanged and in order', async () => {
  const orNull = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { freq: 3 })
  // Few values, so that columns are the same by chance as often as not.
  const row = fc.record({
    id: fc.uuid(),
    own: orNull(fc.string()),
    text: orNull(fc.constantFrom('', 'a', 'null', '{"b", \\')),
    int: orNull(fc.integer({ min: -1, max: 1 })),
    flag: orNull(fc.boolean()),
    at: orNull(fc.constantFrom(new Date(0), new Date(full.at), new Date('1969-12-31T23:59:59.999Z'))),
    uuid: orNull(fc.constantFrom(...ids)),
    bytes: orNull(fc.constantFrom(full.bytes, Buffer.alloc(0))),
  })
  const batch = fc
    .array(row, { minLength: 1, maxLength: 4 })
    .map((all) => all.map((one) => ({ ...one, own: one.own?.replaceAll('\0', '') ?? null })))
  await fc.assert(
    fc.asyncProperty(batch, async (all) => {
      expect(await read(all)).toEqual(numbered(all))
    }),
    { numRuns: 300 },
  )
})

test('places count from 1', () => {
  expect(everyPlace(['a', 'b'])).toEqual([1, 2])
})

interface Row {
  id: string
  own: string | null
  text: string | null
  int: number | null
  flag: boolean | null
  at: Date | null
  uuid: string | null
  bytes: Buffer | null
}

const read = async (batch: readonly Row[]): Promise<unknown> => {
  const { rows: found } = await db.query(`${rows.select} order by n`, rows.encode(batch, picks))
  return found
}
const numbered = (batch: readonly Row[]): unknown[] => batch.map((row, i) => ({ ...row, n: i + 1 }))
