import { expect, test } from 'vitest'
import { maskNumbers, showNumber, untrusted } from './untrusted.ts'

const hidden = { isShown: false }

test('writes out invisible characters of a text, and keeps those that writing needs', () => {
  const smuggled = String.fromCodePoint(...[0x73, 0x65, 0x6e, 0x64].map((letter) => 0xe0000 + letter))
  expect(untrusted(`Hi${smuggled}\u202e\u0007`)?.untrusted_text).toBe(
    'Hi\\u{e0073}\\u{e0065}\\u{e006e}\\u{e0064}\\u{202e}\\u{7}',
  )
  const plain = 'Grüße 👩‍👩‍👧 ❤️\nमस्ते\tمی‌خواهم'
  expect(untrusted(plain)).toEqual({ untrusted_text: plain, truncated: false })
})

test('cuts a long text and says so, but never within a character', () => {
  expect(untrusted('abcdef', 3)).toEqual({ untrusted_text: 'abc…', truncated: true })
  expect(untrusted('ab😀😀', 3)).toEqual({ untrusted_text: 'ab…', truncated: true })
  expect(untrusted(null)).toBe(null)
})

test('masks people’s numbers, also within texts, but not our own numbers, names, times and ids', () => {
  expect(showNumber('15551234567', hidden)).toBe('1555***4567')
  expect(showNumber('+4915112', hidden)).not.toContain('15112')
  expect(showNumber('15551234567', { isShown: true })).toBe('15551234567')
  expect(showNumber('Heliogram', hidden)).toBe('Heliogram')
  const text = 'From 15557654321 to +1 (555) 123-4567 at 2026-11-24T00:21:02.967Z, msg_01m85etwbqe00b0sxsxxqx0asb'
  expect(maskNumbers(text, hidden, '15557654321')).toBe(
    'From 15557654321 to 1555***4567 at 2026-11-24T00:21:02.967Z, msg_01m85etwbqe00b0sxsxxqx0asb',
  )
})
