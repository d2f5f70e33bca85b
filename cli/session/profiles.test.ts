import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listProfiles, readProfile, removeProfile, saveProfile, type Profile } from './profiles.ts'

let folder: string
beforeAll(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'heliogram-profiles-')), 'heliogram')
})
afterAll(() => rm(join(folder, '..'), { recursive: true }))

test('keeps one of many changes of the same state, and all readers see it', async () => {
  expect(await saveProfile(folder, 'default', profileOf('first'), 0)).toBe(true)
  for (let generation = 1; generation < 6; generation++) {
    const saved = await Promise.all(
      Array.from({ length: 20 }, async (_, i) => {
        const isSaved = await saveProfile(folder, 'default', profileOf(`${generation} ${i}`), generation)
        // Readers in between find a complete profile.
        const stored = await readProfile(folder, 'default')
        return { isSaved, token: stored?.profile.login?.refreshToken }
      }),
    )
    const winner = saved.findIndex(({ isSaved }) => isSaved)
    expect(saved.filter(({ isSaved }) => isSaved).length).toBe(1)
    expect(await readProfile(folder, 'default')).toEqual({
      profile: profileOf(`${generation} ${winner}`),
      generation: generation + 1,
    })
  }
  expect(await readdir(folder)).toEqual(['default.6.json'])
})

test('ignores a late write with an old state', async () => {
  expect(await saveProfile(folder, 'late', profileOf('one'), 0)).toBe(true)
  expect(await saveProfile(folder, 'late', profileOf('two'), 1)).toBe(true)
  await saveProfile(folder, 'late', profileOf('stale'), 0)
  expect((await readProfile(folder, 'late'))?.profile.login?.refreshToken).toBe('two')
})

test('keeps profiles private, refuses names that are paths, and forgets a profile completely', async () => {
  await saveProfile(folder, 'mine', profileOf('x'), 0)
  await writeFile(join(folder, '.mine.1.abc'), 'of a process that was killed')
  const modes = await Promise.all([stat(folder), stat(join(folder, 'mine.1.json'))])
  expect(modes.map(({ mode }) => (mode & 0o777).toString(8))).toEqual(['700', '600'])
  await expect(readProfile(folder, '../mine')).rejects.toThrow('is not a valid profile name')
  expect(await listProfiles(folder)).toContain('mine')
  await removeProfile(folder, 'mine')
  expect([await readProfile(folder, 'mine'), (await readdir(folder)).filter((file) => file.includes('mine'))]).toEqual([
    null,
    [],
  ])
})

test('names a damaged profile, and says what to do', async () => {
  await writeFile(join(folder, 'bad.1.json'), '{"url":')
  await expect(readProfile(folder, 'bad')).rejects.toMatchObject({
    message: expect.stringContaining('bad.1.json is damaged') as string,
    exit: 3,
  })
})

const profileOf = (refreshToken: string): Profile => ({
  url: 'http://127.0.0.1:1',
  account: { id: 'acc_1', name: 'A' },
  email: 'a@example.com',
  login: { accessToken: 'a', refreshToken, expiresAt: 0 },
})
