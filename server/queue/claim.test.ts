import { describe, expect, it } from 'vitest'
import { inTransaction } from '../ground/db/db.ts'
import { createTestDatabase, emptyTables, forEachTest } from '../ground/db/testing.ts'
import { dayOf, ensurePartitions } from '../ground/db/partitions.ts'
import { firstIdAt, newId } from '../ground/base/ids.ts'
import { cancelMessage } from '../messages/cancel.ts'
import { claimMessages, findLanes } from './claim.ts'
import { queueDue } from './due.ts'
import { endWithoutReceipt } from '../ledger/no-receipt.ts'
import { allMessages, listMessages } from '../messages/list.ts'
import { readDirect } from '../ledger/settle.ts'
import { moveTo, insertTestCarrier, insertTestSender, openLedgerTest, silent } from '../messages/testing.ts'

const { db } = await createTestDatabase()
// As in production, with partitions of this day.
await ensurePartitions(db, silent)
const test = forEachTest(db, openLedgerTest)

const noId = '00000000-0000-0000-0000-000000000000'

describe('lanes', () => {
  it('are found while they have messages, are not paused, and their account is active', async () => {
    expect(await findLanes(test.db)).toEqual([])
    await test.send({ type: 'marketing' })
    await test.send({ type: 'otp' })
    expect((await findLanes(test.db)).map((lane) => lane.type)).toEqual(['marketing', 'otp'])
    await test.sql`update lanes set is_paused = true where type = 'marketing'`
    expect((await findLanes(test.db)).map((lane) => lane.type)).toEqual(['otp'])
    await test.sql`update accounts set status = 'suspended' where id = ${test.accountId}`
    expect(await findLanes(test.db)).toEqual([])
  })
})

