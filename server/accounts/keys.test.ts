import { beforeEach, expect, test } from 'vitest'
import { inTransaction } from '../ground/db/db.ts'
import { scopes } from '../ground/http/http.ts'
import { newId, showId } from '../ground/base/ids.ts'
import { openAuthenticator } from './authenticate.ts'
import { createKey } from './keys.ts'
import { allowNetworks, readNetworks } from './networks.ts'
import { buildAccountsApp, createTestAccount, createTestUser, accountsWorld, bearer, type Caller } from './testing.ts'

const { db, sql, app, ask } = await accountsWorld()
const elsewhere = await buildAccountsApp(db)
beforeEach(() => sql`delete from login_failures`)

test('a key and its logins work only from its networks', async () => {
  const account = await createTestAccount(db)
  const key = await make(account, { name: 'x', ip_allow: ['192.0.2.77', '198.51.100.9/24', '2001:db8::1/32'] })
  expect(key.ip_allow).toEqual(['192.0.2.77/32', '198.51.100.0/24', '2001:db8::/32'])
  for (const ip of ['192.0.2.77', '::ffff:192.0.2.77', '198.51.100.200', '2001:db8:9::7'])
    expect(await codeOf(key.secret, ip), ip).toBe('in')
  for (const ip of ['192.0.2.78', '198.51.101.1', '2001:db9::1', '::1', '127.0.0.1'])
    expect(await codeOf(key.secret, ip), ip).toBe('ip_not_allowed')
  expect((await logIn(key.secret)).code).toBe('ip_not_allowed')
  const { access_token: token } = await logIn(key.secret, '192.0.2.77')
  expect(await codeOf(token, '192.0.2.77')).toBe('in')
  expect(await codeOf(token, '203.0.113.1')).toBe('ip_not_allowed')
})

test('only a trusted proxy can state a caller’s address', async () => {
  const account = await createTestAccount(db)
  const key = await make(account, { name: 'x', ip_allow: ['192.0.2.77', '2001:db8::7'] })
  const behind = await buildAccountsApp(db, { trustedProxies: ['10.0.0.0/8'] })
  const through = async (proxy: string, forwarded: string): Promise<number> =>
    (
      await behind.inject({
        url: '/v1/settings',
        headers: { ...bearer(key.secret).headers, 'x-forwarded-for': forwarded },
        remoteAddress: proxy,
      })
    ).statusCode
  expect(await through('10.1.2.3', '192.0.2.77')).toBe(200)
  expect(await through('10.1.2.3', '192.0.2.77, 203.0.113.9')).toBe(403)
  expect(await through('203.0.113.9', '192.0.2.77')).toBe(403)
  // Some proxies add the port of the connection.
  expect(await through('10.1.2.3', '192.0.2.77:50123')).toBe(200)
  expect(await through('10.1.2.3', '[2001:db8::7]:443, 10.9.9.9:1')).toBe(200)
  expect(await through('10.1.2.3', '192.0.2.77:50123, 203.0.113.9:1')).toBe(403)
  expect(await through('10.1.2.3', '192.0.2.77:x')).toBe(403)
  await behind.close()
})

test.each([
  ['10/8'],
  ['010.0.0.1'],
  ['0x7f.0.0.1'],
  ['1.2.3.4/33'],
  ['1.2.3.4/-1'],
  ['::/129'],
  ['host'],
  [''],
  ['1.2.3.4/'],
])('the network %j is refused', async (network) => {
  const account = await createTestAccount(db)
  const answer = await ask('POST', '/v1/api-keys', account, { name: 'x', ip_allow: ['192.0.2.1', network] })
  expect(answer.json().errors).toMatchObject([{ pointer: '#/ip_allow/1', code: 'invalid_format' }])
})

test('no stored network breaks the check, and an address may have a zone', () => {
  const { networks } = readNetworks(['::ffff:10.0.0.0/104', '0.0.0.0/0', '192.0.2.1', 'fe80::1'], '#')
  const isAllowed = allowNetworks(networks)
  expect([isAllowed('203.0.113.4'), isAllowed('fe80::1%eth0'), isAllowed('nonsense'), isAllowed('')]).toEqual([
    true,
    true,
    false,
    false,
  ])
})

