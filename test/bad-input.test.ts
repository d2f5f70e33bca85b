/** Mistakes of clients, sent to the running program: a clear response with every fault, and nothing stored. */
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestAccount, type TestAccount } from '../server/accounts/testing.ts'
import { openPool, type Db } from '../server/ground/db/db.ts'
import { newId } from '../server/ground/base/ids.ts'
import type { Client, Message, Problem } from './client.ts'
import { startProgram, type Program } from './harness.ts'

let program: Program
let client: Client
let db: Db
let other: TestAccount
const to = '15551230001'

beforeAll(async () => {
  program = await startProgram({ env: { HELIOGRAM_LOG: 'warn' } })
  client = program.client
  db = openPool(await program.connection(), { name: 'journey', max: 1 })
  other = await createTestAccount(db)
})

afterAll(async () => {
  const count = async (table: string): Promise<number> =>
    (await db.query<{ n: number }>(`select count(*) as n from ${table} where account_id <> $1`, [other.accountId]))
      .rows[0]?.n ?? -1
  const stored = [
    await count('messages'),
    await count('queue'),
    await count('delayed'),
    await count('idempotency_keys'),
  ]
  await db?.end()
  await program?.remove()
  expect(stored).toEqual([0, 0, 0, 0])
})

const nested = (depth: number): string => '{"metadata":'.repeat(depth) + '1' + '}'.repeat(depth)
const bytes = (...parts: (string | number[])[]): Uint8Array =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))))

describe('an unreadable body gets 400 with a reason', () => {
  test.for<[what: string, body: string | Uint8Array, status: number, code: string, detail: RegExp]>([
    ['empty', '', 400, 'malformed_json', /empty/],
    ['not JSON', '{"to":"15551230001",', 400, 'malformed_json', /JSON/],
    ['two documents', '{} {}', 400, 'malformed_json', /JSON/],
    ['single quotes', "{'to':'15551230001'}", 400, 'malformed_json', /JSON/],
    ['bad UTF-8', bytes('{"to":"15551230001","message":"', [0xff, 0xfe], '"}'), 400, 'malformed_json', /UTF-8/],
    ['UTF-16', Buffer.from('{"to":"15551230001"}', 'utf16le'), 400, 'malformed_json', /./],
    ['deep', nested(17), 400, 'malformed_json', /nested deeper than 16/],
    ['very deep', '['.repeat(30_000) + ']'.repeat(30_000), 400, 'malformed_json', /./],
    [
      'very deep under a bad name',
      `{"__proto__":${'['.repeat(30_000)}${']'.repeat(30_000)}}`,
      400,
      'malformed_json',
      /16/,
    ],
    ['huge', `{"to":"${to}","message":"${'x'.repeat(70_000)}"}`, 413, 'payload_too_large', /65536 bytes/],
  ])('%s', async ([, body, status, code, detail]) => {
    const answer = await client.call<Problem>('POST', '/v1/messages/send', body)
    expect([answer.status, answer.body.code]).toEqual([status, code])
    expect(answer.body.detail).toMatch(detail)
    expect(answer.headers.get('content-type')).toContain('application/problem+json')
  })
})

test('a body of another type gets 415 with the type in the response', async () => {
  const answer = await client.call<Problem>('POST', '/v1/messages/send', '<to/>', { 'content-type': 'text/xml' })
  expect([answer.status, answer.body.code]).toEqual([415, 'unsupported_media_type'])
  expect(answer.body.detail).toContain('text/xml')
})

const message = 'Hello'
const unknownId = 'cmp_01kbh2v0jzf3tr8d5w4ncq6m7x'

