import { setTimeout as pause } from 'node:timers/promises'
import { normaliseId } from '@heliogram/smpp'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { inTransaction, type Tx } from '../ground/db/db.ts'
import { ensurePartitions } from '../ground/db/partitions.ts'
import { createTestDatabase, forEachTest } from '../ground/db/testing.ts'
import type { Posting } from '../events/events.ts'
import { newId } from '../ground/base/ids.ts'
import { writeAnswers } from './answer.ts'
import type { Handover } from '../message/handover.ts'
import { Ledger } from './ledger.ts'
import { recordMoves } from '../message/moved.ts'
import { matchOrphans, writeReceipts, type ReceiptIn } from './receipt.ts'
import { Recent } from '../message/recent.ts'
import { rematchReceipts } from './rekey.ts'
import { defaultReasons } from '../message/taxonomy.ts'
import { openLedgerTest, testAnswer, silent } from '../messages/testing.ts'

const { db } = await createTestDatabase()
// As in production: statements for one day's messages use that day's partitions.
await ensurePartitions(db, silent)
const test = forEachTest(db, openLedgerTest)

const words: Record<string, string> = {
  delivered: 'DELIVRD',
  undeliverable: 'UNDELIV',
  expired: 'EXPIRED',
  deleted: 'DELETED',
  rejected: 'REJECTD',
  enroute: 'ENROUTE',
  accepted: 'ACCEPTD',
  unknown: 'UNKNOWN',
}

