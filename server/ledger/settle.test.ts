import { expect, it } from 'vitest'
import { inTransaction } from '../ground/db/db.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import { newId } from '../ground/base/ids.ts'
import { claimMessages } from '../queue/claim.ts'
import { Ledger } from './ledger.ts'
import { Recent } from '../message/recent.ts'
import { resendMessage } from './resend.ts'
import { settleIntents } from './settle.ts'
import { listSubmissions } from '../message/store.ts'
import { moveTo, openLedgerTest, testAnswer } from '../messages/testing.ts'

const { db } = await createTestDatabase()
const test = await openLedgerTest(db)

it('a dead node’s message is held as unconfirmed, until a late receipt settles it', async () => {
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

it('settling is undone by the responses of a process that was not dead, even if the message was to be sent again, or is', async () => {
  const other = await test.lease()
  const [held, again, waiting] = [await test.lease(), await test.lease(), await test.lease()]
  const survivor = new Ledger({ ...test.context, recent: new Recent() })
  const move = moveTo('unconfirmed', { errorCode: 'outcome_unknown' })
  for (const one of [held, again, waiting])
    await survivor.answer({ ...testAnswer(one, test.nodeId), state: 'unknown', carrierMessageId: null, move })
  const resend = (id: string): Promise<unknown> =>
    inTransaction(test.db, (tx) => resendMessage(tx, test.accountId, id, { kind: 'key', id: newId(), requestId: 'r' }))
  await resend(again.id)
  const [row] = await test.sql<{ id: string }>`select lane_id as id from queue`
  const rooms = [{ id: test.linkId, carrierId: test.carrierId }]
  await claimMessages(test.context, test.nodeId, rooms, row?.id ?? '', '00000000-0000-0000-0000-000000000000', 1)
  await resend(waiting.id)
  const statuses = async (): Promise<string[]> =>
    Promise.all([held, again, waiting, other].map(async ({ id }) => (await test.message(id)).status))
  expect(await statuses()).toEqual(['unconfirmed', 'sending', 'queued', 'sending'])
  // One alone, as most are, and the others together.
  await test.answer(again)
  await Promise.all([held, waiting, other].map((one) => test.answer(one)))
  expect(await statuses()).toEqual(['sent', 'sent', 'sent', 'sent'])
  for (const { id } of [held, again, waiting])
    expect(await listSubmissions(test.db, test.accountId, id)).toMatchObject([{ try: 1, state: 'accepted' }])
})
