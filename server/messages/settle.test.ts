import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../db/testing.ts'
import { settleIntents } from './settle.ts'
import { openLedgerTest, type LedgerTest } from './testing.ts'

let database: TestDatabase
let test: LedgerTest

beforeAll(async () => {
  database = await createTestDatabase()
  test = await openLedgerTest(database.db)
})
afterAll(() => database.close())

it('holds what a dead node left: unconfirmed, until a late receipt settles it', async () => {
  await test.subscribe('message.unconfirmed')
  const whole = await test.lease()
  const half = await test.lease({ segments: 3 })
  await test.answer(half, { segment: 1, carrierMessageId: 'half', move: null })
  const answered = await test.lease()
  await test.answer(answered)
  expect(await settleIntents(test.db, test.ledger, test.nodeId)).toBe(3)
  for (const { id } of [whole, half]) {
    expect(await test.message(id)).toMatchObject({
      status: 'unconfirmed',
      errorCode: 'outcome_unknown',
      errorRaw: 'the sending process ended',
    })
    expect(await test.eventsOf(id)).toEqual(['message.unconfirmed'])
  }
  expect((await test.message(answered.id)).status).toBe('sent')
  expect(await test.count('submissions', `state = 'unknown'`)).toBe(3)
  expect(await test.count('intents', 'true')).toBe(0)
  expect(await test.count('queue', 'true')).toBe(0)
})

it('settles large windows in pieces, once, also from two nodes at the same time', async () => {
  await Promise.all(Array.from({ length: 700 }, () => test.lease()))
  await Promise.all([
    settleIntents(test.db, test.ledger, test.nodeId),
    settleIntents(test.db, test.ledger, test.nodeId),
  ])
  expect(await test.count('intents', 'true')).toBe(0)
  expect(await test.count('messages', `status = 'unconfirmed'`)).toBe(702)
  expect(await test.count('events', `type = 'message.unconfirmed'`)).toBe(702)
})
