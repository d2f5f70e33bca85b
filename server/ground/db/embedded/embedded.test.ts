import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, mkdir, mkdtemp, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, expect, test } from 'vitest'
import { inTransaction, openPool } from '../db.ts'
import type { Connection, Db } from '../db.ts'
import { startEmbedded } from './embedded.ts'
import { codeOf, isUnavailable } from '../failure.ts'
import { isAlive, readPidFile, signalProcess } from './pidfile.ts'
import { hashOf, prepareDataDir } from './place.ts'
import { NotStartedError } from './postmaster.ts'
import { untilBlocked } from '../testing.ts'

const isRoot = process.getuid?.() === 0
const script = join(import.meta.dirname, 'embedded-child.ts')
const logged: string[] = []
const failures: object[] = []
const note = (fields: object, message: string): void => {
  logged.push(message)
  if (message === 'PostgreSQL did not start again') failures.push(fields)
}
const log = { info: note, warn: note, error: note }

const closing: (() => Promise<unknown>)[] = []

const parent = await mkdtemp(join(tmpdir(), 'heliogram-embedded-'))
await chmod(parent, 0o711)
const dataDir = await prepareDataDir(join(parent, 'data'))
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})
afterAll(() => rm(parent, { recursive: true, force: true }))

test('creates a database that only its own account can enter, and stops in order', async () => {
  const { connection, dataPath, version, adopted, close, exited } = await start()
  expect({ version, adopted, dataPath }).toEqual({ version: '18.4', adopted: false, dataPath: join(dataDir, 'pg18') })
  const pid = await serverPid(dataPath)
  expect(await fieldOf(pid, 'Uid')).not.toBe('0')
  expect((await stat(connection.host ?? '')).mode & 0o777).toBe(0o700)
  expect(`${connection.host}/.s.PGSQL.5432`.length).toBeLessThan(104)

  const { rows } = await open(connection).query(
    `select current_setting('data_checksums') as checksums,
            current_setting('fsync') as fsync,
            current_setting('listen_addresses') as addresses,
            current_setting('server_encoding') as encoding`,
  )
  expect(rows).toEqual([{ checksums: 'on', fsync: 'on', addresses: '', encoding: 'UTF8' }])

  await closing.pop()?.()
  await close()
  await exited
  expect(isAlive(pid)).toBe(false)
  await expect(stat(connection.host ?? '')).rejects.toThrow('ENOENT')
  expect(await readFile(`${dataPath}.log`, 'utf8')).toContain('database system is shut down')
})

test('refuses connections without the password', async () => {
  const { connection } = await start()
  const stranger = open({ ...connection, password: 'guess' })
  await expect(stranger.query('select 1')).rejects.toThrow('password authentication failed')
})

test('a commit whose wait for the standby is ended is not a success, alone or in a transaction', async () => {
  const { connection } = await start()
  const db = open(connection)
  await db.query('create table kept (id int primary key)')
  await db.query('create table probes ()')
  const cancelWaiting = async (): Promise<void> =>
    void (await db.query(`select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`))
  // The server waits for a standby that does not exist.
  const setStandby = async (change: string): Promise<void> => {
    await db.query(`alter system ${change}`)
    await db.query('select pg_reload_conf()')
  }
  await setStandby(`set synchronous_standby_names = 'absent'`)
  try {
    // Its checkpointer may apply the change later.
    await expect
      .poll(async () => {
        const probe = db.query('insert into probes default values').catch(codeOf)
        const isOver = probe.then(() => true)
        while (!(await Promise.race([isOver, sleep(20, false)]))) await cancelWaiting()
        return probe
      })
      .toBe('08007')
    const insert = 'insert into kept values ($1)'
    const writes = [
      () => db.query('insert into kept values (1)'),
      () => db.query({ name: 'keep', text: insert, values: [2] }),
      () => inTransaction(db, (tx) => tx.query(insert, [3])),
    ]
    for (const write of writes) {
      let error: unknown
      const written = write().catch((reason: unknown) => {
        error = reason
      })
      // Autovacuum may wait for the standby, too.
      await expect
        .poll(async () => {
          await cancelWaiting()
          return codeOf(error)
        })
        .toBe('08007')
      await written
      expect(isUnavailable(error)).toBe(true)
    }
    // The row is visible, and would be lost with this server.
    expect((await db.query('select id from kept order by id')).rows).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }])
  } finally {
    await setStandby('reset synchronous_standby_names')
  }
})

test('finds the same database through a symbolic link', async () => {
  const link = join(parent, 'link')
  await symlink(dataDir, link)
  const { dataPath } = await start(await prepareDataDir(link))
  expect(dataPath).toBe(join(dataDir, 'pg18'))
})

test('protects the server from our terminal’s signals', async () => {
  const { dataPath } = await start()
  const stats = await readFile(`/proc/${await serverPid(dataPath)}/stat`, 'utf8')
  const [, , group, session] = stats.slice(stats.lastIndexOf(')') + 2).split(' ')
  expect([group, session]).toEqual([String(await serverPid(dataPath)), String(await serverPid(dataPath))])
})

