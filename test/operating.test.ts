/** docs/settings.md, docs/runbooks.md and the Markdown files against the code: every setting, alert, log message and link. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { alertTypes } from '../server/live/alerts-store.ts'
import { clientVariables, variables } from '../server/program/config-variables.ts'
import { describeConfig } from '../server/program/config.ts'

const root = join(import.meta.dirname, '..')
const settings = readFileSync(join(root, 'docs/settings.md'), 'utf8')
const page = readFileSync(join(root, 'docs/runbooks.md'), 'utf8')

test('the table of settings agrees with config.ts', () => {
  const described = describeConfig().matchAll(/^ {2}(\w+)(?: \(default (.*)\))?\n {6}(.*) Allowed: (.*)\.$/gm)
  const rows = [...described].map(
    ([, name, fallback, sentence, allowed]) =>
      `| \`${name}\` | ${fallback === undefined ? '' : `\`${fallback}\``} | ${sentence} Allowed: ${allowed}. |`,
  )
  const expected = ['', '| Variable | Default | |', '|---|---|---|', ...rows, ''].join('\n')
  const [, actual] = /<!-- settings: start -->([^]*)<!-- settings: end -->/.exec(settings) ?? []
  expect(rows.length).toBe(describeConfig().split('\n').length / 2)
  expect(actual).toBe(expected)
})

test('no page or program names a variable that would prevent the next start', () => {
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

test('every supervisor allows enough time for a stop', () => {
  const read = (file: string): string => readFileSync(join(root, file), 'utf8')
  const [, limit = ''] = /^const stopMsMax = ([\d_]+)$/m.exec(read('server/program/started.ts')) ?? []
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

test('the image has the program’s version', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  const named = readFileSync(join(root, 'compose.yaml'), 'utf8').match(/image: heliogram:\S+/g)
  expect(new Set(named)).toEqual(new Set([`image: heliogram:${version}`]))
})

test('every alert links to a run-book', () => {
  const [, table = ''] = /\| Alert \|.*\n\|[-|]+\n((?:\|.*\n)+)/.exec(page) ?? []
  const rules = [...page.matchAll(/^ +- alert: (\w+)$/gm)].map(([, name = '']) => name)
  const causes = [...rules, ...alertTypes.map((type) => `\`${type}\``)]
  expect(rules.length).toBeGreaterThan(5)
  expect(causes.filter((cause) => !table.includes(cause))).toEqual([])
  const chapters = [...table.matchAll(/^\|.*\| (.*) \|$/gm)].flatMap(([, names = '']) => names.split(', or '))
  expect(chapters.filter((chapter) => !page.includes(`\n**${chapter}.**`))).toEqual([])
})

test('every reason for the end of a session is explained', () => {
  const [, union = ''] =
    /type CloseReason =([^=]*?)\n\n/.exec(readFileSync(join(root, 'smpp/options.ts'), 'utf8')) ?? []
  const reasons = [...union.matchAll(/\| '(\w+)'/g)].map((match) => match[1] ?? '')
  expect(reasons.length).toBeGreaterThan(10)
  // These two are our own doing, not errors.
  const errors = reasons.filter((reason) => reason !== 'unbound' && reason !== 'destroyed')
  expect(errors.filter((reason) => !page.includes(`\`${reason}\``))).toEqual([])
})

test('every warning and error in the log is explained', () => {
  const files = globSync('server/**/*.ts', { cwd: root, exclude: (name) => name.endsWith('.test.ts') })
  const calls = /(?:log\??\.(?:warn|error)|#report)\(\s*[^;]*?'([^'\n]+)'[,\s]*\)/g
  const messages = files.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(calls)].map((match) => match[1] ?? ''),
  )
  expect(messages.length).toBeGreaterThan(20)
  expect([...new Set(messages)].filter((message) => !page.includes(`\`${message}\``))).toEqual([])
})

/** Without code blocks and generated parts. */
const markdown = globSync(['*.md', '{docs,sdk,simulator,test}/**/*.md'], {
  cwd: root,
  exclude: (name) => name.endsWith('node_modules') || name === 'inputs',
}).map((file) => ({
  file,
  text: readFileSync(join(root, file), 'utf8').replaceAll(/^ *(```+)[^]*?^ *\1$|<!-- generated[^]*?end -->/gm, ''),
}))

test('every link between Markdown files leads to a file and a heading', () => {
  const idOf = (title: string): string =>
    title
      .toLowerCase()
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-')
  const dead = markdown.flatMap(({ file, text }) =>
    [...text.matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)/g)]
      .filter(([, path = '', id]) => {
        const target = path === '' ? file : join(dirname(file), path)
        if (!existsSync(join(root, target))) return true
        if (id === undefined || !target.endsWith('.md')) return false
        const headings = readFileSync(join(root, target), 'utf8').matchAll(/^#+ (.+)$/gm)
        return ![...headings].some(([, title = '']) => idOf(title) === id)
      })
      .map(([link]) => `${file}: ${link}`),
  )
  expect(dead).toEqual([])
})

test('lines of prose are at most 120 characters long', () => {
  const long = markdown.flatMap(({ text }) =>
    text
      .split('\n')
      .filter((line) => !line.startsWith('|') && line.replaceAll(/`[^`]+`|\]\([^)]+\)/g, '').length > 120),
  )
  expect(long).toEqual([])
})
