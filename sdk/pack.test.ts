/** The package as other programs get it: packed, installed, compiled and run. */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { afterAll, beforeAll, expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const modules = join(root, 'node_modules')
let folder: string
let project: string
let tarball: string
let kept: string

function run(command: string, args: string[], cwd: string): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  return { status, output: stdout + stderr }
}

const read = (name: string): string => readFileSync(join(folder, 'sdk', name), 'utf8')
const compile = (...args: string[]): ReturnType<typeof run> =>
  run(process.execPath, [join(modules, 'typescript/bin/tsc'), ...args], project)

// A copy, so that concurrent programs of the repository do not see the changed package.json.
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sdk-'))
  cpSync(join(root, 'sdk'), join(folder, 'sdk'), { recursive: true, filter: (path) => !path.endsWith('/dist') })
  for (const name of ['tsconfig.json', 'LICENSE']) cpSync(join(root, name), join(folder, name))
  symlinkSync(modules, join(folder, 'node_modules'))
  kept = read('package.json')
  const packed = run('npm', ['pack', '--json'], join(folder, 'sdk'))
  expect(packed).toMatchObject({ status: 0 })
  tarball = join(folder, 'sdk', `heliogram-sdk-${(JSON.parse(kept) as { version: string }).version}.tgz`)
  // Outside the repository, whose configuration the compiler would find.
  project = mkdtempSync(join(tmpdir(), 'sdk-project-'))
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }')
  expect(run('npm', ['install', '--offline', '--no-audit', tarball], project)).toMatchObject({ status: 0 })
  mkdirSync(join(project, 'node_modules/@types'), { recursive: true })
  for (const name of ['@types/node', 'undici-types'])
    symlinkSync(join(modules, name), join(project, 'node_modules', name))
  writeFileSync(
    join(project, 'first.ts'),
    `import { createClient, HeliogramError, verifyWebhook, type WebhookEvent } from '@heliogram/sdk'
const client = createClient({ baseUrl: 'http://127.0.0.1:1', token: 'key', retries: 0 })
try {
  const { id }: { id: string } = await client.call('sendMessage', { body: { to: '15551230001', message: 'Hello' } })
  console.log(id)
} catch (error) {
  if (!(error instanceof HeliogramError)) throw error
  console.log(error.code)
}
const post = { payload: '', headers: {}, secret: 'whsec_x' }
const event: WebhookEvent | null = await verifyWebhook(post).catch(() => null)
if (event?.type === 'message.received') console.log(event.data.message.from)
`,
  )
})
afterAll(() => {
  for (const path of [folder, project]) rmSync(path, { recursive: true, force: true })
})

test('its package file is right, and the sources are unchanged', async () => {
  const { messages, pkg } = await publint({
    pkgDir: join(project, 'node_modules/@heliogram/sdk'),
    strict: true,
    pack: false,
  })
  expect(messages.map((message) => formatMessage(message, pkg))).toEqual([])
  expect(read('package.json')).toBe(kept)
  const { repository, dependencies } = pkg as Record<string, unknown>
  expect({ repository, dependencies }).toEqual({})
})

test.each([
  ['node16', 'node16'],
  ['nodenext', 'nodenext'],
  ['esnext', 'bundler'],
])('its types are complete for a program with the modules %s, resolved as %s', (module, resolution) => {
  const strict = ['--strict', '--exactOptionalPropertyTypes', '--skipLibCheck', 'false', '--target', 'es2022']
  const modes = [
    '--module',
    module,
    '--moduleResolution',
    resolution,
    '--types',
    'node',
    '--outDir',
    `out-${resolution}`,
  ]
  expect(compile(...strict, ...modes, '--lib', 'es2022', 'first.ts')).toEqual({ status: 0, output: '' })
  expect(run(process.execPath, [`out-${resolution}/first.js`], project)).toEqual({ status: 0, output: 'unreachable\n' })
})

test('an interrupted run leaves nothing that the next one would publish', () => {
  const sdk = join(folder, 'sdk')
  expect(run(process.execPath, ['pack.mjs', 'before'], sdk)).toMatchObject({ status: 0 })
  expect(read('package.json')).not.toBe(kept)
  expect(run('npm', ['pack', '--json'], sdk)).toMatchObject({ status: 0 })
  expect(read('package.json')).toBe(kept)
})
