/** docs/operating.md, and what else people are told, against the code: every setting, and every line that somebody may find in the log at night. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { alertTypes } from '../server/carriers/live/alerts-store.ts'
import { clientVariables, variables } from '../server/config-variables.ts'
import { describeConfig } from '../server/config.ts'

const root = join(import.meta.dirname, '..')
const page = readFileSync(join(root, 'docs/operating.md'), 'utf8')

test('the table of settings is what config.ts says', () => {
  const described = describeConfig().matchAll(/^ {2}(\w+)(?: \(default (.*)\))?\n {6}(.*) Allowed: (.*)\.$/gm)
  const rows = [...described].map(
    ([, name, fallback, sentence, allowed]) =>
      `| \`${name}\` | ${fallback === undefined ? '' : `\`${fallback}\``} | ${sentence} Allowed: ${allowed}. |`,
  )
  const expected = ['', '| Variable | Default | |', '|---|---|---|', ...rows, ''].join('\n')
  const [, actual] = /<!-- settings: start -->([^]*)<!-- settings: end -->/.exec(page) ?? []
  expect(rows.length).toBe(describeConfig().split('\n').length / 2)
  expect(actual).toBe(expected)
})

test('nobody is told to set a variable that would stop the next start', () => {
  const places = ['*.md', 'docs/**/*.md', 'bin/*', 'deploy/**/*.*', 'Dockerfile', 'compose.yaml']
  const files = globSync([...places, '{server,simulator}/**/*.{ts,js,html,md}'], {
    cwd: root,
    exclude: (name) => name.endsWith('.test.ts') || name.endsWith('node_modules'),
  })
  const named = files.flatMap((file) => readFileSync(join(root, file), 'utf8').match(/\bHELIOGRAM_[A-Z_]*[A-Z]/g) ?? [])
  const known = [...Object.values(variables).map(({ name }) => name), ...clientVariables]
  expect(named.length).toBeGreaterThan(known.length)
  expect([...new Set(named)].filter((name) => !known.includes(name))).toEqual([])
})

test('whatever supervises the program gives it the time that a stop takes', () => {
  const read = (file: string): string => readFileSync(join(root, file), 'utf8')
  const [, limit = ''] = /^const stopMsMax = ([\d_]+)$/m.exec(read('server/started.ts')) ?? []
  const waits = [
    ...read('deploy/systemd/heliogram.service').matchAll(/^TimeoutStopSec=(\d+)$/gm),
    ...read('Dockerfile').matchAll(/docker stop --time (\d+)/g),
    ...read('compose.yaml')
      .replace(/\n  postgres:\n(?: {4}.*\n)+/, '')
      .matchAll(/stop_grace_period: (\d+)s/g),
  ].map(([, seconds]) => Number(seconds))
  expect(waits.length).toBe(3)
  expect(Math.min(...waits)).toBeGreaterThan(Number(limit.replace('_', '')) / 1000)
})

test('the image has the version of the program', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  const named = readFileSync(join(root, 'compose.yaml'), 'utf8').match(/image: heliogram:\S+/g)
  expect(new Set(named)).toEqual(new Set([`image: heliogram:${version}`]))
})

test('whatever wakes somebody leads to what to do', () => {
  const [, table = ''] = /\| What woke you \|.*\n\|[-|]+\n((?:\|.*\n)+)/.exec(page) ?? []
  const rules = [...page.matchAll(/^ +- alert: (\w+)$/gm)].map(([, name = '']) => name)
  const causes = [...rules, ...alertTypes.map((type) => `\`${type}\``)]
  expect(rules.length).toBeGreaterThan(5)
  expect(causes.filter((cause) => !table.includes(cause))).toEqual([])
  const chapters = [...table.matchAll(/^\|.*\| (.*) \|$/gm)].flatMap(([, told = '']) => told.split(/, or (?:the )?/))
  const isThere = (chapter: string): boolean => page.toLowerCase().includes(`\n**${chapter.toLowerCase()}.**`)
  expect(chapters.filter((chapter) => !isThere(chapter) && !isThere(`the ${chapter}`))).toEqual([])
})

test('whatever ends a session is explained', () => {
  const [, union = ''] =
    /type CloseReason =([^=]*?)\n\n/.exec(readFileSync(join(root, 'smpp/options.ts'), 'utf8')) ?? []
  const reasons = [...union.matchAll(/\| '(\w+)'/g)].map((match) => match[1] ?? '')
  expect(reasons.length).toBeGreaterThan(10)
  // These two are our own doing, and no error.
  const errors = reasons.filter((reason) => reason !== 'unbound' && reason !== 'destroyed')
  expect(errors.filter((reason) => !page.includes(`\`${reason}\``))).toEqual([])
})

test('every warning and error of the log is explained', () => {
  const files = globSync('server/**/*.ts', { cwd: root, exclude: (name) => name.endsWith('.test.ts') })
  const calls = /(?:log\??\.(?:warn|error)|#report)\(\s*[^;]*?'([^'\n]+)'[,\s]*\)/g
  const messages = files.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(calls)].map((match) => match[1] ?? ''),
  )
  expect(messages.length).toBeGreaterThan(20)
  expect([...new Set(messages)].filter((message) => !page.includes(`\`${message}\``))).toEqual([])
})
