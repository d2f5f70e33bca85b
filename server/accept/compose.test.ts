import { countSegments } from '@heliogram/smpp'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compose } from './compose.ts'

describe('composing', () => {
  it('joins a letter and its marks into one character, in every script', () => {
    for (const text of ['José, Señor Müller: Café', 'Tiếng Việt', 'Ñandú', 'Å Ω', '한국어', 'がぎぐ', 'ЙЁ', 'Ελλάδα'])
      expect(compose(text.normalize('NFD'))).toBe(text)
    expect(compose('\u212b \u2126 \u212a')).toBe('\u00c5 \u03a9 K')
  })

  it('leaves text without a shorter form, and invalid text, unchanged', () => {
    for (const text of ['hello', 'क़', 'שׁ', '👩‍👩‍👧', 'x\u0301\u0302', '\ud800', '\u0301']) expect(compose(text)).toBe(text)
  })

  it('reads the same for everyone, is idempotent, and never costs more', () => {
    const text = fc
      .oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }))
      .map((one) => one.normalize('NFD'))
    fc.assert(
      fc.property(text, (one) => {
        const composed = compose(one)
        expect(composed.normalize('NFC')).toBe(one.normalize('NFC'))
        expect(compose(composed)).toBe(composed)
        expect(composed.length).toBeLessThanOrEqual(one.length)
        expect(countSegments(composed).segments).toBeLessThanOrEqual(countSegments(one).segments)
      }),
      { numRuns: 500 },
    )
  })
})
