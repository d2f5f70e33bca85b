import { Webhook as Verifier } from 'standardwebhooks'
import { afterAll, expect, test } from 'vitest'
import { buildTestApp, createTestAccount, testVault } from '../accounts/testing.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import { newId, parseId } from '../ground/base/ids.ts'
import { refuseCallbackUrls } from './callback-url.ts'
import { guardDestinations } from '../post/destination.ts'
import { deliveryRoutes } from './deliveries-http.ts'
import { eventRoutes } from './events-http.ts'
import { Dispatcher } from '../post/fanout.ts'
import { webhookRoutes } from './http.ts'
import { mask } from '../post/headers.ts'
import { startReceiver } from './testing.ts'
import { until } from '../../test/until.ts'
import { Watch } from './watch.ts'

const { db, sql } = await createTestDatabase()
const names: Record<string, string[]> = {
  'public.example.com': ['93.184.216.34', '2606:4700::1111'],
  'half.example.com': ['93.184.216.34', '10.0.0.1'],
  'metadata.example.com': ['169.254.169.254'],
}
const rule = { allowedCidrs: ['127.0.0.0/8'], ports: [443, 8443] }
const destinations = guardDestinations(rule, (host) =>
  /^[\d.]+$|:/.test(host) ? Promise.resolve([host]) : Promise.resolve(names[host] ?? []),
)
const log = { info() {}, warn() {}, error() {} }
const dispatcher = new Dispatcher({ db, vault: testVault, log, nodeId: newId(), destinations })
dispatcher.start()
const app = await buildTestApp(db, (app) => {
  const context = { db, vault: testVault, destinations, outbox: dispatcher }
  webhookRoutes(app, context)
  deliveryRoutes(app, context)
  eventRoutes(app, { ...context, watch: new Watch({ db, log }) })
})
const receiver = await startReceiver()
afterAll(() => dispatcher.close())

const account = await createTestAccount(db)

test('creates a webhook for the contract events, shows its secret once, and stores it sealed', async () => {
  const made = await call('POST', '/v1/webhooks', { url: 'https://public.example.com/hook' })
  expect(made.status).toBe(201)
  expect(made.headers.location).toBe(`/v1/webhooks/${made.body.id}`)
  const { secret, ...shown } = made.body
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(shown).toMatchObject({
    object: 'webhook',
    url: 'https://public.example.com/hook',
    events: ['message.delivered', 'message.failed', 'message.received'],
    description: null,
    enabled: true,
    disabled_reason: null,
    disabled_at: null,
    headers: {},
    ordered: false,
    batch: null,
    include_bodies: true,
    failing_since: null,
  })
  expect((await call('GET', `/v1/webhooks/${made.body.id}`)).body).toEqual(shown)
  const list = await call('GET', '/v1/webhooks')
  expect(list.body.data).toContainEqual(shown)
  const rows = await sql<{ text: string }>`select encode(secret, 'escape') as text from webhooks`
  expect(rows.some((row) => row.text.includes(secret.slice(6)))).toBe(false)
})

test('subscribes to families and to everything, shows them as written, and lists the types if one is unknown', async () => {
  const url = 'https://public.example.com/all'
  for (const events of [['*'], ['message.*', 'link.down'], ['message.sent', '*']]) {
    const made = await call('POST', '/v1/webhooks', { url, events })
    expect((await call('GET', `/v1/webhooks/${made.body.id}`)).body).toMatchObject({ events })
    await call('DELETE', `/v1/webhooks/${made.body.id}`)
  }
  for (const word of ['massage.*', 'message', 'message.', '**', 'Message.*', 'message.*.sent']) {
    const refused = await call('POST', '/v1/webhooks', { url, events: [word] })
    expect([word, ...faultsOf(refused)]).toEqual([word, 422, '#/events/0 invalid_value'])
    expect(refused.body.errors[0]?.detail).toMatch(/message\.\*.*message\.delivered/)
  }
})

test('answers a repeated creation from its idempotency key', async () => {
  const headers = { ...account.headers, 'idempotency-key': 'one' }
  const [first, second] = [
    await call('POST', '/v1/webhooks', { url: 'https://public.example.com/a' }, headers),
    await call('POST', '/v1/webhooks', { url: 'https://public.example.com/a' }, headers),
  ]
  expect(second.body).toEqual(first.body)
  expect(second.headers['idempotency-replayed']).toBe('true')
})

