import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { curlOf, nodeOf, pythonOf, type Call } from './snippets.ts'

const call: Call = {
  baseUrl: 'https://sms.example.com',
  operation: 'sendMessage',
  path: '/v1/messages/send',
  body: { to: '12025550123', message: `It's "ready"\n– 😀`, shorten_urls: true, tags: ['a'], from: undefined },
}
const sent = JSON.parse(JSON.stringify(call.body)) as object

test('a shell passes the body of the curl command as it is', () => {
  const command = curlOf(call).replace(/^curl/, 'printf "%s\\n"')
  const printed = execFileSync('sh', ['-c', command], { encoding: 'utf8', env: { HELIOGRAM_API_KEY: 'key' } })
  expect(printed).toContain('Authorization: Bearer key\n')
  expect(JSON.parse(printed.slice(printed.indexOf('\n-d\n') + 4))).toEqual(sent)
})

test('JavaScript reads the body of the call as it is', () => {
  const text = nodeOf(call)
  const body = text.slice(text.indexOf('body: ') + 6, text.lastIndexOf(',\n})'))
  const read = execFileSync(process.execPath, ['-p', `JSON.stringify(${body})`], { encoding: 'utf8' })
  expect(JSON.parse(read)).toEqual(sent)
  expect(body).toContain('\n    to: "12025550123",\n')
})

test('Python gets its own words for values', () => {
  expect(pythonOf(call)).toContain(`    json={
        "to": "12025550123",
        "message": "It's \\"ready\\"\\n– 😀",
        "shorten_urls": True,
        "tags": [
            "a",
        ],
    },`)
})
