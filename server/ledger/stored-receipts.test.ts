import { beforeEach, describe, expect, it } from 'vitest'
import { createTestDatabase, emptyTables } from '../ground/db/testing.ts'
import type { Handover } from '../message/handover.ts'
import { listStoredReceipts, tellReceipts, type ToldReceipt } from './stored-receipts.ts'
import { listSubmissions } from '../message/store.ts'
import { openLedgerTest } from '../messages/testing.ts'

const { db } = await createTestDatabase()
const test = await openLedgerTest(db)
beforeEach(() => emptyTables(db, 'messages, submissions, carrier_ids, receipts, events'))

describe('the receipts of a message', () => {
  it('are all reported, each with its effect', async () => {
    const handover = await sent('a')
    await receipt('a', 'enroute', 'ENROUTE')
    await receipt('a', 'accepted', 'ACCEPTD')
    await receipt('a', 'undeliverable', 'UNDELIV', '011')
    await receipt('a', 'delivered', 'DELIVRD', '000')
    await receipt('a', 'undeliverable', 'UNDELIV', '012')
    await receipt('a', 'enroute', 'BUFFERED')
    expect(await detailsOf(handover)).toEqual([
      'The receipt says ENROUTE, which is not final.',
      'The receipt says ACCEPTD, which is not final.',
      'The receipt says UNDELIV, err 011.',
      'The receipt says DELIVRD, err 000; it arrived after UNDELIV, which counts.',
      'The receipt says UNDELIV, err 012 again.',
      'The receipt says BUFFERED, which is not final.',
    ])
    expect((await test.message(handover.id)).status).toBe('undelivered')
  })

  it('are reported once if the decisive one waited for its response', async () => {
    await receipt('early', 'delivered', 'DELIVRD', '000')
    const handover = await sent('early')
    expect(await detailsOf(handover)).toEqual(['The receipt says DELIVRD, err 000.'])
    await receipt('early', 'delivered', 'DELIVRD', '001')
    expect(await detailsOf(handover)).toEqual([
      'The receipt says DELIVRD, err 000.',
      'The receipt says DELIVRD, err 001 again.',
    ])
  })

  it('are reported by segment, and the first one of each counts', async () => {
    const handover = await sent('a', 'b')
    await receipt('b', 'delivered', 'DELIVRD')
    await receipt('a', 'undeliverable', 'UNDELIV')
    await receipt('b', 'undeliverable', 'UNDELIV')
    const told = await tell(handover)
    expect(told.map(({ segment, rawId, detail }) => [segment, rawId, detail])).toEqual([
      [2, 'b', 'The receipt says DELIVRD.'],
      [1, 'a', 'The receipt says UNDELIV.'],
      [2, 'b', 'The receipt says UNDELIV; it arrived after DELIVRD, which counts.'],
    ])
    // The inbox deletes receipts after its days; submissions keep their state.
    await emptyTables(db, 'receipts')
    expect((await tell(handover)).map(({ segment, stat }) => [segment, stat])).toEqual([
      [2, 'DELIVRD'],
      [1, 'UNDELIV'],
    ])
  })

  it('are a single one if the text was one payload', async () => {
    const handover = await test.lease({ body: 'x'.repeat(300), segments: 2 })
    await test.answer(handover, { segment: 2, segments: 1, carrierMessageId: null, move: null })
    await test.answer(handover, { segment: 1, segments: 1, carrierMessageId: 'whole' })
    await receipt('whole', 'delivered', 'DELIVRD')
    expect(await detailsOf(handover)).toEqual(['The receipt says DELIVRD.'])
  })
})

async function tell({ id }: Handover): Promise<ToldReceipt[]> {
  const tries = await listSubmissions(test.db, test.accountId, id)
  return tellReceipts(await test.message(id), tries, await listStoredReceipts(test.db, test.accountId, id))
}
const detailsOf = async (handover: Handover): Promise<string[]> => (await tell(handover)).map(({ detail }) => detail)

const receipt = (id: string, state: string, stat: string, err: string | null = null): Promise<void> =>
  test.ledger.receipt({
    linkId: test.linkId,
    rawId: id,
    matchId: id,
    state,
    stat,
    err,
    networkError: null,
    doneDate: `${stat} ${err}`,
  })

async function sent(...ids: string[]): Promise<Handover> {
  const handover = await test.lease({ segments: ids.length })
  for (const [i, carrierMessageId] of ids.entries())
    await test.answer(handover, { segment: i + 1, carrierMessageId, ...(i < ids.length - 1 && { move: null }) })
  return handover
}