test.each([
  ['http://public.example.com/', ['#/url invalid_url']],
  ['https://public.example.com:22/', ['#/url invalid_url']],
  ['https://half.example.com/', ['#/url invalid_url']],
  ['https://metadata.example.com/', ['#/url invalid_url']],
  ['https://169.254.169.254/', ['#/url invalid_url']],
  ['https://[::ffff:10.0.0.1]/', ['#/url invalid_url']],
  ['https://2130706434.example', []],
  ['https://user:secret@public.example.com/', ['#/url invalid_url']],
  ['ftp://public.example.com/', ['#/url invalid_url']],
  ['hook', ['#/url invalid_url']],
  ['https://not-yet-there.example.com/', []],
  ['http://127.0.0.1:8080/', []],
])('checks %s when it is saved', async (url, faults) => {
  const { status, body } = await call('POST', '/v1/webhooks', { url })
  if (faults.length > 0) expect([status, ...body.errors.map((e) => `${e.pointer} ${e.code}`)]).toEqual([422, ...faults])
  else {
    expect(status).toBe(201)
    await call('DELETE', `/v1/webhooks/${body.id}`)
  }
})

test.each([
  [
    'https://169.254.169.254/',
    'must not be, or resolve to, a private or special address; the operator can allow networks',
  ],
  ['http://93.184.216.34/', 'must use https, on a port that the operator allows'],
  ['https://93.184.216.34:22/', 'must use https, on a port that the operator allows'],
  ['https://user:secret@public.example.com/', 'must be an https:// address without a user name or password'],
  ['hook', 'must be an https:// address without a user name or password'],
])('judges %s like a send’s callback_url', async (url, detail) => {
  const { body } = await call('POST', '/v1/webhooks', { url })
  expect(body.errors).toEqual([{ pointer: '#/url', code: 'invalid_url', detail }])
  expect(refuseCallbackUrls(rule)(url)).toBe(detail)
})

test('refuses unknown values, all at once and with the allowed ones', async () => {
  const unknown = await call('POST', '/v1/webhooks', { url: 'https://a.example', events: ['message.read'], retries: 3 })
  expect(new Set(faultsOf(unknown))).toEqual(new Set([422, '#/events/0 invalid_value', '#/retries unknown_field']))
  expect(unknown.body.errors.find((error) => error.pointer === '#/events/0')?.detail).toContain('message.received')
  expect(faultsOf(await call('POST', '/v1/webhooks', {}))).toEqual([422, '#/url required'])
  const headers = {
    Host: 'a',
    'Content-Length': '1',
    'webhook-id': 'x',
    'bad name': 'y',
    'X-Ok': 'z',
    'X-Bad': 'a\r\nb: c',
  }
  expect(faultsOf(await call('POST', '/v1/webhooks', { url: 'http://public.example.com', headers }))).toEqual([
    422,
    '#/url invalid_url',
    '#/headers/Host invalid_value',
    '#/headers/Content-Length invalid_value',
    '#/headers/webhook-id invalid_value',
    '#/headers/bad name invalid_value',
    '#/headers/X-Bad invalid_value',
  ])
  // Faults of the schema do not hide the others.
  const mixed = { url: 'hook', headers: { Host: 'a' }, events: ['message.read'], retries: 3 }
  expect(new Set(faultsOf(await call('POST', '/v1/webhooks', mixed)))).toEqual(
    new Set([
      422,
      '#/events/0 invalid_value',
      '#/retries unknown_field',
      '#/url invalid_url',
      '#/headers/Host invalid_value',
    ]),
  )
})

test('changes given fields, and clears failures when a webhook is enabled again', async () => {
  const { body } = await call('POST', '/v1/webhooks', { url: 'https://public.example.com/', description: 'CRM' })
  const url = `/v1/webhooks/${body.id}`
  const off = await call('PATCH', url, { enabled: false, events: ['message.sent'] })
  expect(off.body).toMatchObject({
    enabled: false,
    disabled_reason: 'request',
    events: ['message.sent'],
    description: 'CRM',
  })
  await sql`update webhooks set failing_since = now(), disabled_reason = 'failing' where not enabled`
  const on = await call('PATCH', url, { enabled: true, description: null, headers: { 'X-Key': '1' } })
  expect(on.body).toMatchObject({
    enabled: true,
    disabled_reason: null,
    failing_since: null,
    description: null,
    headers: { 'X-Key': mask },
  })
  expect(faultsOf(await call('PATCH', url, { url: 'https://10.0.0.1/' }))).toEqual([422, '#/url invalid_url'])
  expect((await call('DELETE', url)).status).toBe(204)
  expect((await call('GET', url)).status).toBe(404)
  expect((await call('DELETE', url)).status).toBe(404)
})

