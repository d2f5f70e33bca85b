import { ESME } from '@heliogram/smpp'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../db/testing.ts'
import { until } from '../messages/testing.ts'
import { parseClientId } from './client-id.ts'
import { bindTestClient, openServerTest, type ServerTest } from './testing.ts'

let database: TestDatabase
let test: ServerTest

beforeAll(async () => {
  database = await createTestDatabase()
  test = await openServerTest(database.db, { responseTimeoutMs: 300 })
})
afterAll(async () => {
  await test.close()
  await database.close()
})

it('a receipt that is taken by an answer which comes too late does not come again', async () => {
  const client = await bindTestClient(test.port, await test.credential())
  const answers: (() => void)[] = []
  client.answer = (_pdu, respond) => void answers.push(() => respond(ESME.ROK))
  const { messageId } = await client.submit({ short_message: Buffer.from('Hello'), registered_delivery: 1 })
  await test.end(parseClientId(messageId) ?? '')
  await until('it came again, for want of an answer', () => answers.length === 2)
  answers[0]?.()
  await until('nothing waits', async () => (await test.count('smpp_deliveries', 'true')) === 0)
  expect(await test.count('smpp_submits', 'true')).toBe(0)
  client.session.destroy()
})
