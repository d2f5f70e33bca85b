/** Limits of test keys, and cleanup after stolen or revoked keys. */
import { beforeEach, expect, test } from 'vitest'
import { scopes } from '../ground/http/http.ts'
import { newId, showId } from '../ground/base/ids.ts'
import { createTestAccount, createTestUser, accountsWorld, bearer } from './testing.ts'

const { db, sql, app, ask: askRaw } = await accountsWorld()
beforeEach(() => sql`delete from login_failures`)

test('a test key creates and changes no user who may send to people', async () => {
  const tester = await createTestAccount(db, { mode: 'test' })
  const user = await createTestUser(db, tester.accountId, { role: 'viewer' })
  const email = `${newId()}@example.com`
  const invitation = { email, role: 'viewer' }
  expect(await codeOf(ask('POST', '/v1/users/invitations', tester, invitation))).toBe('insufficient_scope')
  const at = `/v1/users/${showId('usr', user.userId)}`
  expect(await codeOf(ask('PATCH', at, tester, { role: 'sender' }))).toBe('insufficient_scope')
  expect(await codeOf(ask('DELETE', at, tester))).toBe('insufficient_scope')
  const below = { name: 'Below', owner_email: email }
  expect(await codeOf(ask('POST', '/v1/accounts', tester, below))).toBe('insufficient_scope')
  expect((await ask('POST', '/v1/accounts', tester, { name: 'Below', key: { name: 'x' } })).status).toBe(201)
})

test('a test key neither changes nor revokes a live one', async () => {
  const live = await createTestAccount(db)
  const { body: tester } = await ask('POST', '/v1/api-keys', live, { name: 'x', mode: 'test' })
  const { body: other } = await ask('POST', '/v1/api-keys', live, { name: 'y' })
  const caller = bearer(tester.secret)
  for (const [method, payload] of [
    ['PATCH', { name: 'mine' }],
    ['PATCH', { ip_allow: [] }],
    ['DELETE', undefined],
  ] as const)
    expect(await codeOf(ask(method, `/v1/api-keys/${other.id}`, caller, payload))).toBe('insufficient_scope')
  expect((await ask('PATCH', `/v1/api-keys/${tester.id}`, caller, { name: 'mine' })).status).toBe(200)
})

test('a test key neither withdraws an invitation nor changes settings', async () => {
  const live = await createTestAccount(db)
  const { body: tester } = await ask('POST', '/v1/api-keys', live, { name: 'x', mode: 'test' })
  const caller = bearer(tester.secret)
  const { body: invited } = await ask('POST', '/v1/users/invitations', live, {
    email: `${newId()}@example.com`,
    role: 'viewer',
  })
  const at = `/v1/users/invitations/${invited.id}`
  expect(await codeOf(ask('DELETE', at, caller))).toBe('insufficient_scope')
  expect((await ask('DELETE', at, live)).status).toBe(204)
  for (const change of [
    { retention: { message_body_days: 0 } },
    { quiet_hours: { enabled: false } },
    { on_unknown: 'resend' },
    { dedupe_window: 0 },
    { account: { name: 'Shop' } },
  ])
    expect(await codeOf(ask('PATCH', '/v1/settings', caller, change))).toBe('insufficient_scope')
})

test('no caller opens networks for a key with more rights', async () => {
  const owner = await createTestAccount(db)
  const { body: strong } = await ask('POST', '/v1/api-keys', owner, { name: 'x', ip_allow: ['192.0.2.1'] })
  const { body: weak } = await ask('POST', '/v1/api-keys', owner, { name: 'y', scopes: ['keys:write', 'keys:read'] })
  const at = `/v1/api-keys/${strong.id}`
  expect(await codeOf(ask('PATCH', at, bearer(weak.secret), { ip_allow: [] }))).toBe('insufficient_scope')
  expect((await ask('PATCH', at, bearer(weak.secret), { name: 'z' })).status).toBe(200)
})

test('a test key does not get the repeated response to a live key', async () => {
  const live = await createTestAccount(db)
  const { body: tester } = await ask('POST', '/v1/api-keys', live, { name: 'x', mode: 'test', scopes: [...scopes] })
  const headers = { 'idempotency-key': 'deploy-1' }
  const made = await ask('POST', '/v1/api-keys', live, { name: 'worker' }, headers)
  expect(made.body.secret).toMatch(/^hg_live_/)
  const again = ask('POST', '/v1/api-keys', bearer(tester.secret), { name: 'worker' }, headers)
  expect(await codeOf(again)).toBe('idempotency_key_reused')
})

