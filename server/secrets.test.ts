import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { KeyFile } from './master-key.ts'
import { hashToken, openVault } from './secrets.ts'

const loadMasterKey = (path: string): Buffer => new KeyFile(path).read().current

const vault = openVault(Buffer.alloc(32, 1))

describe('the vault', () => {
  it('opens what it sealed, for the same purpose only', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), fc.string(), (plain, purpose, other) => {
        const sealed = vault.seal(plain, purpose)
        expect(vault.open(sealed, purpose)).toBe(plain)
        if (other !== purpose) expect(() => vault.open(sealed, other)).toThrow()
      }),
    )
  })

  it('never writes the same twice, nor the text', () => {
    const [a, b] = [vault.seal('secret', 'x'), vault.seal('secret', 'x')]
    expect(a.equals(b)).toBe(false)
    expect(a.includes('secret')).toBe(false)
  })

  it('opens nothing that was changed, cut or made with another key', () => {
    const sealed = vault.seal('secret', 'x')
    for (let i = 0; i < sealed.length; i++) {
      const changed = Buffer.from(sealed)
      changed.writeUInt8(changed.readUInt8(i) ^ 1, i)
      expect(() => vault.open(changed, 'x')).toThrow()
      expect(() => vault.open(sealed.subarray(0, i), 'x')).toThrow()
    }
    expect(() => openVault(Buffer.alloc(32, 2)).open(sealed, 'x')).toThrow()
  })

  it('makes the same mark of the same value, by key and purpose', () => {
    expect(vault.mac('a', 'b').equals(vault.mac('a', 'b'))).toBe(true)
    expect(vault.mac('a', 'b').equals(vault.mac('ab', ''))).toBe(false)
    expect(vault.mac('a', 'b').equals(openVault(Buffer.alloc(32, 2)).mac('a', 'b'))).toBe(false)
  })

  it('takes keys of 32 bytes only', () => {
    expect(() => openVault(Buffer.alloc(16))).toThrow('32 bytes')
  })
})

describe('the master key', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'key-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  it('is made on the first start, for its owner only, and is the same afterwards', () => {
    const path = join(folder, 'new', 'key')
    const key = loadMasterKey(path)
    expect([key.length, statSync(path).mode & 0o777, loadMasterKey(path).equals(key)]).toEqual([32, 0o600, true])
    expect(statSync(join(folder, 'new')).mode & 0o777).toBe(0o700)
  })

  it('that others can read is refused, with what to do', () => {
    const path = join(folder, 'key')
    loadMasterKey(path)
    chmodSync(path, 0o644)
    expect(() => loadMasterKey(path)).toThrow(`chmod 600 ${path}`)
  })

  it('that is none is refused and left alone', () => {
    const path = join(folder, 'key')
    for (const text of ['', 'short', Buffer.alloc(33).toString('base64')]) {
      writeFileSync(path, text, { mode: 0o600 })
      expect(() => loadMasterKey(path)).toThrow('not base64 of 32 bytes')
    }
  })
})

it('hashes tokens with SHA-256', () => {
  expect(hashToken('abc').toString('hex')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})
