import { describe, expect, it } from 'vitest'
import { createTestDatabase } from '../ground/db/testing.ts'
import { inTransaction } from '../ground/db/db.ts'
import { newId } from '../ground/base/ids.ts'
import { endWithoutReceipt, watchReceipts } from './no-receipt.ts'
import { rekeyIds } from './rekey.ts'
import { resolveUnknown } from './resend.ts'
import { moveTo, openLedgerTest, ourNumber } from '../messages/testing.ts'

const { db } = await createTestDatabase()
const test = await openLedgerTest(db)

it('checks a week once, and then only what has become old since', async () => {
  const endLate = watchReceipts(test.context, 72)
  await sent('100 hours')
  await sent('73 hours')
  // One of each search at a time, until nothing is left.
  expect([await endLate(1), await endLate(1), await endLate(1)]).toEqual([1, 1, 0])
  const passed = await sent('100 hours')
  await sent('72.5 hours')
  expect([await endLate(10), await endLate(10)]).toEqual([1, 0])
  expect((await test.message(passed)).status).toBe('sent')
  expect(await watchReceipts(test.context, 72)(10)).toBe(1)
})

describe('an id that a carrier uses again within the period', () => {
  const receipt = (id: string, source: string): Promise<void> =>
    test.ledger.receipt({
      linkId: test.linkId,
      rawId: id,
      matchId: id,
      state: 'delivered',
      stat: 'DELIVRD',
      err: '000',
      networkError: null,
      doneDate: '',
      source,
      destination: ourNumber,
    })
  const statusOf = async (id: string): Promise<string> => (await test.message(id)).status
  /** As if only the first message's receipt had timed out. */
  async function endFirst(first: string, second: string): Promise<unknown[]> {
    await test.sql`update carrier_ids set at = now() - interval '73 hours' where message_id = ${first}`
    expect(await endWithoutReceipt(test.context, 72)).toBe(1)
    const { status, errorCode } = await test.message(first)
    return [status, errorCode, await statusOf(second)]
  }

  it.each(['one after the other', 'at once', 'the general way', 'the general way, at once'])(
    'is the later message’s, and the other one ends as without a receipt: %s',
    async (way) => {
      // If its event is subscribed, an answer goes the general way.
      if (way.startsWith('the general way')) await test.subscribe('message.sent')
      const [id, first, second] = [newId(), await test.lease(), await test.lease()]
      const answers = [first, second].map((one) => () => test.answer(one, { carrierMessageId: id }))
      if (way.endsWith('at once')) await Promise.all(answers.map((answer) => answer()))
      else for (const answer of answers) await answer()
      expect(await endFirst(first.id, second.id)).toEqual(['unconfirmed', 'no_receipt', 'sent'])
      await receipt(id, '15551230001')
      expect([await statusOf(first.id), await statusOf(second.id)]).toEqual(['unconfirmed', 'delivered'])
    },
  )

  it('is the adopted message’s', async () => {
    const [id, theirNumber] = [newId(), '15551230091']
    const unknown = await test.lease({ theirNumber })
    await test.answer(unknown, {
      state: 'unknown',
      carrierMessageId: null,
      move: moveTo('unconfirmed', { errorCode: 'outcome_unknown' }),
    })
    await receipt(id, theirNumber)
    // Submitted long after the receipt, which is not for it.
    const other = await test.lease()
    await test.answer(other, { carrierMessageId: id, intentAt: new Date(Date.now() + 7_200_000) })
    await resolveUnknown(test.context)
    expect(await endFirst(other.id, unknown.id)).toEqual(['unconfirmed', 'no_receipt', 'delivered'])
  })

  it.each(['the earlier', 'the later'])('is the later message’s if %s one’s is read in another form', async (which) => {
    const [id, first, second] = [newId(), await test.lease(), await test.lease()]
    const ids = which === 'the earlier' ? [id.toUpperCase(), id] : [id, id.toUpperCase()]
    await test.answer(first, { carrierMessageId: ids[0] ?? null })
    await test.answer(second, { carrierMessageId: ids[1] ?? null })
    await inTransaction(test.db, (tx) => rekeyIds(tx, test.linkId, (rawId) => rawId.toLowerCase(), '', 1000))
    expect(await endFirst(first.id, second.id)).toEqual(['unconfirmed', 'no_receipt', 'sent'])
    await receipt(id, '15551230001')
    expect([await statusOf(first.id), await statusOf(second.id)]).toEqual(['unconfirmed', 'delivered'])
  })

  it('stays with its message if its own response is written twice', async () => {
    const handover = await test.lease()
    await test.answer(handover)
    await test.answer(handover)
    expect(await test.count('carrier_ids', 'message_id = $1', [handover.id])).toBe(1)
  })
})

/** A message that was sent so long ago. */
async function sent(ago: string): Promise<string> {
  const handover = await test.lease()
  await test.answer(handover)
  await test.sql`update carrier_ids set at = now() - ${ago}::interval where message_id = ${handover.id}`
  return handover.id
}
