import { expect, test } from 'vitest'
import { newId, parseId, showId } from '../ground/base/ids.ts'
import { openAuthenticator } from './authenticate.ts'
import { createTestAccount, accountsWorld, bearer } from './testing.ts'
import { hashToken, newKey, tokenOf } from './token.ts'

const { db, sql, authenticator, app, ask, post } = await accountsWorld()

test('each fault of a token has its own response', async () => {
  const account = await createTestAccount(db)
  const cases: [string | undefined, string, RegExp][] = [
    [undefined, 'missing_token', /missing/],
    ['', 'missing_token', /form/],
    ['Basic eDp5', 'missing_token', /form/],
    ['Bearer', 'missing_token', /form/],
    ['Bearer a b', 'missing_token', /form/],
    ['Bearer nonsense', 'invalid_token', /mistyped/],
    [`Bearer ${account.token.slice(0, -1)}${account.token.endsWith('x') ? 'y' : 'x'}`, 'invalid_token', /mistyped/],
    [`Bearer ${newKey('live').key}`, 'invalid_token', /no such/],
    [`Bearer ${tokenOf('access', Buffer.alloc(32))}`, 'invalid_token', /no such/],
    [`Bearer ${tokenOf('refresh', Buffer.alloc(32))}`, 'invalid_token', /works only with/],
  ]
  for (const [authorization, code, detail] of cases) {
    const answer = await app.inject({
      url: '/v1/settings',
      headers: authorization === undefined ? {} : { authorization },
    })
    expect(answer.json(), String(authorization)).toMatchObject({
      status: 401,
      code,
      detail: expect.stringMatching(detail),
    })
    expect(answer.headers['www-authenticate']).toBe(
      code === 'missing_token' ? 'Bearer realm="heliogram"' : 'Bearer realm="heliogram", error="invalid_token"',
    )
  }
  expect((await app.inject(`/v1/settings?access_token=${account.token}`)).json()).toMatchObject({
    code: 'missing_token',
    detail: expect.stringMatching(/URLs/),
  })
  expect(
    (await app.inject({ url: '/v1/settings', headers: { authorization: `bearer  ${account.token}` } })).statusCode,
  ).toBe(200)
})

test('expired, revoked and suspended credentials get different errors', async () => {
  const stateOf = async (change: string): Promise<string> => {
    const account = await createTestAccount(db)
    await db.query(change, [account.accountId])
    return (await get('/v1/settings', account.token)).json().code
  }
  expect(await stateOf("update api_keys set expires_at = now() - interval '1 s' where account_id = $1")).toBe(
    'expired_token',
  )
  expect(await stateOf('update api_keys set revoked_at = now() where account_id = $1')).toBe('invalid_token')
  expect(await stateOf("update accounts set status = 'suspended' where id = $1")).toBe('account_suspended')
})

test('a key is checked by its secret, not by its public id', async () => {
  const account = await createTestAccount(db)
  const { key } = newKey('live')
  await sql`update api_keys set secret_hash = ${hashToken(key)} where account_id = ${account.accountId}`
  expect((await get('/v1/settings', account.token)).json().code).toBe('invalid_token')
})

test('a caller is cached, but never longer than its token lives', async () => {
  const account = await createTestAccount(db)
  await sql`update api_keys set expires_at = now() + interval '2 seconds' where account_id = ${account.accountId}`
  const authorization = `Bearer ${account.token}`
  await authenticator.authenticate(authorization, '192.0.2.1')
  expect(authenticator.authenticate(authorization, '192.0.2.1')).not.toBeInstanceOf(Promise)
  await expect.poll(async () => (await get('/v1/settings', account.token)).json().code).toBe('expired_token')
})

test('a thousand requests with a new token share one look-up', async () => {
  const account = await createTestAccount(db)
  let queries = 0
  const counting = new Proxy(db, {
    get: (target, name) => {
      if (name === 'query') queries++
      return Reflect.get(target, name)
    },
  })
  const own = openAuthenticator(counting)
  const callers = await Promise.all(
    Array.from({ length: 1000 }, async () => own.authenticate(`Bearer ${account.token}`, '192.0.2.1')),
  )
  expect(new Set(callers).size).toBe(1)
  expect(queries).toBe(1)
})

test('an operator sets an account’s request limit, its settings show it, and absurd limits are refused', async () => {
  const operator = await createTestAccount(db)
  const account = await createTestAccount(db, { scopes: ['settings:read', 'settings:write', 'messages:write'] })
  await sql`update accounts set parent_id = ${operator.accountId} where id = ${account.accountId}`
  const id = showId('acc', account.accountId)
  const patch = (pace: unknown, { headers } = operator) =>
    app.inject({ method: 'PATCH', url: `/v1/accounts/${id}`, headers, payload: { pace } })
  expect((await patch(7.5)).json()).toMatchObject({ id, object: 'account', status: 'active', pace: 7.5 })
  expect((await get(`/v1/accounts/${id}`, operator.token)).json()).toMatchObject({ pace: 7.5 })
  expect((await get('/v1/settings', account.token)).json().limits.segments_per_second).toBe(7.5)
  expect((await patch(null)).json()).toMatchObject({ pace: null })
  for (const pace of [0, -5, 1e9, '1']) expect((await patch(pace)).statusCode).toBe(422)
  expect((await patch(1000, account)).json().code).toBe('insufficient_scope')
  const nobody = { method: 'PATCH', headers: operator.headers, payload: { pace: 1 } } as const
  expect((await app.inject({ ...nobody, url: `/v1/accounts/${showId('acc', newId())}` })).statusCode).toBe(404)
  expect((await app.inject({ ...nobody, url: '/v1/accounts/x' })).statusCode).toBe(404)
})

