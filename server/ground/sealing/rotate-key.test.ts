/** A new master key: sealed values, derived ones, and crashes on the way. */
import { globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestDatabase, untilBlocked, emptyTables } from '../db/testing.ts'
import { newId } from '../base/ids.ts'
import { isMasterKeyOf, DataKeys } from './data-keys.ts'
import { KeyFile, parseKeys, writeKeys, type MasterKeys } from './master-key.ts'
import { rotateMasterKey, RotationRunningError } from './rotate-key.ts'
import { secretColumns } from './secret-columns.ts'
import { sealedPrefix, idOfKey, keyIdsOf, openVault, type Vault } from './vault.ts'

let folder: string
let path: string
let vault: Vault
const accountId = newId()
const carrierId = newId()

const { db, sql, connection } = await createTestDatabase()
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rotate-'))
  path = join(folder, 'key')
  vault = openVault(new KeyFile(path))
  await emptyTables(
    db,
    'accounts, carriers, data_keys, nodes, heartbeats, idempotency_keys, orphan_replies, smpp_gatherings',
  )
  await sql`insert into accounts (id, name) values (${accountId}, 'A')`
})
afterEach(() => rmSync(folder, { recursive: true }))

describe('a rotation', () => {
  it('seals everything with the new key and removes the old one from the file; derived values stay the same', async () => {
    await fill(1200)
    const before = { keys: keysNow(), mac: vault.mac('number x', '15551230001'), all: await opened(vault) }
    const { changed, unopenable } = await rotate()
    expect([changed, unopenable]).toEqual([1203, []])
    const after = keysNow()
    expect(after).toMatchObject({ next: null, old: [] })
    expect(after.current.equals(before.keys.current)).toBe(false)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const fresh = openVault(new KeyFile(path))
    expect(await opened(fresh)).toEqual(before.all)
    expect(await isMasterKeyOf(db, fresh)).toBe(true)
    expect(fresh.mac('number x', '15551230001').equals(before.mac)).toBe(true)
    // A running process has read the file again.
    expect(await opened(vault)).toEqual(before.all)
    expect(vault.seal('x', 'y').subarray(0, 5)).toEqual(sealedPrefix(after.current))
    await expect(opened(openVault(before.keys.current))).rejects.toThrow()
    expect(await isMasterKeyOf(db, openVault(before.keys.current))).toBe(false)
  })

  it('can be repeated', async () => {
    await fill()
    const mac = vault.mac('a', 'b')
    await rotate()
    expect(await rotate()).toMatchObject({ changed: 4 })
    const fresh = openVault(new KeyFile(path))
    expect((await opened(fresh)).length).toBeGreaterThan(3)
    expect(fresh.mac('a', 'b').equals(mac)).toBe(true)
  })

  it('resumes after being killed at any point', async () => {
    await fill(30)
    const all = await opened(vault)
    const first = keysNow()
    const mac = openVault(first.current).mac('a', 'b')
    class Killed extends Error {}
    // Each reported line is a point for a crash; the next run continues from there.
    for (let at = 0; at < 4; at++) {
      let told = 0
      const say = (): void => {
        if (told++ === at) throw new Killed()
      }
      await rotate({ say }).catch((error: unknown) => {
        if (!(error instanceof Killed)) throw error
      })
      const now = openVault(new KeyFile(path))
      expect(await opened(now)).toEqual(all)
      expect(await isMasterKeyOf(db, now)).toBe(true)
      expect(now.mac('a', 'b').equals(mac)).toBe(true)
    }
    await rotate()
    expect(keysNow()).toMatchObject({ next: null, old: [] })
    expect(keysNow().current.equals(first.current)).toBe(false)
    expect(await opened(openVault(new KeyFile(path)))).toEqual(all)
  })

  it('does not end before a row that is written all the time', async () => {
    await fill()
    const all = await opened(vault)
    const clients = [1, 2].map(() => new Client(connection))
    const [first, second] = clients
    if (!first || !second) throw new Error('there are two')
    const begin = async (client: Client) => {
      await client.query('begin')
      await client.query('update carriers set name = name')
    }
    await Promise.all(clients.map((client) => client.connect()))
    await begin(first)
    const rotating = rotate()
    // The first pass waits for the row; another session waits behind it, and the second pass for that.
    await untilBlocked(db, 1)
    const writing = begin(second)
    await untilBlocked(db, 2)
    await first.query('commit')
    await writing
    await untilBlocked(db, 1)
    await second.query('commit')
    const done = await rotating
    await Promise.all(clients.map((client) => client.end()))
    expect(done).toEqual({ changed: 4, missed: 0, unopenable: [] })
    expect(keysNow().old).toEqual([])
    expect(await opened(openVault(new KeyFile(path)))).toEqual(all)
  })

  it('half done is as usable as complete', async () => {
    await fill(10)
    const all = await opened(vault)
    const { current } = keysNow()
    writeKeys(path, { current: Buffer.alloc(32, 5), next: null, old: [current], mac: Buffer.alloc(32, 6) })
    const both = openVault(new KeyFile(path))
    await sql`update carriers set secrets = ${both.seal('password', `carriers.secrets|${carrierId}`)}
      where id = ${carrierId}`
    expect(await opened(both)).toEqual(all)
    expect(await rotate()).toMatchObject({ changed: 12 })
    expect(await opened(openVault(new KeyFile(path)))).toEqual(all)
  })

  it('waits for every running process: first until it knows the key, then until it seals with it', async () => {
    await fill()
    const { current } = keysNow()
    const node = newId()
    const beat = async (keys: Buffer[]): Promise<void> => {
      await sql`update heartbeats
        set seen_at = now(), master_keys = ${keys.map((key) => idOfKey(key).toString('hex'))} where node_id = ${node}`
    }
    await sql`insert into nodes (id, name) values (${node}, 'other:1')`
    await sql`insert into heartbeats (node_id, seen_at) values (${node}, now())`
    await beat([current])
    const done = rotate()
    const until = async (isRight: () => boolean): Promise<void> => {
      while (!isRight()) await new Promise((resolve) => setTimeout(resolve, 20))
    }
    await until(() => keysNow().next !== null)
    const next = keysNow().next ?? Buffer.alloc(32)
    // A process that does not know it yet seals and opens with the other.
    expect(keysNow().current.equals(current)).toBe(true)
    await beat([current, next])
    await until(() => keysNow().next === null)
    expect(keysNow().old).toHaveLength(1)
    const [row] = await sql<{ secrets: Buffer }>`select secrets from carriers`
    expect(row?.secrets.subarray(0, 5)).not.toEqual(sealedPrefix(next))
    await beat([next, current])
    await done
    expect(keyIdsOf(keysNow())).toEqual([idOfKey(next).toString('hex')])
  })

  it('runs once at a time', async () => {
    const holder = await db.connect()
    await holder.query(`select pg_advisory_lock(hashtextextended('heliogram rotate-key', 0))`)
    await expect(rotate()).rejects.toThrow(RotationRunningError)
    holder.release(true)
  })

  it('reports values that no key opens, and leaves them', async () => {
    await fill()
    const foreign = openVault(Buffer.alloc(32, 9)).seal('x', `carriers.secrets|${carrierId}`)
    await sql`update carriers set secrets = ${foreign}`
    expect(await rotate()).toMatchObject({ unopenable: ['carriers.secrets'] })
    const [row] = await sql<{ secrets: Buffer }>`select secrets from carriers`
    expect(row?.secrets).toEqual(foreign)
  })

  it('reseals parts of long messages', async () => {
    const place = `smpp_gatherings.parts|${accountId}|${carrierId}|1|2`
    const parts = {
      1: { body: vault.seal('part', place).toString('base64'), isSealed: true },
      2: { body: Buffer.from('clear').toString('base64') },
    }
    await sql`insert into smpp_credentials (account_id, id, name, system_id, password_hash, sessions_max, window_max, pace, default_alphabet, receives_replies,
        reply_concatenation)
      values (${accountId}, ${carrierId}, 'C', 'c', '', 1, 1, 1, 'gsm7', false, 'sar')`
    await sql`insert into smpp_gatherings (account_id, credential_id, source, destination, kind, reference, total, id, parts)
      values (${accountId}, ${carrierId}, '1', '2', 'udh8', 1, 2, ${newId()}, ${JSON.stringify(parts)})`
    expect(await rotate()).toMatchObject({ changed: 1 })
    const [row] = await sql<{ parts: typeof parts }>`select parts from smpp_gatherings`
    const fresh = openVault(new KeyFile(path))
    expect(fresh.open(Buffer.from(row?.parts[1].body ?? '', 'base64'), place)).toBe('part')
    expect(row?.parts[2]).toEqual(parts[2])
  })
})

