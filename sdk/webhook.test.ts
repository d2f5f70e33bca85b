import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { verifyWebhook, verifyWebhookBatch, WebhookError, type WebhookPost } from './index.ts'

const secret = `whsec_${btoa('twenty-four bytes or more of it')}`
const another = `whsec_${btoa('another twenty-four bytes of it')}`
const signedAt = new Date('2026-11-20T12:00:00Z')
const now = signedAt.getTime()
const event = { id: 'evt_1', type: 'message.received', data: { message: { id: 'msg_1', message: 'Grüße 👋' } } }
const payload = JSON.stringify(event)

/** Signed by the published library. */
function post(change: Partial<WebhookPost> = {}, body = payload, at = signedAt, by = secret): WebhookPost {
  const headers = {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(by).sign('evt_1', at, body),
  }
  return { payload: body, headers, secret, now, ...change }
}

const { headers } = post() as { headers: Record<string, string> }
const signature = headers['webhook-signature'] ?? ''

test.each([
  ['text', post()],
  ['bytes', post({ payload: new TextEncoder().encode(payload) })],
  ['Headers', post({ headers: new Headers(headers) })],
  [
    'headers in other letters, as lists',
    post({
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]])),
    }),
  ],
  ['a secret without its prefix', post({ secret: secret.slice('whsec_'.length) })],
  ['the second of two secrets', post({ secret: [another, secret] })],
  [
    'the second of two signatures, beside one of a later version',
    post({
      headers: { ...headers, 'webhook-signature': `v2,${signature.slice(3)} v1,bm8= v1,no=base64 ${signature}` },
    }),
  ],
  ['one of five minutes ago', post({ now: now + 300_000 })],
  ['one of five minutes ahead', post({ now: now - 300_000 })],
  ['one of an hour ago, where that is allowed', post({ now: now + 3_600_000, toleranceSeconds: 3600 })],
])('believes a genuine post: %s', async (_, genuine) => {
  expect(await verifyWebhook(genuine)).toEqual(event)
})

test('uses its own clock if none is given', async () => {
  expect(await verifyWebhook(post({ now: undefined }, payload, new Date()))).toEqual(event)
  await expect(verifyWebhook(post({ now: undefined }))).rejects.toMatchObject({ code: /^too_/ })
})

const without = (name: string): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name))

test.each([
  ['missing_header', 'no id', post({ headers: without('webhook-id') })],
  ['missing_header', 'no time', post({ headers: without('webhook-timestamp') })],
  ['missing_header', 'no signature', post({ headers: without('webhook-signature') })],
  ['missing_header', 'an empty signature', post({ headers: { ...headers, 'webhook-signature': '' } })],
  ['invalid_timestamp', 'a time that is none', post({ headers: { ...headers, 'webhook-timestamp': 'now' } })],
  ['invalid_timestamp', 'a time in another form', post({ headers: { ...headers, 'webhook-timestamp': '17e8' } })],
  ['too_old', 'an old one', post({ now: now + 301_000 })],
  ['too_new', 'one from the future', post({ now: now - 301_000 })],
  ['wrong_signature', 'another body', post({ payload: `${payload} ` })],
  ['wrong_signature', 'another id', post({ headers: { ...headers, 'webhook-id': 'evt_2' } })],
  ['wrong_signature', 'another time', post({ headers: { ...headers, 'webhook-timestamp': String(now / 1000 + 1) } })],
  ['wrong_signature', 'another secret', post({ secret: another })],
  ['wrong_signature', 'other secrets', post({ secret: [another, another] })],
  ['wrong_signature', 'no version', post({ headers: { ...headers, 'webhook-signature': signature.slice(3) } })],
  [
    'wrong_signature',
    'a version to come',
    post({ headers: { ...headers, 'webhook-signature': `v2${signature.slice(2)}` } }),
  ],
  ['wrong_signature', 'half of it', post({ headers: { ...headers, 'webhook-signature': signature.slice(0, 23) } })],
  ['wrong_signature', 'no base64', post({ headers: { ...headers, 'webhook-signature': 'v1,%%%' } })],
  ['invalid_payload', 'a genuine post that is no JSON', post({}, 'hello')],
  ['invalid_payload', 'a genuine post that is no object', post({}, '7')],
  ['invalid_payload', 'a batch where an event is expected', post({}, '{"events":[]}')],
])('refuses as %s: %s', async (code, _, forged) => {
  const error: unknown = await verifyWebhook(forged).catch((error: unknown) => error)
  expect(error).toBeInstanceOf(WebhookError)
  expect(error).toMatchObject({ code })
})

test('reports an invalid secret, instead of refusing every post', async () => {
  for (const wrong of ['', 'whsec_', 'whsec_%%%', []])
    await expect(verifyWebhook(post({ secret: wrong }))).rejects.toThrow(TypeError)
})

test('reads a batch, and a single event as a batch of one', async () => {
  const batch = JSON.stringify({ events: [event, { ...event, id: 'evt_2' }] })
  expect((await verifyWebhookBatch(post({}, batch))).map(({ id }) => id)).toEqual(['evt_1', 'evt_2'])
  expect(await verifyWebhookBatch(post())).toEqual([event])
  await expect(verifyWebhookBatch(post({}, '{"other":1}'))).rejects.toMatchObject({ code: 'invalid_payload' })
  await expect(verifyWebhookBatch(post({ secret: another }))).rejects.toMatchObject({ code: 'wrong_signature' })
})
