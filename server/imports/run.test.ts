import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { testKeyFile, testVault } from '../accounts/testing.ts'
import { inTransaction, openPool, type Queryable, type Tx } from '../ground/db/db.ts'
import { untilBlocked } from '../ground/db/testing.ts'
import { newId, parseId } from '../ground/base/ids.ts'
import type { RowReader } from './row.ts'
import { rowSchema } from './row-schema.ts'
import { runImport } from './run.ts'
import { startImports } from './start.ts'
import { beginImport } from './progress.ts'
import { ImportThreads } from './thread.ts'
import { numberOf, createImportTest, readRow, zero } from './testing.ts'
import { retry, writeRows } from './write.ts'
import { rawWorkbook, rowOf } from '../ground/tables/zip-testing.ts'

const test = await createImportTest()

const never = new AbortController().signal

describe('an interrupted import', () => {
  it('resumes behind the last committed row, with visible progress', async () => {
    const campaign = await test.newCampaign()
    const { id, key } = await test.hold(campaign, fileOf(10_000))
    const progress: unknown[] = []
    for (let run = 0; ; run++) {
      // Stopped after its first batch each time.
      const result = await test.runHere(key, AbortSignal.abort())
      progress.push((await test.read(id)).counts['processed'])
      if (result === 'over') break
      expect([result, run < 10]).toEqual(['stopped', true])
    }
    expect(progress).toEqual([2500, 5000, 7500, 10_000, 10_000])
    expect(await test.read(id)).toMatchObject({ status: 'completed_with_errors', counts: countsOf(10_000) })
    expect(await test.contacts(campaign)).toHaveLength(8000)
    expect([await count('import_errors', key.importId), await count('import_chunks', key.importId)]).toEqual([1000, 0])
    expect(await test.runHere(key, never)).toBe('lost')
  })

  it('waits for a database that is down when its thread begins', async () => {
    const { id, key } = await test.hold(await test.newCampaign(), fileOf(10))
    const url = new URL(test.connection.connectionString ?? '')
    const [folder, port] = [url.searchParams.get('host'), url.searchParams.get('port') ?? url.port]
    let asked = 0
    const door = createServer((near) => {
      if (asked++ < 2) {
        near.destroy()
        return
      }
      const far = folder ? connect(`${folder}/.s.PGSQL.${port}`) : connect(Number(port), url.hostname)
      for (const socket of [near, far]) socket.on('error', () => {})
      near.pipe(far).pipe(near)
    })
    await once(door.listen(0, '127.0.0.1'), 'listening')
    Object.assign(url, { search: '', host: `127.0.0.1:${(door.address() as AddressInfo).port}` })
    const connection = { connectionString: url.href }
    const threads = new ImportThreads({ connection, keyFile: testKeyFile, isSealing: false, rowSchema })
    try {
      expect(await runImport(test.context, key, never, (one, signal) => threads.run(one, signal))).toBe('over')
      expect((await test.read(id)).counts).toEqual(countsOf(10))
      expect(asked).toBeGreaterThan(2)
    } finally {
      await threads.close()
      door.close()
    }
  })

  it('rereads a batch if a contact refused its rows that did not exist at its start', async () => {
    const campaign = await test.newCampaign()
    const { id, key } = await test.hold(campaign, `phone,city\n${numberOf(1)},Ulm\n${numberOf(2)},Bonn\n`)
    const of = [test.account.accountId, parseId('cmp', campaign)]
    let running: Promise<unknown> = Promise.resolve()
    await inTransaction(test.db, async (tx) => {
      await tx.query('select from campaigns where account_id = $1 and id = $2 for update', of)
      running = test.runHere(key, never)
      await untilBlocked(test.db, 1)
      const attributes = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`a${n}`, 'x']))
      await tx.query(
        'insert into contacts (account_id, campaign_id, id, phone_number, attributes) values ($1, $2, $3, $4, $5)',
        [...of, newId(), numberOf(2), attributes],
      )
    })
    expect(await running).toBe('over')
    expect((await test.read(id)).counts).toMatchObject({ processed: 2, created: 1, failed: 1 })
    expect(await test.badRows(id)).toContain(`${numberOf(2)},Bonn,`)
  })

  it('reports progress in a workbook by rows, though its directory and texts are at the end', async () => {
    const campaign = await test.newCampaign()
    const rows = Array.from({ length: 10_000 }, (_, n) => rowOf(numberOf(n), randomBytes(100).toString('hex')))
    const file = rawWorkbook(`${rowOf('phone', 'note')}<row><c t="s"><v>0</v></c></row>${rows.join('')}`, ['12'])
    const { id, key } = await test.hold(campaign, file)
    expect(await test.runHere(key, AbortSignal.abort())).toBe('stopped')
    const { counts, progress } = await test.read(id)
    expect(counts['processed']).toBe(2500)
    expect(progress).toBeGreaterThan(0.2)
    expect(progress).toBeLessThan(0.8)
  })

  it('ends a batch at its size limit if its rows are long', async () => {
    const campaign = await test.newCampaign()
    const row = `,${'x'.repeat(60_000)}\n`
    const { id, key } = await test.hold(campaign, `phone,name\n${row.repeat(60)}`)
    expect(await test.runHere(key, AbortSignal.abort())).toBe('stopped')
    // Two million characters, and the last row.
    expect((await test.read(id)).counts).toMatchObject({ processed: 34, failed: 34 })
  })

  it('knows the numbers of rows before the last committed one, and that one was refused', async () => {
    const campaign = await test.newCampaign()
    const attributes = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`a${n}`, 'x']))
    await test.call('POST', `/v1/campaigns/${campaign}/contacts`, { phone_number: numberOf(2), attributes })
    const rows = Array.from({ length: 2500 }, (_, n) => `${numberOf(n + 1)},first,${n === 1 ? 'Ulm' : ''}`)
    const file = `phone,first_name,city\n${[...rows, `${numberOf(1)},second,Bonn`].join('\n')}`
    const { id, key } = await test.hold(campaign, file)
    expect(await test.runHere(key, AbortSignal.abort())).toBe('stopped')
    const { started_at } = await test.read(id)
    expect(await test.runHere(key, never)).toBe('over')
    expect(await test.read(id)).toMatchObject({
      started_at,
      status: 'completed_with_errors',
      counts: { created: 2499, updated: 0, duplicate: 1, failed: 1 },
      repairs: { missing_plus: 2501 },
    })
    expect((await test.contacts(campaign))[0]).toMatchObject({ first_name: 'first', attributes: {} })
  })

  it.each([
    ['CSV', 'text/csv', 'phone,name\n{row}', (number: string, n: number) => `${number},"name\n${n}"\n`],
    [
      'JSON',
      'application/x-ndjson',
      '{row}',
      (number: string, n: number) => `{"phone_number":"${number}","first_name":"${n}","tags":["${'t'.repeat(30)}"]}\n`,
    ],
  ])('reads each row of %s once, however often it is interrupted', async (_, type, file, rowOf) => {
    const campaign = await test.newCampaign()
    // Each row of the second half repeats a number of the first half.
    const rows = Array.from({ length: 7600 }, (_, n) => rowOf(n === 7000 ? 'bad' : numberOf(n % 3800), n))
    const { id, key } = await test.hold(campaign, file.replace('{row}', rows.join('')), type)
    let read = 0
    const counting: RowReader = (row, options) => {
      read++
      return readRow(row, options)
    }
    for (let result = ''; result !== 'over';)
      result = await runImport(test.context, key, AbortSignal.abort(), (one, signal) =>
        writeRows({ ...test.context, vault: testVault, readRow: counting }, one, signal),
      )
    expect(read).toBe(7600)
    const counts = { ...zero, total: 7600, processed: 7600, created: 3800, duplicate: 3799, failed: 1 }
    expect(await test.read(id)).toMatchObject({ counts, repairs: { missing_plus: 7599 }, faults: [{ count: 1 }] })
    expect(await count('import_numbers', key.importId)).toBe(0)
  })

  it('resumes behind a batch that another worker has written, or its own unconfirmed one', async () => {
    const campaign = await test.newCampaign()
    const { id, key } = await test.hold(campaign, fileOf(2510))
    const runs: Promise<unknown>[] = []
    await inTransaction(test.db, async (tx) => {
      await tx.query('select from campaigns where id = $1 for update', [parseId('cmp', campaign)])
      for (const signal of [AbortSignal.abort(), never]) {
        runs.push(test.runHere(key, signal))
        await untilBlocked(test.db, runs.length)
      }
    })
    expect(await Promise.all(runs)).toEqual(['stopped', 'over'])
    expect((await test.read(id)).counts).toEqual(countsOf(2510))
  })

  it('rewrites what a database crash lost before its last rows', async () => {
    const campaign = await test.newCampaign()
    const { id, key } = await test.hold(campaign, fileOf(10_000))
    const work: Promise<unknown>[] = []
    const begin = () => work.push(test.runHere(key, never))
    await afterFirstBatch(campaign, begin, (tx) => takeAway(tx, campaign, key.importId))
    expect(await Promise.all(work)).toEqual(['over'])
    expect((await test.read(id)).counts).toEqual(countsOf(10_000))
    expect(await test.contacts(campaign)).toHaveLength(8000)
  })

  it('rewrites what a database crash lost before its end', async () => {
    const campaign = await test.newCampaign()
    const { id, key } = await test.hold(campaign, fileOf(10))
    let runs = 0
    const result = await runImport(test.context, key, never, async (...args) => {
      const written = await writeRows({ ...test.context, vault: testVault, readRow }, ...args)
      if (runs++ === 0) await takeAway(test.db, campaign, key.importId)
      return written
    })
    expect([result, runs]).toEqual(['over', 2])
    expect((await test.read(id)).counts).toEqual(countsOf(10))
    expect(await test.contacts(campaign)).toHaveLength(8)
  })

  it('writes no more contacts into a campaign that was closed meanwhile, and says so', async () => {
    const campaign = await test.newCampaign()
    const { id, key } = await test.hold(campaign, fileOf(10_000))
    expect(await test.runHere(key, AbortSignal.abort())).toBe('stopped')
    expect((await test.call('POST', `/v1/campaigns/${campaign}/archive`)).status).toBe(200)
    expect(await test.runHere(key, never)).toBe('over')
    expect(await test.read(id)).toMatchObject({
      status: 'failed',
      failure: { code: 'campaign_closed' },
      counts: { processed: 2500, created: 2000 },
    })
    expect(await test.contacts(campaign)).toHaveLength(2000)
    expect(await count('import_chunks', key.importId)).toBe(0)
  })

  it('ends if a file has too many rows, and says what is imported', async () => {
    const campaign = await test.newCampaign()
    const { id, key } = await test.hold(campaign, `phone\n${`${numberOf(1)}\n`.repeat(3000)}${numberOf(2)}\n`)
    const context = { ...test.context, vault: testVault, readRow, rowsMax: 3000 }
    expect(await runImport(context, key, never, (...args) => writeRows(context, ...args))).toBe('over')
    const counts = { ...zero, total: null, processed: 3000, created: 1, duplicate: 2999 }
    expect(await test.read(id)).toMatchObject({ status: 'failed', failure: { code: 'too_many_rows' }, counts })
    expect(await test.contacts(campaign)).toHaveLength(1)
  })

  it('is not done twice by several workers at once', async () => {
    const campaign = await test.newCampaign()
    const { id, key } = await test.hold(campaign, fileOf(10_000))
    const results = await Promise.all([1, 2, 3].map(() => test.runHere(key, never)))
    // Each may have lost a batch to the other.
    if (!results.includes('over')) expect(await test.runHere(key, never)).toBe('over')
    expect((await test.read(id)).counts).toEqual(countsOf(10_000))
    expect(await test.contacts(campaign)).toHaveLength(8000)
    expect((await test.call('GET', `/v1/campaigns/${campaign}`)).body['contacts_count']).toBe(8000)
  })

  it('waits as long as a database rejects writes, but not forever for a statement that is canceled each time', async () => {
    const settings = { default_transaction_read_only: 'on', statement_timeout: '50ms' }
    const refusing = openPool(test.connection, { name: 'refusing', max: 1, settings })
    let tries = 0
    const write = async (): Promise<unknown> => {
      const db = ++tries < 20 ? refusing : test.db
      return db.query('create table written (id int)')
    }
    await retry(write, never, 0)
    expect(tries).toBe(20)
    tries = 0
    const wait = async (): Promise<unknown> => {
      tries++
      return refusing.query('select pg_sleep(10)')
    }
    await expect(retry(wait, never, 0)).rejects.toThrow('statement timeout')
    expect(tries).toBe(6)
    await refusing.end()
  })

  it('is taken over by another process when its own stops', async () => {
    const campaign = await test.newCampaign()
    const { id, key } = await test.hold(campaign, fileOf(10_000))
    const before = test.imports
    const { connection, context } = test
    let closing: Promise<void> = Promise.resolve()
    const enqueue = () => inTransaction(test.db, (tx) => before.enqueue(tx, key))
    await afterFirstBatch(campaign, enqueue, async () => {
      test.imports = await startImports({ ...context, connection, keyFile: testKeyFile, isRunning: true })
      closing = before.close()
    })
    await closing
    expect((await test.finished(id)).counts).toEqual(countsOf(10_000))
  })

  it('resumes after its process was killed, and writes no contact twice', async () => {
    const campaign = await test.newCampaign()
    const { id, key } = await test.hold(campaign, fileOf(10_000))
    let child: ChildProcess | undefined
    const program = `
      const { openPool } = await import(${JSON.stringify(new URL('../ground/db/db.ts', import.meta.url))})
      const { openVault } = await import(${JSON.stringify(new URL('../ground/sealing/vault.ts', import.meta.url))})
      const { writeRows } = await import(${JSON.stringify(new URL('write.ts', import.meta.url))})
      const { rowSchema } = await import(${JSON.stringify(new URL('row-schema.ts', import.meta.url))})
      const { createRowReader } = await import(${JSON.stringify(new URL('row.ts', import.meta.url))})
      const readRow = createRowReader(rowSchema)
      const [connection, key] = process.argv.slice(1).map((text) => JSON.parse(text))
      const db = openPool(connection, { name: 'killed', max: 2 })
      await writeRows({ db, vault: openVault(Buffer.alloc(32, 7)), readRow }, key, new AbortController().signal)`
    const args = ['--input-type=module', '-e', program, JSON.stringify(test.connection), JSON.stringify(key)]
    await afterFirstBatch(
      campaign,
      () => void (child = spawn(process.execPath, args, { stdio: 'inherit' })),
      async () => {
        child?.kill('SIGKILL')
        if (child) await once(child, 'exit')
        const counts = { ...zero, total: null, processed: 2500, created: 2000, duplicate: 250, failed: 250 }
        expect(await test.read(id)).toMatchObject({ status: 'processing', counts })
        expect(await test.contacts(campaign)).toHaveLength(2000)
      },
    )
    expect(await test.runHere(key, never)).toBe('over')
    expect((await test.read(id)).counts).toEqual(countsOf(10_000))
    expect(await test.contacts(campaign)).toHaveLength(8000)
  })

  it('resumes at once when a process that is alone restarts, without waiting for its job’s heartbeat', async () => {
    const { id } = await test.hold(await test.newCampaign(), fileOf(10))
    const before = test.imports
    const { connection, context } = test
    test.imports = await startImports({ ...context, connection, keyFile: testKeyFile, isRunning: true, isAlone: true })
    await before.close()
    expect(await test.finished(id, 10_000)).toMatchObject({ counts: countsOf(10) })
  })

  it('may be interrupted any number of times while it progresses, and fails if it does not', async () => {
    const { id, key } = await test.hold(await test.newCampaign(), fileOf(7500))
    for (let n = 0; n < 2; n++) {
      expect(await test.runHere(key, AbortSignal.abort())).toBe('stopped')
      await test.sql`update imports set resumes = 20 where id = ${key.importId}`
    }
    expect(await test.runHere(key, never)).toBe('over')
    expect((await test.read(id)).counts).toEqual(countsOf(7500))
    const stuck = await test.hold(await test.newCampaign(), fileOf(10))
    const { accountId, importId } = stuck.key
    for (let n = 0; n < 21; n++) expect(await beginImport(test.db, accountId, importId)).toMatchObject({ resumes: n })
    expect(await test.runHere(stuck.key, never)).toBe('over')
    expect(await test.read(stuck.id)).toMatchObject({ status: 'failed', failure: { code: 'internal_error' } })
  })

  it('stops when it is canceled, and keeps its rows', async () => {
    const campaign = await test.newCampaign()
    const { id, key } = await test.hold(campaign, fileOf(10_000))
    expect(await test.runHere(key, AbortSignal.abort())).toBe('stopped')
    const canceled = await test.call('POST', `/v1/imports/${id}/cancel`)
    expect(canceled).toMatchObject({
      status: 200,
      body: { status: 'canceled', counts: { processed: 2500, created: 2000 } },
    })
    expect(await test.runHere(key, never)).toBe('lost')
    expect(await count('import_chunks', key.importId)).toBe(0)
    expect(await test.contacts(campaign)).toHaveLength(2000)
    const { status, body } = canceled
    expect(await test.call('POST', `/v1/imports/${id}/cancel`)).toMatchObject({ status, body })
    const whole = await test.hold(campaign, fileOf(10))
    expect(await test.runHere(whole.key, never)).toBe('over')
    expect((await test.call('POST', `/v1/imports/${whole.id}/cancel`)).body['code']).toBe('import_over')
  })

  it('writes nothing of the current batch when it is canceled', async () => {
    const campaign = await test.newCampaign()
    const { id, key } = await test.hold(campaign, fileOf(10))
    let running: Promise<unknown> = Promise.resolve()
    await inTransaction(test.db, async (tx) => {
      await tx.query('select from campaigns where id = $1 for update', [parseId('cmp', campaign)])
      running = test.runHere(key, never)
      await untilBlocked(test.db, 1)
      expect((await test.call('POST', `/v1/imports/${id}/cancel`)).status).toBe(200)
    })
    expect(await running).toBe('lost')
    expect(await test.read(id)).toMatchObject({ status: 'canceled', counts: { processed: 0, created: 0 } })
    expect(await test.contacts(campaign)).toEqual([])
  })

  it('deletes only its own file when it ends', async () => {
    const campaign = await test.newCampaign()
    const imports = [await test.hold(campaign, fileOf(10)), await test.hold(campaign, fileOf(20))]
    for (const { key } of imports) expect(await test.runHere(key, never)).toBe('over')
    expect((await test.read(imports[1]?.id ?? '')).counts).toMatchObject({ processed: 20 })
  })

  it('is canceled when its account was closed before it began', async () => {
    const campaign = await test.newCampaign()
    const { key } = await test.hold(campaign, fileOf(10))
    const change = (how: string) => test.db.query(`update accounts set ${how} where id = $1`, [key.accountId])
    await change(`status = 'closed', closed_at = now(), close_webhooks = 'drain', destroy_at = now()`)
    const result = await test.runHere(key, never)
    await change(`status = 'active', closed_at = null, close_webhooks = null, destroy_at = null`)
    expect(result).toBe('over')
    const rows = await test.sql`select status from imports where id = ${key.importId}`
    expect(rows).toEqual([{ status: 'canceled' }])
    expect(await count('import_chunks', key.importId)).toBe(0)
    expect(await test.contacts(campaign)).toHaveLength(0)
  })
})

