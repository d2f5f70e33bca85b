import { expect, test } from 'vitest'
import { buildTestApp, createTestAccount, testVault, type TestAccount } from '../accounts/testing.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import { openTwilioAuthenticator } from './credential.ts'
import { twilioCredentialRoutes } from './credential-http.ts'

const { db, sql } = await createTestDatabase()
const callers = openTwilioAuthenticator(db)
const app = await buildTestApp(db, (own) => twilioCredentialRoutes(own, { db, vault: testVault, callers }))

test('a test key revokes test credentials, and no live one', async () => {
  const live = await createTestAccount(db)
  const tester = await createTestAccount(db, { mode: 'test' })
  await sql`update api_keys set account_id = ${live.accountId} where account_id = ${tester.accountId}`
  const path = '/v1/twilio-credentials'
  const make = async ({ headers }: TestAccount): Promise<string> =>
    (await app.inject({ method: 'POST', url: path, headers, payload: { name: 'Shop' } })).json().id
  const revoke = async (id: string) =>
    (await app.inject({ method: 'DELETE', url: `${path}/${id}`, headers: tester.headers })).statusCode
  const [theirs, own] = [await make(live), await make(tester)]
  expect([await revoke(theirs), await revoke(own)]).toEqual([403, 204])
  const left = await app.inject({ url: path, headers: live.headers })
  expect(left.json().data).toMatchObject([{ id: theirs, mode: 'live' }])
})

test('an account has ten active credentials at most', async () => {
  const { headers } = await createTestAccount(db)
  const path = '/v1/twilio-credentials'
  const make = () => app.inject({ method: 'POST', url: path, headers, payload: { name: 'Shop' } })
  const list = async () => (await app.inject({ url: path, headers })).json().data.map(({ id }: { id: string }) => id)
  const made: string[] = []
  for (let n = 0; n < 10; n++) made.push((await make()).json().id)
  const refused = await make()
  expect([refused.statusCode, refused.json().errors]).toMatchObject([422, [{ pointer: '#', code: 'out_of_range' }]])
  const [oldest] = made.splice(0, 1)
  const revoke = () => app.inject({ method: 'DELETE', url: `${path}/${oldest}`, headers })
  expect([(await revoke()).statusCode, (await revoke()).statusCode]).toEqual([204, 404])
  made.push((await make()).json().id)
  expect(await list()).toEqual(made)
})

test('no caller creates a credential with more rights than its own', async () => {
  const payload = { name: 'Shop' }
  const make = async ({ headers }: TestAccount, body: object = payload) =>
    (await app.inject({ method: 'POST', url: '/v1/twilio-credentials', headers, payload: body })).json()
  const scopes = ['keys:write', 'messages:read', 'messages:read_body', 'messages:write'] as const
  for (const missing of scopes.slice(1)) {
    const account = await createTestAccount(db, { scopes: scopes.filter((scope) => scope !== missing) })
    expect(await make(account)).toMatchObject({ code: 'insufficient_scope', detail: expect.stringContaining(missing) })
  }
  expect(await make(await createTestAccount(db, { scopes }))).toMatchObject({ mode: 'live' })
  const local = await createTestAccount(db, { scopes })
  await sql`update api_keys set ip_allow = '{127.0.0.0/8}' where account_id = ${local.accountId}`
  expect(await make(local)).toMatchObject({ code: 'insufficient_scope', detail: expect.stringContaining('networks') })
  const brief = await createTestAccount(db, { scopes })
  await sql`update api_keys set expires_at = now() + interval '1 year' where account_id = ${brief.accountId}`
  expect(await make(brief)).toMatchObject({ status: 403, detail: expect.stringContaining('after your key expires') })
  const tester = await createTestAccount(db, { mode: 'test' })
  expect(await make(tester)).toMatchObject({ mode: 'test' })
  expect(await make(tester, { ...payload, mode: 'live' })).toMatchObject({ errors: [{ pointer: '#/mode' }] })
})
