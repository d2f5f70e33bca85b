/** Cases of kind M: the signed address is the requested one. Verified by Twilio's library over the address as the receiver sees it. */
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import fc from 'fast-check'
import twilio from 'twilio'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { showId, newId } from '../../server/ground/base/ids.ts'
import { guardDestinations } from '../../server/post/destination.ts'
import { Poster, targetOf } from '../../server/post/post.ts'
import { wrapForTwilio } from '../../server/post/twilio-envelope.ts'
import { readTwilioSend } from '../../server/twilio/send.ts'
import { refuseCallbackUrls } from '../../server/webhooks/callback-url.ts'
import { until } from '../until.ts'

const token = '0123456789abcdef0123456789abcdef'
const rule = { allowedCidrs: ['127.0.0.0/8', '::1/128'], ports: [443] }

/** Verdict per post, over `http://`, Host and path as received. */
const verdicts: { address: string; isGenuine: boolean }[] = []
let receiver: Server
let port: number
let poster: Poster

beforeAll(async () => {
  receiver = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const address = `http://${request.headers.host}${request.url}`
      const parameters = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString('utf8')))
      const signature = String(request.headers['x-twilio-signature'])
      const exact = twilio.getExpectedTwilioSignature(token, address, parameters)
      const isValid = twilio.validateRequest(token, signature, address, parameters)
      verdicts.push({ address, isGenuine: isValid && signature === exact })
      response.end()
    })
  })
  await new Promise<void>((resolve) => receiver.listen(0, '::', resolve))
  port = (receiver.address() as AddressInfo).port
  // Every name is this machine.
  const destinations = guardDestinations(rule, async (host) => (host.includes(':') ? ['::1'] : ['127.0.0.1']))
  poster = new Poster({ destinations, timeoutMs: 10_000 })
})
afterAll(async () => {
  await poster.close()
  receiver.closeAllConnections()
  receiver.close()
})

/** Posts an event to a send's StatusCallback; returns the receiver's verdict. */
async function post(callback: string): Promise<{ address: string; isGenuine: boolean }> {
  const form = new URLSearchParams({ To: '+15551230001', Body: 'Hi', StatusCallback: callback })
  const url = readTwilioSend(form).callback_url ?? ''
  expect(refuseCallbackUrls(rule)(url)).toBeNull()
  const message = {
    id: showId('msg', newId()),
    direction: 'outbound',
    status: 'sent',
    to: '15551230001',
    from: '1555765',
  }
  const posting = {
    accountId: newId(),
    eventId: newId(),
    payload: JSON.stringify({ type: 'message.sent', data: { message } }),
  }
  const form0 = wrapForTwilio(url, token, posting, [])
  if (!form0) throw new Error('an event has no form')
  const before = verdicts.length
  poster.post(targetOf(url), form0.headers, form0.body, () => {})
  await until('it has come', () => verdicts.length > before)
  const verdict = verdicts.at(-1)
  if (!verdict) throw new Error('nothing came')
  return verdict
}

const callbacks = readFileSync(join(import.meta.dirname, 'inputs', 'callbacks.txt'), 'utf8')
  .trim()
  .split('\n')

it.each([
  ...callbacks,
  'http://127.0.0.1:{port}?who=me',
  'http://127.0.0.1:{port}/a b/"c"?d=<e>|f^g`h{i}',
  'http://127.0.0.1:{port}/%7euser/%2F%c3%A9?x=%20+%2b+1',
  'http://127.0.0.1:{port}/é/ж/👋?q=ñ&r=漢',
  'http://127.0.0.1:{port}/a/../b/./c//d?',
  'http://127.0.0.1:{port}/cb?a=1#section',
  'http://127.0.0.1:{port}/cb#twilio',
  'HTTP://LOCALHOST:{port}/Cb?A=b',
  'http://bücher.example:{port}/cb?x=1',
  'http://xn--bcher-kva.example:{port}/cb',
  "http://[::1]:{port}/cb?who=O'Brien",
  'http://127.1:{port}/cb',
  'http://127.0.0.1:0{port}/cb',
  '  http://127.0.0.1:{port}/cb\t?a=\n1 ',
  'http:\\\\127.0.0.1:{port}\\cb',
])('%s is requested exactly as it is signed', async (callback) => {
  const { address, isGenuine } = await post(callback.replace('{port}', String(port)))
  expect([address, isGenuine]).toEqual([expect.stringMatching(/^http:\/\/[!-~]+$/), true])
})

it('any path and query is requested exactly as it is signed', async () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 30 }).filter((one) => one.isWellFormed() && !one.includes('\0'))
  await fc.assert(
    fc.asyncProperty(text, text, async (path, query) => {
      expect(await post(`http://127.0.0.1:${port}/${path}?${query}`)).toMatchObject({ isGenuine: true })
    }),
    { numRuns: 100 },
  )
})

it.each([
  ['https://example.com:443/cb', 'https://example.com/cb'],
  ['https://example.com:8443', 'https://example.com:8443/'],
  ['http://example.com:80/cb?a', 'http://example.com/cb?a'],
  ["https://ex.com/?b='", 'https://ex.com/?b=%27'],
])('%s is signed as %s', (url, requested) => {
  const message = { id: showId('msg', newId()), direction: 'outbound', status: 'sent', to: '1', from: '2' }
  const payload = JSON.stringify({ type: 'message.sent', data: { message } })
  const posting = { accountId: newId(), eventId: newId(), payload }
  const form = wrapForTwilio(`${url}#twilio`, token, posting, [])
  const parameters = Object.fromEntries(new URLSearchParams(form?.body))
  expect(form?.headers.at(-1)).toBe(twilio.getExpectedTwilioSignature(token, requested, parameters))
})

it('an address with a user name or a password is refused', () => {
  for (const url of ['http://me@127.0.0.1/', 'http://me:secret@127.0.0.1/cb', 'http://:secret@127.0.0.1/cb'])
    expect(refuseCallbackUrls(rule)(url)).toMatch(/without a user name or password/)
})
