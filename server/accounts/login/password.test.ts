import { expect, test } from 'vitest'
import { ApiError } from '../../ground/base/errors.ts'
import { hashPassword, isOutdated, isPassword, newPassword, passwordCharactersMin } from './password.ts'

test('a password matches only itself', async () => {
  const phc = await hashPassword('correct horse battery staple')
  expect(phc).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
  expect(await isPassword('correct horse battery staple', phc)).toBe(true)
  expect(await isPassword('correct horse battery stapl', phc)).toBe(false)
  expect(isOutdated(phc)).toBe(false)
})

test('two encodings of the same letter are the same password', async () => {
  expect(await isPassword('pass\u0301word and more', await hashPassword('pas\u015bword and more'))).toBe(true)
})

test('a hash with other parameters is checked with those, and reported as outdated', async () => {
  const phc = await hashPassword('x').then((text) => text.replace('t=2', 't=3'))
  expect(isOutdated(phc)).toBe(true)
  expect(await isPassword('x', phc)).toBe(false)
})

test('no password matches an unusable hash, and the check takes as long', async () => {
  const phc = await hashPassword('x')
  const timed = async (hash: string | null): Promise<number> => {
    const start = performance.now()
    expect(await isPassword('y', hash)).toBe(false)
    return performance.now() - start
  }
  const known: number[] = []
  const unknown: number[] = []
  for (let i = 0; i < 5; i++) {
    known.push(await timed(phc))
    unknown.push(await timed(null))
  }
  const median = (times: number[]): number => times.sort((a, b) => a - b)[2] ?? 0
  expect(median(unknown) / median(known)).toBeGreaterThan(0.5)
  expect(median(unknown) / median(known)).toBeLessThan(2)
})

test('more than 34 at once are refused, and earlier ones finish', async () => {
  const results = await Promise.allSettled(Array.from({ length: 40 }, () => isPassword('x', null)))
  const refused = results.filter((result) => result.status === 'rejected')
  expect(refused).toHaveLength(6)
  expect(refused[0]?.reason).toBeInstanceOf(ApiError)
  expect(refused[0]?.reason).toMatchObject({ code: 'unavailable' })
})

test('generated passwords are long enough and differ', () => {
  expect(newPassword().length).toBeGreaterThanOrEqual(passwordCharactersMin)
  expect(newPassword()).not.toBe(newPassword())
})