test('adopts the server of a killed process', async () => {
  const first = await startChild(dataDir)
  const db = openPool(first.connection, { name: 'test', max: 1 })
  await db.query('create table if not exists kept (id int)')
  await db.end()
  const pid = await serverPid(first.dataPath)
  first.process.kill('SIGKILL')
  await once(first.process, 'exit')

  const second = await start()
  expect(second.adopted).toBe(true)
  expect(await serverPid(second.dataPath)).toBe(pid)
  await open(second.connection).query('select from kept')
  await closing.pop()?.()
  await second.close()
  expect(isAlive(pid)).toBe(false)
})

test('is not blocked by a database that an earlier connection is still creating', async () => {
  const first = await startChild(dataDir)
  first.process.kill('SIGKILL')
  await once(first.process, 'exit')
  const db = openPool({ ...first.connection, database: 'postgres' }, { name: 'test', max: 2 })
  await db.query('alter database heliogram rename to other')
  // Like its creation, its new name is visible to others only after the commit.
  const [second] = await inTransaction(db, async (tx) => {
    await tx.query('alter database other rename to heliogram')
    const starting = start()
    await untilBlocked(db, 1, 'create database%')
    return [starting]
  })
  await db.end()
  expect((await second).adopted).toBe(true)
})

test('restarts an adopted server that dies', async () => {
  const first = await startChild(dataDir)
  first.process.kill('SIGKILL')
  await once(first.process, 'exit')
  const { connection, dataPath, adopted } = await start()
  expect(adopted).toBe(true)
  signalProcess(await serverPid(dataPath), 'SIGKILL')
  await expect.poll(() => logged.at(-1)).toBe('PostgreSQL started again')
  await open(connection).query('select 1')
})

test.each([
  ['of no process', () => 4_194_000],
  ['of a process that is something else', () => process.pid],
])('is not blocked by a process id file %s', async (_title, pidOf) => {
  const { dataPath, close } = await start()
  const file = join(dataPath, 'postmaster.pid')
  const content = await readFile(file, 'utf8')
  await close()
  await writeFile(file, content.replace(/^\d+/, String(pidOf())))
  const { connection, adopted } = await start()
  expect(adopted).toBe(false)
  await open(connection).query('select 1')
})

test('says in one line why it does not restart, once for all tries, and starts when it can', async () => {
  const { connection, dataPath } = await start()
  const pid = await serverPid(dataPath)
  const control = join(dataPath, 'global/pg_control')
  await rename(control, `${control}.kept`)
  signalProcess(pid, 'SIGKILL')
  const tries = async (): Promise<number> =>
    (await readFile(`${dataPath}.log`, 'utf8')).split('could not find the database system').length - 1
  while ((await tries()) < 4) await sleep(20)
  await rename(`${control}.kept`, control)
  const db = open(connection)
  while ((await db.query('select 1').catch(() => null)) === null) await sleep(20)
  expect(failures).toEqual([
    { reason: expect.stringMatching(/^could not find the database system; see \S+pg18\.log$/), times: 1 },
  ])
})

test('reports a full disk, whatever clients heard after that', () => {
  const printed = `2026-11-23 14:50:28.782 UTC [14126] FATAL:  could not write file "base/1/x": No space left on device
2026-11-23 14:50:28.783 UTC [14134] FATAL:  the database system is starting up
2026-11-23 14:50:28.790 UTC [14120] LOG:  database system is shut down`
  const { reason } = new NotStartedError({ data: '/data/pg18', log: '/data/pg18.log' }, printed, null)
  expect(reason).toBe(
    'could not write file "base/1/x": No space left on device; make room where /data/pg18 is: then it starts by itself',
  )
})

test('is not blocked by an empty process id file', async () => {
  const { dataPath, close } = await start()
  await close()
  // Its writer was killed, or found the disk full, before the first byte.
  await writeFile(join(dataPath, 'postmaster.pid'), '')
  const { connection } = await start()
  await open(connection).query('select 1')
})

test('leaves a process id file unchanged if the disk is full', async () => {
  const folder = await mkdtemp(join(parent, 'full-'))
  const file = join(folder, 'postmaster.pid')
  const content = '4194000\n/data\n1795228412\n5432\n/run/heliogram\n\n 1234 56\nready\n'
  await writeFile(file, content)
  const program = `import { disownPidFile } from '${join(import.meta.dirname, 'pidfile.ts')}'
    await disownPidFile('${folder}').catch(({ code }) => console.log(code))`
  // Its files may not have a single byte.
  const script = `trap '' XFSZ; ulimit -f 0; exec '${process.execPath}' --input-type=module -e "$1"`
  const child = spawn('/bin/sh', ['-c', script, 'sh', program], { stdio: ['ignore', 'pipe', 'inherit'] })
  expect(await text(child.stdout)).toBe('EFBIG\n')
  expect(await readFile(file, 'utf8')).toBe(content)
})

