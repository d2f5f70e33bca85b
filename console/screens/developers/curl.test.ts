import { execFileSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { curlOf } from './curl.ts'

test('the copied command signs its body as Standard Webhooks says', () => {
  const key = Buffer.from('a secret of a webhook')
  const event = { id: 'evt_1', type: 'message.received', data: { text: 'It’s “here”: $HOME' } }
  const command = curlOf(
    'https://example.com/hook',
    { 'content-type': 'application/json', 'webhook-id': 'evt_0' },
    event,
  )
  // A function in place of curl prints what would be posted.
  const printed = execFileSync(
    'sh',
    ['-c', `curl() { for one in "$@"; do printf '%s\\n' "$one"; done; }\n${command}`],
    {
      env: { ...process.env, WEBHOOK_SECRET: `whsec_${key.toString('base64')}` },
      encoding: 'utf8',
    },
  ).split('\n')
  const header = (name: string) => printed.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
  const signed = `evt_1.${header('webhook-timestamp')}.${JSON.stringify(event)}`
  expect(header('webhook-signature')).toBe(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
  expect(printed).toContain(JSON.stringify(event))
  expect(header('content-type')).toBe('application/json')
  expect(header('webhook-id')).toBe('evt_1')
})
