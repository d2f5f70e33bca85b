import { beforeEach, expect, test } from 'vitest'
import { inTransaction } from '../../ground/db/db.ts'
import { scopes as allScopes } from '../../ground/http/http.ts'
import { createFirstAccount } from '../first.ts'
import { createOwnerCode } from './owner-code.ts'
import { hashPassword } from './password.ts'
import { createTestAccount, accountsWorld, bearer } from '../testing.ts'
import { hashToken, newKey, tokenOf } from '../token.ts'

const { db, sql, app, ask, post } = await accountsWorld()
const made = await inTransaction(db, (tx) => createFirstAccount(tx, { firstEmail: 'Owner@example.com' }))
if (!made) throw new Error('the database was not empty')
const first = { ...made, email: 'Owner@example.com', password: 'six mirrors on a hill' }
const { code } = (await createOwnerCode(db)) ?? {}
expect((await post('/v1/auth/accept-invitation', { code, password: first.password })).statusCode).toBe(200)
beforeEach(() => sql`delete from login_failures`)

test('the first account is created once', async () => {
  expect(await inTransaction(db, (tx) => createFirstAccount(tx, { firstEmail: 'x@example.com' }))).toBeNull()
  const rows = await sql`select password_hash from users where email = ${'Owner@example.com'}`
  expect(JSON.stringify(rows)).not.toContain(first.password)
  expect((await get('/v1/settings', first.key)).statusCode).toBe(200)
})

test('a login returns a pair of tokens with the scopes of the role', async () => {
  const answer = await login(first.password, 'owner@EXAMPLE.com')
  expect(answer.statusCode).toBe(200)
  expect(answer.headers['cache-control']).toBe('no-store')
  expect(answer.json()).toEqual({
    access_token: expect.stringMatching(/^hg_at_/),
    token_type: 'Bearer',
    expires_in: 3600,
    refresh_token: expect.stringMatching(/^hg_rt_/),
    refresh_expires_in: 2_592_000,
    scope: allScopes.join(' '),
    account: { id: expect.stringMatching(/^acc_/), name: 'Heliogram' },
    user: { id: expect.stringMatching(/^usr_/), email: 'Owner@example.com', role: 'owner' },
  })
  expect((await get('/v1/settings', answer.json().access_token)).statusCode).toBe(200)
  const rows = await sql`select encode(hash, 'hex') from tokens`
  expect(JSON.stringify(rows)).not.toContain(answer.json().access_token)
})

test('a login with a user name says that it must be an address', async () => {
  const { errors } = (await post('/v1/auth/login', { username: first.email, password: first.password })).json()
  expect(errors).toMatchObject([{ pointer: '#/username', code: 'unknown_field', suggestion: 'email' }])
})

test('a login ignores a Bearer header and takes client credentials from a Basic one', async () => {
  expect(
    (await post('/v1/auth/login', { email: first.email, password: first.password }, { authorization: 'Bearer old' }))
      .statusCode,
  ).toBe(200)
  const [, , publicId] = first.key.split('_')
  const basic = Buffer.from(`hg_live_${publicId}:${first.key}`).toString('base64')
  const answer = await app.inject({
    method: 'POST',
    url: '/v1/auth/login',
    headers: { authorization: `Basic ${basic}` },
  })
  expect(answer.json()).toMatchObject({ user: null, scope: allScopes.join(' ') })
  expect((await get('/v1/settings', answer.json().access_token)).json().mode).toBe('live')
  expect((await post('/v1/auth/login', { client_id: publicId, client_secret: first.key })).statusCode).toBe(200)
})

test('all failed logins get the same response', async () => {
  const other = newKey('live')
  const answers = [
    await login('wrong'),
    await login('wrong', 'nobody@example.com'),
    await post('/v1/auth/login', { client_id: other.publicId, client_secret: other.key }),
    await post('/v1/auth/login', { client_id: other.publicId, client_secret: first.key }),
    await post('/v1/auth/login', { client_id: 'x', client_secret: 'y' }),
  ]
  for (const answer of answers) {
    const { request_id: _, ...problem } = answer.json()
    expect(problem).toMatchObject({
      status: 401,
      code: 'invalid_credentials',
      detail: 'Check the e-mail address and the password, or the key.',
    })
  }
})

test('a 401 names the scheme for the next try: the request’s, else Bearer', async () => {
  const basic = await app.inject({
    method: 'POST',
    url: '/v1/auth/login',
    headers: { authorization: `Basic ${btoa('x:y')}` },
  })
  const answers = [basic, await login('wrong'), await post('/v1/auth/refresh', { refresh_token: 'hg_rt_x' })]
  expect(answers.map(({ statusCode, headers }) => [statusCode, headers['www-authenticate']])).toEqual([
    [401, 'Basic realm="heliogram"'],
    [401, 'Bearer realm="heliogram"'],
    [401, 'Bearer realm="heliogram", error="invalid_token"'],
  ])
})

