/** A full backup into another database, and its refusals. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { zstdCompress, zstdDecompress } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testMasterKey } from '../server/accounts/testing.ts'
import { claimDatabase } from '../server/ground/sealing/key-of-database.ts'
import { KeyFile } from '../server/ground/sealing/master-key.ts'
import { backUp } from '../server/program/commands/backup/backup.ts'
import { checkBackup } from '../server/program/commands/backup/check.ts'
import type { BackupHeader, BackupManifest } from '../server/program/commands/backup/format.ts'
import { restore } from '../server/program/commands/backup/restore.ts'
import { endOfProcesses, findTables, leftOut } from '../server/program/commands/backup/tables.ts'
import { readTar, tarEnd, tarHeader, tarPadding } from '../server/program/commands/backup/tar.ts'
import type { CommandContext } from '../server/program/commands/command.ts'
import { readConfig } from '../server/program/config.ts'
import { openPool, type Db } from '../server/ground/db/db.ts'
import type { Disposable } from '../server/ground/db/embedded/disposable.ts'
import { migrate } from '../server/ground/db/migrate.ts'
import { ensurePartitions } from '../server/ground/db/partitions.ts'
import { createTestDatabase, runOn, withDatabase, type TestDatabase } from '../server/ground/db/testing.ts'
import { newId } from '../server/ground/base/ids.ts'
import { silent } from '../server/messages/testing.ts'
import { makeDataFolder, startDurable } from './harness.ts'
import { findOtherVersion, startOther } from './other-postgres.ts'
import { openWorld, type World } from './tenancy-world.ts'
import { createTenant } from './tenant.ts'

let folder: string
let source: TestDatabase
let world: World
let server: Disposable
let file: string
let keyFile: string
let databases = 0

const contextOf = (url: string, env: Record<string, string> = {}): CommandContext => ({
  config: readConfig({ DATABASE_URL: url, HELIOGRAM_DATA: folder, HELIOGRAM_KEY_FILE: keyFile, ...env }),
  log: silent,
  version: '1.2.3',
  signal: new AbortController().signal,
})

const plain = { keepsCarriers: false, isWithoutKey: false }

async function createEmpty(): Promise<string> {
  const name = `empty_${++databases}`
  await runOn(withDatabase(server.url, 'postgres'), `create database ${name} encoding 'UTF8' template template0`)
  return withDatabase(server.url, name)
}

async function withDb<T>(url: string, work: (db: Db) => Promise<T>): Promise<T> {
  const db = openPool({ connectionString: url }, { name: 'look', max: 1 })
  try {
    return await work(db)
  } finally {
    await db.end()
  }
}

beforeAll(async () => {
  folder = await makeDataFolder()
  ;[file, keyFile] = [join(folder, 'one.tar.zst'), join(folder, 'the-key')]
  await writeFile(keyFile, `${testMasterKey.toString('base64')}\n`, { mode: 0o600 })
  const other = await findOtherVersion()
  ;[source, server] = await Promise.all([
    createTestDatabase(),
    other === null ? startDurable('empty') : startOther(other),
  ])
  await ensurePartitions(source.db, silent)
  await claimDatabase(source.db, new KeyFile(keyFile).read())
  world = await openWorld(source)
  await createTenant(world, 'sample', '1555763000')
  // Characters that COPY must escape.
  await source.db.query(`update templates set body = $1`, ['\ttab \\ \n line \\N é €'])
})
afterAll(async () => {
  await world?.close()
  await source?.close()
  await server?.close()
  await rm(folder, { recursive: true, force: true })
})

async function hashTables(db: Db): Promise<Record<string, string>> {
  const hashes: Record<string, string> = {}
  for (const { name } of await findTables(db)) {
    const { rows } = await db.query<{ row: string }>(`select t::text as row from ${name} t order by 1`)
    hashes[name] = `${rows.length} ${createHash('sha256')
      .update(rows.map(({ row }) => row).join('\n'))
      .digest('hex')}`
  }
  return hashes
}

describe('a backup', () => {
  it('has every table, except those with a reason', async () => {
    const schema = await readFile(join(import.meta.dirname, '../server/ground/db/schema.sql'), 'utf8')
    const tables = [...schema.matchAll(/^create table (\w+) \(\n([^]*?)^\)/gm)]
    const inIt = new Set((await findTables(source.db)).map(({ name }) => name))
    expect(tables.length).toBeGreaterThan(80)
    const names = tables.map(([, name = '']) => name)
    expect(names.filter((name) => inIt.has(name) === name in leftOut)).toEqual([])
    expect(Object.keys(leftOut).filter((name) => !names.includes(name))).toEqual([])
    // Columns of running processes must be left out or cleared.
    const held = tables.filter(([, , columns = '']) => /^ {2}(leased_by|leased_until|fenced_at) /m.test(columns))
    expect(held.map(([, name = '']) => name).filter((name) => !(name in leftOut) && !(name in endOfProcesses))).toEqual(
      [],
    )
    // A table in the backup refers only to others in it.
    const references = [...schema.matchAll(/foreign key \([^)]*\) references (\w+)/g)].map(([, name = '']) => name)
    expect(references.filter((name) => name in leftOut)).toEqual([])
    // Sequences would have to be set.
    expect(schema).not.toMatch(/as identity|nextval\(/)
  })

  it('restores into another database unchanged, without the state of old processes and with disabled carriers', async () => {
    const node = newId()
    const { linkId } = world.ledger
    await source.db.query(`insert into nodes (id, name) values ($1, 'gone:1')`, [node])
    await source.db.query(`insert into heartbeats (node_id, seen_at) values ($1, now())`, [node])
    await source.db.query(`insert into link_slots (link_id, slot, node_id) values ($1, 7, $2)`, [linkId, node])
    // Its transaction numbers are ahead of the next server's.
    await source.db.query('do $$ begin for n in 1..20000 loop perform pg_current_xact_id(); commit; end loop; end $$')
    const newest = await source.db.query<{ id: string }>(
      `update events set txid = pg_current_xact_id() where id = (select id from events order by id limit 1) returning id`,
    )
    await source.db.query(`update outbox set leased_by = $1, leased_until = now() + interval '1 hour'`, [node])
    const before = await hashTables(source.db)
    await source.db.query('create table notes as select 1 as one')
    const filled = Object.entries(before).filter(([, hash]) => !hash.startsWith('0 '))
    expect(filled.length).toBeGreaterThan(45)

    expect(await backUp(contextOf(source.url), file)).toMatch(/^The backup is complete: [\d,]+ rows of \d+ tables/)
    expect(await checkBackup(contextOf(source.url), file)).toMatch(
      /Heliogram 1\.2\.3[^]*master key .* which .*the-key has\n/,
    )
    const url = await createEmpty()
    const said = await restore(contextOf(url), file, plain)
    expect(said).toMatch(/not tables of Heliogram: notes\.[^]*Its carriers are disabled/)
    expect(said).toMatch(/Pending in it: .*1 import/)
    await withDb(url, async (db) => {
      const after = await hashTables(db)
      const changed = Object.keys(before).filter((name) => before[name] !== after[name])
      expect(Object.keys(after)).toEqual(Object.keys(before))
      // Transaction numbers, and what is asserted below.
      expect(changed.sort()).toEqual([
        'audit_chains',
        'carriers',
        'events',
        'nodes',
        'outbox',
        'replays',
        'smpp_cursors',
      ])
      const { rows } = await db.query(
        `select
           (select bool_or(enabled) from carriers where not is_test) as "isEnabled",
           (select count(*)::int from nodes where fenced_at is null) as running,
           (select count(*)::int from link_slots) as slots,
           (select count(*)::int from outbox where leased_by is not null) as leased,
           (select bool_and(txid < pg_snapshot_xmin(pg_current_snapshot())) from events) as "isBelow",
           (select id from events order by txid desc, id desc limit 1) as newest,
           (select count(*)::int from pgboss.job where name = 'imports') as jobs,
           (select count(*)::int from messages_default) as strays,
           to_regclass('restoring') as mark`,
      )
      expect(rows).toEqual([
        {
          isEnabled: false,
          running: 0,
          slots: 0,
          leased: 0,
          isBelow: true,
          newest: newest.rows[0]?.id,
          jobs: 1,
          strays: 0,
          mark: null,
        },
      ])
      // Has the last migration, and accepts requests.
      expect(await migrate({ connectionString: url }, { log: silent })).toEqual([])
    })
  })
})

describe('a refused restore', () => {
  async function forge(name: string, change: (content: Buffer) => Buffer): Promise<string> {
    const parts: Buffer[] = []
    const whole = await promisify(zstdDecompress)(await readFile(file))
    for await (const one of readTar(piecesOf(whole))) {
      const pieces: Buffer[] = []
      for await (const piece of one.pieces) pieces.push(piece)
      const content = one.name === name ? change(Buffer.concat(pieces)) : Buffer.concat(pieces)
      parts.push(tarHeader(one.name, content.length, 0), content, tarPadding(content.length))
    }
    const forged = join(folder, 'forged.tar.zst')
    await writeFile(forged, await promisify(zstdCompress)(Buffer.concat([...parts, tarEnd])))
    return forged
  }
  async function* piecesOf(whole: Buffer): AsyncGenerator<Buffer> {
    for (let at = 0; at < whole.length; at += 1000) yield whole.subarray(at, at + 1000)
  }

  it('says what to do, and changes nothing', async () => {
    const url = await createEmpty()
    const attempt = (one: string, env: Record<string, string> = {}): Promise<string> =>
      restore(contextOf(url, env), one, plain)
    await expect(attempt(join(folder, 'none'))).rejects.toThrow(/cannot be read: ENOENT/)
    await expect(attempt(keyFile)).rejects.toThrow(/is not a backup of Heliogram\.\nNothing was changed/)
    await expect(attempt(file, { HELIOGRAM_KEY_FILE: join(folder, 'no-key') })).rejects.toThrow(
      /does not exist[^]*--without-key/,
    )
    const wrong = join(folder, 'wrong-key')
    await writeFile(wrong, `${Buffer.alloc(32, 99).toString('base64')}\n`, { mode: 0o600 })
    await expect(attempt(file, { HELIOGRAM_KEY_FILE: wrong })).rejects.toThrow(/has a different one\.[^]*--without-key/)
    const header = (change: (one: BackupHeader) => object): Promise<string> =>
      forge('backup.json', (content) =>
        Buffer.from(JSON.stringify(change(JSON.parse(content.toString()) as BackupHeader))),
      )
    await expect(attempt(await header((one) => ({ ...one, format: 2, tables: 'other' })))).rejects.toThrow(
      /format 2 of Heliogram 1\.2\.3/,
    )
    const newer = (one: BackupHeader): BackupHeader => ({ ...one, migrations: [...one.migrations, '9999_later'] })
    await expect(attempt(await header(newer))).rejects.toThrow(/newer Heliogram \(1\.2\.3, with 9999_later/)
    await withDb(url, async (db) => {
      expect(await findTables(db)).toEqual([])
      await db.query('create table mine ()')
      await expect(attempt(file)).rejects.toThrow(/not empty \(mine\)[^]*create database/)
      expect((await findTables(db)).length + Number((await db.query('select from mine')).rowCount)).toBe(0)
    })
  })

  async function backUpAnother(): Promise<string> {
    const url = await createEmpty()
    await migrate({ connectionString: url }, { log: silent })
    return await withDb(url, async (db) => {
      await db.query(`insert into accounts (id, name, callback_secret) values ($1, 'Old', '\\x01')`, [newId()])
      await db.query(`insert into carriers (id, name, kind) values ($1, 'old', 'smpp')`, [newId()])
      const path = join(folder, 'another.tar.zst')
      await backUp(contextOf(url), path)
      return path
    })
  }

  it('is incomplete: nothing starts on the database, and the next restore starts over', async () => {
    const url = await createEmpty()
    const whole = await readFile(file)
    const write = async (content: Buffer): Promise<string> => {
      await writeFile(join(folder, 'broken'), content)
      return join(folder, 'broken')
    }
    const flipped = Buffer.from(whole)
    flipped.writeUInt8(flipped.readUInt8(whole.length >> 1) ^ 4, whole.length >> 1)
    const manifest = (change: (one: BackupManifest) => void) => (content: Buffer) => {
      const one = JSON.parse(content.toString()) as BackupManifest
      change(one)
      return Buffer.from(JSON.stringify(one))
    }
    const broken: [() => Promise<string>, RegExp][] = [
      [() => write(flipped), /not a complete backup: (it was changed|its|it has an invalid header|it is truncated)/],
      [() => write(whole.subarray(0, -20)), /it is truncated/],
      [() => forge('manifest.json', () => Buffer.from('{}')), /its manifest\.json is invalid/],
      [
        () =>
          forge(
            'manifest.json',
            manifest((one) => one.tables.shift()),
          ),
        /manifest\.json belongs to another backup/,
      ],
      [() => forge('backup.json', (content) => Buffer.concat([content, Buffer.from(' ')])), /backup\.json was changed/],
      [
        () =>
          forge('tables/accounts/all-00001.copy', (content) =>
            Buffer.from(content.toString().replace('sample', 'simple')),
          ),
        /rows of accounts are not those/,
      ],
    ]
    for (const [make, reason] of broken) await expect(checkBackup(contextOf(url), await make())).rejects.toThrow(reason)
    const [, [make, reason]] = broken as [unknown, (typeof broken)[number]]
    await expect(restore(contextOf(url), await make(), plain)).rejects.toThrow(reason)
    await expect(migrate({ connectionString: url }, { log: silent })).rejects.toThrow(
      /was interrupted or is still running/,
    )
    await expect(backUp(contextOf(url), join(folder, 'half'))).rejects.toThrow(
      /has no Heliogram tables|was interrupted/,
    )
    // Without the key, which then differs; and as a move, so that nothing is sent twice.
    const another = await backUpAnother()
    const lost = join(folder, 'another-key')
    const moved = { keepsCarriers: true, isWithoutKey: true }
    const said = await restore(contextOf(url, { HELIOGRAM_KEY_FILE: lost }), another, moved)
    expect(said).toMatch(/every checksum is right[^]*was deleted/)
    expect(said).not.toContain('disabled')
    expect(existsSync(lost)).toBe(true)
    await withDb(url, async (db) => {
      const { rows } = await db.query(
        `select (select bool_and(enabled) from carriers) as enabled,
           (select count(*)::int from accounts) as accounts,
           (select count(*)::int from accounts where callback_secret is not null) as secrets`,
      )
      expect(rows).toEqual([{ enabled: true, accounts: 1, secrets: 0 }])
    })
  })
})
