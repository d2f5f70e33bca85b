import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'

const isKnown = process.platform === 'linux'

it.runIf(isKnown)(
  'warns if few are allowed, once when few are left, also with none left, and reports when some are again',
  () => {
    const told = run(
      200,
      `const opened = []
    const open = (count) => { while (opened.length < count) opened.push(openSync('/dev/null')) }
    const close = (count) => { while (opened.length > count) closeSync(opened.pop()) }
    const before = files.counts.open
    open(100)
    await files.look()
    const more = files.counts.open - before
    console.log('opened', more >= 100 && more < 105 ? 'about 100' : more)
    open(160)
    await files.look()
    try { for (;;) opened.push(openSync('/dev/null')) } catch {}
    await files.look()
    console.log('of none left', files.counts.open)
    close(125)
    await files.look()
    close(10)
    await files.look()`,
    )
    expect(told).toEqual([
      'the limit of open files is low 200',
      'opened about 100',
      'open files are running out 200',
      'of none left 200',
      'open files are available again 200',
    ])
  },
)

it.runIf(isKnown)('reports nothing if enough are allowed', () => {
  expect(run(10_000, `console.log('started', files.counts.max)`)).toEqual(['started 10000'])
})

/** Runs a program under a limit of open files; returns the log's messages about files. */
function run(limit: number, program: string): string[] {
  const source = `
    import { closeSync, openSync } from 'node:fs'
    import { OpenFiles } from './server/program/open-files.ts'
    const tell = ({ max }, message) => console.log(message, max)
    const files = new OpenFiles({ info: tell, warn: tell, error: tell })
    await files.start()
    ${program}`
  const { stdout, stderr } = spawnSync(
    'sh',
    ['-c', 'ulimit -n "$2"; exec "$0" --input-type=module -e "$1"', process.execPath, source, String(limit)],
    { cwd: new URL('../..', import.meta.url), encoding: 'utf8' },
  )
  expect(stderr).toBe('')
  return stdout.trimEnd().split('\n')
}