describe('a wrong field gets 422 with its place and code', () => {
  test.for<[what: string, body: unknown, pointer: string, code: string]>([
    ['no recipient', { message }, '#/to', 'required'],
    ['no text', { to }, '#/message', 'required'],
    ['an array', [to, message], '#', 'invalid_type'],
    ['a string', 'hello', '#', 'invalid_type'],
    ['null', null, '#', 'invalid_type'],
    ['a number for a recipient', { to: 15_551_230_001, message }, '#/to', 'invalid_type'],
    ['null for a text', { to, message: null }, '#/message', 'invalid_type'],
    ['an object for a text', { to, message: { $gt: '' } }, '#/message', 'invalid_type'],
    ['an empty text', { to, message: '' }, '#/message', 'too_short'],
    ['1601 characters', { to, message: 'x'.repeat(1601) }, '#/message', 'too_long'],
    ['1601 emoji', { to, message: '👍'.repeat(1601) }, '#/message', 'too_long'],
    ['an unknown field', { to, message, colour: 'red' }, '#/colour', 'unknown_field'],
    ['a misspelt field', { to, message, sendAt: '2030-01-01T00:00:00Z' }, '#/sendAt', 'unknown_field'],
    ['a NUL', { to, message: 'a\0b' }, '#/message', 'invalid_characters'],
    ['a NUL in metadata', { to, message, metadata: { a: '\0' } }, '#/metadata/a', 'invalid_characters'],
    ['letters for a number', { to: 'call me', message }, '#/to', 'invalid_phone_number'],
    ['an empty number', { to: '', message }, '#/to', 'invalid_phone_number'],
    ['a number of six digits', { to: '155512', message }, '#/to', 'invalid_phone_number'],
    ['a number of sixteen digits', { to: '1555123000112345', message }, '#/to', 'invalid_phone_number'],
    ['a number of no country', { to: '99912345678', message }, '#/to', 'invalid_phone_number'],
    ['a number with a zero in front', { to: '015551230001', message }, '#/to', 'invalid_phone_number'],
    ['an unknown campaign', { to, message, campaign: 'no-such-campaign' }, '#/campaign', 'campaign_not_found'],
    ['an unknown campaign id', { to, message, campaign: unknownId }, '#/campaign', 'campaign_not_found'],
    ['a sender that is not ours', { to, message, from: '15550009999' }, '#/from', 'sender_not_found'],
    ['an impossible sender', { to, message, from: '!' }, '#/from', 'invalid_sender'],
    ['a time in the past', { to, message, send_at: '2020-01-01T00:00:00Z' }, '#/send_at', 'out_of_range'],
    ['a time that is none', { to, message, send_at: 'tomorrow' }, '#/send_at', 'invalid_format'],
    ['a day that is none', { to, message, send_at: '2030-02-30T00:00:00Z' }, '#/send_at', 'invalid_format'],
    ['a validity of nothing', { to, message, validity_period: 0 }, '#/validity_period', 'out_of_range'],
    ['a validity of a half', { to, message, validity_period: 1.5 }, '#/validity_period', 'invalid_type'],
    ['a type that is none', { to, message, type: 'spam' }, '#/type', 'invalid_value'],
    ['an address that is none', { to, message, callback_url: 'nowhere' }, '#/callback_url', 'invalid_url'],
    ['a text GSM-7 lacks', { to, message: 'Привет', encoding: 'gsm7' }, '#/message', 'not_encodable'],
    ['more segments than wanted', { to, message: 'x'.repeat(200), max_segments: 1 }, '#/message', 'too_many_segments'],
  ])('%s', async ([, body, pointer, code]) => {
    const answer = await client.call<Problem>('POST', '/v1/messages/send', JSON.stringify(body))
    expect([answer.status, answer.body.code]).toEqual([422, 'validation_failed'])
    expect(answer.body.errors?.map((error) => [error.pointer, error.code])).toEqual([[pointer, code]])
  })

  test.for<[what: string, text: string, pointer: string, code: string]>([
    ['a lone surrogate', '{"to":"15551230001","message":"\\ud83d"}', '#/message', 'invalid_characters'],
    ['a reversed pair', '{"to":"15551230001","message":"\\udc4d\\ud83d"}', '#/message', 'invalid_characters'],
    ['__proto__', '{"to":"15551230001","message":"x","__proto__":{"a":1}}', '#/__proto__', 'unknown_field'],
    [
      'a huge number',
      '{"to":"15551230001","message":"x","validity_period":1e400}',
      '#/validity_period',
      'invalid_type',
    ],
  ])('%s, in its own bytes', async ([, text, pointer, code]) => {
    const answer = await client.call<Problem>('POST', '/v1/messages/send', text)
    expect(answer.status).toBe(422)
    expect(answer.body.errors?.map((error) => [error.pointer, error.code])).toContainEqual([pointer, code])
  })
})

test('several faults are in one response', async () => {
  const answer = await client.call<Problem>('POST', '/v1/messages/send', {
    to: 5,
    message: 'x'.repeat(1601),
    colour: 'red',
    type: 'spam',
    metadata: { note: 'a\0b' },
  })
  expect(answer.status).toBe(422)
  expect(answer.body.detail).toBe('5 fields are invalid.')
  expect(answer.body.errors?.map(({ pointer, code }) => `${pointer} ${code}`).toSorted()).toEqual([
    '#/colour unknown_field',
    '#/message too_long',
    '#/metadata/note invalid_characters',
    '#/to invalid_type',
    '#/type invalid_value',
  ])
  const semantic = await client.call<Problem>('POST', '/v1/messages', {
    to: '155512',
    from: '!',
    message,
    send_at: '2020-01-01T00:00:00Z',
    callback_url: 'ftp://example.com',
  })
  expect(semantic.body.errors?.map((error) => error.pointer).toSorted()).toEqual([
    '#/callback_url',
    '#/from',
    '#/send_at',
    '#/to',
  ])
})

