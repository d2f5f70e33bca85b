import { expect, test } from 'vitest'
import { Confirmations } from './confirmations.ts'

const subject = { recipients: 1, about: '', question: '' }
const codeOf = (act: () => unknown): unknown => {
  try {
    act()
  } catch (error) {
    return (error as { code: unknown }).code
  }
  return null
}

test('a word confirms one tool and its arguments, in any order and case', () => {
  const book = new Confirmations(60)
  const { word } = book.offer('send', { to: '1', with: { b: 2, a: [1, 2] } }, subject)
  expect(word).toMatch(/^[0-9a-z]{4}-[0-9a-z]{4}$/)
  const same = { with: { a: [1, 2], b: 2 }, to: '1' }
  expect(book.take(` ${word.toUpperCase()} `, 'send', same).idempotencyKey).toMatch(
    /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  )
  expect(codeOf(() => book.take(word, 'send', { ...same, with: { a: [2, 1], b: 2 } }))).toBe('confirmation_mismatch')
  expect(codeOf(() => book.take(word, 'send', { ...same, from: '2' }))).toBe('confirmation_mismatch')
  expect(() => book.take(word, 'send', { ...same, to: '3', from: '2' })).toThrow('Differences: to, from.')
  expect(codeOf(() => book.take(word, 'cancel', same))).toBe('confirmation_mismatch')
  expect(codeOf(() => book.take('0000-0000', 'send', same))).toBe('confirmation_unknown')
  expect(codeOf(() => new Confirmations(60).take(word, 'send', same))).toBe('confirmation_unknown')
})

test('every word has its own key', () => {
  const book = new Confirmations(60)
  const keys = Array.from(
    { length: 50 },
    () => book.take(book.offer('send', {}, subject).word, 'send', {}).idempotencyKey,
  )
  expect(new Set(keys).size).toBe(50)
})

test('a word expires, unless its act was done or may have been done', () => {
  let now = 0
  const book = new Confirmations(60, () => now)
  const [late, done, unsettled] = [1, 2, 3].map((n) => book.offer('send', { n }, subject).word)
  book.take(done ?? '', 'send', { n: 2 }).result = Promise.resolve({})
  book.take(unsettled ?? '', 'send', { n: 3 }).isUnsettled = true
  now = 60_000
  expect(book.take(late ?? '', 'send', { n: 1 }).result).toBe(null)
  now = 60_001
  expect(codeOf(() => book.take(late ?? '', 'send', { n: 1 }))).toBe('confirmation_expired')
  expect(book.take(done ?? '', 'send', { n: 2 }).result).not.toBe(null)
  expect(book.take(unsettled ?? '', 'send', { n: 3 }).isUnsettled).toBe(true)
  now = 60_000 + 13 * 3_600_000
  expect(() => book.take(unsettled ?? '', 'send', { n: 3 })).toThrow('it is unknown whether the act was done')
})

test('keeps a thousand words and drops the oldest', () => {
  const book = new Confirmations(60)
  const words = Array.from({ length: 1001 }, (_, n) => book.offer('send', { n }, subject).word)
  expect(codeOf(() => book.take(words[0] ?? '', 'send', { n: 0 }))).toBe('confirmation_unknown')
  expect(codeOf(() => book.take(words[1] ?? '', 'send', { n: 1 }))).toBe(null)
})