describe('a claim', () => {
  it('takes nothing of a canceled campaign, though it is archived before its queue is withdrawn', async () => {
    const campaignId = newId()
    await test.sql`with campaign as (insert into campaigns (account_id, id, name)
      values (${test.accountId}, ${campaignId}, 'One'))
      insert into broadcasts (account_id, id, campaign_id, status, body, is_test, send_at, timezone)
      values (${test.accountId}, ${newId()}, ${campaignId}, 'sending', '{}', false, now(), 'UTC')`
    await test.send({ campaignId })
    await test.sql`with canceled as (update broadcasts set status = 'canceled') update campaigns
      set status = 'archived'`
    expect((await claim()).handovers).toEqual([])
    expect(await findLanes(test.db)).toEqual([])
    await test.sql`update broadcasts set is_settled = true`
    const [lane] = await findLanes(test.db)
    expect(lane).toMatchObject({ campaignId })
  })

  it('takes an answer to a keyword even if its campaign is paused', async () => {
    const campaignId = newId()
    await test.sql`insert into campaigns (account_id, id, name) values (${test.accountId}, ${campaignId}, 'One')`
    const [asked, answer] = [await test.send({ campaignId }), await test.send({ campaignId })]
    await test.sql`update messages set is_confirmation = true where id = ${answer.id}`
    await test.sql`update campaigns set status = 'paused'`
    expect((await claim()).handovers.map(({ id }) => id)).toEqual([answer.id])
    expect((await test.message(asked.id)).status).toBe('queued')
  })

  it('takes the oldest first, up to its limit, and leaves an intent for each segment', async () => {
    const sent = []
    for (let i = 0; i < 5; i++) sent.push(await test.send({ body: `${i}`, segments: 2 }))
    const { handovers, claimed, lastId } = await claim(3)
    expect(handovers.map((one) => one.id)).toEqual(sent.slice(0, 3).map((row) => row.id))
    expect([claimed, lastId]).toEqual([3, sent[2]?.id])
    expect(handovers[0]).toMatchObject({ body: '0', segments: 2, pending: null, try: 1, linkId: test.linkId })
    expect(await test.count('intents', 'node_id = $1', [test.nodeId])).toBe(6)
    expect(await test.count('queue', 'true')).toBe(2)
    expect(await test.message(sent[0]?.id ?? '')).toMatchObject({
      status: 'sending',
      attempts: 1,
      carrierId: test.carrierId,
    })
  })

  it('leaves no intent for the first try of a young message of one segment: its row names the holder', async () => {
    const { id: old } = await test.send()
    const directFrom = newId()
    const { id: long } = await test.send({ body: 'x'.repeat(200), segments: 2 })
    const { id: young } = await test.send()
    const take = async () => (await claim(100, noId, test.nodeId, { directFrom })).handovers
    const taken = await take()
    expect(Object.fromEntries(taken.map((one) => [one.id, one.isDirect]))).toEqual({
      [old]: false,
      [long]: false,
      [young]: true,
    })
    expect(await test.count('intents', 'message_id = $1', [old])).toBe(1)
    expect(await test.count('intents', 'message_id = $1', [long])).toBe(2)
    expect(await test.count('intents', 'true')).toBe(3)
    expect((await readDirect(test.db, test.nodeId)).map(({ messageId }) => messageId)).toEqual([young])
    // It returns to the queue and is claimed again: the second try has an intent.
    for (const handover of taken.filter((one) => one.id === young))
      await test.answer(handover, { state: 'released', carrierMessageId: null, move: moveTo('queued') })
    expect(await test.count('messages', `id = $1 and status = 'queued' and node_id is null`, [young])).toBe(1)
    expect(await take()).toMatchObject([{ id: young, try: 2, isDirect: false }])
    expect(await test.count('intents', 'message_id = $1', [young])).toBe(1)
  })

  it('of one day takes that day’s messages, and leaves the rest to one of any day', async () => {
    const [{ id }, { id: today }] = [await test.send(), await test.send()]
    const old = `${firstIdAt(Date.now() - 3 * 86_400_000).slice(0, 13)}${id.slice(13)}`
    await test.sql`update messages set id = ${old} where id = ${id}`
    await test.sql`update queue set message_id = ${old} where message_id = ${id}`
    const [lane] = await findLanes(test.db)
    expect(lane?.head).toBe(old)
    const ofToday = await claim(100, noId, test.nodeId, { day: dayOf([today]) })
    expect(ofToday).toMatchObject({ claimed: 1, handovers: [{ id: today }], lastId: today })
    expect((await claim()).handovers.map((one) => one.id)).toEqual([old])
  })

  it('starts above its low-water mark', async () => {
    const [first, second] = [await test.send(), await test.send()]
    expect((await claim(10, first.id)).handovers.map((one) => one.id)).toEqual([second.id])
  })

  it('never shares a message with another claim', async () => {
    await test.acceptor.acceptAll(Array.from({ length: 400 }, () => test.draft()))
    const claims = await Promise.all(Array.from({ length: 8 }, () => claim(100)))
    const ids = claims.flatMap(({ handovers }) => handovers.map((one) => one.id))
    expect(new Set(ids).size).toBe(ids.length)
    const rest = (await claim(500)).handovers
    expect(ids.length + rest.length).toBe(400)
    expect(await test.count('intents', 'true')).toBe(400)
  })

  it('takes nothing for a node that is fenced or unknown', async () => {
    await test.send()
    expect(await claim(10, noId, newId())).toMatchObject({ handovers: [], claimed: 0 })
    await test.sql`update nodes set fenced_at = now()`
    expect(await claim()).toMatchObject({ handovers: [], claimed: 0, lastId: null })
    expect(await test.count('queue', 'true')).toBe(1)
  })

  it('ends expired messages, and keeps the carrier’s last reason', async () => {
    const row = await test.send()
    await test.sql`update messages set expires_at = now(), error_code = 'throttled', error_raw = '0x00000058'`
    expect(await claim()).toMatchObject({ handovers: [], claimed: 1 })
    expect(await test.message(row.id)).toMatchObject({
      status: 'expired',
      errorCode: 'expired_in_queue',
      errorStage: 'queue',
      errorRaw: '0x00000058',
      attempts: 0,
    })
    expect(await test.eventsOf(row.id)).toEqual(['message.failed'])
  })

  it('ends messages to people who opted out meanwhile, but not a confirmation', async () => {
    await test.subscribe('message.canceled')
    const [row, confirmation] = [await test.send(), await test.send()]
    await test.sql`update messages set is_confirmation = true where id = ${confirmation.id}`
    const other = await openLedgerTest(test.db)
    const { id: theirs } = await other.send()
    await test.sql`insert into opt_outs (account_id, number, source)
      values (${test.accountId}, '15551230001', 'reply')`
    expect((await claim()).handovers.map((one) => one.id)).toEqual([confirmation.id])
    expect(await test.message(row.id)).toMatchObject({ status: 'canceled', errorCode: 'recipient_opted_out' })
    expect(await test.count('outcomes', `status = 'canceled' and error_code = 'recipient_opted_out'`)).toBe(1)
    // Other accounts may still write to the person.
    const [lane] = await findLanes(test.db)
    const links = [{ id: other.linkId, carrierId: other.carrierId }]
    const { handovers } = await claimMessages(other.context, other.nodeId, links, lane?.id ?? '', noId, 10)
    expect(handovers.map((one) => one.id)).toEqual([theirs])
    expect(await test.eventsOf(row.id)).toEqual(['message.canceled'])
  })

  it('moves messages for a carrier without a link here to its own queue, and finds them there', async () => {
    const elsewhere = newId()
    await inTransaction(test.db, (tx) => insertTestCarrier(tx, elsewhere))
    await insertTestSender(test.db, test.accountId, elsewhere, '15550001111')
    const [held, mine] = [await test.send({ sender: '15550001111' }), await test.send()]
    expect((await claim()).handovers.map((one) => one.id)).toEqual([mine.id])
    expect(await test.message(held.id)).toMatchObject({ status: 'queued', holdReason: 'no_route', attempts: 0 })
    expect(await test.count('intents', 'message_id = $1', [held.id])).toBe(0)
    const [lane, ...others] = await findLanes(test.db)
    expect([lane?.laneId, lane?.carrierId, lane?.sender, others]).toEqual([await laneOf(), elsewhere, null, []])
    const link = { id: newId(), carrierId: elsewhere }
    const take = (rooms: (typeof link)[]): ReturnType<typeof claimMessages> =>
      claimMessages(test.context, test.nodeId, rooms, lane?.id ?? '', noId, 10, { laneId: lane?.laneId ?? '' })
    // A second look that finds its route unchanged leaves it there.
    expect(await take([{ id: test.linkId, carrierId: test.carrierId }])).toMatchObject({ claimed: 1, stayed: 1 })
    expect((await take([link])).handovers.map((one) => one.id)).toEqual([held.id])
    expect(await test.message(held.id)).toMatchObject({ status: 'sending', holdReason: null, attempts: 1 })
    expect(await test.count('queue', 'true')).toBe(0)
  })

  it('takes no more segments than a link has room for; the rest stays in place, or moves out of others’ way', async () => {
    for (let i = 0; i < 4; i++) await test.send({ segments: 2 })
    const rooms = [{ id: test.linkId, carrierId: test.carrierId, segments: 3 }]
    const lane = await laneOf()
    const first = await claimMessages(test.context, test.nodeId, rooms, lane, noId, 10, { sorts: false })
    expect([first.handovers.length, first.claimed, first.stayed]).toEqual([2, 4, 2])
    expect(first.clearId).toBe(first.handovers[1]?.id)
    const none = [{ id: test.linkId, carrierId: test.carrierId, segments: 0 }]
    expect(await claimMessages(test.context, test.nodeId, none, lane, noId, 10)).toMatchObject({
      stayed: 0,
      claimed: 2,
    })
    const [found] = await findLanes(test.db)
    expect(found).toMatchObject({ carrierId: test.carrierId, laneId: lane })
    expect(await test.count('messages', `status = 'queued' and hold_reason is null`)).toBe(2)
  })

  it('moves messages of a sender with a pace to that sender’s own queue', async () => {
    const row = await test.send()
    await test.sql`update senders set pace = 1`
    expect((await claim()).handovers).toEqual([])
    const [lane] = await findLanes(test.db)
    expect(lane).toMatchObject({ carrierId: test.carrierId, sender: row.ourNumber })
    const links = [{ id: test.linkId, carrierId: test.carrierId }]
    const options = { laneId: lane?.laneId ?? '', sender: lane?.sender ?? null }
    const { handovers } = await claimMessages(test.context, test.nodeId, links, lane?.id ?? '', noId, 10, options)
    expect(handovers.map((one) => one.id)).toEqual([row.id])
  })

  it('holds messages for a disabled carrier', async () => {
    const row = await test.send()
    await test.sql`update carriers set enabled = false`
    expect((await claim()).handovers).toEqual([])
    expect(await test.message(row.id)).toMatchObject({ status: 'queued', holdReason: 'no_route' })
  })

  it('holds messages that no carrier would accept for as long as that lasts, then sends them', async () => {
    const row = await test.send()
    // Its carrier was down first, and is deleted now.
    await test.sql`update messages set chain = array[gen_random_uuid()], hold_reason = 'no_route'`
    for (let look = 0; look < 3; look++) {
      expect(await claim()).toMatchObject({ handovers: [], claimed: 1 })
      expect(await test.message(row.id)).toMatchObject({ status: 'queued', holdReason: 'no_route' })
      expect([await test.count('queue', 'true'), await test.count('delayed', 'true')]).toEqual([0, 1])
      await test.sql`update delayed set due_at = now()`
      await queueDue(test.db)
    }
    await test.sql`update messages set chain = array[${test.carrierId}::uuid]`
    expect((await claim()).handovers.map((one) => one.id)).toEqual([row.id])
  })

  it.each([
    ['where no route says more', null],
    ['whatever its chain says', 'itself'],
  ])(
    'sends nothing from a number that its account has given up %s, and continues when it has it again',
    async (_, chain) => {
      const row = await test.send()
      if (chain) await test.sql`update messages set chain = array[${test.carrierId}::uuid]`
      await test.sql`delete from senders`
      // It may belong to another account by now.
      const other = newId()
      await test.sql`insert into accounts (id, name) values (${other}, 'Other')`
      await insertTestSender(test.db, other, test.carrierId, row.ourNumber ?? '')
      expect((await claim()).handovers).toEqual([])
      expect(await test.message(row.id)).toMatchObject({ status: 'queued', holdReason: 'no_route' })
      await test.sql`update senders set account_id = ${test.accountId}`
      await test.sql`update delayed set due_at = now()`
      await queueDue(test.db)
      expect((await claim()).handovers.map((one) => one.id)).toEqual([row.id])
    },
  )

  it('takes the best carrier that is up anywhere, and the best of them if all are down', async () => {
    const [better, best] = [newId(), newId()]
    await inTransaction(test.db, (tx) => insertTestCarrier(tx, better, {}, { priority: 2 }))
    await inTransaction(test.db, (tx) => insertTestCarrier(tx, best, {}, { priority: 1 }))
    await test.sql`delete from senders`
    const rooms = [{ id: test.linkId, carrierId: test.carrierId }]
    const take = async (...upCarriers: string[]): ReturnType<typeof claimMessages> =>
      claimMessages(test.context, test.nodeId, rooms, await laneOf(), noId, 10, { upCarriers })
    const carriersOfParts = async (): Promise<(string | null)[]> =>
      (await findLanes(test.db)).map((lane) => lane.carrierId)
    await test.send()
    expect((await take(better, test.carrierId)).handovers).toEqual([])
    expect(await carriersOfParts()).toEqual([better])
    await test.send()
    expect((await take()).handovers).toEqual([])
    expect(await carriersOfParts()).toEqual([better, best])
    const row = await test.send()
    expect((await take(test.carrierId)).handovers.map((one) => one.id)).toEqual([row.id])
  })

  it('follows a message’s chain, without disabled carriers', async () => {
    const [first, second] = [newId(), newId()]
    for (const id of [first, second])
      await inTransaction(test.db, (tx) => insertTestCarrier(tx, id, {}, { priority: 1 }))
    await test.sql`update carriers set enabled = false where id = ${first}`
    const row = await test.send()
    await test.sql`update messages set chain = ${[first, test.carrierId, second]} where id = ${row.id}`
    expect((await claim()).handovers.map((one) => one.id)).toEqual([row.id])
    expect((await test.message(row.id)).carrierId).toBe(test.carrierId)
  })

  it('skips a message that is no longer queued', async () => {
    const row = await test.send()
    await test.sql`update messages set status = 'canceled'`
    expect(await claim()).toMatchObject({ handovers: [], claimed: 1, lastId: row.id })
    expect(await test.count('queue', 'true')).toBe(0)
  })

  it('and a cancel at the same moment: exactly one succeeds', async () => {
    for (let round = 0; round < 15; round++) {
      const rows = await Promise.all(Array.from({ length: 10 }, () => test.send()))
      const [claimed, ...canceled] = await Promise.all([
        claim(),
        ...rows.map((row) => cancelMessage(test.context, test.accountId, row.id)),
      ])
      const taken = new Set(claimed.handovers.map((one) => one.id))
      for (const [i, row] of rows.entries()) {
        const now = await test.message(row.id)
        expect(taken.has(row.id)).toBe(now.status === 'sending')
        expect(canceled[i] !== null).toBe(now.status === 'canceled')
      }
      expect(await test.count('intents', 'true')).toBe(taken.size)
      await emptyTables(test.db, 'intents, queue')
    }
  })
})

