import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildTestApp, createTestAccount, testVault, type TestAccount } from '../accounts/testing.ts'
import { createTestDatabase, type TestDatabase } from '../db/testing.ts'
import type { App } from '../http.ts'
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