test('loses no acknowledged row when the server is killed under load, and restarts it', async () => {
  const { connection, dataPath } = await start()
  const db = open(connection)
  await db.query('create table rows (id int primary key)')
  const acknowledged: number[] = []
  const refusals: unknown[] = []
  let next = 0
  const over = new AbortController()
  const write = async () => {
    while (!over.signal.aborted) {
      const id = next++
      try {
        await db.query('insert into rows values ($1)', [id])
        acknowledged.push(id)
      } catch (error) {
        refusals.push(error)
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    }
  }
  const writers = Array.from({ length: 8 }, write)
  for (let kill = 0; kill < 3; kill++) {
    const goal = acknowledged.length + 300
    await expect.poll(() => acknowledged.length).toBeGreaterThan(goal)
    signalProcess(await serverPid(dataPath), 'SIGKILL')
    const before = refusals.length
    await expect.poll(() => refusals.length).toBeGreaterThan(before)
  }
  const goal = acknowledged.length + 300
  await expect.poll(() => acknowledged.length).toBeGreaterThan(goal)
  over.abort()
  await Promise.all(writers)

  const { rows } = await db.query<{ ids: number[] }>('select array_agg(id) as ids from rows')
  const stored = new Set(rows[0]?.ids)
  expect(acknowledged.filter((id) => !stored.has(id))).toEqual([])
  expect(refusals.filter((error) => !isUnavailable(error))).toEqual([])
})

test('refuses a database of another major version', async () => {
  await rename(join(dataDir, 'pg18'), join(dataDir, 'pg17'))
  try {
    await expect(start()).rejects.toThrow('contains a database of PostgreSQL 17; this version of Heliogram uses 18')
  } finally {
    await rename(join(dataDir, 'pg17'), join(dataDir, 'pg18'))
  }
})

test.runIf(isRoot)('works as an account with nothing but a folder', async () => {
  const folder = join(parent, 'nobody')
  await mkdir(folder, { mode: 0o700 })
  await chown(folder, 65_534, 65_534)
  const child = await startChild(folder, { uid: 65_534, gid: 65_534 })
  expect(child.dataPath).toBe(join(folder, 'pg18'))
  expect(await fieldOf(await serverPid(child.dataPath), 'Uid')).toBe('65534')
  await expect(startChild(folder, { uid: 65_534, gid: 65_534 })).rejects.toThrow(
    `Another Heliogram (pid ${child.process.pid}) already uses the data folder ${folder}. Stop it, or set HELIOGRAM_DATA to another folder.`,
  )
})

test.runIf(isRoot)(
  'uses a folder elsewhere if its account cannot reach the data folder, and notices a move',
  async () => {
    const hidden = await mkdtemp('/root/heliogram-embedded-')
    closing.push(() => rm(hidden, { recursive: true, force: true }))
    const folder = await prepareDataDir(join(hidden, 'data'))
    const elsewhere = join('/var/lib/heliogram', hashOf(folder))
    closing.push(() => rm(elsewhere, { recursive: true, force: true }))
    const { dataPath, connection, close } = await start(folder)
    expect(dataPath).toBe(join(elsewhere, 'pg18'))
    await open(connection).query('select 1')
    await closing.pop()?.()
    await close()

    await rename(folder, join(hidden, 'moved'))
    await expect(start(join(hidden, 'moved'))).rejects.toThrow(`was moved or copied: its database is in ${elsewhere}`)
  },
)

interface Child {
  process: ChildProcess
  connection: Connection
  adopted: boolean
  dataPath: string
}

async function start(folder = dataDir) {
  const embedded = await startEmbedded({ dataDir: folder, log })
  closing.push(() => embedded.close())
  return embedded
}

function open(connection: Connection): Db {
  const db = openPool(connection, { name: 'test', max: 8 })
  closing.push(() => db.end())
  return db
}

/** Starts the server from its own process, which a test may kill. */
async function startChild(folder: string, account: { uid?: number; gid?: number } = {}): Promise<Child> {
  // An empty environment, even without HOME.
  const child = spawn(process.execPath, [script, folder], {
    ...account,
    cwd: '/',
    env: {},
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const errors = text(child.stderr)
  const [line] = (await Promise.race([
    once(createInterface(child.stdout), 'line'),
    once(child, 'exit').then(async () => Promise.reject(new Error(await errors))),
  ])) as [string]
  closing.push(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM')
      await once(child, 'exit')
    }
  })
  return { process: child, ...(JSON.parse(line) as Omit<Child, 'process'>) }
}

async function serverPid(dataPath: string): Promise<number> {
  return (await readPidFile(dataPath))?.pid ?? 0
}

async function fieldOf(pid: number, name: string): Promise<string> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(status)?.[1] ?? ''
}