test('allows 20 webhooks per account', async () => {
  const crowded = await createTestAccount(db)
  const answers = await Promise.all(
    Array.from({ length: 22 }, () =>
      call('POST', '/v1/webhooks', { url: 'https://public.example.com/' }, crowded.headers),
    ),
  )
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(20)
  expect(answers.filter(({ status }) => status === 422)).toHaveLength(2)
})

test('posts a test event to one webhook, signed, with its headers, and lists the attempt', async () => {
  const headers = { Authorization: 'Bearer crm', 'X-Shard': '7' }
  const { body } = await call('POST', '/v1/webhooks', { url: receiver.url, headers })
  const sent = await call('POST', `/v1/webhooks/${body.id}/test`)
  expect(sent).toMatchObject({ status: 202, body: { type: 'webhook.test' } })
  await until('the post', () => receiver.received.some((one) => one.headers['webhook-id'] === sent.body['event']))
  const post = receiver.received.find((one) => one.headers['webhook-id'] === sent.body['event'])
  expect(post?.headers).toMatchObject({ authorization: 'Bearer crm', 'x-shard': '7' })
  const { secret, ...webhook } = body
  expect(new Verifier(secret).verify(post?.body ?? '', post?.headers as Record<string, string>)).toMatchObject({
    type: 'webhook.test',
    data: { webhook },
  })
  const url = `/v1/webhooks/${body.id}/deliveries`
  await until('the attempt', async () => (await call('GET', url)).body.data.length === 1)
  expect((await call('GET', url)).body).toMatchObject({
    data: [
      {
        object: 'attempt',
        event: sent.body['event'],
        event_type: 'webhook.test',
        message: null,
        try: 1,
        outcome: 'ok',
        status_code: 204,
        response: null,
        next_attempt_at: null,
      },
    ],
    has_more: false,
    next_cursor: null,
  })
  const redelivery = `/v1/events/${String(sent.body['event'])}/redeliver`
  expect((await call('POST', redelivery)).body).toEqual({ event: sent.body['event'], posts: 1, detail: null })
  await until('the post again', async () => (await call('GET', url)).body.data.length === 2)
  await call('PATCH', `/v1/webhooks/${body.id}`, { enabled: false })
  expect((await call('POST', `/v1/webhooks/${body.id}/test`)).status).toBe(409)
  expect(await call('POST', redelivery)).toMatchObject({
    status: 202,
    body: { posts: 0, detail: expect.stringContaining('disabled or deleted') as string },
  })
})

test('rotates a secret: both sign during the grace period, and only the new one without it', async () => {
  const { body: made } = await call('POST', '/v1/webhooks', { url: receiver.url })
  const signatures = async () => {
    const { body } = await call('POST', `/v1/webhooks/${made.id}/test`)
    const ofEvent = () => receiver.received.find((one) => one.headers['webhook-id'] === body['event'])
    await until('the post', () => ofEvent() !== undefined)
    const post = ofEvent()
    return [made.secret, ...rotated].map((secret) => {
      try {
        new Verifier(secret).verify(post?.body ?? '', post?.headers as Record<string, string>)
        return true
      } catch {
        return false
      }
    })
  }
  const rotated: string[] = []
  const first = await call('POST', `/v1/webhooks/${made.id}/rotate-secret`, { grace_seconds: 60 })
  rotated.push(first.body.secret)
  expect(await signatures()).toEqual([true, true])
  const second = await call('POST', `/v1/webhooks/${made.id}/rotate-secret`, { grace_seconds: 0 })
  rotated.push(second.body.secret)
  await until('the new secret to hold', async () => (await signatures()).join() === 'false,false,true')
  expect((await call('POST', `/v1/webhooks/${made.id}/rotate-secret`)).status).toBe(200)
  expect(faultsOf(await call('POST', `/v1/webhooks/${made.id}/rotate-secret`, { grace_seconds: 604_801 }))).toEqual([
    422,
    '#/grace_seconds out_of_range',
  ])
})

test('a new secret signs alone if the previous one’s master key is lost', async () => {
  const { body: made } = await call('POST', '/v1/webhooks', { url: receiver.url })
  await sql`update webhooks set secret = ${Buffer.alloc(80)} where id = ${parseId('whk', made.id)}`
  const { body: rotated } = await call('POST', `/v1/webhooks/${made.id}/rotate-secret`, { grace_seconds: 60 })
  const { body } = await call('POST', `/v1/webhooks/${made.id}/test`)
  const post = () => receiver.received.find((one) => one.headers['webhook-id'] === body['event'])
  await until('the post', () => post() !== undefined)
  expect(post()?.headers['webhook-signature']).toMatch(/^v1,[^ ]+$/)
  new Verifier(rotated.secret).verify(post()?.body ?? '', post()?.headers as Record<string, string>)
})

