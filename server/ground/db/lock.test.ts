import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { DataDirLockedError, lockDataDir } from './lock.ts'

const parent = await mkdtemp(join(tmpdir(), 'heliogram-lock-'))
afterAll(() => rm(parent, { recursive: true, force: true }))

test('holds a folder against a second process, by any path, until released', async () => {
  const folder = await mkdtemp(join(parent, 'data-'))
  const link = join(parent, 'link')
  await symlink(folder, link)
  const lock = await lockDataDir(folder)
  await expect(lockDataDir(link)).rejects.toThrow(DataDirLockedError)
  await expect(lockDataDir(folder)).rejects.toThrow(`(pid ${process.pid}) already uses the data folder ${folder}`)
  await lock.release()
  await (await lockDataDir(link)).release()
})

test('lets exactly one of many at once through', async () => {
  const folder = await mkdtemp(join(parent, 'data-'))
  const results = await Promise.allSettled(Array.from({ length: 20 }, () => lockDataDir(folder)))
  const locks = results.filter((result) => result.status === 'fulfilled')
  expect(locks).toHaveLength(1)
  await Promise.all(locks.map(({ value }) => value.release()))
})

test('works with a long path and over the rest of an earlier process', async () => {
  const folder = await mkdtemp(join(parent, `${'long'.repeat(50)}-`))
  await writeFile(join(folder, 'lock'), '')
  await (await lockDataDir(folder)).release()
})
