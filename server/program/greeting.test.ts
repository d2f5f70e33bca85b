import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { greet as greetInColor } from './greeting.ts'

const own = {
  address: 'http://127.0.0.1:8080',
  publicUrl: 'http://127.0.0.1:8080',
  phonesUrl: 'http://127.0.0.1:8081',
  first: { key: 'hg_live_x' },
  ownerCode: { code: 'hg_iv_x', email: 'owner@example.com' },
  carrierWithoutNumber: null,
  dataPath: '/data',
  nodeVersion: 'v26.12.1',
} as Parameters<typeof greetInColor>[0]

test('the greeting sends people to the proxy’s address, and this machine’s commands to this one', () => {
  const text = greet({ ...own, publicUrl: 'https://sms.example.com', phonesUrl: null })
  expect(text).toMatch(/^ {2}Console +https:\/\/sms\.example\.com\/console\/$/m)
  expect(text).toContain('  https://sms.example.com/console/join#hg_iv_x\n')
  expect(text).toContain('curl -i http://127.0.0.1:8080/v1/messages/send')
})

test('the link for the login comes first, then the key, command and phones for the terminal', () => {
  const text = greet(own)
  const order = ['Heliogram is running', '/console/join#', 'For the terminal', 'hg_live_x', 'curl -i', '8081/#', 'Data']
  const places = order.map((words) => text.indexOf(words))
  expect(places).toEqual(places.toSorted((a, b) => a - b))
  expect(places).not.toContain(-1)
  expect(text.match(/hg_iv_x/g)).toHaveLength(1)
})

test('one line names a Node.js without security fixes, and the fixed version', () => {
  expect(greet(own)).not.toContain('SECURITY.md')
  expect(greet({ ...own, nodeVersion: 'v24.21.0' }).match(/^.*SECURITY\.md.*$/gm)).toEqual([
    'This is Node.js v24.21.0; 24.22.1 has security fixes that it lacks (SECURITY.md, "Node.js").',
  ])
})

const greet = (greeting: Parameters<typeof greetInColor>[0]): string => stripVTControlCharacters(greetInColor(greeting))