test('hides the values of headers, and reads the mask as unchanged', async () => {
  const headers = { Authorization: 'Bearer crm', 'X-Shard': '7' }
  const { body } = await call('POST', '/v1/webhooks', { url: receiver.url, headers })
  const url = `/v1/webhooks/${body.id}`
  expect(body['headers']).toEqual({ Authorization: mask, 'X-Shard': mask })
  const rows = await sql<{ text: string }>`select w::text as text from webhooks w where url = ${receiver.url}`
  expect(rows.some((row) => row.text.includes('crm'))).toBe(false)
  const changed = await call('PATCH', url, { headers: { authorization: mask, 'X-New': '1' } })
  expect(changed.body['headers']).toEqual({ authorization: mask, 'X-New': mask })
  const { body: sent } = await call('POST', `${url}/test`)
  const post = () => receiver.received.find((one) => one.headers['webhook-id'] === sent['event'])
  await until('the post', () => post() !== undefined)
  expect(post()?.headers).toMatchObject({ authorization: 'Bearer crm', 'x-new': '1' })
  expect(post()?.headers).not.toHaveProperty('x-shard')
  expect(faultsOf(await call('PATCH', url, { headers: { 'X-Gone': mask } }))).toEqual([
    422,
    '#/headers/X-Gone invalid_value',
  ])
  const twice = { 'X-A': '1', 'x-a': '2' }
  expect(faultsOf(await call('PATCH', url, { headers: twice }))).toEqual([422, '#/headers/x-a invalid_value'])
  const long = Object.fromEntries([1, 2, 3, 4, 5].map((n) => [`X-${n}`, 'x'.repeat(1000)]))
  expect(faultsOf(await call('PATCH', url, { headers: long }))).toEqual([422, '#/headers too_long'])
  await call('DELETE', url)
})

test('sends the values of headers only to the host they were given for', async () => {
  const { body } = await call('POST', '/v1/webhooks', { url: receiver.url, headers: { Authorization: 'Bearer crm' } })
  const url = `/v1/webhooks/${body.id}`
  const elsewhere = `http://127.0.0.2:${receiver.port}/hook`
  const refused = [422, '#/headers invalid_value']
  expect(faultsOf(await call('PATCH', url, { url: elsewhere }))).toEqual(refused)
  expect(faultsOf(await call('PATCH', url, { url: elsewhere, headers: { Authorization: mask } }))).toEqual(refused)
  expect((await call('PATCH', url, { url: `${receiver.url}/v2` })).status).toBe(200)
  expect((await call('PATCH', url, { url: elsewhere, headers: { Authorization: 'Bearer new' } })).status).toBe(200)
  expect((await call('PATCH', url, { url: receiver.url, headers: {} })).status).toBe(200)
  expect((await call('PATCH', url, { url: elsewhere })).status).toBe(200)
  await call('DELETE', url)
})

test('leaves texts out if the caller who set the address may not read them', async () => {
  const weak = await createTestAccount(db, { scopes: ['webhooks:read', 'webhooks:write'] })
  const make = (fields: object = {}) => call('POST', '/v1/webhooks', { url: receiver.url, ...fields }, weak.headers)
  const { body } = await make()
  expect(body['include_bodies']).toBe(false)
  expect((await make({ include_bodies: true })).body).toMatchObject({ status: 403, code: 'insufficient_scope' })
  const url = `/v1/webhooks/${body.id}`
  expect((await call('PATCH', url, { include_bodies: true }, weak.headers)).status).toBe(403)
  await sql`update webhooks set has_bodies = true where account_id = ${weak.accountId}`
  const renamed = await call('PATCH', url, { description: 'CRM' }, weak.headers)
  expect(renamed.body['include_bodies']).toBe(true)
  const moved = await call('PATCH', url, { url: `${receiver.url}/other` }, weak.headers)
  expect(moved.body['include_bodies']).toBe(false)
})

test('stores how a webhook wants its posts, shows it, and when it was disabled', async () => {
  const fields = { url: receiver.url, ordered: true, batch: { max_events: 200 } }
  const { body } = await call('POST', '/v1/webhooks', fields)
  const url = `/v1/webhooks/${body.id}`
  expect(body).toMatchObject({ ordered: true, batch: { max_events: 200, max_wait_ms: 1000 }, disabled_at: null })
  const { body: changed } = await call('PATCH', url, { ordered: false, batch: null, enabled: false })
  expect(changed).toMatchObject({
    ordered: false,
    batch: null,
    enabled: false,
    disabled_at: expect.any(String) as string,
  })
  expect((await call('PATCH', url, { enabled: true })).body).toMatchObject({
    enabled: true,
    disabled_at: changed['disabled_at'],
  })
  for (const batch of [{}, { max_events: 201 }, { max_events: 1, max_wait_ms: 10_001 }, { max_events: 1, size: 1 }])
    expect((await call('PATCH', url, { batch })).status).toBe(422)
  await call('DELETE', url)
})

