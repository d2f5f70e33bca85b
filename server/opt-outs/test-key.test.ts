import { expect, it } from 'vitest'
import { buildTestApp, createTestAccount, testVault, type TestAccount } from '../accounts/testing.ts'
import { inTransaction } from '../ground/db/db.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import { optOut } from './opt-out.ts'
import { optOutRoutes } from './http.ts'
import { openLedgerTest } from '../messages/testing.ts'

const person = '15551230001'

const { db, sql } = await createTestDatabase()
const live = await createTestAccount(db)
const tester = await createTestAccount(db, { mode: 'test' })
await sql`update api_keys set account_id = ${live.accountId} where account_id = ${tester.accountId}`
const test = await openLedgerTest(db, { accountId: live.accountId })
const app = await buildTestApp(db, (own) => optOutRoutes(own, { ...test.context, db, vault: testVault }))

it('a test key opts in again a person whom a simulated phone has opted out, but no person who said STOP', async () => {
  expect(await letIn(tester)).toBe(404)
  await stop(true)
  expect(await letIn(tester)).toBe(204)
  await stop(false)
  expect(await letIn(tester)).toBe(403)
  expect(await test.count('opt_outs', 'account_id = $1', [live.accountId])).toBe(1)
  expect(await letIn(live)).toBe(204)
})

it('a person’s or caller’s statement replaces a simulated phone’s, and not the reverse', async () => {
  const create = (): Promise<unknown> =>
    app.inject({ method: 'POST', url: '/v1/opt-outs', headers: live.headers, payload: { number: person } })
  const [simulated, real] = [await test.send({ isTest: true }), await test.send()]
  // Neither another number's, nor another account's.
  const [another, other] = ['15551230002', await openLedgerTest(test.db)]
  const { id: messageId } = await other.send({ isTest: true })
  const origin = { source: 'reply', actor: null, isTest: true } as const
  await inTransaction(test.db, async (tx) => {
    await optOut(tx, test.context, live.accountId, { ...origin, messageId: simulated.id }, [{ number: another }])
    await optOut(tx, other.context, other.accountId, { ...origin, messageId }, [{ number: person }])
  })
  for (const say of [() => stop(false, real), create]) {
    await stop(true, simulated)
    await say()
    await stop(true, simulated)
    expect(await letIn(tester)).toBe(403)
    expect(await test.count('opt_outs', 'account_id = $1 and number = $2', [live.accountId, person])).toBe(1)
    expect(await letIn(live)).toBe(204)
  }
  expect(await letIn(tester, another)).toBe(204)
  expect(await test.count('opt_outs', 'account_id = $1 and message_id = $2', [other.accountId, messageId])).toBe(1)
})

const letIn = async ({ headers }: TestAccount, number = person): Promise<number> =>
  (await app.inject({ method: 'DELETE', url: `/v1/opt-outs/${number}?reason=asked`, headers })).statusCode

/** A phone sends STOP in answer to a message. */
async function stop(isTest: boolean, message?: { id: string }): Promise<void> {
  const { id: messageId } = message ?? (await test.send({ isTest }))
  await inTransaction(test.db, (tx) =>
    optOut(tx, test.context, live.accountId, { source: 'reply', actor: null, messageId, isTest }, [{ number: person }]),
  )
}
