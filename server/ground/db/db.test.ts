import { spawnSync } from 'node:child_process'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { inTransaction, openPool } from './db.ts'
import { codeOf, isRetryable, isUnavailable } from './failure.ts'
import { createTestDatabase } from './testing.ts'

const database = await createTestDatabase()
const { db, sql } = database
await sql`create table things (id int primary key)`

test('reads int8 as a number, dates as they were written, and fails rather than rounds', async () => {
  const rows = await sql`select count(*) as count,
         array[1, null]::int8[] as counts,
         '2026-03-29'::date as day,
         '2026-03-29 02:30'::timestamp as local,
         '2026-03-29T00:00Z'::timestamptz as instant,
         0.1::numeric as amount
    from things`
  expect(rows).toEqual([
    {
      count: 0,
      counts: [1, null],
      day: '2026-03-29',
      local: '2026-03-29 02:30:00',
      instant: new Date('2026-03-29T00:00:00Z'),
      amount: '0.1',
    },
  ])
  await expect(sql`select 9007199254740993::int8`).rejects.toThrow('does not fit a number')
  await expect(sql`select 1::int8 as one`).resolves.toEqual([{ one: 1 }])
})

test('reads times and days alike, and compiles no statement, despite the database’s settings for other programs', async () => {
  const name = (await sql<{ name: string }>`select current_database() as name`)[0]?.name ?? ''
  const others = {
    datestyle: 'German',
    timezone: 'Asia/Kolkata',
    default_transaction_isolation: 'serializable',
    jit: 'on',
  }
  for (const [setting, value] of Object.entries(others))
    await db.query(`alter database "${name}" set ${setting} = '${value}'`)
  const pool = openPool(database.connection, { name: 'test', max: 1 })
  const { rows } = await pool.query(
    `select '2026-03-29T00:00Z'::timestamptz as instant, date_trunc('hour', '2026-03-29T00:10Z'::timestamptz) as hour,
       current_setting('transaction_isolation') as isolation, current_setting('jit') as jit`,
  )
  await pool.end()
  for (const setting of Object.keys(others)) await db.query(`alter database "${name}" reset ${setting}`)
  const midnight = new Date('2026-03-29T00:00:00Z')
  expect(rows).toEqual([{ instant: midnight, hour: midnight, isolation: 'read committed', jit: 'off' }])
})

test('an address may set session settings, but not those that we rely on, nor the name by which rotate-key knows us', async () => {
  const url = new URL(database.url)
  url.searchParams.set('options', '-c timezone=Asia/Kolkata -c work_mem=5MB')
  url.searchParams.set('application_name', 'sms')
  const pool = openPool({ connectionString: url.href }, { name: 'test', max: 1, settings: { work_mem: '6MB' } })
  const other = openPool({ connectionString: url.href }, { name: 'other', max: 1 })
  const look = `select current_setting('timezone') as zone, current_setting('work_mem') as memory, current_setting('application_name') as name`
  expect((await pool.query(look)).rows).toEqual([{ zone: 'UTC', memory: '6MB', name: 'heliogram test' }])
  expect((await other.query(look)).rows).toEqual([{ zone: 'UTC', memory: '5MB', name: 'heliogram other' }])
  await pool.end()
  await other.end()
})

test('commits a transaction and returns its result', async () => {
  const result = await inTransaction(db, async (tx) => {
    await tx.query('insert into things values (1)')
    return 'done'
  })
  expect(result).toBe('done')
  expect(await sql`select id from things`).toEqual([{ id: 1 }])
})

test('rolls back and rethrows when a transaction fails', async () => {
  const failure = new Error('no')
  const attempt = inTransaction(db, async (tx) => {
    await tx.query('insert into things values (2)')
    throw failure
  })
  await expect(attempt).rejects.toBe(failure)
  expect(await sql`select from things where id = 2`).toEqual([])
})

test('does not report a transaction as committed if its failed statement was caught', async () => {
  const attempt = inTransaction(db, async (tx) => {
    await tx.query('insert into things values (3)')
    await tx.query('select 1 / 0').catch(() => {})
  })
  await expect(attempt).rejects.toThrow('was rolled back')
})

