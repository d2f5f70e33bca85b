import { beforeEach, expect, test } from 'vitest'
import { isPassword } from '../accounts/login/password.ts'
import { buildTestApp, createTestAccount, testVault, type TestAccount } from '../accounts/testing.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import { parseId } from '../ground/base/ids.ts'
import { smppCredentialRoutes } from './http.ts'

let account: TestAccount

const { db, sql } = await createTestDatabase()
const app = await buildTestApp(db, (app) => smppCredentialRoutes(app, { db, vault: testVault }))
beforeEach(async () => {
  account = await createTestAccount(db)
})

const path = '/v1/smpp-credentials'

test('a credential is created with a name and a password that every client can write, shown once and stored as a hash', async () => {
  const answer = await call('POST', path, { name: 'Gateway' })
  const { password, ...credential } = answer.json()
  expect(answer.statusCode).toBe(201)
  expect(answer.headers.location).toBe(`${path}/${credential.id}`)
  expect(credential).toEqual({
    id: expect.stringMatching(/^smc_/),
    object: 'smpp_credential',
    name: 'Gateway',
    system_id: expect.stringMatching(/^hg_[a-z0-9]{12}$/),
    mode: 'live',
    enabled: true,
    allowed_cidrs: [],
    max_sessions: 4,
    window: 100,
    pace: 100,
    default_alphabet: 'gsm7',
    receives_replies: false,
    reply_concatenation: 'udh8',
    sessions: 0,
    created_at: expect.any(String),
    updated_at: expect.any(String),
    last_bound_at: null,
    incomplete_messages: 0,
    last_incomplete_at: null,
  })
  expect(password).toMatch(/^[A-Za-z0-9]{8}$/)
  expect(await isPassword(password, await passwordHashOf(credential.id))).toBe(true)
  expect((await call('GET', `${path}/${credential.id}`)).json()).toEqual(credential)
  const other = await make()
  expect([other.system_id, other.password]).not.toEqual([credential.system_id, password])
  const list = (await call('GET', path)).json()
  expect(list.data.map((one: { id: string }) => one.id)).toEqual([other.id, credential.id])
  expect(JSON.stringify(list)).not.toContain('password')
})

test('every setting can be given, and changed one by one', async () => {
  const wanted = {
    allowed_cidrs: ['192.0.2.0/24', '2001:db8::/32'],
    max_sessions: 2,
    window: 10,
    pace: 0.5,
    default_alphabet: 'latin1',
    receives_replies: true,
    reply_concatenation: 'sar',
  }
  const { id, system_id } = await make(wanted)
  expect((await call('GET', `${path}/${id}`)).json()).toMatchObject(wanted)
  const changed = await call('PATCH', `${path}/${id}`, { name: 'Other', enabled: false, allowed_cidrs: [] })
  expect(changed.statusCode).toBe(200)
  expect(changed.json()).toMatchObject({ ...wanted, system_id, name: 'Other', enabled: false, allowed_cidrs: [] })
})

test('a rotated password replaces the previous one', async () => {
  const { id, password } = await make()
  const answer = await call('POST', `${path}/${id}/rotate-password`)
  expect(answer.statusCode).toBe(200)
  const hash = await passwordHashOf(id)
  expect(await isPassword(answer.json().password, hash)).toBe(true)
  expect(await isPassword(password, hash)).toBe(false)
})

test('a deleted credential is gone', async () => {
  const { id } = await make()
  expect((await call('DELETE', `${path}/${id}`)).statusCode).toBe(204)
  for (const method of ['GET', 'DELETE'] as const) expect((await call(method, `${path}/${id}`)).statusCode).toBe(404)
})

test('no caller grants more rights than its own', async () => {
  const { id } = await make({ receives_replies: true })
  const reader = await createTestAccount(db, { scopes: ['smpp:read'] })
  expect((await call('POST', path, { name: 'x' }, reader.headers)).json()).toMatchObject({ code: 'insufficient_scope' })
  const keeper = await createTestAccount(db, { scopes: ['smpp:write', 'smpp:read'] })
  expect((await call('POST', path, { name: 'x' }, keeper.headers)).json()).toMatchObject({
    code: 'insufficient_scope',
    detail: expect.stringContaining('messages:write'),
  })
  const blind = await createTestAccount(db, { scopes: ['smpp:write', 'messages:write'] })
  expect((await call('POST', path, { name: 'x' }, blind.headers)).statusCode).toBe(201)
  expect((await call('POST', path, { name: 'x', receives_replies: true }, blind.headers)).json()).toMatchObject({
    code: 'insufficient_scope',
    detail: expect.stringContaining('messages:read_body'),
  })
  // A key of the same account without permission to read texts.
  const mate = await createTestAccount(db, { scopes: ['smpp:write', 'messages:write'] })
  await sql`update api_keys set account_id = ${account.accountId} where account_id = ${mate.accountId}`
  for (const [method, url, body] of [
    ['PATCH', `${path}/${id}`, { name: 'mine' }],
    ['POST', `${path}/${id}/rotate-password`, undefined],
  ] as const)
    expect((await call(method, url, body, mate.headers)).json()).toMatchObject({ code: 'insufficient_scope' })
  expect((await call('GET', `${path}/${id}`)).json()).toMatchObject({ name: 'Gateway' })
})