test('a rotated key has a new secret, and the old one works until the overlap ends', async () => {
  const account = await createTestAccount(db)
  const key = await make(account, { name: 'x', scopes: ['settings:read'], mode: 'test' })
  const pair = await logIn(key.secret)
  const rotate = (payload?: object, headers = {}) =>
    ask('POST', `/v1/api-keys/${key.id}/rotate`, account, payload, headers)
  const rotated = await rotate({ overlap_seconds: 600 })
  expect(rotated.json()).toMatchObject({
    id: key.id,
    prefix: key.prefix,
    scopes: ['settings:read'],
    mode: 'test',
    overlap_ends_at: expect.any(String),
  })
  const { secret, overlap_ends_at: endsAt } = rotated.json()
  expect(Date.parse(endsAt) - Date.now()).toBeGreaterThan(590_000)
  expect(secret).not.toBe(key.secret)
  const during = await logIn(key.secret)
  for (const token of [secret, key.secret, pair.access_token, during.access_token])
    expect(await codeOf(token)).toBe('in')
  expect((await refresh(pair.refresh_token)).statusCode).toBe(200)
  await sql`update api_keys set previous_until = now()
    where account_id = ${account.accountId} and id <> ${account.keyId}`
  const later = openAuthenticator(db)
  const isIn = async (token: string): Promise<boolean> =>
    Promise.resolve(later.authenticate(`Bearer ${token}`, '127.0.0.1')).then(
      () => true,
      () => false,
    )
  const fresh = await logIn(secret)
  expect(await Promise.all([secret, fresh.access_token].map(isIn))).toEqual([true, true])
  expect(await Promise.all([key.secret, pair.access_token, during.access_token].map(isIn))).toEqual([
    false,
    false,
    false,
  ])
  for (const { refresh_token: token } of [pair, during])
    expect((await refresh(token)).json().code).toBe('invalid_token')
  expect((await refresh(fresh.refresh_token)).statusCode).toBe(200)
  expect((await logIn(key.secret)).code).toBe('invalid_credentials')
  // Without an overlap the old secret ends at once, and a repeated request returns the same new secret.
  const once = await rotate({ overlap_seconds: 0 }, { 'idempotency-key': 'rotate' })
  const again = await rotate({ overlap_seconds: 0 }, { 'idempotency-key': 'rotate' })
  expect(again.json().secret).toBe(once.json().secret)
  expect(once.json().overlap_ends_at).toBeNull()
  expect([await codeOf(secret), await codeOf(once.json().secret)]).toEqual(['invalid_token', 'in'])
  for (const overlap_seconds of [-1, 604_801, 1.5]) expect((await rotate({ overlap_seconds })).statusCode).toBe(422)
  expect((await rotate()).json().overlap_ends_at).not.toBeNull()
})

test('no caller gets the secret of a key with more rights', async () => {
  const account = await createTestAccount(db)
  const weak = await make(account, { name: 'x', scopes: ['keys:write', 'settings:read'] })
  const testing = await make(account, { name: 'x', mode: 'test' })
  const target = await make(account, { name: 'x', scopes: ['settings:read'] })
  const rotate = async (caller: Caller, id: string): Promise<string> => {
    const answer = await ask('POST', `/v1/api-keys/${id}/rotate`, caller)
    return answer.statusCode === 200 ? 'done' : answer.json().code
  }
  expect(await rotate(bearer(weak.secret), showId('key', account.keyId))).toBe('insufficient_scope')
  expect(await rotate(bearer(testing.secret), target.id)).toBe('insufficient_scope')
  expect(await rotate(bearer(weak.secret), target.id)).toBe('done')
  const other = await createTestAccount(db)
  expect(await rotate(other, target.id)).toBe('not_found')
  expect(await rotate(account, showId('key', newId()))).toBe('not_found')
})

test('a key can be renamed and lose scopes, but never gain them; its logins follow', async () => {
  const account = await createTestAccount(db)
  const key = await make(account, { name: 'x', scopes: ['settings:read', 'keys:read'] })
  const { access_token: token } = await logIn(key.secret)
  const change = (payload: object, caller: Caller = account) => ask('PATCH', `/v1/api-keys/${key.id}`, caller, payload)
  expect((await ask('GET', '/v1/api-keys', bearer(token))).statusCode).toBe(200)
  expect((await change({ scopes: ['settings:read', 'messages:write'] })).json().errors).toMatchObject([
    { pointer: '#/scopes/1', code: 'invalid_value' },
  ])
  expect((await change({ name: 'y', scopes: ['settings:read'] })).json()).toMatchObject({
    name: 'y',
    scopes: ['settings:read'],
  })
  for (const caller of [bearer(key.secret), bearer(token)])
    expect((await ask('GET', '/v1/api-keys', caller)).json().code).toBe('insufficient_scope')
  expect((await change({ scopes: ['settings:read', 'keys:read'] })).statusCode).toBe(422)
  expect((await change({ ip_allow: ['192.0.2.0/24'] })).json()).toMatchObject({ name: 'y', ip_allow: ['192.0.2.0/24'] })
  expect(await codeOf(key.secret)).toBe('ip_not_allowed')
  expect((await change({ ip_allow: [] })).json().ip_allow).toEqual([])
  expect(await codeOf(key.secret)).toBe('in')
  for (const body of [{}, { name: '' }, { scopes: [] }, { mode: 'live' }])
    expect((await change(body)).statusCode).toBe(422)
  expect((await change({ name: 'z' }, await createTestAccount(db))).statusCode).toBe(404)
})

