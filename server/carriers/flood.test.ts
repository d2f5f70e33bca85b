/** A carrier floods receipts while the database is blocked: memory is bounded, and no receipt is lost. */
import { expect, it } from 'vitest'
import { createTestDatabase } from '../ground/db/testing.ts'
import { until } from '../../test/until.ts'
import { openCarrierTest, untilBound, type CarrierTest } from './testing.ts'

let test: CarrierTest

const { db } = await createTestDatabase()

// command_id of deliver_sm (SMPP 3.4 §5.1.2.1).
const deliverSm = 5
const count = 4000
// The unanswered requests of a session (smpp/options.ts), plus one read of its socket: 64 KiB of receipts.
const heardMax = 500 + (64 * 1024) / 150

it(`of ${count} receipts no more are read than can be answered, and all are read when the database recovers`, async () => {
  let heard = 0
  let heardAt = 0
  test = await openCarrierTest(db, {
    settings: { window: 500 },
    trace: (_link, direction, bytes) => {
      if (direction === 'out' || bytes.readUInt32BE(4) !== deliverSm) return
      heard++
      heardAt = performance.now()
    },
  })
  await test.sql`update carriers set pace = 100000`
  await untilBound(test)
  test.simulator.misbehave({ isHoldingReceipts: true })
  await test.acceptor.acceptAll(Array.from({ length: count }, (_, n) => test.draft({ body: `message ${n}` })))
  await until('all are sent', async () => (await test.count('messages', `status = 'sent'`)) === count)

  // Blocks every write of a receipt.
  const lock = await db.connect()
  await lock.query('begin')
  await lock.query('lock table messages, receipts, carrier_ids in share mode')
  test.simulator.misbehave({ isHoldingReceipts: false })
  await until('all are on their way', () => test.simulator.stats().receiptsSent === count)
  await until('reading has stopped', () => heard > 0 && performance.now() - heardAt > 300)
  expect(heard).toBeLessThan(heardMax)
  expect(test.simulator.stats().receiptsAnswered).toBe(0)
  expect(test.submitter.links.get(test.linkId)?.state).toBe('bound')
  await lock.query('rollback')
  lock.release()

  await until('all are delivered', async () => (await test.count('messages', `status = 'delivered'`)) === count)
  await until('all are answered', () => test.simulator.stats().receiptsAnswered === count)
  expect(test.simulator.stats().dropped).toBe(0)
  expect(test.errors).toEqual([])
})