test('a secret that a rotation has ended does not return with the next rotation', async () => {
  const owner = await createTestAccount(db)
  const { body: key } = await ask('POST', '/v1/api-keys', owner, { name: 'x' })
  const logIn = async (secret: string) => {
    const payload = { client_id: key.prefix, client_secret: secret }
    return (await app.inject({ method: 'POST', url: '/v1/auth/login', payload })).json()
  }
  const refresh = async (token: string) =>
    (await app.inject({ method: 'POST', url: '/v1/auth/refresh', payload: { refresh_token: token } })).statusCode
  const rotate = async (overlap: number) =>
    (await ask('POST', `/v1/api-keys/${key.id}/rotate`, owner, { overlap_seconds: overlap })).body
  const stolen = await logIn(key.secret)
  const { secret: second } = await rotate(0)
  const statuses = async () => [
    (await ask('GET', '/v1/settings', bearer(stolen.access_token))).status,
    await refresh(stolen.refresh_token),
  ]
  expect(await statuses()).toEqual([401, 401])
  const own = await logIn(second)
  await rotate(3600)
  expect(await statuses()).toEqual([401, 401])
  expect((await ask('GET', '/v1/settings', bearer(own.access_token))).status).toBe(200)
  // The second rotation ends the overlap of the first, for logins too.
  await rotate(3600)
  expect((await ask('GET', '/v1/settings', bearer(own.access_token))).status).toBe(401)
})

test('an invitation by a key ends with the key, and with its scopes', async () => {
  const owner = await createTestAccount(db)
  const { body: key } = await ask('POST', '/v1/api-keys', owner, { name: 'x', expires_at: null })
  const at = `/v1/api-keys/${key.id}`
  const open = async () => (await ask('GET', '/v1/users/invitations', owner)).body.data.length
  const invite = (role: string) =>
    ask('POST', '/v1/users/invitations', bearer(key.secret), { email: `${newId()}@example.com`, role })
  expect((await invite('admin')).status).toBe(201)
  await ask('PATCH', at, owner, { name: 'y', scopes: [...scopes] })
  expect(await open()).toBe(1)
  await ask('PATCH', at, owner, { scopes: ['users:write', 'messages:read', 'profile:read'] })
  expect(await open()).toBe(0)
  const again = await ask('POST', '/v1/api-keys', owner, { name: 'z', expires_at: null })
  key.secret = again.body.secret
  expect((await invite('viewer')).status).toBe(201)
  await ask('DELETE', `/v1/api-keys/${again.body.id}`, owner)
  expect(await open()).toBe(0)
})

test('a key with networks or an expiry invites nobody, because people have neither', async () => {
  const owner = await createTestAccount(db)
  const wanted = { email: `${newId()}@example.com`, role: 'viewer' }
  for (const [limit, detail] of [
    [{ ip_allow: ['127.0.0.1'], expires_at: null }, 'networks'],
    [{}, 'after your key expires'],
  ] as const) {
    const { body: key } = await ask('POST', '/v1/api-keys', owner, { name: 'x', ...limit })
    for (const [url, body] of [
      ['/v1/users/invitations', wanted],
      ['/v1/accounts', { name: 'Below', owner_email: wanted.email }],
    ] as const)
      expect((await ask('POST', url, bearer(key.secret), body)).body).toMatchObject({
        code: 'insufficient_scope',
        detail: expect.stringContaining(detail),
      })
  }
  expect((await ask('POST', '/v1/users/invitations', owner, wanted)).status).toBe(201)
})

test('an impossible date is reported, and a NUL in a form is only an error', async () => {
  const owner = await createTestAccount(db)
  const never = { name: 'x', expires_at: '2030-06-30T23:59:60Z' }
  expect(await codeOf(ask('POST', '/v1/api-keys', owner, never))).toBe('validation_failed')
  const form = await app.inject({
    method: 'POST',
    url: '/v1/oauth/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'grant_type=password&username=a%00b&password=x',
  })
  expect(form.statusCode).toBe(400)
})

test('only one check of an account’s audit log runs at a time', async () => {
  const owner = await createTestAccount(db)
  const check = () => ask('GET', '/v1/audit-events/verify', owner)
  const both = await Promise.all([check(), check()])
  expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 429])
  expect((await check()).status).toBe(200)
})

const ask = async (...asked: Parameters<typeof askRaw>) => {
  const answer = await askRaw(...asked)
  return { status: answer.statusCode, headers: answer.headers, body: answer.body === '' ? {} : answer.json() }
}
const codeOf = async (asked: ReturnType<typeof ask>): Promise<string | number> => {
  const { status, body } = await asked
  return body.code ?? status
}