test('replaces an old connection though it is never idle for long', async () => {
  const pool = openPool(database.connection, { name: 'old', max: 1, lifetimeSeconds: 1 })
  const ask = async () => (await pool.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid
  const first = await ask()
  await expect.poll(ask).not.toBe(first)
  await pool.end()
})

test('survives connections that break while idle, in use and inside a transaction', async () => {
  const errors: Error[] = []
  const pool = openPool(database.connection, { name: 'broken', max: 1, onError: (error) => errors.push(error) })
  const pidOf = async () => (await pool.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid
  await endSession(await pidOf())
  await expect.poll(() => errors.length).toBe(1)

  const asleep = reasonOf(pool.query('select pg_sleep(60)'))
  await expect
    .poll(async () => {
      const rows = await sql<{ pid: number }>`select pid from pg_stat_activity where query = 'select pg_sleep(60)'`
      await endSession(rows[0]?.pid)
      return rows.length
    })
    .toBe(1)
  expect(isUnavailable(await asleep)).toBe(true)

  const broken = await reasonOf(
    inTransaction(pool, async (tx) => {
      const { rows } = await tx.query<{ pid: number }>('select pg_backend_pid() as pid')
      await endSession(rows[0]?.pid)
      await tx.query('select 1')
    }),
  )
  expect(isUnavailable(broken)).toBe(true)
  expect(await pidOf()).toBeTypeOf('number')
  await pool.end()
})

test('drops the socket of a slow statement, and does not wait for its rollback', async () => {
  const pool = openPool(database.connection, { name: 'hasty', max: 1, queryTimeoutMs: 1000 })
  const startedAt = performance.now()
  const late = await reasonOf(inTransaction(pool, (tx) => tx.query('select pg_sleep(60)')))
  expect(isUnavailable(late)).toBe(true)
  expect(performance.now() - startedAt).toBeLessThan(20_000)
  await expect(pool.query('select 1')).resolves.toMatchObject({ rowCount: 1 })
  await pool.end()
})

test('outlives a server that dies the moment it is ready', async () => {
  // AuthenticationOk, ReadyForQuery and a fatal ErrorResponse (PostgreSQL, "Message Formats") in one piece, as a busy reader gets them.
  const fatal = Buffer.from('SFATAL\0C57P01\0Mterminating connection due to unexpected postmaster exit\0\0')
  const head = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49, 0x45, 0, 0, 0, 4 + fatal.length])
  const dying = createServer((socket) => {
    socket.once('data', () => socket.end(Buffer.concat([head, fatal])))
  })
  await new Promise<void>((resolve) => dying.listen(0, '127.0.0.1', resolve))
  const { port } = dying.address() as AddressInfo
  const pool = openPool({ host: '127.0.0.1', port, user: 'x', password: 'x' }, { name: 'unlucky', max: 1 })
  expect(isUnavailable(await reasonOf(inTransaction(pool, (tx) => tx.query('select 1'))))).toBe(true)
  expect(isUnavailable(await reasonOf(pool.query('select 1')))).toBe(true)
  await pool.end()
  dying.close()
})

test('reports an exhausted pool, a closed port, a missing socket and a silent server as unavailable', async () => {
  const pool = openPool(database.connection, { name: 'small', max: 1, connectTimeoutMs: 1000 })
  const client = await pool.connect()
  expect(isUnavailable(await reasonOf(pool.query('select 1')))).toBe(true)
  client.release()
  await pool.end()
  expect(isUnavailable(await reasonOf(pool.query('select 1')))).toBe(true)

  const silent = createServer(() => {})
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const { port } = silent.address() as AddressInfo
  const places = [{ host: '127.0.0.1', port }, { host: '127.0.0.1', port: 1 }, { host: '/nowhere' }]
  for (const place of places) {
    const lost = openPool({ ...place, user: 'x', password: 'x' }, { name: 'lost', max: 1, connectTimeoutMs: 100 })
    expect(isUnavailable(await reasonOf(lost.query('select 1')))).toBe(true)
    await lost.end()
  }
  silent.close()
})

test('reports a database as unavailable if this process has too many open files to reach it', () => {
  const program = `
    import { openSync } from 'node:fs'
    import { openPool } from './server/ground/db/db.ts'
    import { isUnavailable } from './server/ground/db/failure.ts'
    const pool = openPool(${JSON.stringify(database.connection)}, { name: 'crowded', max: 1 })
    await (await pool.connect()).release(true)
    try { for (;;) openSync('/dev/null') } catch (error) { console.log(error.code, isUnavailable(error)) }
    await pool.query('select 1').catch((error) => console.log(error.code, isUnavailable(error)))
    process.exit()`
  const child = spawnSync(
    'sh',
    ['-c', 'ulimit -n 100; exec "$0" --input-type=module -e "$1"', process.execPath, program],
    { cwd: new URL('../../..', import.meta.url), encoding: 'utf8' },
  )
  expect(child).toMatchObject({ stdout: 'EMFILE false\nEMFILE true\n', stderr: '' })
})

test.each([
  ['57P01', true, true],
  ['57P03', true, true],
  ['53300', true, true],
  ['53100', true, true],
  ['08006', true, true],
  ['25006', true, true],
  ['ECONNREFUSED', true, true],
  ['40001', false, true],
  ['40P01', false, true],
  ['23505', false, false],
  ['57014', false, true],
  ['55P03', false, true],
  ['42P01', false, false],
  ['ENOENT', false, false],
])('knows %s: unavailable %s, retryable %s', (code, unavailable, retryable) => {
  const error = Object.assign(new Error('x'), { code })
  const wrapped = new Error('while doing something', { cause: error })
  expect([isUnavailable(error), isRetryable(error), isUnavailable(wrapped)]).toEqual([
    unavailable,
    retryable,
    unavailable,
  ])
})

test('leaves errors of the statement itself unchanged', async () => {
  const error = await reasonOf(sql`select nonsense`)
  expect([codeOf(error), isUnavailable(error)]).toEqual(['42703', false])
})

const reasonOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  )

async function endSession(pid: number | undefined): Promise<void> {
  await sql`select pg_terminate_backend(${pid})`
}