test('1600 characters are accepted by code points, whatever they cost', async () => {
  for (const text of ['x'.repeat(1600), '👍'.repeat(1600)]) {
    const preview = await client.call<{ characters: number }>('POST', '/v1/messages/preview', { message: text })
    expect([preview.status, preview.body.characters]).toEqual([200, 1600])
  }
})

test('another account’s resources are not found', async () => {
  const theirs = await client.expect<{ id: string }>(
    'POST',
    '/v1/campaigns',
    { name: 'Theirs', key: 'theirs' },
    { ...other.headers },
  )
  for (const campaign of [theirs.id, 'theirs']) {
    const answer = await client.call<Problem>('POST', '/v1/messages/send', { to, message, campaign })
    expect(answer.body.errors?.map((error) => [error.pointer, error.code])).toEqual([
      ['#/campaign', 'campaign_not_found'],
    ])
  }
  expect((await client.call('GET', `/v1/campaigns/${theirs.id}`)).status).toBe(404)

  const body = { to, message: 'Mine', send_at: new Date(Date.now() + 3_600_000).toISOString() }
  const sent = await client.call<Message & { status: unknown }>('POST', '/v1/messages', body, { ...other.headers })
  expect(sent.status).toBe(202)
  for (const [method, path] of [
    ['GET', `/v1/messages/${sent.body.id}`],
    ['GET', `/v1/messages/${sent.body.id}/events`],
    ['POST', `/v1/messages/${sent.body.id}/cancel`],
  ] as const) {
    const answer = await client.call<Problem>(method, path)
    expect([answer.status, answer.body.code]).toEqual([404, 'not_found'])
  }
  expect(await client.listMessages()).toEqual([])
})

describe('an invalid credential gets 401 with the reason', () => {
  const get = (authorization: string): ReturnType<typeof client.call<Problem>> =>
    client.call<Problem>('GET', '/v1/messages', undefined, { authorization })

  test('none, and an invalid one', async () => {
    const none = await fetch(`${program.address}/v1/messages`)
    expect([none.status, ((await none.json()) as Problem).code]).toEqual([401, 'missing_token'])
    expect(none.headers.get('www-authenticate')).toContain('Bearer')
    for (const wrong of ['Bearer nonsense', `Bearer ${client.key.slice(0, -1)}`, `Bearer ${client.key}x`])
      expect(await get(wrong)).toMatchObject({ status: 401, body: { code: 'invalid_token' } })
  })

  test('expired and revoked keys', async () => {
    const create = async (more: object): Promise<{ id: string; secret: string }> =>
      client.expect('POST', '/v1/api-keys', { name: newId(), scopes: ['messages:read'], ...more })
    const expired = await create({ expires_at: new Date(Date.now() + 60_000).toISOString() })
    const revoked = await create({})
    expect((await get(`Bearer ${expired.secret}`)).status).toBe(200)
    await db.query(`update api_keys set expires_at = now() - interval '1 second' where expires_at is not null`)
    await client.expect('DELETE', `/v1/api-keys/${revoked.id}`)
    expect(await get(`Bearer ${revoked.secret}`)).toMatchObject({ status: 401, body: { code: 'invalid_token' } })
    await expect.poll(async () => (await get(`Bearer ${expired.secret}`)).body.code).toBe('expired_token')
  })

  test('an access token after its logout, and a key without the scope', async () => {
    const { email, password } = program
    const login = await client.expect<{ access_token: string }>('POST', '/v1/auth/login', { email, password })
    const authorization = `Bearer ${login.access_token}`
    expect((await get(authorization)).status).toBe(200)
    await client.expect('POST', '/v1/auth/logout', undefined, { authorization })
    expect(await get(authorization)).toMatchObject({ status: 401, body: { code: 'invalid_token' } })
    const reader = await client.expect<{ secret: string }>('POST', '/v1/api-keys', {
      name: 'r',
      scopes: ['messages:read'],
    })
    const answer = await client.call<Problem>(
      'POST',
      '/v1/messages',
      { to, message },
      { authorization: `Bearer ${reader.secret}` },
    )
    expect([answer.status, answer.body.code]).toEqual([403, 'insufficient_scope'])
    expect(answer.body.detail).toContain('messages:write')
  })
})

