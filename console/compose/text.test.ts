import { expect, test } from 'vitest'
import { measure, reviewText, tellCharacter } from './text.ts'

test('a text is counted with the room that its last segment has', () => {
  expect(measure('Hello')).toEqual({ encoding: 'GSM-7', segments: 1, characters: 5, units: 5, left: 155 })
  expect(measure('a'.repeat(161))).toMatchObject({ segments: 2, left: 145 })
  expect(measure('don’t')).toMatchObject({ encoding: 'UCS-2', segments: 1, left: 65 })
  expect(measure('Hello', 'ucs2')).toMatchObject({ encoding: 'UCS-2', left: 65 })
})

test('one typographic sign is marked, and replacing it saves segments', () => {
  const text = `We don’t ${'a'.repeat(130)}`
  expect(measure(text).segments).toBe(3)
  const { pieces, swaps, better, others } = reviewText(text)
  expect(pieces.filter(({ isCulprit }) => isCulprit)).toEqual([{ text: '’', isCulprit: true }])
  expect(pieces.map((piece) => piece.text).join('')).toBe(text)
  expect(swaps).toEqual([{ character: '’', replacement: "'" }])
  expect(better).toEqual({ text: text.replace('’', "'"), segments: 1 })
  expect(others).toEqual([])
})

test('a script is named once, and offers nothing to replace', () => {
  const { scripts, swaps, better, others } = reviewText('مرحبا بك في مطعمنا')
  expect({ scripts, swaps, better, others }).toEqual({ scripts: ['Arabic'], swaps: [], better: null, others: [] })
})

test('signs beside a character that nothing replaces are no improvement', () => {
  const { others, swaps, better } = reviewText('It’s ready 👩‍🍳 ş')
  expect(others).toEqual(['👩‍🍳', 'ş'])
  expect(swaps).toEqual([{ character: '’', replacement: "'" }])
  expect(better).toBe(null)
})

test('invisible characters have names', () => {
  expect(['’', '\u00a0', '\u2060'].map(tellCharacter)).toEqual(['’', 'no-break space', 'U+2060'])
})