test.each([
  [{}, ['#/email required', '#/password required']],
  [{ email: 'x' }, ['#/password required']],
  [{ client_secret: 'x' }, ['#/client_id required']],
  [{ email: 'x', password: 'y', otp: '12345' }, ['#/otp invalid_format']],
  [{ client_id: 'x', client_secret: 'y', otp: '123456' }, ['#/client_id invalid_value']],
  [{ email: 'x', password: 'y', client_id: 'z' }, ['#/client_id invalid_value']],
  [{ email: 1, password: 'y' }, ['#/email invalid_type']],
])('the login %j is refused', async (body, expected) => {
  const { errors } = (await post('/v1/auth/login', body)).json()
  expect(errors.map((error: { pointer: string; code: string }) => `${error.pointer} ${error.code}`)).toEqual(expected)
})

test('failed logins slow down the next ones from the same place, and no others', async () => {
  for (let i = 0; i < 5; i++) expect((await login('wrong')).statusCode).toBe(401)
  // On a slow machine, the wait of one second would be over already.
  await sql`update login_failures set last_at = now() + interval '1 minute'`
  const answer = await login()
  expect(answer.statusCode).toBe(429)
  expect(answer.json().code).toBe('login_throttled')
  expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1)
  const elsewhere = await app.inject({
    method: 'POST',
    url: '/v1/auth/login',
    payload: { email: first.email, password: first.password },
    remoteAddress: '203.0.113.7',
  })
  expect(elsewhere.statusCode).toBe(200)
})

test('the delay doubles, and ends', async () => {
  await login('wrong')
  /** The delay right after this many failures, as a power of two; it falls while the test runs. */
  const delayAfter = async (failures: number): Promise<number> => {
    await sql`update login_failures set failures = ${failures}, last_at = now() where subject like 'pair%'`
    return Math.ceil(Math.log2(Number((await login()).headers['retry-after'])))
  }
  expect([await delayAfter(12), await delayAfter(13), await delayAfter(14)]).toEqual([7, 8, 9])
  await sql`update login_failures set last_at = now() - interval '513 seconds'`
  expect((await login('wrong')).statusCode).toBe(401)
  const rows = await sql`select failures from login_failures where subject like 'pair%'`
  expect(rows).toEqual([{ failures: 15 }])
  const { headers } = await login()
  expect(Number(headers['retry-after'])).toBeGreaterThan(512)
  expect(await delayAfter(40)).toBe(10)
  await sql`update login_failures set last_at = now() - interval '901 seconds'`
  expect((await login()).statusCode).toBe(200)
  expect((await db.query("select from login_failures where subject like 'pair%'")).rowCount).toBe(0)
})

test('a hundred guesses at once are not all free', async () => {
  const startedAt = performance.now()
  const answers = await Promise.all(Array.from({ length: 30 }, () => login('wrong')))
  // On a slow machine the delays end: one more attempt after a second, another after two more, and so on.
  const more = Math.floor(Math.log2(1 + (performance.now() - startedAt) / 1000))
  expect(answers.filter((answer) => answer.statusCode === 401).length).toBeLessThanOrEqual(5 + more)
})

test('an outdated hash is replaced at login', async () => {
  const account = await createTestAccount(db)
  const old = '$argon2id$v=19$m=8192,t=1,p=1$'
  const { argon2Sync } = await import('node:crypto')
  const nonce = Buffer.alloc(16, 1)
  const tag = argon2Sync('argon2id', {
    message: 'a long enough one',
    nonce,
    memory: 8192,
    passes: 1,
    parallelism: 1,
    tagLength: 32,
  })
  const plain = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '')
  await sql`update users set password_hash = ${`${old}${plain(nonce)}$${plain(tag)}`}
    where account_id = ${account.accountId}`
  expect((await login('a long enough one', `${account.userId}@example.com`)).statusCode).toBe(200)
  const [row] = await sql<{ hash: string }>`select password_hash as hash from users
    where account_id = ${account.accountId}`
  expect(row?.hash).toMatch(/m=19456,t=2/)
  expect((await login('a long enough one', `${account.userId}@example.com`)).statusCode).toBe(200)
})

const refresh = (token: string) => post('/v1/auth/refresh', { refresh_token: token })

test('a refresh returns a new pair, and the same one again if its response was lost', async () => {
  const { refresh_token: token, access_token: access } = (await login()).json()
  const [one, two] = await Promise.all([refresh(token), refresh(token)])
  expect(one.statusCode).toBe(200)
  expect(two.json()).toMatchObject({ access_token: one.json().access_token, refresh_token: one.json().refresh_token })
  expect(one.json().access_token).not.toBe(access)
  expect((await refresh(token)).json().access_token).toBe(one.json().access_token)
  expect((await get('/v1/settings', one.json().access_token)).statusCode).toBe(200)
  expect((await refresh(one.json().refresh_token)).statusCode).toBe(200)
})