test('a wrong query, cursor, id, path and method get different errors', async () => {
  const cases: [method: string, path: string, status: number, code: string][] = [
    ['GET', '/v1/messages?limit=0', 422, 'validation_failed'],
    ['GET', '/v1/messages?limit=many', 422, 'validation_failed'],
    ['GET', '/v1/messages?colour=red', 422, 'validation_failed'],
    ['GET', '/v1/messages?status=gone', 422, 'validation_failed'],
    ['GET', '/v1/messages?cursor=nonsense', 422, 'invalid_cursor'],
    ['GET', '/v1/messages?to=%00', 422, 'validation_failed'],
    ['GET', '/v1/messages?created_after=yesterday', 422, 'validation_failed'],
    ['GET', '/v1/messages/msg_nonsense', 404, 'not_found'],
    ['GET', '/v1/messages/%00', 404, 'not_found'],
    ['GET', '/v1/messages/%ff', 404, 'not_found'],
    ['GET', '/v1/campaigns/%00', 404, 'not_found'],
    ['GET', '/v1/campaigns/%00/contacts?limit=0', 404, 'not_found'],
    ['GET', '/v1/campaigns/%00/contacts/export', 404, 'not_found'],
    ['GET', `/v1/messages/${'x'.repeat(300)}`, 404, 'not_found'],
    ['GET', '/v1/nowhere', 404, 'not_found'],
    ['DELETE', '/v1/messages', 405, 'method_not_allowed'],
  ]
  for (const [method, path, status, code] of cases) {
    const answer = await client.call<Problem>(method, path)
    expect([path, answer.status, answer.body?.code]).toEqual([path, status, code])
  }
})

test('all faults of a query are reported at once, by its schema and beyond', async () => {
  const campaign = await client.call<{ id: string }>('POST', '/v1/campaigns', { name: 'Queries' })
  const contacts = `/v1/campaigns/${campaign.body.id}/contacts`
  const cases: [path: string, ...wrong: string[]][] = [
    ['/v1/messages?limit=0&status=gone&contact=x&colour=red', '?limit', '?status', '?contact', '?colour'],
    ['/v1/messages?cursor=nonsense&campaign=none', '?campaign'],
    ['/v1/messages/export?format=pdf&error_code=x', '?format', '?error_code'],
    [`${contacts}?limit=0&language=!`, '?limit', '?language'],
    [`${contacts}/export?format=pdf&tag=a,,b`, '?format', '?tag'],
    ['/v1/conversations?limit=0&assignee=x&our_number=!', '?limit', '?assignee', '?our_number'],
    ['/v1/consent?limit=0&number=12', '?limit', '?number'],
    ['/v1/consent?limit=0', '?limit', '?number'],
    ['/v1/events?limit=0&type=x&message=x', '?limit', '?type', '?message'],
    ['/v1/events/stream?max_seconds=x&type=x', '?max_seconds', '?type'],
    ['/v1/audit-events?limit=0&actor=x', '?limit', '?actor'],
    ['/v1/usage?group=x&from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', '?group', '?to'],
    ['/v1/usage?from=2020-01-01T00:00:00Z&to=x', '?to'],
    [
      `/v1/campaigns/${campaign.body.id}/stats?group=x&from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z`,
      '?group',
      '?to',
    ],
    [
      `/v1/campaigns/${campaign.body.id}/stats/export?x=1&from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z`,
      '?x',
      '?to',
    ],
  ]
  for (const [path, ...wrong] of cases) {
    const { status, body } = await client.call<Problem>('GET', path)
    expect([path, status, body?.errors?.map(({ pointer }) => pointer).sort()]).toEqual([path, 422, wrong.sort()])
  }
})

test('an invalid idempotency key, or one with another body, is refused', async () => {
  for (const key of ['', 'x'.repeat(300), 'with a\ttab'])
    expect(await client.call('POST', '/v1/messages', { to, message }, { 'idempotency-key': key })).toMatchObject({
      status: 400,
      body: { code: 'invalid_header' },
    })
  const noKey = await client.call('POST', '/v1/messages/batch', { messages: [{ to, message }] })
  expect(noKey).toMatchObject({ status: 400, body: { code: 'invalid_header' } })
})

test('a request that is not HTTP gets a response and is disconnected, and the next caller is served', async () => {
  const { hostname, port } = new URL(program.address)
  const socket = connect(Number(port), hostname)
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.write('\x16\x03\x01 this is no HTTP\r\n\r\n')
  await new Promise((resolve) => socket.once('close', resolve))
  expect(Buffer.concat(chunks).toString()).toMatch(/^HTTP\/1\.1 400 .*\r\n.*application\/problem\+json/s)
  expect((await client.call('GET', '/v1/settings')).status).toBe(200)
  expect(program.stderr).not.toContain('"level":50')
})
