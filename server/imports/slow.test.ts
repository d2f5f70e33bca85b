/** Imports whose statements exceed a time-out of the database or of this process. */
import { expect, it } from 'vitest'
import { testVault } from '../accounts/testing.ts'
import { inTransaction, openPool, type Db } from '../ground/db/db.ts'
import { parseId } from '../ground/base/ids.ts'
import { runImport, type RunResult } from './run.ts'
import { numberOf, createImportTest, readRow } from './testing.ts'
import { writeRows, type ImportKey } from './write.ts'

const never = new AbortController().signal

const test = await createImportTest()

// Both wait for the seconds between a job's tries.
it.concurrent('continues in smaller pieces if the database is slow for each row', async () => {
  const { db, connection } = test
  await db.query(`
    create function take_time() returns trigger language plpgsql as 'begin perform pg_sleep(0.002); return new; end';
    create trigger take_time before insert on contacts for each row execute function take_time()`)
  const settings = { statement_timeout: '2s' }
  const impatient = openPool(connection, { name: 'impatient', max: 2, settings })
  try {
    const file = Array.from({ length: 1500 }, (_, n) => numberOf(n)).join('\n')
    const { id, key } = await test.hold(await test.newCampaign(), `phone\n${file}`)
    expect(await run(impatient, key)).toBe('over')
    expect(await test.read(id)).toMatchObject({ status: 'completed', counts: { created: 1500 } })
  } finally {
    await impatient.end()
    await db.query('drop function take_time cascade')
  }
}, 120_000)

it.concurrent('fails with advice if even a few rows are never written', async () => {
  const { db, connection } = test
  const campaign = await test.newCampaign()
  const { id, key } = await test.hold(campaign, `phone\n${numberOf(1)}`)
  const impatient = openPool(connection, { name: 'impatient', max: 2, queryTimeoutMs: 500 })
  try {
    // All writes to the campaign wait. The process times out first, and cannot distinguish this from a database that hangs.
    await inTransaction(db, async (tx) => {
      await tx.query('select from campaigns where id = $1 for update', [parseId('cmp', campaign)])
      expect(await run(impatient, key)).toBe('over')
    })
    const { status, failure } = (await test.read(id)) as unknown as { status: string; failure: object }
    expect({ status, failure }).toEqual({
      status: 'failed',
      failure: { code: 'database_too_slow', detail: expect.stringContaining('send the file again') },
    })
  } finally {
    await impatient.end()
  }
}, 120_000)

const run = (db: Db, key: ImportKey): Promise<RunResult> =>
  runImport(test.context, key, never, (one, signal) => writeRows({ db, vault: testVault, readRow }, one, signal))