test('a key cannot lock itself out by its networks', async () => {
  const account = await createTestAccount(db)
  const patch = (ip_allow: string[]) =>
    ask('PATCH', `/v1/api-keys/${showId('key', account.keyId)}`, account, { ip_allow })
  expect((await patch(['192.0.2.0/24'])).json().errors).toMatchObject([{ pointer: '#/ip_allow' }])
  expect((await patch(['127.0.0.0/8'])).statusCode).toBe(200)
})

test('a login with a key ends with the key', async () => {
  const account = await createTestAccount(db)
  const key = await make(account, { name: 'x' })
  const { access_token: token } = await logIn(key.secret)
  await sql`update api_keys set expires_at = now() where account_id = ${account.accountId} and id <> ${account.keyId}`
  expect(await codeOf(token)).toBe('expired_token')
})

test('a use is recorded once a minute', async () => {
  const account = await createTestAccount(db)
  const lastUse = async (): Promise<number | null> => {
    const [row] = await sql<{ at: Date | null }>`select last_used_at as at from api_keys
      where account_id = ${account.accountId}`
    return row?.at?.getTime() ?? null
  }
  const use = () => openAuthenticator(db).authenticate(account.headers.authorization, '127.0.0.1')
  await use()
  const first = await lastUse()
  await use()
  expect([first !== null, await lastUse()]).toEqual([true, first])
  await sql`update api_keys set last_used_at = now() - interval '61 seconds' where account_id = ${account.accountId}`
  await use()
  expect((await lastUse()) ?? 0).toBeGreaterThanOrEqual(first ?? 0)
})

test('a key that is revoked, disabled, suspended or narrowed here is so on every node within five seconds', async () => {
  const account = await createTestAccount(db)
  const below = (await ask('POST', '/v1/accounts', account, { name: 'Below', key: { name: 'x' } })).json()
  const revoked = await make(account, { name: 'x' })
  const rotated = await make(account, { name: 'x' })
  const kept = await make(account, { name: 'x' })
  const user = await createTestUser(db, account.accountId, { role: 'viewer' })
  const password = await createTestUser(db, account.accountId, { role: 'viewer' })
  const owner = await createTestUser(db, account.accountId, { role: 'owner' })
  const tokens = [
    revoked.secret,
    (await logIn(revoked.secret)).access_token,
    rotated.secret,
    kept.secret,
    user.headers.authorization.slice(7),
    below.key.secret,
    password.headers.authorization.slice(7),
  ]
  const states = (): Promise<string[]> => Promise.all(tokens.map((token) => codeOf(token, '127.0.0.1', elsewhere)))
  expect(new Set(await states())).toEqual(new Set(['in']))
  const startedMs = performance.now()
  await ask('DELETE', `/v1/api-keys/${revoked.id}`, account)
  await ask('POST', `/v1/api-keys/${rotated.id}/rotate`, account, { overlap_seconds: 0 })
  await ask('PATCH', `/v1/api-keys/${kept.id}`, account, { ip_allow: ['192.0.2.1'] })
  await ask('PATCH', `/v1/users/${showId('usr', user.userId)}`, owner, { status: 'disabled' })
  await ask('PATCH', `/v1/accounts/${below.id}`, account, { status: 'suspended' })
  await app.inject({ method: 'POST', url: '/v1/auth/logout', headers: password.headers })
  await expect
    .poll(states, { interval: 100 })
    .toEqual([
      'invalid_token',
      'invalid_token',
      'invalid_token',
      'ip_not_allowed',
      'invalid_token',
      'account_suspended',
      'invalid_token',
    ])
  // The poll and the earlier requests take time too.
  expect(performance.now() - startedMs).toBeLessThan(8000)
})

