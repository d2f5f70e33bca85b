import { expect, test } from 'vitest'
import { newPassword } from './password.ts'
import { requirePassword } from './password-rules.ts'

const owner = { email: 'ada.lovelace@analytical-engines.example', accountName: 'Difference Works' }

test.each([
  ['short of it 14', '#/password too_short'],
  // 15 code units, but 8 characters.
  ['😀😀😀😀😀😀😀x', '#/password too_short'],
  ['é'.repeat(129), '#/password too_long'],
  ['passwordpassword', '#/password invalid_value'],
  ['Password12345678', '#/password invalid_value'],
  ['P@ssw0rd!!!!!!!!', '#/password invalid_value'],
  ['1234567890123456', '#/password invalid_value'],
  ['aaaaaaaaaaaaaaaa', '#/password invalid_value'],
  ['qwertyuiopasdfghjkl', '#/password invalid_value'],
  ['1qaz2wsx3edc4rfv', '#/password invalid_value'],
  ['xk9xk9xk9xk9xk9xk9', '#/password invalid_value'],
  ['iloveyou-iloveyou-2024', '#/password invalid_value'],
  ['correct horse battery staple', '#/password invalid_value'],
  ['heliogram-heliogram-1', '#/password invalid_value'],
  ['ada.lovelace@analytical-engines.example', '#/password invalid_value'],
  ['AdaLovelace1815', '#/password invalid_value'],
  ['DifferenceWorks2026', '#/password invalid_value'],
  // The same letters in full width.
  ['ｐａｓｓｗｏｒｄｐａｓｓｗｏｒｄ', '#/password invalid_value'],
])('the password %j is refused: %s', (password, fault) => {
  expect(faultOf(password)).toBe(fault)
})

test.each([
  'my dog eats blue shoes',
  'zwölf Boxkämpfer jagen',
  '839205739102847',
  'всё хорошо кончается',
  'heliogram needs 3 mirrors',
  'x'.repeat(5) + 'tumbleweed' + 'é'.repeat(100),
])('the password %j is accepted', (password) => {
  expect(faultOf(password)).toBeNull()
})

test('generated passwords are accepted', () => {
  for (let i = 0; i < 200; i++) expect(faultOf(newPassword())).toBeNull()
})

const faultOf = (password: string): string | null => {
  try {
    requirePassword(password, owner)
    return null
  } catch (error) {
    const { errors } = (error as { options: { errors: { pointer: string; code: string }[] } }).options
    return errors.map(({ pointer, code }) => `${pointer} ${code}`).join()
  }
}