describe('a receipt', () => {
  it.each([
    ['delivered', 'delivered', null],
    ['undeliverable', 'undelivered', 'carrier_unknown'],
    ['expired', 'undelivered', 'expired_at_carrier'],
    ['deleted', 'undelivered', 'carrier_unknown'],
    ['rejected', 'rejected', 'carrier_unknown'],
    ['enroute', 'sent', null],
    ['accepted', 'sent', null],
    ['unknown', 'sent', null],
  ])('%s leaves the message %s (%s)', async (state, status, errorCode) => {
    const handover = await sent('a')
    await receipt('a', state)
    const isFinal = status !== 'sent'
    expect(await test.message(handover.id)).toMatchObject({
      status,
      errorCode,
      errorStage: errorCode && 'receipt',
      receiptStat: isFinal ? words[state] : null,
      segmentsDelivered: status === 'delivered' ? 1 : 0,
    })
    const event = status === 'delivered' ? ['message.delivered'] : isFinal ? ['message.failed'] : []
    expect(await test.eventsOf(handover.id)).toEqual(event)
    expect(await test.count('outcomes', 'status = $1', [status])).toBe(isFinal && status !== 'delivered' ? 1 : 0)
  })

  it('that came long before a message is not matched to it by its id, on any path', async () => {
    await receipt('a', 'delivered')
    await receipt('b', 'delivered')
    await test.sql`update receipts set received_at = now() - interval '2 hours'`
    const [short, long] = [await sent('a'), await sent('b', 'c')]
    const { moved } = await inTransaction(test.db, (tx) =>
      rematchReceipts(tx, test.linkId, defaultReasons, (id) => id, null, 100),
    )
    expect([await statusOf(short), await statusOf(long), moved]).toEqual(['sent', 'sent', []])
    expect(await test.count('receipts', 'message_id is null')).toBe(2)
  })

  it('reports the network’s reason', async () => {
    const [gone, barred] = [await sent('a'), await sent('b')]
    await receipt('a', 'undeliverable', { err: '001' })
    await receipt('b', 'rejected', { err: '013' })
    expect(await test.message(gone.id)).toMatchObject({ errorCode: 'unknown_subscriber', errorRaw: 'UNDELIV err:001' })
    expect((await test.message(barred.id)).errorCode).toBe('recipient_blocked')
  })

  it('that could not be stored at first is one end in the metrics', async () => {
    const { ends } = test.context.meter
    const before = ends.get('delivered')
    await sent('a', 'b')
    await receipt('a', 'delivered')
    await test.sql`alter table events add constraint full_disk check (type <> 'message.delivered')`
    await expect(receipt('b', 'delivered')).rejects.toThrow('full_disk')
    await test.sql`alter table events drop constraint full_disk`
    await receipt('b', 'delivered')
    expect(ends.get('delivered') - before).toBe(1)
  })

  it('counts once, however often it comes', async () => {
    const handover = await sent('a')
    await Promise.all([receipt('a', 'delivered'), receipt('a', 'delivered')])
    await receipt('a', 'delivered')
    expect(await test.eventsOf(handover.id)).toEqual(['message.delivered'])
    expect(await test.count('receipts', 'true')).toBe(1)
    expect((await test.message(handover.id)).sequence).toBe(3)
  })

  it('is final the first time: a different one is kept and changes nothing', async () => {
    const handover = await sent('a')
    await receipt('a', 'delivered')
    await receipt('a', 'undeliverable')
    await receipt('a', 'enroute')
    expect(await statusOf(handover)).toBe('delivered')
    expect(await test.eventsOf(handover.id)).toEqual(['message.delivered'])
    // The deciding receipt is in the message's row, the others are in the inbox.
    expect(await test.count('receipts', 'message_id = $1', [handover.id])).toBe(2)
  })

  it('is final the first time even if both arrive together', async () => {
    const ids = Array.from({ length: 40 }, (_, i) => `id${i}`)
    const handovers = []
    for (const id of ids) handovers.push(await sent(id))
    await Promise.all(ids.flatMap((id) => [receipt(id, 'undeliverable'), receipt(id, 'delivered')]))
    expect(await Promise.all(handovers.map(statusOf))).toEqual(ids.map(() => 'undelivered'))
  })

  it('is final the first time even if another process had the first one', async () => {
    const handover = await sent('a')
    const other = new Ledger({ ...test.context, recent: new Recent() })
    await other.receipt(receiptIn('a', 'delivered'))
    await receipt('a', 'undeliverable')
    expect(await statusOf(handover)).toBe('delivered')
    expect(await test.eventsOf(handover.id)).toEqual(['message.delivered'])
    expect(await test.count('receipts', `message_id = $1 and stat = 'UNDELIV'`, [handover.id])).toBe(1)
  })

  it('is found by its reason even if another message is delivered at the same moment', async () => {
    const [good, bad] = [await sent('a'), await sent('b')]
    await Promise.all([receipt('a', 'delivered'), receipt('b', 'undeliverable', { err: '001' })])
    expect(await statusOf(good)).toBe('delivered')
    expect(await test.message(bad.id)).toMatchObject({ status: 'undelivered', errorCode: 'unknown_subscriber' })
    const rows = await test.sql`select message_id as id, error_code as code from outcomes`
    expect(rows).toEqual([{ id: bad.id, code: 'unknown_subscriber' }])
  })

  it('is offered at once to every endpoint except strictly ordered ones, which are claimed', async () => {
    const [free, ordered] = [newId(), newId()]
    await test.sql`insert into webhooks (account_id, id, url, events, secret, ordered)
      select ${test.accountId}, id, 'https://example.com/', '{message.delivered}', '', id = ${ordered}
      from unnest(array[${free}::uuid, ${ordered}::uuid]) as w (id)`
    const offered: string[] = []
    const offer = (postings: Posting[]): void => void offered.push(...postings.map(({ endpointId }) => endpointId))
    const ledger = new Ledger({ ...test.context, outbox: { nodeId: test.nodeId, offer } })
    await sent('a')
    await ledger.receipt(receiptIn('a', 'delivered'))
    expect(offered).toEqual([free])
    const rows = await test.sql`select endpoint_id as id, leased_by as "leasedBy" from outbox
      where account_id = ${test.accountId} order by leased_by nulls last`
    expect(rows).toEqual([
      { id: free, leasedBy: test.nodeId },
      { id: ordered, leasedBy: null },
    ])
  })

  it('of a message that differs from its cached state is still applied, beside those with two posts each', async () => {
    await test.sql`insert into webhooks (account_id, id, url, events, secret, ordered)
      select ${test.accountId}, id, 'https://example.com/', '{message.delivered}', '', true
      from unnest(${[newId(), newId()]}::uuid[]) as w (id)`
    const ids = ['a', 'b', 'c', 'd']
    const handovers: Handover[] = []
    for (const id of ids) handovers.push(await sent(id))
    await test.sql`update messages set sequence = sequence + 1
      where id = any (${handovers.slice(2).map(({ id }) => id)}::uuid[])`
    await Promise.all(ids.map((id) => receipt(id, 'delivered')))
    expect(await Promise.all(handovers.map(statusOf))).toEqual(ids.map(() => 'delivered'))
    expect(await test.count('outbox', `account_id = '${test.accountId}'`)).toBe(8)
  })

  it('is kept until the response that it overtook, then applied', async () => {
    await test.subscribe('message.sent')
    const handover = await test.lease()
    await receipt('early', 'delivered')
    expect(await statusOf(handover)).toBe('sending')
    await test.answer(handover, { carrierMessageId: 'early' })
    expect(await statusOf(handover)).toBe('delivered')
    expect(await test.eventsOf(handover.id)).toEqual(['message.sent', 'message.delivered'])
    expect(await test.count('receipts', 'message_id is null')).toBe(0)
  })

  it('that came first counts if several wait for the response', async () => {
    const statuses: string[] = []
    for (const [id, first] of [
      ['early', 'delivered'],
      ['earlier', 'undeliverable'],
    ] as const) {
      const handover = await test.lease()
      for (const state of ['delivered', 'undeliverable']) await receipt(id, state)
      await test.sql`update receipts set received_at = received_at - interval '1 minute'
        where match_id = ${id} and state = ${first} and ${first} <> 'delivered'`
      await test.answer(handover, { carrierMessageId: id })
      statuses.push(await statusOf(handover))
    }
    expect(statuses).toEqual(['delivered', 'undelivered'])
  })

  it('that waits for another carrier’s response is not mistaken for it', async () => {
    const other = await openLedgerTest(test.db)
    await receipt('5', 'delivered', { linkId: other.linkId })
    await receipt('6', 'delivered')
    const [mine, early] = [await test.lease(), await test.lease()]
    await Promise.all([test.answer(mine, { carrierMessageId: '5' }), test.answer(early, { carrierMessageId: '6' })])
    expect([await statusOf(mine), await statusOf(early)]).toEqual(['sent', 'delivered'])
  })

  it('that comes together with its response is applied', async () => {
    const handover = await test.lease()
    await Promise.all([receipt('same', 'delivered'), test.answer(handover, { carrierMessageId: 'same' })])
    expect(await statusOf(handover)).toBe('delivered')
  })

  it('with an unknown id is kept, and matched when the id is known', async () => {
    const handover = await test.lease()
    await receipt('orphan', 'delivered')
    // As another process would: its statement did not see the receipt.
    await test.sql`insert into carrier_ids (link_id, carrier_message_id, account_id, message_id, segment, segments)
      values (${test.linkId}, 'orphan', ${test.accountId}, ${handover.id}, 1, 1)`
    await inTransaction(test.db, async (tx) => recordMoves(tx, await matchOrphans(tx, defaultReasons), test.context))
    // The same id from another carrier stays unknown.
    const other = await openLedgerTest(test.db)
    await receipt('orphan', 'undeliverable', { linkId: other.linkId })
    expect(await statusOf(handover)).toBe('delivered')
    expect(await test.eventsOf(handover.id)).toEqual(['message.delivered'])
    expect(await inTransaction(test.db, (tx) => matchOrphans(tx, defaultReasons))).toEqual([])
    expect(await test.count('receipts', 'message_id is null')).toBe(1)
  })

  it('belongs to its link: another carrier’s same id is another message', async () => {
    const other = await openLedgerTest(test.db)
    const mine = await sent('1')
    const theirs = await other.lease()
    await other.answer(theirs, { carrierMessageId: '1' })
    await receipt('1', 'delivered', { linkId: other.linkId })
    expect(await statusOf(mine)).toBe('sent')
    expect((await other.message(theirs.id)).status).toBe('delivered')
  })

  it('with an id that the carrier uses again is the later message’s', async () => {
    const first = await sent('7')
    await receipt('7', 'delivered', { doneDate: '' })
    const second = await sent('7')
    await receipt('7', 'delivered', { doneDate: '' })
    expect([await statusOf(first), await statusOf(second)]).toEqual(['delivered', 'delivered'])
  })

  it('with an id that the carrier uses again has the later message’s number of segments', async () => {
    const long = await sent('7', '8')
    const short = await sent('7')
    // As after a restart: the memory is empty.
    const restarted = new Ledger({ ...test.context, recent: new Recent() })
    await restarted.receipt(receiptIn('7', 'delivered'))
    expect([await statusOf(long), await statusOf(short)]).toEqual(['sent', 'delivered'])
    const again = await sent('9', '7')
    await restarted.receipt({ ...receiptIn('7', 'delivered'), doneDate: '2611201201' })
    expect(await statusOf(again)).toBe('sent')
    await restarted.receipt(receiptIn('9', 'delivered'))
    expect(await test.message(again.id)).toMatchObject({ status: 'delivered', segmentsDelivered: 2 })
  })

  it('finds its message in the other radix, by the link’s setting', async () => {
    const handover = await sent('700443244')
    await receipt('29bfea6c', 'delivered', { matchId: normaliseId('29BFEA6C', 'hex-to-dec') })
    expect(await statusOf(handover)).toBe('delivered')
  })

  it('finds the id "0"', async () => {
    const handover = await sent('0')
    await receipt('0', 'delivered')
    expect(await statusOf(handover)).toBe('delivered')
  })

  it('without an id matches nothing', async () => {
    const handover = await test.lease()
    await test.answer(handover, { carrierMessageId: null })
    await receipt('', 'delivered')
    expect(await statusOf(handover)).toBe('sent')
    expect(await test.count('receipts', 'message_id is null')).toBe(1)
  })

  it('settles a message that was unconfirmed', async () => {
    const handover = await sent('a')
    await test.sql`update messages set status = 'unconfirmed', error_code = 'no_receipt' where id = ${handover.id}`
    await receipt('a', 'delivered')
    expect(await test.message(handover.id)).toMatchObject({ status: 'delivered', errorCode: null })
  })
})

