import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { compileCreate } from '../carriers/input.ts'
import { adapterNames } from '../links/carrier-settings.ts'
import { at } from './fields.ts'

const page = readFileSync(new URL('../../docs/carriers.md', import.meta.url), 'utf8')
const bodies = [...page.matchAll(/^curl [^]*?-d '(?<body>[^']+)'$/gm)].map(
  ({ groups }) => JSON.parse(groups?.['body'] ?? '') as unknown,
)
const check = compileCreate({ schema: {}, httpPart: 'body', method: '', url: '' }) as (data: unknown) => unknown

it('docs/carriers.md has a command for every adapter', () => {
  expect(bodies.map((body) => at(body, 'settings', 'adapter'))).toEqual([...adapterNames])
})

it.each(bodies.map((body) => [String(at(body, 'name')), body] as const))(
  'the carrier "%s" can be created',
  (_name, body) => {
    expect(check(structuredClone(body))).toBe(true)
  },
)
