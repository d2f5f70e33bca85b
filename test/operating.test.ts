/** docs/operating.md against the code: every setting, and every line that somebody may find in the log at night. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
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

test('every warning and error of the log is explained', () => {
  const files = globSync('server/**/*.ts', { cwd: root, exclude: (name) => name.endsWith('.test.ts') })
  const calls = /(?:log\??\.(?:warn|error)|#report)\(\s*[^;]*?'([^'\n]+)'[,\s]*\)/g
  const messages = files.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(calls)].map((match) => match[1] ?? ''),
  )
  expect(messages.length).toBeGreaterThan(20)
  expect([...new Set(messages)].filter((message) => !page.includes(`\`${message}\``))).toEqual([])
})
