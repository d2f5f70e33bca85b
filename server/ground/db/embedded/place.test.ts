import { execFileSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { choosePlace, prepareDataDir } from './place.ts'

const folder = await mkdtemp(join(tmpdir(), 'heliogram-place-'))
afterAll(() => rm(folder, { recursive: true }))

it('creates the data folder and its parents for its owner alone, and finds them again', async () => {
  const path = join(folder, 'a', 'b', 'c')
  expect(await prepareDataDir(path)).toBe(path)
  expect((await stat(path)).mode & 0o066).toBe(0)
  expect(await prepareDataDir(path)).toBe(path)
  expect(await Promise.all([1, 2].map(() => prepareDataDir(join(folder, 'd', 'e'))))).toHaveLength(2)
})

it.skipIf(process.platform !== 'linux').each([
  ['where there can be no folder', '/proc/heliogram', 'ENOENT'],
  ['below such a place', '/proc/heliogram/data', 'ENOENT'],
  ['below a file', '/dev/null/data', 'ENOTDIR'],
])('reports at once %s', async (_, path, code) => {
  await expect(prepareDataDir(path)).rejects.toMatchObject({ code })
})

it('reports at once that a file is in the way', async () => {
  const path = join(folder, 'file')
  await writeFile(path, '')
  await expect(prepareDataDir(path)).rejects.toMatchObject({ code: 'EEXIST' })
})

it.skipIf(process.getuid?.() !== 0)(
  'a database that was restored as root is given to the owner of a new one',
  async () => {
    await chmod(folder, 0o755)
    const [fresh, restored] = [join(folder, 'fresh'), join(folder, 'restored')]
    await mkdir(fresh, { mode: 0o711 })
    await mkdir(join(restored, 'pg18'), { recursive: true, mode: 0o711 })
    const refusal = await choosePlace(restored, 'pg18').then(() => '', String)
    const [, owner = '', path = ''] = /Run: chown -R (\S+) (.+)$/.exec(refusal) ?? []
    expect(path).toBe(join(restored, 'pg18'))
    execFileSync('chown', ['-R', owner, path])
    const { account } = await choosePlace(fresh, 'pg18')
    expect((await choosePlace(restored, 'pg18')).account?.uid).toBe(account?.uid)
  },
)
