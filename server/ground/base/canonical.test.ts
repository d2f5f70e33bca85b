import fc from 'fast-check'
import { expect, it } from 'vitest'
import { canonical, canonicalPieces } from './canonical.ts'

it('the canonical form in pieces is the same for any nesting', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.integer({ min: 0, max: 5 }), (value, depth) => {
      expect([...canonicalPieces(value, depth)].join('')).toBe(canonical(value))
    }),
  )
})

it('no piece is much larger than an item and 64 KiB', () => {
  const messages = Array.from({ length: 1000 }, (_, i) => ({ to: String(i), message: 'x'.repeat(1000) }))
  const pieces = [...canonicalPieces(['live', { messages, absent: undefined }], 3)]
  expect(pieces.join('')).toBe(canonical(['live', { messages, absent: undefined }]))
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(70_000)
})
