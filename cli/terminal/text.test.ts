import fc from 'fast-check'
import { expect, test } from 'vitest'
import { clean, cleanLines, cut, safeJson, widthOf } from './text.ts'

test('keeps a text from sending commands to the terminal', () => {
  expect(clean('\u001b]0;owned\u0007 \u009b31m\u007f')).toBe('␛]0;owned␇ �31m␡')
  expect(clean('one\r\ntwo')).toBe('one␍⏎two')
  expect(clean('\u202Egpj.exe')).toBe('�gpj.exe')
  expect(clean('Grüße, 你好 👋')).toBe('Grüße, 你好 👋')
  expect(cleanLines('a\r\nb\u001b[2J')).toEqual(['a', 'b␛[2J'])
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      // oxlint-disable-next-line no-control-regex
      expect(clean(text) + safeJson({ text })).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/)
      expect(JSON.parse(safeJson({ text }))).toEqual({ text })
    }),
  )
})

test('measures a text by its displayed width, and cuts it at the end of the column', () => {
  expect(['abc', 'Grüße', '你好', '👋', '👩‍👩‍👧', 'e\u0301'].map(widthOf)).toEqual([3, 5, 4, 2, 2, 1])
  expect([cut('abcdef', 6), cut('abcdef', 5), cut('你好吗', 5), cut('你好吗', 4)]).toEqual([
    'abcdef',
    'abcd…',
    '你好…',
    '你…',
  ])
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 20 }), (text, columns) => {
      expect(widthOf(cut(clean(text), columns))).toBeLessThanOrEqual(columns)
    }),
  )
})