test('the networks of a key bind the credentials that it creates, and it gets no wider one', async () => {
  const { id } = await make()
  await sql`update api_keys set ip_allow = '{127.0.0.0/8}' where account_id = ${account.accountId}`
  expect((await call('POST', path, { name: 'x' })).json()).toMatchObject({ allowed_cidrs: ['127.0.0.0/8'] })
  const narrow = (await call('POST', path, { name: 'x', allowed_cidrs: ['127.0.0.1/32'] })).json()
  for (const [method, url, body] of [
    ['POST', path, { name: 'x', allowed_cidrs: [] }],
    ['PATCH', `${path}/${narrow.id}`, { allowed_cidrs: ['127.0.0.1/32', '192.0.2.0/24'] }],
    ['POST', `${path}/${id}/rotate-password`, undefined],
  ] as const)
    expect((await call(method, url, body)).json()).toMatchObject({ code: 'insufficient_scope' })
  expect((await call('POST', `${path}/${narrow.id}/rotate-password`)).statusCode).toBe(200)
})

test('a key that expires changes credentials, but gets no password that outlives it', async () => {
  const { id } = await make()
  await sql`update api_keys set expires_at = now() + interval '1 year' where account_id = ${account.accountId}`
  for (const url of [path, `${path}/${id}/rotate-password`])
    expect((await call('POST', url, url === path ? { name: 'x' } : undefined)).json()).toMatchObject({
      status: 403,
      code: 'insufficient_scope',
      detail: expect.stringContaining('after your key expires'),
    })
  expect((await call('PATCH', `${path}/${id}`, { window: 20 })).json()).toMatchObject({ window: 20 })
})

test('a test key creates test credentials, and does nothing to live ones', async () => {
  const { id } = await make()
  const tester = await createTestAccount(db, { mode: 'test' })
  await sql`update api_keys set account_id = ${account.accountId} where account_id = ${tester.accountId}`
  const own = (await call('POST', path, { name: 'x' }, tester.headers)).json()
  expect(own).toMatchObject({ mode: 'test' })
  for (const [method, url, body] of [
    ['PATCH', `${path}/${id}`, { name: 'mine' }],
    ['POST', `${path}/${id}/rotate-password`, undefined],
    ['DELETE', `${path}/${id}`, undefined],
  ] as const)
    expect((await call(method, url, body, tester.headers)).json()).toMatchObject({ code: 'insufficient_scope' })
  expect((await call('GET', `${path}/${id}`)).json()).toMatchObject({ name: 'Gateway' })
  expect((await call('DELETE', `${path}/${own.id}`, undefined, tester.headers)).statusCode).toBe(204)
})

test.each([
  [{}, '#/name', 'required'],
  [{ name: '' }, '#/name', 'too_short'],
  [{ name: 'x', system_id: 'mine' }, '#/system_id', 'unknown_field'],
  [{ name: 'x', allowed_cidrs: ['10.0.0.0/8', 'nowhere'] }, '#/allowed_cidrs/1', 'invalid_format'],
  [{ name: 'x', allowed_cidrs: ['10.0.0.1'] }, '#/allowed_cidrs/0', 'invalid_format'],
  // Programs read 10/8 in different ways, and a client never has such an IPv4 address.
  [{ name: 'x', allowed_cidrs: ['10/8'] }, '#/allowed_cidrs/0', 'invalid_format'],
  [{ name: 'x', allowed_cidrs: ['010.0.0.0/8'] }, '#/allowed_cidrs/0', 'invalid_format'],
  [{ name: 'x', allowed_cidrs: ['::ffff:192.0.2.0/120'] }, '#/allowed_cidrs/0', 'invalid_format'],
  [{ name: 'x', max_sessions: 0 }, '#/max_sessions', 'out_of_range'],
  [{ name: 'x', window: 1001 }, '#/window', 'out_of_range'],
  [{ name: 'x', pace: 0 }, '#/pace', 'out_of_range'],
  [{ name: 'x', reply_concatenation: 'none' }, '#/reply_concatenation', 'invalid_value'],
])('%j is refused at %s', async (body, pointer, code) => {
  const answer = await call('POST', path, body)
  expect(answer.statusCode).toBe(422)
  expect(answer.json().errors).toMatchObject([{ pointer, code }])
})

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

const call = (method: Method, url: string, payload?: object, headers: Record<string, string> = account.headers) =>
  app.inject({ method, url, headers, ...(payload && { payload }) })
const make = async (body: object = {}) => (await call('POST', path, { name: 'Gateway', ...body })).json()

async function passwordHashOf(id: string): Promise<string> {
  const [row] = await sql<{ hash: string }>`select password_hash as hash from smpp_credentials
    where id = ${parseId('smc', id)}`
  return row?.hash ?? ''
}
