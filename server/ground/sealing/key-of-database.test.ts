/** The key files that a database accepts: at each stage of a rotation, on a first start, and once it has secrets. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestDatabase, emptyTables } from '../db/testing.ts'
import { newId } from '../base/ids.ts'
import { requireMasterKey } from '../../program/start.ts'
import { claimDatabase, findKeyFault, readKeyOfDatabase, recordSealing } from './key-of-database.ts'
import { KeyFile, macSecretOf, parseKeys, writeKeys, type MasterKeys } from './master-key.ts'
import { rotateMasterKey } from './rotate-key.ts'
import { openVault } from './vault.ts'

let folder: string
let path: string

const { db, sql } = await createTestDatabase()
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'key-of-'))
  path = join(folder, 'key')
  await emptyTables(db, 'accounts, carriers, data_keys, nodes, heartbeats, master_key')
})
afterEach(() => rmSync(folder, { recursive: true }))

describe('a database', () => {
  it('accepts the key of the first start, and no other once it has an account, though nothing is encrypted', async () => {
    write(only(1))
    await start(path)
    write(only(2))
    await start(path)
    await addAccount()
    await start(path)
    for (const other of [only(1), only(3), { ...only(2), mac: key(9) }]) {
      write(other)
      await expect(start(path)).rejects.toThrow(
        /^The key file \S+ is not the one of this database\. \(It encrypts with the key \w{8}, and the database was used with \w{8}\.\) .* see "Lost master key" in docs\/runbooks\.md\.$/,
      )
    }
    write(only(2))
    await start(path)
  })

  it('names a process that runs with the right key file', async () => {
    write(only(1))
    await start(path)
    await addAccount()
    const node = newId()
    await sql`insert into nodes (id, name) values (${node}, 'there:1')`
    await sql`insert into heartbeats (node_id, seen_at) values (${node}, now())`
    write(only(2))
    await expect(start(path)).rejects.toThrow(
      /see "Lost master key" in docs\/runbooks\.md\. there:1 is running on it, .* a copy of its key file is the right one\.$/,
    )
  })

  it('from a version without a stored key accepts the one that opens its newest data key', async () => {
    await addAccount()
    const [row] = await sql<{ id: string }>`select id from accounts`
    const id = row?.id
    const wrapped = openVault(key(1)).seal('k', `data_keys.wrapped|${id}|1`)
    await sql`insert into data_keys (account_id, version, wrapped) values (${id}, 1, ${wrapped})`
    write(only(2))
    await expect(start(path)).rejects.toThrow('is not the one of this database')
    expect(await readKeyOfDatabase(db)).toBeNull()
    write(only(1))
    await start(path)
    expect(await readKeyOfDatabase(db)).toMatchObject({ sealing: [expect.stringMatching(/^\w{8}$/)] })
  })

  it('keeps a key that was created for a refused start', async () => {
    await claimDatabase(db, only(1))
    await addAccount()
    const file = join(folder, 'made')
    await expect(start(file)).rejects.toThrow('is not the one')
    expect(() => rmSync(file)).toThrow('ENOENT')
  })
})

describe('a rotation', () => {
  it('is done only by files of the same stage, at any interruption', async () => {
    write(only(1))
    await start(path)
    await addAccount()
    const stages: MasterKeys[] = []
    const note = (): void => void stages.push(parseKeys(new KeyFile(path).lines, path))
    note()
    class Killed extends Error {}
    for (let at = 0; at < 2; at++) {
      let told = 0
      const say = (): void => {
        if (told++ === at * 2) throw new Killed()
      }
      const run = rotateMasterKey({ db, keyFile: new KeyFile(path), say, quietMs: 0 })
      await expect(run).rejects.toThrow(Killed)
      await start(path)
      note()
    }
    const [first, made, used] = stages
    if (!first || !made || !used) throw new Error('there are more stages')
    // Both keys are in use now: a file with only the first could not open new secrets.
    write(first)
    await expect(start(path)).rejects.toThrow('is not the one of this database any more: heliogram rotate-key')
    write(made)
    await start(path)
    write(used)
    await rotateMasterKey({ db, keyFile: new KeyFile(path), say: () => {}, quietMs: 0 })
    await start(path)
    for (const before of [first, made]) {
      write(before)
      await expect(start(path)).rejects.toThrow('any more')
    }
    write(used)
    await start(path)
  })

  it('that ends between the database and the file leaves both consistent', async () => {
    const known = await claimDatabase(db, only(1))
    const mac = macSecretOf(only(1))
    await recordSealing(db, [key(2), key(1)])
    const both = { ...known, ...(await readKeyOfDatabase(db)) }
    expect(findKeyFault(both, { ...only(1), next: key(2), mac })).toBeNull()
    expect(findKeyFault(both, { ...only(2), old: [key(1)], mac })).toBeNull()
    expect(findKeyFault(both, { ...only(2), mac })).toBe('stage')
    await recordSealing(db, [key(2)])
    const after = { ...known, ...(await readKeyOfDatabase(db)) }
    expect(findKeyFault(after, { ...only(2), old: [key(1)], mac })).toBeNull()
    expect(findKeyFault(after, { ...only(2), mac })).toBeNull()
    expect(findKeyFault(after, { ...only(1), next: key(2), mac })).toBe('stage')
  })
})

const key = (octet: number): Buffer => Buffer.alloc(32, octet)
const only = (octet: number): MasterKeys => ({ current: key(octet), next: null, old: [], mac: null })
const addAccount = () => sql`insert into accounts (id, name) values (${newId()}, 'A')`
const start = async (file: string): Promise<void> => {
  const keyFile = new KeyFile(file)
  await requireMasterKey(db, keyFile, openVault(keyFile))
}
const write = (keys: MasterKeys): void => {
  writeFileSync(path, '', { mode: 0o600 })
  writeKeys(path, keys)
}
