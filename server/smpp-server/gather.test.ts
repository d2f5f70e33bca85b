import { cutSegments } from '@heliogram/smpp'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../db/testing.ts'
import { findAdmission } from './admission.ts'
import { isWhole, listLate } from './gather.ts'
import { OwedReceipts } from './owed.ts'
import { submitGathered } from './submit.ts'
import { bindTestClient, openServerTest, untilDelivered, type ServerTest } from './testing.ts'

let database: TestDatabase
let test: ServerTest

beforeAll(async () => {
  database = await createTestDatabase()
  test = await openServerTest(database.db)
})
afterAll(async () => {
  await test.close()
  await database.close()
})

it('a message whose node died is owed its receipts once, where two others come to it and it ends between them', async () => {
  const credential = await test.credential()
  const client = await bindTestClient(test.port, credential)
  const [first = {}] = cutSegments('Long '.repeat(60), { mode: 'udh8', reference: 7 })
  await client.submit({ ...first, registered_delivery: 1 })
  await test.db.query(
    `update smpp_gatherings
     set received_at = now() - interval '61 seconds', parts = parts || jsonb_build_object('2', parts -> '1')`,
  )
  const [late] = await listLate(test, 1)
  const gathering = late?.open()
  const admission = await findAdmission(test.db, test.accountId, credential.id)
  if (!gathering || !admission || !isWhole(gathering)) throw new Error('nothing was gathered')
  const context = { db: test.db, acceptor: test.acceptor, owed: new OwedReceipts(test.db) }
  await submitGathered(context, admission, gathering, null)
  const { rows } = await test.db.query<{ id: string }>('select id from messages')
  await test.end(rows[0]?.id ?? '')
  await untilDelivered(client, 2)
  await submitGathered(context, admission, gathering, null)
  expect(await test.count('smpp_submits', 'true')).toBe(0)
  expect(await test.count('smpp_deliveries', 'tries = 0')).toBe(0)
  expect(rows).toHaveLength(1)
  client.session.destroy()
})
