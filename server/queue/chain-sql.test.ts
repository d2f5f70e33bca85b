import { expect, it } from 'vitest'
import { inTransaction } from '../ground/db/db.ts'
import { createTestDatabase, forEachTest } from '../ground/db/testing.ts'
import { newId } from '../ground/base/ids.ts'
import { claimMessages, findLanes } from './claim.ts'
import { insertTestCarrier, insertTestSender, openLedgerTest, ourNumber } from '../messages/testing.ts'

const { db } = await createTestDatabase()
const test = forEachTest(db, openLedgerTest)

const noId = '00000000-0000-0000-0000-000000000000'

it('a message never goes through a carrier where its number only receives', async () => {
  const sends = newId()
  await inTransaction(test.db, (tx) => insertTestCarrier(tx, sends, {}, { priority: 200 }))
  await insertTestSender(test.db, test.accountId, sends, ourNumber)
  await test.send()
  await test.sql`update senders set capabilities = '{replies}' where carrier_id = ${test.carrierId}`
  expect((await claim()).handovers).toEqual([])
  expect((await findLanes(test.db)).map((lane) => lane.carrierId)).toEqual([sends])
})

it('a message abroad never goes through a carrier where its number is not international, except the answer to a keyword', async () => {
  const reaches = newId()
  await inTransaction(test.db, (tx) => insertTestCarrier(tx, reaches, {}, { priority: 200 }))
  await insertTestSender(test.db, test.accountId, reaches, ourNumber)
  await test.sql`update senders
    set kind = 'toll_free', capabilities = case when carrier_id = ${reaches} then '{sms,international}' else '{sms}' end::text[]`
  const near = await test.send({ theirNumber: '14165550001' })
  expect((await claim()).handovers.map(({ id }) => id)).toEqual([near.id])
  const far = await test.send({ theirNumber: '447700900001' })
  expect((await claim()).handovers).toEqual([])
  expect((await findLanes(test.db)).map((lane) => lane.carrierId)).toEqual([reaches])
  await test.sql`update messages set is_confirmation = true where id = ${far.id}`
  await test.sql`update queue set lane_id = (select id from lanes
    where account_id = ${test.accountId} and type = ${far.type})`
  expect((await claim()).handovers.map(({ id }) => id)).toEqual([far.id])
})

/** A claim for the link of the test's own carrier. */
async function claim(): ReturnType<typeof claimMessages> {
  const [row] = await test.sql<{ id: string }>`select id from lanes
    where account_id = ${test.accountId} and type = 'transactional'`
  const rooms = [{ id: test.linkId, carrierId: test.carrierId }]
  return claimMessages(test.context, test.nodeId, rooms, row?.id ?? '', noId, 100)
}