test('shows each attempt’s request, response and time, and finds failed ones', async () => {
  const failing = await startReceiver((response) =>
    response.writeHead(503, { 'x-why': 'tired', 'set-cookie': 'a=b', 'retry-after': '120' }).end('not now'),
  )
  const { body } = await call('POST', '/v1/webhooks', { url: `${failing.url}?k=1`, headers: { 'X-Key': 'secret' } })
  const { body: sent } = await call('POST', `/v1/webhooks/${body.id}/test`)
  const url = `/v1/webhooks/${body.id}/deliveries`
  await until('the attempt', async () => (await call('GET', url)).body.data.length === 1)
  const [attempt] = (await call('GET', url)).body.data
  const timestamp = failing.received[0]?.headers['webhook-timestamp']
  expect(attempt).toMatchObject({
    webhook: body.id,
    event: sent['event'],
    try: 1,
    outcome: 'status',
    request: {
      url: `${failing.url}?k=1`,
      headers: {
        'content-type': 'application/json',
        'webhook-id': sent['event'],
        'webhook-timestamp': timestamp,
        'X-Key': mask,
      },
    },
    status_code: 503,
    response: 'not now',
    next_attempt_at: expect.any(String) as string,
  })
  expect(attempt?.['response_headers']).toEqual({ 'x-why': 'tired', 'retry-after': '120' })
  const { connect_ms = -1, first_byte_ms = -1, total_ms = -1 } = (attempt?.['timing'] ?? {}) as Record<string, number>
  expect(connect_ms + first_byte_ms).toBeLessThanOrEqual(total_ms + 1)
  expect(Math.min(connect_ms, first_byte_ms, total_ms)).toBeGreaterThanOrEqual(0)
  const idsOf = async (path: string) => (await call('GET', path)).body.data.map((one) => one['id'])
  expect(await idsOf(`${url}?delivery_success=false`)).toEqual([attempt?.['id']])
  expect(await idsOf(`${url}?delivery_success=true`)).toEqual([])
  expect(await idsOf(`/v1/events/${String(sent['event'])}/deliveries`)).toEqual([attempt?.['id']])

  // Lists, newest first, do not depend on other tests' transactions.
  expect(await idsOf('/v1/events?delivery_success=false')).toContain(sent['event'])
  expect(await idsOf('/v1/events?delivery_success=true')).not.toContain(sent['event'])
  expect(await idsOf('/v1/events?delivery_success=false&type=message.failed')).toEqual([])
  await sql`update webhooks set url = ${receiver.url}, updated_at = now() where url = ${`${failing.url}?k=1`}`
  await until('the new address', async () => {
    await call('POST', `/v1/events/${String(sent['event'])}/redeliver`)
    await call('PATCH', `/v1/webhooks/${body.id}`, { events: ['webhook.test'] })
    return (await call('GET', `${url}?delivery_success=true`)).body.data.length > 0
  })
  expect(await idsOf('/v1/events?delivery_success=false')).not.toContain(sent['event'])
  expect(await idsOf('/v1/events?delivery_success=true')).toContain(sent['event'])
  await call('DELETE', `/v1/webhooks/${body.id}`)
})

test('creates a new callback secret and shows it once', async () => {
  const one = await call('POST', '/v1/webhooks/callback-secret/rotate')
  const two = await call('POST', '/v1/webhooks/callback-secret/rotate')
  expect(one.status).toBe(200)
  expect(one.body.secret).toMatch(/^whsec_/)
  expect(two.body.secret).not.toBe(one.body.secret)
})

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'
interface Body {
  [name: string]: unknown
  id: string
  secret: string
  next_cursor: string | null
  data: Record<string, unknown>[]
  errors: { pointer: string; code: string; detail: string }[]
}

async function call(method: Method, url: string, payload?: object, headers: Record<string, string> = account.headers) {
  const answer = await app.inject({ method, url, headers, ...(payload && { payload }) })
  return { status: answer.statusCode, headers: answer.headers, body: (answer.body ? answer.json() : {}) as Body }
}

const faultsOf = (answer: { status: number; body: Body }) => [
  answer.status,
  ...answer.body.errors.map((error) => `${error.pointer} ${error.code}`),
]
