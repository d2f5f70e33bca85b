import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildTestApp, createTestAccount, testVault, type TestAccount } from '../accounts/testing.ts'
import { createTestDatabase, type TestDatabase } from '../ground/db/testing.ts'
import type { App } from '../ground/http/http.ts'
import { openTwilioAuthenticator } from './credential.ts'
import { twilioCredentialRoutes } from './credential-http.ts'

let database: TestDatabase
let app: App

beforeAll(async () => {
  database = await createTestDatabase()
  const { db } = database
  const callers = openTwilioAuthenticator(db)
  app = await buildTestApp(db, (own) => twilioCredentialRoutes(own, { db, vault: testVault, callers }))
})
afterAll(async () => {
  await app.close()
  await database.close()
})

test('a key for tests revokes credentials for tests, and no live one', async () => {
  const live = await createTestAccount(database.db)
  const tester = await createTestAccount(database.db, { mode: 'test' })
  await database.db.query('update api_keys set account_id = $1 where account_id = $2', [
    live.accountId,
    tester.accountId,
  ])
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

test('an account has ten at most, of those that are not revoked', async () => {
  const { headers } = await createTestAccount(database.db)
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

test('nobody makes one that may do more than they', async () => {
  const payload = { name: 'Shop' }
  const make = async ({ headers }: TestAccount, body: object = payload) =>
    (await app.inject({ method: 'POST', url: '/v1/twilio-credentials', headers, payload: body })).json()
  const scopes = ['keys:write', 'messages:read', 'messages:read_body', 'messages:write'] as const
  for (const missing of scopes.slice(1)) {
    const account = await createTestAccount(database.db, { scopes: scopes.filter((scope) => scope !== missing) })
    expect(await make(account)).toMatchObject({ code: 'insufficient_scope', detail: expect.stringContaining(missing) })
  }
  expect(await make(await createTestAccount(database.db, { scopes }))).toMatchObject({ mode: 'live' })
  const tester = await createTestAccount(database.db, { mode: 'test' })
  expect(await make(tester)).toMatchObject({ mode: 'test' })
  expect(await make(tester, { ...payload, mode: 'live' })).toMatchObject({ errors: [{ pointer: '#/mode' }] })
})
