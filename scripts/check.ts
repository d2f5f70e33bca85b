/** `npm run check`: everything that must hold, in named steps; continuous integration runs exactly this. Runs all steps, then fails. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { readOptions } from './options.ts'

const root = new URL('..', import.meta.url)

interface Step {
  name: string
  commands: string[][]
  /** Prints as it goes instead of only when it fails. */
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
  { name: 'sdk', commands: [['node', 'scripts/sdk.ts', '--check']] },
  { name: 'tests', commands: [['vitest', 'run']], isLong: true },
]

readOptions(`npm run check: all that must hold, in turn: ${steps.map(({ name }) => name).join(', ')}.`, {})

const failed: string[] = []
for (const { name, commands, isLong = false } of steps) {
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
      spawn(command, words, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] }),
      'exit',
    )) as [unknown]
    return code === 0
  }
  const child = spawn(command, words, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[unknown]>,
  ])
  if (code !== 0) console.error(`${output}${errors}`)
  return code === 0
}
