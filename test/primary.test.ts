/** Two real servers, one the standby of the other, and a silent host: which one is written to as they change. */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DatabaseProxy } from './proxy.ts'
import { configOf } from '../server/ground/db/address.ts'
import { inTransaction, openPool, type Db } from '../server/ground/db/db.ts'
import { startEmbedded } from '../server/ground/db/embedded/embedded.ts'
import { prepareDataDir } from '../server/ground/db/embedded/place.ts'
import { isReadOnly, isUnavailable } from '../server/ground/db/failure.ts'
import { primaryOf } from '../server/ground/db/primary.ts'

const log = { info: () => {}, warn: () => {}, error: () => {} }
const settings = { fsync: 'off', full_page_writes: 'off' }
const silent = createServer(() => {})
const closing: (() => Promise<unknown>)[] = []
const moves: { from: string; to: string }[] = []

interface Server {
  name: string
  url: string
  dataPath: string
  db: Db
}

let one: Server
let other: Server
let address: string
let pool: Db

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'heliogram-primary-'))
  closing.push(() => rm(folder, { recursive: true }))
  await chmod(folder, 0o711)
  const [data, copy] = [await prepareDataDir(join(folder, 'one')), join(folder, 'other')]
  const { dataPath, close } = await startEmbedded({ dataDir: data, log, settings })
  await close()
  execFileSync('cp', ['-a', data, copy])
  const standby = join(dataPath.replace(data, copy), 'standby.signal')
  execFileSync('cp', ['-a', join(dataPath, 'PG_VERSION'), standby])
  one = await serve(data)
  other = await serve(copy)
  await once(silent.listen(0, '127.0.0.1'), 'listening')
  const mute = `127.0.0.1:${(silent.address() as AddressInfo).port}`
  // Port 1 is closed.
  address = one.url.replace(one.name, [mute, '127.0.0.1:1', other.name, one.name].join())
  pool = openPool({ connectionString: address }, { name: 'test', max: 2, connectTimeoutMs: 1000 })
  closing.push(() => pool.end())
  const primary = primaryOf(address)
  if (!primary) throw new Error('several hosts have a primary')
  primary.onMove = (move) => moves.push(move)
  primary.answerMs = 500
})

afterAll(async () => {
  for (const close of closing.reverse()) await close()
  silent.close()
})

test('every connection goes to the primary, wherever it is among other hosts', async () => {
  const client = new Client({ ...configOf({ connectionString: address }), connectionTimeoutMillis: 10_000 })
  await client.connect()
  const { rows } = await client.query<{ path: string }>(whichServer)
  await client.end()
  expect([rows, await whichOf(pool)]).toEqual([[{ path: one.dataPath }], one.dataPath])
  await inTransaction(pool, (tx) => tx.query('create table written ()'))
})

test('a primary that freezes and is replaced loses its connections, and gets none when it wakes', async () => {
  const pids = await pidsOf(one)
  const tx = await pool.connect()
  tx.on('error', () => {})
  await tx.query('begin')
  signal(pids, 'SIGSTOP')
  try {
    const unanswered = reasonOf(tx.query('select 1'))
    // Until it is known, new connections wait too.
    await expect.poll(async () => isReadOnly(await reasonOf(pool.query(whichServer)))).toBe(true)
    const refused = await reasonOf(pool.query(whichServer))
    expect(isUnavailable(refused)).toBe(true)
    expect(String(refused)).toMatch(/no host of DATABASE_URL accepts writes \(.*127\.0\.0\.1:1: .*ECONNREFUSED.*\)/)
    expect(String(refused)).toContain(`${other.name}: a standby`)
    expect(String(refused)).not.toContain(new URL(one.url).password)
    await other.db.query('select pg_promote()')
    const lost = await unanswered
    expect([isUnavailable(lost), String(lost)]).toEqual([true, `Error: ${other.name} is the primary now`])
    await expect.poll(() => whichOf(pool).catch(String)).toBe(other.dataPath)
    await inTransaction(pool, (work) => work.query('create table written_later ()'))
  } finally {
    signal(pids, 'SIGCONT')
    tx.release(true)
  }
  expect(moves).toEqual([{ from: one.name, to: other.name }])
  // Both claim to be primaries now: the later promotion counts.
  await one.db.query('select 1')
  await expect(pool.query('set transaction_read_only = on; create table never ()')).rejects.toThrow('read-only')
  for (let i = 0; i < 3; i++) expect(await whichOf(pool)).toBe(other.dataPath)
  expect(moves).toHaveLength(1)
})

test('a primary that rejects writes is left for one that accepts them', async () => {
  await other.db.query('alter database heliogram set default_transaction_read_only = on')
  await other.db.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'heliogram test'`,
  )
  const write = async (): Promise<string> => {
    await pool.query('create table if not exists written_last ()')
    return whichOf(pool)
  }
  await expect.poll(() => write().catch(String)).toBe(one.dataPath)
  expect(moves.at(-1)).toEqual({ from: other.name, to: one.name })
})

const whichServer = `select current_setting('data_directory') as path`
const whichOf = async (db: Db): Promise<string> => (await db.query<{ path: string }>(whichServer)).rows[0]?.path ?? ''

function reasonOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => null,
    (error: unknown) => error,
  )
}

async function serve(dataDir: string): Promise<Server> {
  const { connection, dataPath, close } = await startEmbedded({ dataDir, log, settings })
  closing.push(close)
  const { user, password, host, port, database } = connection
  const proxy = await DatabaseProxy.start(
    `postgres://${user}:${String(password)}@localhost/${database}?host=${host}&port=${port}`,
  )
  closing.push(() => proxy.close())
  const db = openPool(connection, { name: 'alone', max: 1, settings: { default_transaction_read_only: 'off' } })
  closing.push(() => db.end())
  return { name: new URL(proxy.url).host, url: proxy.url, dataPath, db }
}

async function pidsOf({ dataPath }: Server): Promise<number[]> {
  const pid = Number((await readFile(join(dataPath, 'postmaster.pid'), 'utf8')).split('\n')[0])
  const children = await readdir(`/proc/${pid}/task`)
  const of = children.map((task) => readFile(`/proc/${pid}/task/${task}/children`, 'utf8'))
  return [pid, ...(await Promise.all(of)).join(' ').trim().split(/\s+/).map(Number)]
}

const signal = (pids: number[], name: 'SIGSTOP' | 'SIGCONT'): void => {
  for (const pid of pids) process.kill(pid, name)
}
