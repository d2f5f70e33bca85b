import { afterAll, beforeAll, expect, it } from 'vitest'
import { inTransaction } from '../db/db.ts'
import { createTestDatabase, type TestDatabase } from '../db/testing.ts'
import { newId } from '../ids.ts'
import { cancelMessage } from './cancel.ts'
import { claimMessages } from './claim.ts'
import { resendMessage } from './resend.ts'
import { moveTo, openLedgerTest, until, type LedgerTest } from './testing.ts'

const noId = '00000000-0000-0000-0000-000000000000'

let database: TestDatabase
let test: LedgerTest

beforeAll(async () => {
  database = await createTestDatabase()
  test = await openLedgerTest(database.db)
})
afterAll(async () => {
  await test.ledger.close()
  await database.close()
})

const resend = (id: string): ReturnType<typeof resendMessage> =>
  inTransaction(test.db, (tx) =>
    resendMessage(tx, test.accountId, id, { kind: 'key', id: newId(), requestId: 'req_1' }),
  )

it('puts a message into line once, where a claim that saw it before its cancel puts it elsewhere', async () => {
  const handover = await test.lease()
  await test.answer(handover, {
    state: 'unknown',
    carrierMessageId: null,
    commandStatus: null,
    move: moveTo('unconfirmed', { errorCode: 'outcome_unknown' }),
  })
  await resend(handover.id)
  const { rows } = await test.db.query<{ id: string }>('select lane_id as id from queue where message_id = $1', [
    handover.id,
  ])
  const laneId = rows[0]?.id ?? ''
  const work: Promise<unknown>[] = []
  await inTransaction(test.db, async (tx) => {
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    const isWaiting = async (n: number): Promise<boolean> => (await test.db.query(waiting)).rowCount === n
    await tx.query(`insert into backlogs (id, lane_id, carrier_id) values (gen_random_uuid(), $1, $2)`, [
      laneId,
      test.carrierId,
    ])
    // No link has room: it makes the place where what wants the carrier waits.
    work.push(claimMessages(test.context, test.nodeId, [], laneId, noId, 100))
    await until('the claim waits', () => isWaiting(1))
    await cancelMessage(test.context, test.accountId, handover.id)
    work.push(resend(handover.id))
    await until('the resend waits for it', () => isWaiting(2))
    await tx.query('delete from backlogs where lane_id = $1', [laneId])
  })
  await Promise.all(work)
  expect(await test.message(handover.id)).toMatchObject({ status: 'queued' })
  expect(await test.count('queue', 'message_id = $1', [handover.id])).toBe(1)
})
