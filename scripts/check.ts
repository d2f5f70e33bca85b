/** npm run check [-- --only types]: all checks in named steps, as in continuous integration. Runs all steps, then fails. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { delimiter, dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { readOptions, refuse } from './options.ts'

const root = join(import.meta.dirname, '..')
// In any environment: the programs of npm, and the Node.js that runs this.
const path = [dirname(process.execPath), join(root, 'node_modules/.bin'), process.env['PATH']].join(delimiter)
const env = { ...process.env, PATH: path }

interface Step {
  name: string
  commands: string[][]
  /** Prints immediately instead of only on failure. */
  isLong?: true
}

const steps: Step[] = [
  {
    name: 'types',
    commands: [
      ['tsc', '-p', '.'],
      ['tsc', '-p', 'smpp'],
      ['tsc', '-p', 'console'],
      ['tsc', '-p', 'sdk'],
    ],
  },
  { name: 'lint', commands: [['oxlint', '--type-aware', '--deny-warnings']] },
  { name: 'format', commands: [['oxfmt', '--check']] },
  { name: 'architecture', commands: [['vitest', 'run', 'test/architecture.test.ts']] },
  { name: 'schema', commands: [['node', 'scripts/schema.ts', '--check']] },
  { name: 'openapi', commands: [['node', 'scripts/openapi.ts', '--check']] },
  { name: 'tests', commands: [['vitest', 'run']], isLong: true },
]

const names = steps.map(({ name }) => name).join(', ')
const usage = `npm run check [-- --only <step>]: all that must hold, in turn: ${names}.`
const { only } = readOptions(usage, { only: { type: 'string' } })
const chosen = steps.filter(({ name }) => only === undefined || name === only)
if (chosen.length === 0) refuse(`--only must be one of ${names}, not "${only}".`, usage)

const failed: string[] = []
for (const { name, commands, isLong = false } of chosen) {
  const startedAt = performance.now()
  let hasFailed = false
  for (const [command = '', ...words] of commands) {
    if (!(await run(command, words, isLong))) hasFailed = true
  }
  if (hasFailed) failed.push(name)
  console.log(`${hasFailed ? '✗' : '✓'} ${name.padEnd(14)} ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
}
if (failed.length > 0) {
  console.error(`Failed: ${failed.join(', ')}`)
  process.exitCode = 1
}

async function run(command: string, words: string[], isLong: boolean): Promise<boolean> {
  if (isLong) {
    const [code] = (await once(
      spawn(command, words, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] }),
      'exit',
    )) as [unknown]
    return code === 0
  }
  const child = spawn(command, words, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[unknown]>,
  ])
  if (code !== 0) console.error(`${output}${errors}`)
  return code === 0
}