test('a refresh token used again after a minute ends the login', async () => {
  const { refresh_token: token } = (await login()).json()
  const next = (await refresh(token)).json()
  await sql`update tokens set replaced_at = now() - interval '61 seconds' where hash = ${hashToken(token)}`
  expect((await refresh(token)).json()).toMatchObject({ status: 401, code: 'invalid_token' })
  expect((await refresh(next.refresh_token)).json()).toMatchObject({ status: 401, code: 'invalid_token' })
  expect((await get('/v1/settings', next.access_token)).json().code).toBe('invalid_token')
})

test('expired, unknown and other tokens do not refresh', async () => {
  const { refresh_token: token, access_token: access } = (await login()).json()
  await sql`update tokens set expires_at = now() - interval '1 second' where hash = ${hashToken(token)}`
  expect((await refresh(token)).json().code).toBe('expired_token')
  expect((await refresh(access)).json().code).toBe('invalid_token')
  expect((await refresh(tokenOf('refresh', Buffer.alloc(32)))).json().code).toBe('invalid_token')
})

test('a logout ends the whole login at once, and can be repeated', async () => {
  const { access_token: access, refresh_token: token } = (await login()).json()
  expect((await get('/v1/settings', access)).statusCode).toBe(200)
  const logout = () =>
    app.inject({ method: 'POST', url: '/v1/auth/logout', headers: { authorization: `Bearer ${access}` } })
  expect((await logout()).statusCode).toBe(204)
  expect((await logout()).statusCode).toBe(204)
  expect((await get('/v1/settings', access)).json().code).toBe('invalid_token')
  expect((await refresh(token)).json().code).toBe('invalid_token')
  expect((await app.inject({ method: 'POST', url: '/v1/auth/logout' })).json().code).toBe('missing_token')
})

test('the OAuth endpoint follows RFC 6749', async () => {
  const token = (fields: Record<string, string>, headers = {}) =>
    app.inject({
      method: 'POST',
      url: '/v1/oauth/token',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      payload: new URLSearchParams(fields).toString(),
    })
  const [, , publicId = ''] = first.key.split('_')
  const pair = await token({ grant_type: 'client_credentials', client_id: publicId, client_secret: first.key })
  expect(pair.json()).toMatchObject({ token_type: 'Bearer', expires_in: 3600 })
  expect(pair.headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' })
  expect((await token({ grant_type: 'refresh_token', refresh_token: pair.json().refresh_token })).statusCode).toBe(200)
  expect((await token({ grant_type: 'password', username: first.email, password: first.password })).statusCode).toBe(
    200,
  )
  const wrong = await token({ grant_type: 'client_credentials', client_id: 'x', client_secret: 'y' })
  expect([wrong.statusCode, wrong.json().error]).toEqual([401, 'invalid_client'])
  // §5.2: credentials of a person are a grant.
  const person = await token({ grant_type: 'password', username: first.email, password: 'no password of anybody' })
  expect([person.statusCode, person.json().error]).toEqual([400, 'invalid_grant'])
  expect((await token({ grant_type: 'refresh_token', refresh_token: 'x' })).json().error).toBe('invalid_grant')
  expect((await token({ grant_type: 'implicit' })).json().error).toBe('unsupported_grant_type')
  expect((await token({})).json()).toEqual({
    error: 'invalid_request',
    error_description: 'grant_type must be given once.',
  })
})

test('a disabled user loses access', async () => {
  const account = await createTestAccount(db)
  await sql`update users set password_hash = ${await hashPassword('a long enough one')}
    where account_id = ${account.accountId}`
  const pair = (await login('a long enough one', `${account.userId}@example.com`)).json()
  await sql`update users set status = 'disabled' where account_id = ${account.accountId}`
  expect((await get('/v1/settings', pair.access_token)).json().code).toBe('invalid_token')
  expect((await refresh(pair.refresh_token)).json().code).toBe('invalid_token')
  expect((await login('a long enough one', `${account.userId}@example.com`)).json().code).toBe('invalid_credentials')
})

test('the document describes both refusals of the token endpoint: for a form, and for an unreadable request', async () => {
  const { paths } = (await app.inject('/v1/openapi.json')).json()
  const { content } = paths['/v1/oauth/token'].post.responses['400']
  expect(Object.keys(content)).toEqual(['application/json', 'application/problem+json'])
})

const get = (url: string, token: string) => ask('GET', url, bearer(token))
const login = (password = first.password, email = first.email) => post('/v1/auth/login', { email, password })