/** Of ten rows, one is bad and one repeats the previous row. */
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
const count = async (
  table: 'import_errors' | 'import_chunks' | 'import_numbers',
  importId: string,
): Promise<number> => {
  const { rows } = await test.db.query(`select from ${table} where import_id = $1`, [importId])
  return rows.length
}

/** Runs something between the first two batches of an import; the second waits for it. */
async function afterFirstBatch(campaign: string, begin: () => unknown, act: (tx: Tx) => Promise<void>): Promise<void> {
  const lock = (tx: Tx): Promise<unknown> =>
    tx.query('select from campaigns where id = $1 for update', [parseId('cmp', campaign)])
  let acting: Promise<void> | undefined
  await inTransaction(test.db, async (tx) => {
    await lock(tx)
    await begin()
    await untilBlocked(test.db, 1)
    acting = inTransaction(test.db, async (behind) => {
      await lock(behind)
      await untilBlocked(test.db, 1)
      await act(behind)
    })
    await untilBlocked(test.db, 2)
  })
  await acting
}

/** A crash of the database may leave an import like this, because its commits do not wait for the disk. */
async function takeAway(db: Queryable, campaign: string, importId: string): Promise<void> {
  await db.query('delete from contacts where campaign_id = $1', [parseId('cmp', campaign)])
  await db.query('update campaigns set contacts_count = 0 where id = $1', [parseId('cmp', campaign)])
  await db.query('delete from import_errors where import_id = $1', [importId])
  await db.query('delete from import_numbers where import_id = $1', [importId])
  await db.query(
    `update imports set committed_row = 0, processed = 0, created = 0, duplicate = 0, failed = 0, faults = '[]', repairs = '{}', resume = null
     where id = $1`,
    [importId],
  )
}
