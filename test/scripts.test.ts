/** The scripts of package.json with `--help` or unknown options: they print it and do nothing. */
import { execFile } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { variables } from '../server/program/config-variables.ts'

const root = join(import.meta.dirname, '..')
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> }
const own = Object.entries(scripts).flatMap(([name, command]): [string, string][] => {
  const [, file] = /exec scripts\/run (\S+\.ts)$/.exec(command) ?? []
  return file === undefined ? [] : [[name, file]]
})
const written = ['server/ground/db/schema.sql', 'docs/openapi.json', 'server/ground/numbers/plans.ts']

function run(file: string, option: string): Promise<{ code: unknown; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [file, option], { cwd: root, timeout: 60_000 }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? error?.signal ?? 0, stdout, stderr }),
    )
  })
}

test.each(own)(
  'npm run %s prints its help, or reports an unknown option, and does nothing else',
  async (name, file) => {
    const before = written.map((one) => statSync(join(root, one)).mtimeMs)
    const usage = new RegExp(name === 'simulator' ? 'npm run simulator' : `^npm run ${name}\\b`, 'm')
    expect(await run(file, '--help')).toEqual({ code: 0, stdout: expect.stringMatching(usage), stderr: '' })
    const unknown = await run(file, '--nonsense')
    expect([unknown.code === 0, unknown.stdout, unknown.stderr]).toEqual([
      false,
      '',
      expect.stringContaining('--nonsense'),
    ])
    expect(written.map((one) => statSync(join(root, one)).mtimeMs)).toEqual(before)
  },
)

test('every script is checked', () => {
  const names = own.map(([name]) => name)
  expect(names.toSorted()).toEqual(
    [
      'bench',
      'check',
      'dev',
      'numbers',
      'openapi',
      'pack',
      'repl',
      'schema',
      'seed',
      'simulator',
      'soak',
      'test:ha',
    ].toSorted(),
  )
})

test('the ports that are checked before an installation are those of the settings', () => {
  const { listPorts } = createRequire(import.meta.url)('../scripts/ports.cjs') as {
    listPorts: (env: Record<string, string>) => { variable: string; host: string; port: number }[]
  }
  const { port, host, simulatorPort, simulatorHttpPort, metricsPort, smppServerPort } = variables
  const has = { variable: 'HELIOGRAM_PORT', host: host.fallback, port: Number(port.fallback) }
  const simulated = [simulatorPort, simulatorHttpPort].map(({ name, fallback }) => ({
    variable: name,
    host: '127.0.0.1',
    port: Number(fallback),
  }))
  expect(listPorts({})).toEqual([has, ...simulated])
  const all = { HELIOGRAM_METRICS_PORT: '9464', HELIOGRAM_SMPP_SERVER_PORT: '2776', HELIOGRAM_HOST: '0.0.0.0' }
  expect(listPorts({ ...all, HELIOGRAM_CARRIER_URL: 'smpp://x' })).toEqual([
    { ...has, host: '0.0.0.0' },
    { variable: smppServerPort.name, host: '0.0.0.0', port: 2776 },
    { variable: metricsPort.name, host: '0.0.0.0', port: 9464 },
  ])
  // Invalid ports are left to the program, which also takes any free one.
  expect(listPorts({ HELIOGRAM_ROLES: 'jobs', HELIOGRAM_SIMULATOR: 'off', HELIOGRAM_PORT: '0' })).toEqual([])
})
