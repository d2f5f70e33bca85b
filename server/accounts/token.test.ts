import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hashToken, newKey, prefixOfKey, readToken, tokenOf } from './token.ts'

test('a key has a mode, a public id, 43 characters of secret and a checksum', () => {
  const { key, publicId } = newKey('live')
  expect(key).toMatch(/^hg_live_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}$/)
  expect(readToken(key)).toEqual({ kind: 'key', mode: 'live', publicId })
  expect(key.startsWith(prefixOfKey('live', publicId))).toBe(true)
  expect(readToken(newKey('test').key)).toMatchObject({ mode: 'test' })
})

test('the same bytes always make the same token', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 32, maxLength: 32 }),
      fc.constantFrom('access' as const, 'refresh' as const),
      (bytes, kind) => {
        const token = tokenOf(kind, Buffer.from(bytes))
        expect(token).toBe(tokenOf(kind, Buffer.from(bytes)))
        expect(readToken(token)).toEqual({ kind })
        expect(token).toHaveLength(55)
      },
    ),
  )
})

test('a mistyped character is found without a look-up', () => {
  const { key } = newKey('live')
  fc.assert(
    fc.property(fc.integer({ min: 8, max: key.length - 1 }), fc.constantFrom('a', 'Z', '0', '_'), (at, character) => {
      const typed = key.slice(0, at) + character + key.slice(at + 1)
      fc.pre(typed !== key)
      expect(readToken(typed)).toBeNull()
    }),
  )
})

test('other texts are not tokens', () => {
  for (const text of [
    '',
    'hg_',
    'hg_live_',
    'Bearer x',
    `hg_xx_${'a'.repeat(49)}`,
    `${newKey('live').key} `,
    'a'.repeat(100_000),
  ])
    expect(readToken(text)).toBeNull()
})

test('tokens are hashed with SHA-256', () => {
  expect(hashToken('abc').toString('hex')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})