describe('a key file', () => {
  it('that is replaced by something else is not read, and refused at a start', () => {
    const file = new KeyFile(path)
    const { current } = file.read()
    writeFileSync(path, 'rubbish', { mode: 0o600 })
    expect(file.reread().current.equals(current)).toBe(true)
    expect(() => new KeyFile(path)).toThrow('not base64 of 32 bytes')
    writeFileSync(path, `${current.toString('base64')}\nolder x\n`, { mode: 0o600 })
    expect(() => new KeyFile(path)).toThrow('invalid line')
  })

  it('seals as before until its first rotation', () => {
    expect(vault.seal('x', 'y')[0]).toBe(1)
  })
})

describe('the register of sealed columns', () => {
  // Binary columns that the master key does not seal: hashes, values of data keys, and files.
  const others = new Set([
    'api_keys.previous_hash',
    'api_keys.secret_hash',
    'audit_chains.hash',
    'audit_chains.pruned_hash',
    'audit_events.hash',
    'audit_events.previous_hash',
    'consents.number_hmac',
    'contacts.external_id_hmac',
    'contacts.number_hmac',
    'contacts.sealed',
    'idempotency_keys.fingerprint',
    'import_chunks.bytes',
    'invitations.code_hash',
    'messages.body_sealed',
    'messages.number_hmac',
    'messages.octets',
    'opt_outs.number_hmac',
    'recent_sends.hash',
    'recovery_codes.hash',
    'reply_hashes.hash',
    'routes.match_key',
    'tokens.hash',
    'twilio_credentials.token_hash',
  ])

  it('has every binary column that is not known to hold something else', async () => {
    const rows = await sql<{ name: string }>`select c.relname || '.' || a.attname as name
      from pg_attribute a
      join pg_class c on c.oid = a.attrelid
      join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = 'public' and c.relkind in ('r', 'p') and not c.relispartition
        and a.atttypid = 'bytea'::regtype and not a.attisdropped
      order by 1`
    const registered = new Set(secretColumns.map(({ table, column }) => `${table}.${column}`))
    expect(rows.map(({ name }) => name).filter((name) => !registered.has(name) && !others.has(name))).toEqual([])
  })

  it('has every file that seals, so that sealing into a text or JSON is noticed', () => {
    const root = join(import.meta.dirname, '../../..')
    const sealing = globSync('server/**/*.ts', { cwd: root })
      .filter((file) => !/\.test\.ts$|testing\.ts$/.test(file))
      .filter((file) => /\bvault\.seal\(|\bsealLoose\(/.test(readFileSync(join(root, file), 'utf8')))
    expect(sealing.sort()).toEqual([
      'server/accounts/login/totp.ts',
      'server/carriers/http.ts',
      'server/carriers/links-http.ts',
      'server/carriers/test-mode.ts',
      'server/ground/http/idempotency.ts',
      'server/ground/sealing/data-keys.ts',
      'server/ground/sealing/rewrap.ts',
      'server/ground/sealing/texts.ts',
      'server/http-carriers/sealed.ts',
      'server/inbound/reply-parts.ts',
      'server/inbound/reply.ts',
      'server/post/callback.ts',
      'server/post/headers.ts',
      'server/post/receiver.ts',
      'server/program/first.ts',
      'server/smpp-server/gather.ts',
      'server/twilio/credential.ts',
      'server/webhooks/http.ts',
    ])
  })
})

const keysNow = (): MasterKeys => parseKeys(readFileSync(path, 'utf8'), path)
const rotate = (more: object = {}) =>
  rotateMasterKey({ db, keyFile: new KeyFile(path), say: () => {}, quietMs: 0, ...more })
/** A value of each form, sealed like its owner seals it. */
async function fill(count = 1): Promise<void> {
  await new DataKeys(vault).readCurrent(db, [accountId])
  const secret = vault.seal('password', `carriers.secrets|${carrierId}`)
  await sql`insert into carriers (id, name, kind, secrets) values (${carrierId}, 'C', 'smpp', ${secret})`
  for (let n = 0; n < count; n++) {
    const answer = vault.seal('{"status":200}', `idempotency_keys ${accountId} x.create key-${n}`).toString('base64')
    await sql`insert into idempotency_keys (account_id, operation, key, fingerprint, status, response)
      values (${accountId}, 'x.create', ${`key-${n}`}, '', 200, ${answer})`
  }
  const id = newId()
  const reply = vault.seal('hello', `orphan_replies.body|${id}`).toString('base64')
  await sql`insert into orphan_replies (id, link_id, source, destination, body)
    values (${id}, ${id}, '1', '2', ${reply}), (${newId()}, ${id}, '1', '2', 'in the clear')`
}
/** Opened values, by place. */
async function opened(by: Vault): Promise<string[]> {
  const all: string[] = []
  for (const { table, column, purpose, form, where = 'true' } of secretColumns) {
    const { rows } = await db.query<{ value: Buffer | string; purpose: string }>(
      `select ${column} as value, ${purpose} as purpose from ${table} where ${column} is not null and ${where}`,
    )
    for (const { value, purpose: place } of rows) {
      if (value === 'in the clear') all.push(value)
      else by.open(typeof value === 'string' ? Buffer.from(value, form === 'bytea' ? 'utf8' : 'base64') : value, place)
      all.push(`${table}.${column}`)
    }
  }
  return all.sort()
}
