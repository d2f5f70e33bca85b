import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { KeyFile, macSecretOf, writeKeys, type MasterKeys } from './master-key.ts'

describe('the master key', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'key-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  it('is created on the first start, for its owner only, and then stays the same', () => {
    const path = join(folder, 'new', 'key')
    const key = loadMasterKey(path)
    expect([key.length, statSync(path).mode & 0o777, loadMasterKey(path).equals(key)]).toEqual([32, 0o600, true])
    expect(statSync(join(folder, 'new')).mode & 0o777).toBe(0o700)
  })

  it('is complete or absent if the disk is full', () => {
    const path = join(folder, 'key')
    const make = `new (await import(${JSON.stringify(join(import.meta.dirname, 'master-key.ts'))})).KeyFile(process.argv[1])`
    // A process that may not write to any file.
    const script = 'ulimit -f 0; exec "$0" --input-type=module -e "$1" "$2"'
    const { status, stderr } = spawnSync('sh', ['-c', script, process.execPath, make, path], { encoding: 'utf8' })
    expect([status, stderr]).toEqual([1, expect.stringMatching(/EFBIG|ENOSPC/)])
    expect(readdirSync(folder)).toEqual([])
    expect(new KeyFile(path).isNew).toBe(true)
    expect(new KeyFile(path).isNew).toBe(false)
    expect(readdirSync(folder)).toEqual(['key'])
  })

  it('that is empty is refused with a likely cause', () => {
    const path = join(folder, 'key')
    writeFileSync(path, '\n', { mode: 0o600 })
    expect(() => loadMasterKey(path)).toThrow('is empty')
  })

  it('that others can read is refused, with a remedy', () => {
    const path = join(folder, 'key')
    loadMasterKey(path)
    chmodSync(path, 0o644)
    expect(() => loadMasterKey(path)).toThrow(`chmod 600 ${path}`)
  })

  it('may be read by a group if it belongs to root, as systemd provides it, but not if it belongs to another user', () => {
    const path = join(folder, 'key')
    const key = loadMasterKey(path)
    chmodSync(path, 0o440)
    const isRoot = process.getuid?.() === 0
    if (isRoot) {
      expect(loadMasterKey(path).equals(key)).toBe(true)
      chownSync(path, 65_534, 65_534)
    }
    expect(() => loadMasterKey(path)).toThrow(`chmod 600 ${path}`)
    if (!isRoot) return
    chownSync(path, 0, 65_534)
    chmodSync(path, 0o460)
    expect(() => loadMasterKey(path)).toThrow(`chmod 600 ${path}`)
  })

  it('that is a folder is refused as one: removing its permissions would lock everybody out', () => {
    expect(() => loadMasterKey(folder)).toThrow(`${folder} is a folder`)
  })

  it.runIf(process.getuid?.() === 0)('that root replaces keeps its owner', () => {
    const path = join(folder, 'key')
    const keys = new KeyFile(path).read()
    chownSync(path, 65_534, 65_534)
    writeKeys(path, { ...keys, next: Buffer.alloc(32, 1) })
    expect(statSync(path)).toMatchObject({ uid: 65_534, gid: 65_534 })
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it('is replaced through a symbolic link', () => {
    const [path, link] = [join(folder, 'key'), join(folder, 'link')]
    const keys = new KeyFile(path).read()
    symlinkSync(path, link)
    writeKeys(link, { ...keys, next: Buffer.alloc(32, 1) })
    expect(lstatSync(link).isSymbolicLink()).toBe(true)
    expect(new KeyFile(path).read().next).toEqual(Buffer.alloc(32, 1))
  })

  it('that changes while the process runs is used if a rotation wrote it, and otherwise reported once', () => {
    const path = join(folder, 'key')
    const file = new KeyFile(path)
    const first = file.read()
    const [second, third, mac] = [Buffer.alloc(32, 2), Buffer.alloc(32, 3), macSecretOf(first)]
    let told = 0
    file.onOther = () => told++
    const put = (keys: MasterKeys): Buffer => {
      writeKeys(path, keys)
      file.reread()
      return file.reread().current
    }
    const other = { current: third, next: null, old: [], mac: null }
    expect(put(other)).toEqual(first.current)
    expect(put({ ...other, old: [first.current] })).toEqual(first.current)
    expect(told).toBe(2)
    // A frozen process has missed a stage.
    const used = { current: second, next: null, old: [first.current], mac }
    expect(put(used)).toEqual(second)
    // A return to sealing with the old key: others have removed it by now.
    expect(put({ current: first.current, next: second, old: [], mac })).toEqual(second)
    expect(put(other)).toEqual(second)
    expect(told).toBe(4)
    expect(put({ ...used, old: [] })).toEqual(second)
    expect([told, new KeyFile(path, file.lines).read()]).toEqual([4, { ...used, old: [] }])
  })

  it('that is invalid is refused and left unchanged', () => {
    const path = join(folder, 'key')
    for (const text of ['', 'short', Buffer.alloc(33).toString('base64')]) {
      writeFileSync(path, text, { mode: 0o600 })
      expect(() => loadMasterKey(path)).toThrow('not base64 of 32 bytes')
    }
  })
})

const loadMasterKey = (path: string): Buffer => new KeyFile(path).read().current