test('a key is made, listed without its secret, used and revoked', async () => {
  const account = await createTestAccount(db)
  const other = await createTestAccount(db)
  const made = await post(
    '/v1/api-keys',
    { name: 'CI', scopes: ['settings:read'], mode: 'test', expires_at: null },
    account.headers,
  )
  expect(made.statusCode).toBe(201)
  const { id, secret, ...shown } = made.json()
  expect(made.headers['location']).toBe(`/v1/api-keys/${id}`)
  expect(parseId('key', id)).not.toBeNull()
  expect(shown).toMatchObject({
    name: 'CI',
    mode: 'test',
    scopes: ['settings:read'],
    expires_at: null,
    last_used_at: null,
  })
  expect((await get('/v1/settings', secret)).json().mode).toBe('test')
  const list = (await get('/v1/api-keys', account.token)).json()
  expect(list.data.map((key: { id: string }) => key.id)).toContain(id)
  expect(JSON.stringify(list)).not.toContain(secret.slice(-20))
  expect((await get(`/v1/api-keys/${id}`, account.token)).json().last_used_at).not.toBeNull()
  expect((await get(`/v1/api-keys/${id}`, other.token)).statusCode).toBe(404)
  const revoke = (token: string) =>
    app.inject({ method: 'DELETE', url: `/v1/api-keys/${id}`, headers: { authorization: `Bearer ${token}` } })
  expect((await revoke(other.token)).statusCode).toBe(404)
  const [, , publicId] = secret.split('_')
  const login = (await post('/v1/auth/login', { client_id: publicId, client_secret: secret })).json()
  expect((await get('/v1/settings', login.access_token)).statusCode).toBe(200)
  expect((await revoke(account.token)).statusCode).toBe(204)
  expect((await get('/v1/settings', secret)).json().code).toBe('invalid_token')
  expect((await get('/v1/settings', login.access_token)).json().code).toBe('invalid_token')
  expect((await post('/v1/auth/refresh', { refresh_token: login.refresh_token })).json().code).toBe('invalid_token')
  expect((await revoke(account.token)).statusCode).toBe(404)
})

test('a key never creates a key with more rights than its creator’s', async () => {
  const account = await createTestAccount(db, { scopes: ['keys:write', 'settings:read'] })
  const answer = await post('/v1/api-keys', { name: 'x', scopes: ['settings:read', 'carriers:write'] }, account.headers)
  expect(answer.json().errors).toEqual([
    { pointer: '#/scopes/1', code: 'invalid_value', detail: 'carriers:write is not among your own scopes' },
  ])
  const made = (await post('/v1/api-keys', { name: 'x' }, account.headers)).json()
  expect(made.scopes).toEqual(['keys:write', 'settings:read'])
  expect(Date.parse(made.expires_at) - Date.now()).toBeGreaterThan(364 * 86_400_000)
  expect(
    (await post('/v1/api-keys', { name: 'x', expires_at: '2020-01-01T00:00:00Z' }, account.headers)).json().errors[0]
      .code,
  ).toBe('out_of_range')
})

test('settings are shown, and an ETag saves reading them again', async () => {
  const account = await createTestAccount(db)
  const answer = await get('/v1/settings', account.token)
  expect(answer.json()).toMatchObject({
    object: 'settings',
    account: { name: 'Test', status: 'active' },
    mode: 'live',
    default_sender: null,
    opt_out: { stop_keywords: ['STOP'], replies: { stop: 'Test: stopped' } },
    limits: { max_batch: 10_000 },
    webhooks: { endpoints: 0, failing: 0, disabled: 0 },
    features: { webhooks: true, rate_limits: true },
    api_version: 'v1',
    server_version: '1.2.3',
  })
  const etag = String(answer.headers['etag'])
  const again = await app.inject({ url: '/v1/settings', headers: { ...account.headers, 'if-none-match': etag } })
  expect([again.statusCode, again.body, again.headers['content-length']]).toEqual([304, '', undefined])
})

test('settings are changed one by one, but not if another caller has changed them meanwhile', async () => {
  const account = await createTestAccount(db)
  const patch = (payload: object, headers: Record<string, string> = {}) =>
    app.inject({ method: 'PATCH', url: '/v1/settings', payload, headers: { ...account.headers, ...headers } })
  const before = await get('/v1/settings', account.token)
  expect(before.json()).toMatchObject({ on_unknown: null, account: { name: 'Test' } })
  const etag = String(before.headers['etag'])
  const changed = await patch({ on_unknown: 'resend' }, { 'if-match': etag })
  expect([changed.statusCode, changed.json().on_unknown, changed.json().account.name]).toEqual([200, 'resend', 'Test'])
  expect((await patch({ account: { name: 'Other' } }, { 'if-match': etag })).json()).toMatchObject({
    status: 409,
    code: 'version_conflict',
  })
  expect((await patch({ account: { name: 'Other' } })).json()).toMatchObject({
    on_unknown: 'resend',
    account: { name: 'Other' },
  })
  expect((await patch({ on_unknown: null })).json().on_unknown).toBeNull()
  for (const body of [{}, { on_unknown: 'often' }, { account: { name: '' } }, { default_country: 'Narnia' }])
    expect((await patch(body)).statusCode).toBe(422)
  const reader = await createTestAccount(db, { scopes: ['settings:read'] })
  const refused = await app.inject({
    method: 'PATCH',
    url: '/v1/settings',
    payload: { on_unknown: 'hold' },
    headers: reader.headers,
  })
  expect(refused.json().code).toBe('insufficient_scope')
})

const get = (url: string, token: string) => ask('GET', url, bearer(token))