describe('a scheduled message', () => {
  it('is queued when it is due, the earliest first', async () => {
    const late = await test.send({ sendAt: new Date(Date.now() + 3_600_000) })
    const soon = await test.send({ sendAt: new Date(Date.now() + 60_000) })
    expect(await queueDue(test.db)).toBe(0)
    await test.sql`update delayed set due_at = due_at - interval '2 hours'`
    expect(await queueDue(test.db, 1)).toBe(1)
    expect([(await test.message(soon.id)).status, (await test.message(late.id)).status]).toEqual([
      'queued',
      'scheduled',
    ])
    expect(await queueDue(test.db, 1)).toBe(1)
    expect((await claim()).handovers.map((one) => one.id)).toEqual([late.id, soon.id])
  })

  it('is not queued twice by two at once', async () => {
    await Promise.all(Array.from({ length: 50 }, () => test.send({ sendAt: new Date(Date.now() + 60_000) })))
    await test.sql`update delayed set due_at = now()`
    const counts = await Promise.all([queueDue(test.db), queueDue(test.db), queueDue(test.db)])
    expect(counts.reduce((sum, n) => sum + n, 0)).toBe(50)
    expect(await test.count('queue', 'true')).toBe(50)
  })
})

describe('a message that is never confirmed', () => {
  it('is unconfirmed after the timeout, once, and can still be delivered', async () => {
    await test.subscribe('message.unconfirmed')
    const [old, fresh] = [await test.lease(), await test.lease()]
    await test.answer(old)
    await test.answer(fresh)
    await test.sql`update carrier_ids set at = now() - interval '73 hours' where message_id = ${old.id}`
    expect(await endWithoutReceipt(test.context, 72)).toBe(1)
    expect(await endWithoutReceipt(test.context, 72)).toBe(0)
    expect(await test.message(old.id)).toMatchObject({ status: 'unconfirmed', errorCode: 'no_receipt' })
    expect((await test.message(fresh.id)).status).toBe('sent')
    expect(await test.eventsOf(old.id)).toEqual(['message.unconfirmed'])
  })

  it('waits as long if its carrier has used the id before', async () => {
    for (const carrierMessageId of ['a', 'b']) await test.answer(await test.lease(), { carrierMessageId })
    await test.sql`update carrier_ids set at = now() - interval '73 hours'`
    const [again, long] = [await test.lease(), await test.lease({ segments: 2 })]
    await test.answer(again, { carrierMessageId: 'a' })
    await test.answer(long, { carrierMessageId: 'b', move: null })
    await test.answer(long, { segment: 2, carrierMessageId: 'c' })
    expect([await endWithoutReceipt(test.context, 72), await endWithoutReceipt(test.context, 72)]).toEqual([2, 0])
    for (const { id } of [again, long]) expect((await test.message(id)).status).toBe('sent')
  })

  it('is counted once if it has many segments', async () => {
    const handover = await test.lease({ segments: 2 })
    await test.answer(handover, { carrierMessageId: 'a', move: null })
    await test.answer(handover, { segment: 2, carrierMessageId: 'b', move: moveTo('sent') })
    await test.sql`update carrier_ids set at = now() - interval '73 hours'`
    expect(await endWithoutReceipt(test.context, 72)).toBe(1)
    expect(await test.count('outcomes', `status = 'unconfirmed'`)).toBe(1)
  })

  it('is unconfirmed also if the carrier gave it no id', async () => {
    const withoutId = await test.lease()
    await test.answer(withoutId, { carrierMessageId: null })
    expect(await endWithoutReceipt(test.context, 72)).toBe(0)
    await test.sql`update messages set sent_at = now() - interval '73 hours' where id = ${withoutId.id}`
    expect(await endWithoutReceipt(test.context, 72)).toBe(1)
    expect(await test.message(withoutId.id)).toMatchObject({ status: 'unconfirmed', errorCode: 'no_receipt' })
  })

  it('is found by its current reason, and not by an earlier one', async () => {
    const late = await test.lease()
    await test.answer(late, {
      state: 'unknown',
      carrierMessageId: null,
      move: moveTo('unconfirmed', { errorCode: 'outcome_unknown' }),
    })
    await test.answer(late, { isLate: true })
    await test.sql`update carrier_ids set at = now() - interval '73 hours' where message_id = ${late.id}`
    await endWithoutReceipt(test.context, 72)
    const reading = { isUpward: false, from: null, since: null }
    const found = async (errorCode: string): Promise<string[]> =>
      (await listMessages(test.db, test.accountId, { ...allMessages, errorCode }, reading, 10)).rows.map(({ id }) => id)
    expect(await found('no_receipt')).toEqual([late.id])
    expect(await found('outcome_unknown')).toEqual([])
  })
})

async function laneOf(type = 'transactional'): Promise<string> {
  const [row] = await test.sql<{ id: string }>`select id from lanes
    where account_id = ${test.accountId} and type = ${type}`
  return row?.id ?? ''
}

async function claim(
  limit = 100,
  after = noId,
  nodeId = test.nodeId,
  options: Parameters<typeof claimMessages>[6] = {},
): ReturnType<typeof claimMessages> {
  const links = [{ id: test.linkId, carrierId: test.carrierId }]
  return claimMessages(test.context, nodeId, links, await laneOf(), after, limit, options)
}
