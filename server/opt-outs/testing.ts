/** For tests of opt-out routes: all of them over one database, an account for each test, and calls. */
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { buildTestApp, createTestAccount, testVault, type TestAccount } from '../accounts/testing.ts'
import { createTestDatabase, type TestDatabase } from '../ground/db/testing.ts'
import type { App } from '../ground/http/http.ts'
import { storeReply } from '../inbound/reply.ts'
import { openLedgerTest, ourNumber, type LedgerTest } from '../messages/testing.ts'
import { consentRoutes } from './consent-http.ts'
import { optOutRoutes } from './http.ts'
import { keywordRoutes } from './keyword-http.ts'
import { optOutListRoutes } from './list-http.ts'

export let database: TestDatabase
let app: App
/** A link for the test's account, and its replies. */
export let test: LedgerTest
export let account: TestAccount

/** Opens them for a file of tests: processes run several files, and load this one once. */
export function openOptOutTests(): void {
  beforeAll(async () => {
    database = await createTestDatabase()
    const { db } = database
    const { context } = await openLedgerTest(db)
    app = await buildTestApp(db, (own) => {
      optOutRoutes(own, { ...context, db, vault: testVault })
      optOutListRoutes(own, { ...context, db, vault: testVault })
      keywordRoutes(own, { ...context, db, vault: testVault })
      consentRoutes(own, { ...context, db, vault: testVault })
    })
  })
  afterAll(async () => {
    await app.close()
    await database.close()
  })
  beforeEach(async () => {
    account = await createTestAccount(database.db)
    test = await openLedgerTest(database.db, { accountId: account.accountId })
  })
}

/** Who writes. */
export const person = '15551230001'
/** `body` is empty if it is not JSON. */
export interface Answer {
  status: number
  body: Record<string, unknown>
  text: string
}

export async function call(
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  url: string,
  payload?: unknown,
  headers: object = account.headers,
): Promise<Answer> {
  const isText = typeof payload === 'string'
  const type = payload !== undefined && { 'content-type': isText ? 'text/csv' : 'application/json' }
  const body = payload !== undefined && { payload: isText ? payload : JSON.stringify(payload) }
  const answer = await app.inject({ method, url: `/v1${url}`, headers: { ...headers, ...type }, ...body })
  const isJson = String(answer.headers['content-type']).includes('json')
  return { status: answer.statusCode, body: isJson ? answer.json() : {}, text: answer.body }
}

export const add = (number: string, reason?: string): Promise<Answer> =>
  call('POST', '/opt-outs', { number, ...(reason && { reason }) })
export const dataOf = ({ body }: Answer): Record<string, unknown>[] => body['data'] as Record<string, unknown>[]
/** Pointers and codes of a refusal. */
export const errorsOf = ({ body }: Answer): unknown =>
  (body['errors'] as { pointer: string; code: string }[] | undefined)?.map((one) => `${one.pointer} ${one.code}`)
export const say = (text: string, source = person): Promise<string> =>
  storeReply(
    { ...test.context, wake: () => {} },
    { linkId: test.linkId, source, destination: ourNumber, text, isPartial: false },
  )
