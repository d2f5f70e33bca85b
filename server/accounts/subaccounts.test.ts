import { expect, test } from 'vitest'
import { scopes } from '../ground/http/http.ts'
import { parseId, showId } from '../ground/base/ids.ts'
import { personsBehind } from './persons.ts'
import { createTestAccount, createTestUser, accountsWorld, bearer } from './testing.ts'

const { db, sql, app, ask } = await accountsWorld()

test('a subaccount has limits, an owner and keys of its own', async () => {
  const parent = await createTestAccount(db)
  const made = await ask('POST', '/v1/accounts', parent, {
    name: 'Branch',
    pace: 20,
    owner_email: 'Branch@example.com',
    key: { name: 'First', ip_allow: ['127.0.0.1'] },
  })
  expect(made.statusCode).toBe(201)
  const { id, key, invitation, ...account } = made.json()
  expect(made.headers['location']).toBe(`/v1/accounts/${id}`)
  expect(account).toMatchObject({
    object: 'account',
    name: 'Branch',
    status: 'active',
    parent: showId('acc', parent.accountId),
    pace: 20,
    api_per_second: null,
  })
  expect(invitation).toMatchObject({
    role: 'owner',
    email: 'Branch@example.com',
    code: expect.stringMatching(/^hg_iv_/),
  })
  const own = bearer(key.secret)
  expect((await ask('GET', '/v1/settings', own)).json()).toMatchObject({
    account: { id, name: 'Branch' },
    limits: { segments_per_second: 20 },
  })
  const accepted = await app.inject({
    method: 'POST',
    url: '/v1/auth/accept-invitation',
    payload: { code: invitation.code, password: 'six mirrors on a hill' },
  })
  expect(accepted.json()).toMatchObject({ account: { id, name: 'Branch' }, user: { role: 'owner' } })
  expect(accepted.json().scope).not.toMatch(/carriers|routes/)
  const list = await ask('GET', '/v1/accounts', parent)
  expect(list.json().data).toEqual([{ id, ...account }])
  const changed = await ask('PATCH', `/v1/accounts/${id}`, parent, { name: 'Twig', pace: null, api_per_second: 5 })
  expect(changed.json()).toMatchObject({ name: 'Twig', pace: null, api_per_second: 5, status: 'active' })
  expect((await ask('GET', `/v1/accounts/${id}`, parent)).json()).toEqual(changed.json())
})

test('its keys count as known to the person who created them from above, with any credential', async () => {
  const parent = await createTestAccount(db)
  const user = await createTestUser(db, parent.accountId, { role: 'owner' })
  const own = (await ask('POST', '/v1/api-keys', user, { name: 'Mine' })).json()
  const { id, key } = (await ask('POST', '/v1/accounts', user, { name: 'Branch', key: { name: 'x' } })).json()
  const second = (await ask('POST', `/v1/accounts/${id}/api-keys`, bearer(own.secret), { name: 'y' })).json()
  for (const one of [key, second])
    expect(await personsBehind(db, String(parseId('acc', id)), one.id)).toContain(showId('usr', user.userId))
})

test('its keys get no scopes of the installation or over accounts, whatever is requested', async () => {
  const parent = await createTestAccount(db)
  const { id, key } = (await ask('POST', '/v1/accounts', parent, { name: 'Branch', key: { name: 'x' } })).json()
  const taken = scopes.filter((scope) => /^(accounts|carriers|routes):/.test(scope))
  for (const scope of taken) expect(key.scopes).not.toContain(scope)
  expect(key.scopes).toContain('messages:write')
  const more = await ask('POST', `/v1/accounts/${id}/api-keys`, parent, { name: 'y', scopes: taken })
  expect(more.json().errors).toHaveLength(taken.length)
  const nested = await ask('POST', '/v1/accounts', parent, { name: 'z', key: { name: 'y', scopes: ['carriers:read'] } })
  expect(nested.json().errors).toMatchObject([{ pointer: '#/key/scopes/0' }])
  const weak = await createTestAccount(db, { scopes: ['accounts:write', 'messages:read'] })
  const { key: small } = (await ask('POST', '/v1/accounts', weak, { name: 'w', key: { name: 'x' } })).json()
  expect(small.scopes).toEqual(['messages:read'])
  const made = (
    await ask('POST', `/v1/accounts/${id}/api-keys`, parent, { name: 'y', scopes: ['settings:read'] })
  ).json()
  expect((await ask('GET', '/v1/settings', bearer(made.secret))).json().account.id).toBe(id)
  const rows = await sql`select account_id as "accountId" from api_keys where id = ${parseId('key', made.id)}`
  expect(rows).toEqual([{ accountId: parseId('acc', id) }])
})

