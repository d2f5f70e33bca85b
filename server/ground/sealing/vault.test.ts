import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openVault } from './vault.ts'

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

  it('never writes the same twice, nor the plain text', () => {
    const [a, b] = [vault.seal('secret', 'x'), vault.seal('secret', 'x')]
    expect(a.equals(b)).toBe(false)
    expect(a.includes('secret')).toBe(false)
  })

  it('opens nothing that was changed, cut or sealed with another key', () => {
    const sealed = vault.seal('secret', 'x')
    for (let i = 0; i < sealed.length; i++) {
      const changed = Buffer.from(sealed)
      changed.writeUInt8(changed.readUInt8(i) ^ 1, i)
      expect(() => vault.open(changed, 'x')).toThrow()
      expect(() => vault.open(sealed.subarray(0, i), 'x')).toThrow()
    }
    expect(() => openVault(Buffer.alloc(32, 2)).open(sealed, 'x')).toThrow()
  })

  it('gives the same value the same mark, by key and purpose', () => {
    expect(vault.mac('a', 'b').equals(vault.mac('a', 'b'))).toBe(true)
    expect(vault.mac('a', 'b').equals(vault.mac('ab', ''))).toBe(false)
    expect(vault.mac('a', 'b').equals(openVault(Buffer.alloc(32, 2)).mac('a', 'b'))).toBe(false)
  })

  it('accepts only keys of 32 bytes', () => {
    expect(() => openVault(Buffer.alloc(16))).toThrow('32 bytes')
  })
})