describe('receipts of a long message', () => {
  it('make it delivered when all are, in any order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray([0, 1, 2, 3], { minLength: 4 }), fc.boolean(), async (order, isTogether) => {
        const stem = Math.random().toString(36)
        const ids = [0, 1, 2, 3].map((n) => `${stem}${n}`)
        const handover = await sent(...ids)
        const give = (n: number): Promise<void> => receipt(ids[n] ?? '', 'delivered')
        if (isTogether) await Promise.all(order.map(give))
        else
          for (const [i, n] of order.entries()) {
            expect(await statusOf(handover)).toBe('sent')
            await give(n)
            if (i < 3) expect(await test.eventsOf(handover.id)).toEqual([])
          }
        expect(await test.message(handover.id)).toMatchObject({
          status: 'delivered',
          segmentsDelivered: 4,
          receiptStat: 'DELIVRD',
        })
        expect(await test.eventsOf(handover.id)).toEqual(['message.delivered'])
      }),
      { numRuns: 12 },
    )
  })

  it('make it fail with the first bad one when all are final, and count delivered segments', async () => {
    const handover = await sent('a', 'b', 'c')
    await receipt('c', 'undeliverable', { err: '027' })
    await receipt('a', 'delivered')
    expect(await statusOf(handover)).toBe('sent')
    await receipt('b', 'delivered')
    expect(await test.message(handover.id)).toMatchObject({
      status: 'undelivered',
      segmentsDelivered: 2,
      errorCode: 'handset_unreachable',
      receiptStat: 'UNDELIV',
    })
    expect(await test.eventsOf(handover.id)).toEqual(['message.failed'])
  })

  it('may all arrive before the responses', async () => {
    const handover = await test.lease({ body: 'x'.repeat(300), segments: 2 })
    await receipt('b', 'delivered')
    await receipt('a', 'delivered')
    await test.answer(handover, { segment: 2, carrierMessageId: 'b', move: null })
    expect(await statusOf(handover)).toBe('sending')
    await test.answer(handover, { segment: 1, carrierMessageId: 'a' })
    expect(await statusOf(handover)).toBe('delivered')
  })

  it('may reach two processes at one moment', async () => {
    const handover = await sent('s1', 's2')
    const write = (tx: Tx, id: string): Promise<unknown> =>
      writeReceipts(tx, [receiptIn(id, 'delivered')], defaultReasons)
    let other: Promise<unknown> | undefined
    await inTransaction(test.db, async (tx) => {
      await write(tx, 's1')
      other = inTransaction(test.db, (tx2) => write(tx2, 's2'))
      // It has written its own, or is blocked.
      await Promise.race([other, pause(200)])
    })
    await other
    expect(await test.message(handover.id)).toMatchObject({ status: 'delivered', segmentsDelivered: 2 })
  })

  it('may arrive with the last response of another message, whose receipts arrive with theirs', async () => {
    const first = await test.lease({ body: 'x'.repeat(300), segments: 2 })
    const second = await test.lease({ body: 'x'.repeat(300), segments: 2 })
    await test.answer(first, { carrierMessageId: 'f1', move: null })
    await test.answer(second, { carrierMessageId: 's1', move: null })
    const answerLast = (tx: Tx, handover: Handover, carrierMessageId: string): Promise<unknown> =>
      writeAnswers(tx, [{ ...testAnswer(handover, test.nodeId), segment: 2, carrierMessageId }], () => false)
    const write = (tx: Tx, id: string): Promise<unknown> =>
      writeReceipts(tx, [receiptIn(id, 'delivered')], defaultReasons)
    await inTransaction(test.db, async (tx) => {
      await answerLast(tx, first, 'f2')
      await inTransaction(test.db, async (other) => {
        await other.query(`set local lock_timeout = '2s'`)
        await answerLast(other, second, 's2')
        await write(other, 'f1')
      })
      await write(tx, 's1')
    })
    await Promise.all([receipt('f2', 'delivered'), receipt('s2', 'delivered')])
    expect([await statusOf(first), await statusOf(second)]).toEqual(['delivered', 'delivered'])
  })

  it('count the first one of each segment', async () => {
    const handover = await sent('a', 'b')
    await receipt('a', 'delivered')
    await receipt('a', 'undeliverable')
    await receipt('a', 'enroute')
    await receipt('b', 'delivered')
    expect(await test.message(handover.id)).toMatchObject({ status: 'delivered', segmentsDelivered: 2 })
    // Nor does another receipt report the message twice when all segments are final.
    await receipt('b', 'undeliverable')
    expect(await test.eventsOf(handover.id)).toEqual(['message.delivered'])
  })

  it('need only one if the text was one payload', async () => {
    const handover = await test.lease({ body: 'x'.repeat(300), segments: 2 })
    await test.answer(handover, { segment: 2, segments: 1, carrierMessageId: null, move: null })
    await test.answer(handover, { segment: 1, segments: 1, carrierMessageId: 'whole' })
    await receipt('whole', 'delivered')
    expect(await test.message(handover.id)).toMatchObject({ status: 'delivered', segmentsDelivered: 2 })
  })
})