test('there is one level, and an account cannot see its siblings', async () => {
  const [parent, stranger] = [await createTestAccount(db), await createTestAccount(db)]
  const { id } = (await ask('POST', '/v1/accounts', parent, { name: 'Branch' })).json()
  // The strongest role in an account below.
  const owner = await createTestUser(db, parseId('acc', id) ?? '', { role: 'owner' })
  expect((await ask('POST', '/v1/accounts', owner, { name: 'Twig' })).json().code).toBe('sub_account_not_allowed')
  expect((await ask('GET', '/v1/accounts', owner)).json().data).toEqual([])
  expect((await ask('GET', `/v1/accounts/${id}`, owner)).json()).toMatchObject({ id, name: 'Branch' })
  expect((await ask('GET', `/v1/accounts/${showId('acc', parent.accountId)}`, owner)).statusCode).toBe(404)
  expect((await ask('PATCH', `/v1/accounts/${showId('acc', parent.accountId)}`, owner, { pace: 1 })).statusCode).toBe(
    404,
  )
  for (const caller of [stranger, owner])
    expect((await ask('POST', `/v1/accounts/${id}/api-keys`, caller, { name: 'x' })).statusCode).toBe(404)
  expect((await ask('GET', `/v1/accounts/${id}`, stranger)).statusCode).toBe(404)
  expect((await ask('PATCH', `/v1/accounts/${id}`, stranger, { status: 'suspended' })).statusCode).toBe(404)
  const admin = await createTestUser(db, parent.accountId, { role: 'admin' })
  const developer = await createTestUser(db, parent.accountId, { role: 'developer' })
  expect((await ask('GET', '/v1/accounts', admin)).json().data).toHaveLength(1)
  expect((await ask('GET', '/v1/accounts', developer)).json().code).toBe('insufficient_scope')
})

test('only the operator lifts an account’s limits, and no account suspends itself', async () => {
  const parent = await createTestAccount(db)
  const own = `/v1/accounts/${showId('acc', parent.accountId)}`
  expect((await ask('PATCH', own, parent, { pace: 5 })).json().pace).toBe(5)
  expect((await ask('PATCH', own, parent, { status: 'suspended', name: 'x' })).json().errors).toHaveLength(2)
  const admin = await createTestUser(db, parent.accountId, { role: 'admin' })
  expect((await ask('PATCH', own, admin, { pace: 50 })).json().code).toBe('insufficient_scope')
})

test('a test key neither changes nor suspends an account', async () => {
  const tester = await createTestAccount(db, { mode: 'test' })
  const { id } = (await ask('POST', '/v1/accounts', tester, { name: 'Branch' })).json()
  for (const change of [{ status: 'suspended' }, { pace: 1 }, { name: 'Twig' }])
    expect((await ask('PATCH', `/v1/accounts/${id}`, tester, change)).json().code).toBe('insufficient_scope')
  expect((await ask('GET', `/v1/accounts/${id}`, tester)).json()).toMatchObject({ name: 'Branch', status: 'active' })
})

test('a suspended account is refused with a key, token, login and refresh, until it is resumed', async () => {
  const parent = await createTestAccount(db)
  const { id, key } = (await ask('POST', '/v1/accounts', parent, { name: 'Branch', key: { name: 'x' } })).json()
  const user = await createTestUser(db, parseId('acc', id) ?? '', { role: 'owner' })
  const set = (status: string) => ask('PATCH', `/v1/accounts/${id}`, parent, { status })
  const own = bearer(key.secret)
  const logIn = () =>
    app.inject({ method: 'POST', url: '/v1/auth/login', payload: { client_id: key.prefix, client_secret: key.secret } })
  const refresh = () =>
    app.inject({ method: 'POST', url: '/v1/auth/refresh', payload: { refresh_token: user.refreshToken } })
  expect((await ask('GET', '/v1/settings', own)).statusCode).toBe(200)
  expect((await set('suspended')).json().status).toBe('suspended')
  for (const caller of [own, user])
    expect((await ask('GET', '/v1/settings', caller)).json()).toMatchObject({ status: 403, code: 'account_suspended' })
  expect((await logIn()).json().code).toBe('account_suspended')
  expect((await refresh()).statusCode).toBe(401)
  expect((await set('active')).json().status).toBe('active')
  for (const caller of [own, user]) expect((await ask('GET', '/v1/settings', caller)).statusCode).toBe(200)
  expect((await refresh()).statusCode).toBe(200)
  const [row] = await sql<{ actions: string[] }>`select array_agg(action order by seq) as actions from audit_events
    where account_id = ${parent.accountId}`
  expect(row?.actions).toEqual(['account.created', 'account.updated', 'account.updated'])
})