test('a caller who is shut out here can create nothing lasting elsewhere, not even at the same time', async () => {
  const account = await createTestAccount(db)
  const { id, secret } = await make(account, { name: 'x' })
  const user = await createTestUser(db, account.accountId, { role: 'admin' })
  const owner = await createTestUser(db, account.accountId, { role: 'owner' })
  const callers = [bearer(secret), user]
  for (const { headers } of callers) await elsewhere.inject({ url: '/v1/settings', headers })
  await ask('DELETE', `/v1/api-keys/${id}`, account)
  await ask('PATCH', `/v1/users/${showId('usr', user.userId)}`, owner, { role: 'viewer' })
  const plant = async (url: string, payload: object) =>
    Promise.all(
      callers.map(async ({ headers }) => {
        const answer = await elsewhere.inject({ method: 'POST', url, headers, payload })
        return answer.json<{ code?: string }>().code ?? answer.statusCode
      }),
    )
  expect(await plant('/v1/api-keys', { name: 'Planted' })).toEqual(['invalid_token', 'invalid_token'])
  const invitation = { email: 'planted@example.com', role: 'viewer' }
  expect(await plant('/v1/users/invitations', invitation)).toEqual(['invalid_token', 'invalid_token'])
})

test('a response is not repeated to a caller with fewer rights than the first one', async () => {
  const account = await createTestAccount(db)
  const [strong, weak] = [
    await make(account, { name: 'x', scopes }),
    await make(account, { name: 'x', scopes: ['keys:write', 'settings:read'] }),
  ]
  const ask2 = (secret: string) =>
    ask('POST', '/v1/api-keys', bearer(secret), { name: 'same', scopes: ['settings:read'] }, { 'idempotency-key': 'k' })
  const first = await ask2(strong.secret)
  expect((await ask2(strong.secret)).json()).toEqual(first.json())
  expect((await ask2(weak.secret)).json().code).toBe('idempotency_key_reused')
})

test('a key creates no key with more networks or a longer life, and does not lift its own limits', async () => {
  const own = await createTestAccount(db)
  const until = new Date(Date.now() + 86_400_000).toISOString()
  await sql`update api_keys set ip_allow = '{127.0.0.0/8}', expires_at = ${until} where id = ${own.keyId}`
  expect(await make(own, { name: 'x' })).toMatchObject({ ip_allow: ['127.0.0.0/8'], expires_at: until })
  expect(await make(own, { name: 'x', ip_allow: ['127.0.0.1'] })).toMatchObject({ ip_allow: ['127.0.0.1/32'] })
  const later = new Date(Date.now() + 2 * 86_400_000).toISOString()
  for (const [wrong, pointer] of [
    [{ ip_allow: [] }, '#/ip_allow'],
    [{ ip_allow: ['127.0.0.1', '10.0.0.0/8'] }, '#/ip_allow/1'],
    [{ ip_allow: ['126.0.0.0/7'] }, '#/ip_allow/0'],
    [{ ip_allow: ['::/0'] }, '#/ip_allow/0'],
    [{ expires_at: null }, '#/expires_at'],
    [{ expires_at: later }, '#/expires_at'],
  ] as const)
    expect((await make(own, { name: 'x', ...wrong })).errors).toMatchObject([{ pointer }])
  const change = (id: string, ip_allow: string[]) => ask('PATCH', `/v1/api-keys/${id}`, own, { ip_allow })
  expect((await change(showId('key', own.keyId), [])).json().errors).toMatchObject([{ pointer: '#/ip_allow' }])
  expect((await change(showId('key', own.keyId), ['127.0.0.1'])).statusCode).toBe(200)
  const { accountId } = own
  const wide = await inTransaction(db, (tx) =>
    createKey(tx, accountId, { name: 'wide', mode: 'live', scopes: ['keys:read'], expiresAt: null }),
  )
  const rotated = await ask('POST', `/v1/api-keys/${showId('key', wide.row.id)}/rotate`, own)
  expect(rotated.json().code).toBe('insufficient_scope')
})

const make = async (caller: Caller, payload: object) => (await ask('POST', '/v1/api-keys', caller, payload)).json()
const logIn = async (secret: string, remoteAddress = '127.0.0.1') =>
  (
    await app.inject({
      method: 'POST',
      url: '/v1/auth/login',
      payload: { client_id: secret.split('_')[2] ?? '', client_secret: secret },
      remoteAddress,
    })
  ).json()
const refresh = (token: string) =>
  app.inject({ method: 'POST', url: '/v1/auth/refresh', payload: { refresh_token: token } })
const codeOf = async (token: string, remoteAddress = '127.0.0.1', at = app): Promise<string> => {
  const answer = await at.inject({ url: '/v1/settings', ...bearer(token), remoteAddress })
  return answer.statusCode === 200 ? 'in' : answer.json().code
}
