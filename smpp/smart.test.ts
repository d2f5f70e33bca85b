import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { gsm7Length } from './alphabet.ts'
import { countSegments } from './count.ts'
import { smart } from './smart.ts'

describe('typographic characters become GSM-7', () => {
  test.each([
    ['“Don’t” – he said…', '"Don\'t" - he said...'],
    ['«12\u00a0000\u202f€»', '"12 000 €"'],
    ['a\tb\u2028c', 'a b\nc'],
    ['zero\u200bwidth\ufeff', 'zerowidth'],
    ['1⁄2 • 3 − 4', '1/2 * 3 - 4'],
    ['Cafe\u0301 nin\u0303o', 'Café niño'],
    ['it`s', "it's"],
    ['‹a› ∼ ˜ ˆ ‥', '<a> ~ ~ ^ ..'],
    ['☺︎'.replace('☺', '-'), '-'],
  ])('%j reads %j', (text, expected) => {
    expect(smart(text).text).toBe(expected)
  })
})

describe('unchanged', () => {
  test.each([
    ['a text of GSM-7', 'Hello {you}, 5 €'],
    ['a text that needs UCS-2 all the same', '“Привет” – …'],
    ['a letter whose accent GSM-7 lacks', 'ça va – là'],
    ['an emoji', 'it’s 😀'],
    ['half a pair', 'it’s \ud83d'],
    ['a text that would grow by a segment', '…'.repeat(70)],
    ['nothing', ''],
  ])('%s', (_what, text) => {
    expect(smart(text)).toEqual({ text, replaced: [] })
  })
})

it('lists its replacements, each once, in the order of the text', () => {
  expect(smart('“a” “b” e\u0300\u200b').replaced).toEqual([
    { character: '“', codePoint: 'U+201C', replacement: '"', count: 2 },
    { character: '”', codePoint: 'U+201D', replacement: '"', count: 2 },
    { character: 'e\u0300', codePoint: 'U+0065 U+0300', replacement: 'è', count: 1 },
    { character: '\u200b', codePoint: 'U+200B', replacement: '', count: 1 },
  ])
})

const typographic = fc.string({
  unit: fc.oneof(
    { weight: 20, arbitrary: fc.constantFrom(...Array.from('abcde ’“”–…\u00a0\u200béñ€{')) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }) },
  ),
  maxLength: 400,
})

it('never costs a segment, and is idempotent', () => {
  fc.assert(
    fc.property(typographic, (text) => {
      const result = smart(text)
      expect(countSegments(result.text).segments).toBeLessThanOrEqual(countSegments(text).segments)
      expect(smart(result.text)).toEqual({ text: result.text, replaced: [] })
      expect(result.text === text || gsm7Length(result.text) >= 0).toBe(true)
      expect(result.replaced.length > 0).toBe(result.text !== text)
    }),
    { numRuns: 3_000 },
  )
})
