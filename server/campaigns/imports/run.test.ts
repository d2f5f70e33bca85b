import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../db/testing.ts'
import { runImport } from './run.ts'
import { startImports } from './start.ts'
import { numberOf, openImportTest, until, zero, type ImportTest } from './testing.ts'

let database: TestDatabase
let test: ImportTest

beforeAll(async () => {
  database = await createTestDatabase()
  test = await openImportTest(database.db, database.connection)
})

afterAll(async () => {
  await test.close()
  await database.close()
})

/** Of ten rows one is bad and one repeats the one before it. */
const cellOf = (i: number): string => (i % 10 === 3 ? 'bad' : numberOf(i % 10 === 5 ? i - 1 : i))
const fileOf = (rows: number): string =>
  `phone,name\n${Array.from({ length: rows }, (_, i) => `${cellOf(i)},name ${i}\n`).join('')}`
const countsOf = (rows: number) => ({
  ...zero,
  total: rows,
  processed: rows,
  created: rows * 0.8,
  duplicate: rows * 0.1,
  failed: rows * 0.1,
})
const count = async (table: 'import_errors' | 'import_chunks', importId: string): Promise<number> => {
  const { rows } = await database.db.query(`select from ${table} where import_id = $1`, [importId])
  return rows.length
}
const never = new AbortController().signal

describe('an interrupted import', () => {
  it('goes on behind the last committed row, with progress to be seen', async () => {
    const campaign = await test.newCampaign()
    const { id, key } = await test.hold(campaign, fileOf(5000))
    const progress: unknown[] = []
    for (let run = 0; ; run++) {
      // Stopped after its first batch, each time.
      const result = await runImport(test.context, key, AbortSignal.abort())
      progress.push((await test.read(id)).counts['processed'])
      if (result === 'over') break
      expect([result, run < 10]).toEqual(['stopped', true])
    }
    expect(progress).toEqual([1000, 2000, 3000, 4000, 5000, 5000])
    expect(await test.read(id)).toMatchObject({ status: 'completed_with_errors', counts: countsOf(5000) })
    expect(await test.contacts(campaign)).toHaveLength(4000)
    expect([await count('import_errors', key.importId), await count('import_chunks', key.importId)]).toEqual([500, 0])
    expect(await runImport(test.context, key, never)).toBe('lost')
  })

  it('is not done twice by several workers at once', async () => {
    const campaign = await test.newCampaign()
    const { id, key } = await test.hold(campaign, fileOf(8000))
    const results = await Promise.all([1, 2, 3].map(() => runImport(test.context, key, never)))
    // Each may have lost a batch to another.
    if (!results.includes('over')) expect(await runImport(test.context, key, never)).toBe('over')
    expect((await test.read(id)).counts).toEqual(countsOf(8000))
    expect(await test.contacts(campaign)).toHaveLength(6400)
    expect((await test.call('GET', `/v1/campaigns/${campaign}`)).body['contacts_count']).toBe(6400)
  })

  it('is taken over by another process when its own stops', async () => {
    const campaign = await test.newCampaign()
    const { body } = await test.upload(campaign, 'text/csv', fileOf(60_000))
    const id = String(body['id'])
    await until(
      () => test.read(id),
      (one) => Number(one.counts['processed']) > 0,
    )
    const before = test.imports
    test.imports = await startImports({ ...test.context, connection: database.connection, isRunning: true })
    await before.close()
    expect((await test.finished(id)).counts).toEqual(countsOf(60_000))
  })

  it('stops when it is canceled, and keeps what is there', async () => {
    const campaign = await test.newCampaign()
    const { id, key } = await test.hold(campaign, fileOf(3000))
    expect(await runImport(test.context, key, AbortSignal.abort())).toBe('stopped')
    const canceled = await test.call('POST', `/v1/imports/${id}/cancel`)
    expect(canceled).toMatchObject({
      status: 200,
      body: { status: 'canceled', counts: { processed: 1000, created: 800 } },
    })
    expect(await runImport(test.context, key, never)).toBe('lost')
    expect(await count('import_chunks', key.importId)).toBe(0)
    expect(await test.contacts(campaign)).toHaveLength(800)
    expect((await test.call('POST', `/v1/imports/${id}/cancel`)).body['code']).toBe('import_over')
  })
})