it('takes hundreds of receipts together', async () => {
  const handovers = await Promise.all(Array.from({ length: 300 }, () => test.lease()))
  await Promise.all(handovers.map((handover) => test.answer(handover)))
  await Promise.all(handovers.map(({ id }) => receipt(id, 'delivered')))
  expect(await test.count('messages', `status = 'delivered'`)).toBe(300)
  expect(await test.count('events', `type = 'message.delivered'`)).toBe(300)
})

const receiptIn = (id: string, state: string): ReceiptIn => ({
  linkId: test.linkId,
  rawId: id,
  matchId: id,
  state,
  stat: words[state] ?? state,
  err: '000',
  networkError: null,
  doneDate: '2611201200',
})

function receipt(id: string, state: string, changes: Partial<ReceiptIn> = {}): Promise<void> {
  return test.ledger.receipt({ ...receiptIn(id, state), ...changes })
}

async function sent(...ids: string[]): Promise<Handover> {
  const handover = await test.lease({ body: 'x'.repeat(153 * ids.length), segments: ids.length })
  for (const [i, carrierMessageId] of ids.entries()) {
    const isLast = i === ids.length - 1
    await test.answer(handover, { segment: i + 1, carrierMessageId, ...(!isLast && { move: null }) })
  }
  return handover
}

const statusOf = async ({ id }: Handover): Promise<string> => (await test.message(id)).status
