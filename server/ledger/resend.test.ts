import { beforeEach, describe, expect, it } from 'vitest'
import { inTransaction } from '../ground/db/db.ts'
import { createTestDatabase, untilBlocked } from '../ground/db/testing.ts'
import { newId } from '../ground/base/ids.ts'
import type { Answer } from './answer.ts'
import { referenceOf } from './adoption.ts'
import { cancelMessage } from '../messages/cancel.ts'
import { claimMessages } from '../queue/claim.ts'
import { expireMessages } from '../queue/due.ts'
import { crashesMax, noteCrashes, parkPoison } from './crash.ts'
import type { Handover } from '../message/handover.ts'
import { renderMessage } from '../message/show.ts'
import { endWithoutReceipt } from './no-receipt.ts'
import type { ReceiptIn } from './receipt.ts'
import { resendMessage, resolveUnknown } from './resend.ts'
import { settleIntents } from './settle.ts'
import { moveTo, openLedgerTest, type LedgerTest } from '../messages/testing.ts'
import { bindLink, claimFor, endUnknown, resolveDue, tellDelivered, triesOf } from './testing.ts'

const noId = '00000000-0000-0000-0000-000000000000'

let people = 0

const { db } = await createTestDatabase()
const test = await openLedgerTest(db)
await test.subscribe('message.unconfirmed', 'message.sent', 'message.delivered')
await bindLink(test)
// Each test has its own recipient.
beforeEach(() => void people++)

describe('adoption', () => {
  it.each(['the receipt first', 'the receipt last'])('finds the try of a receipt: %s', async (order) => {
    const id = newId()
    const handover = await lease()
    if (order === 'the receipt first') await receipt(id)
    await unknown(handover)
    expect((await test.message(handover.id)).status).toBe('unconfirmed')
    if (order === 'the receipt last') await receipt(id)
    await resolveUnknown(test.context)
    expect(await test.message(handover.id)).toMatchObject({
      status: 'delivered',
      providerMessageId: id,
      errorCode: null,
      receiptStat: 'DELIVRD',
      possibleDuplicate: false,
      onUnknown: 'hold',
    })
    expect(await test.eventsOf(handover.id)).toEqual(['message.unconfirmed', 'message.sent', 'message.delivered'])
    expect(await tries(handover.id)).toEqual([[1, 1, 'accepted', id, true]])
    expect(await test.count('nameless_tries', 'message_id = $1', [handover.id])).toBe(0)
    expect(await test.count('receipts', 'raw_id = $1 and (message_id is null or source is not null)', [id])).toBe(0)
  })

  it('makes a message sent by an intermediate receipt, so that the final one is matched by its id', async () => {
    const id = newId()
    const handover = await lease()
    await unknown(handover)
    await receipt(id, { state: 'enroute', stat: 'ENROUTE' })
    await resolveUnknown(test.context)
    expect((await test.message(handover.id)).status).toBe('sent')
    await receipt(id, { state: 'undeliverable', stat: 'UNDELIV' })
    expect((await test.message(handover.id)).status).toBe('undelivered')
  })

  it.each(['sent', 'unconfirmed'])('gives an id to a try whose response had none, and is %s', async (status) => {
    const id = newId()
    const handover = await lease()
    await test.answer(handover, { carrierMessageId: null })
    if (status === 'unconfirmed') await endWithoutReceipt(test.context, 0)
    expect((await test.message(handover.id)).status).toBe(status)
    await receipt(id)
    await resolveUnknown(test.context)
    expect(await test.message(handover.id)).toMatchObject({ status: 'delivered', providerMessageId: id })
  })

  it('waits while another message to the person is at the carrier', async () => {
    const id = newId()
    const handover = await lease()
    const other = await lease()
    await unknown(handover)
    await receipt(id)
    await resolveUnknown(test.context)
    expect((await test.message(handover.id)).status).toBe('unconfirmed')
    await test.answer(other, { carrierMessageId: id })
    await resolve()
    expect((await test.message(handover.id)).status).toBe('unconfirmed')
    expect((await test.message(other.id)).status).toBe('delivered')
  })

  it('ignores a receipt whose id is known in another form', async () => {
    const [handover, other] = [await lease(), await lease()]
    await test.answer(other, { carrierMessageId: '255' })
    await unknown(handover)
    await receipt('ff')
    await resolve()
    expect((await test.message(handover.id)).status).toBe('unconfirmed')
  })

  it('distinguishes segments by the reference, and updates the message when all are known', async () => {
    const handover = await lease({ segments: 3 })
    const ids = [newId(), newId(), newId()]
    await test.answer(handover, { segment: 1, carrierMessageId: ids[0] ?? null, move: null })
    await unknown(handover, { segment: 2, move: null })
    await unknown(handover, { segment: 3 })
    for (const segment of [3, 2])
      await receipt(ids[segment - 1] ?? '', { reference: referenceOf(handover.id, segment, 1) })
    await resolveUnknown(test.context)
    expect((await test.message(handover.id)).status).toBe('sent')
    await receipt(ids[0] ?? '')
    expect(await test.message(handover.id)).toMatchObject({ status: 'delivered', segmentsDelivered: 3 })
  })

  it('ends what late responses have covered for all segments', async () => {
    const handover = await lease({ segments: 2 })
    await unknown(handover, { segment: 1, move: null })
    await unknown(handover, { segment: 2 })
    await resolve()
    for (const segment of [1, 2])
      await test.answer(handover, { segment, carrierMessageId: newId(), move: null, isLate: true })
    expect((await test.message(handover.id)).status).toBe('unconfirmed')
    await resolveUnknown(test.context)
    expect((await test.message(handover.id)).status).toBe('sent')
  })

  it('happens once, even if two processes check at the same moment', async () => {
    const handover = await lease()
    await unknown(handover)
    await receipt(newId())
    await Promise.all(Array.from({ length: 4 }, () => resolveUnknown(test.context)))
    await resolve()
    expect(await test.eventsOf(handover.id)).toEqual(['message.unconfirmed', 'message.sent', 'message.delivered'])
  })

  it('reads one row if nothing is due', async () => {
    await test.sql`truncate nameless_tries`
    expect(await resolveUnknown(test.context)).toBe(0)
  })
})

describe('the policy', () => {
  it('is the message’s, else its campaign’s, else its account’s, else the link’s', async () => {
    const campaignId = newId()
    await test.sql`insert into campaigns (account_id, id, name, on_unknown)
      values (${test.accountId}, ${campaignId}, 'One', 'hold')`
    const set = (account: string | null, carrier: string): Promise<unknown> =>
      test.sql`with a as (update accounts set on_unknown = ${account} where id = ${test.accountId})
        update carriers set settings = settings || jsonb_build_object('on_unknown', ${carrier}::text)
        where id = ${test.carrierId}`
    await set('resend', 'hold')
    const decided: (string | null)[] = []
    for (const changes of [{ campaignId, onUnknown: 'resend' }, { campaignId }, {}] as Changes[])
      decided.push((await test.message((await lease(changes)).id)).onUnknown)
    await set(null, 'resend')
    const handover = await lease()
    decided.push((await test.message(handover.id)).onUnknown)
    await unknown(handover)
    decided.push((await test.message(handover.id)).onUnknown)
    await set(null, 'hold')
    expect(decided).toEqual(['resend', 'hold', 'resend', null, 'resend'])
  })

  it('resend: waits for a receipt first, then sends again and says so', async () => {
    const handover = await lease({ onUnknown: 'resend' })
    await unknown(handover)
    await resolveUnknown(test.context)
    expect((await test.message(handover.id)).status).toBe('unconfirmed')
    const due = await test.db.query<{ seconds: number }>(
      `select extract(epoch from resend_at - noted_at)::float8 as seconds from nameless_tries where message_id = $1`,
      [handover.id],
    )
    expect(due.rows[0]?.seconds).toBeGreaterThanOrEqual(3)
    await resolve()
    expect(await test.message(handover.id)).toMatchObject({
      status: 'queued',
      possibleDuplicate: true,
      errorCode: null,
    })
    const [again] = await claim()
    expect(again).toMatchObject({ id: handover.id, try: 2, pending: [1] })
    if (again) await test.answer(again, { carrierMessageId: newId() })
    const row = await test.message(handover.id)
    expect(renderMessage(row)).toMatchObject({
      status: 'sent',
      attempts: 2,
      possible_duplicate: true,
      on_unknown: 'resend',
    })
    expect((await tries(handover.id)).map(([n, , state]) => [n, state])).toEqual([
      [1, 'unknown'],
      [2, 'accepted'],
    ])
  })

  it('resend: sends only the segments that no carrier accepted, and waits longer each time', async () => {
    const handover = await lease({ onUnknown: 'resend', segments: 3 })
    await test.answer(handover, { segment: 1, carrierMessageId: newId(), move: null })
    await unknown(handover, { segment: 2, move: null })
    await unknown(handover, { segment: 3 })
    await resolve()
    const [again] = await claim()
    expect(again?.pending).toEqual([2, 3])
    if (!again) return
    await unknown(again, { segment: 2, move: null })
    await test.answer(again, {
      segment: 3,
      carrierMessageId: newId(),
      move: moveTo('unconfirmed', { errorCode: 'outcome_unknown' }),
    })
    const rows = await test.sql<{ seconds: number }>`select round(extract(epoch
      from resend_at - noted_at))::int as seconds from nameless_tries where message_id = ${handover.id} and try = 2`
    expect(rows).toEqual([{ seconds: 12 }])
    await resolve()
    expect((await claim())[0]?.pending).toEqual([2])
  })

  it('resend: a segment that was accepted twice is one segment, and the other is awaited', async () => {
    const handover = await lease({ onUnknown: 'resend', segments: 2 })
    const ids = [newId(), newId(), newId()] as const
    await unknown(handover, { segment: 1, move: null })
    const move = moveTo('unconfirmed', { errorCode: 'outcome_unknown' })
    await test.answer(handover, { segment: 2, carrierMessageId: ids[1], move })
    await resolve()
    const [again] = await claim()
    expect(again?.pending).toEqual([1])
    if (again) await test.answer(again, { segment: 1, carrierMessageId: ids[2] })
    await test.answer(handover, { segment: 1, carrierMessageId: ids[0], move: null, isLate: true })
    await receipt(ids[0])
    await receipt(ids[2])
    expect((await test.message(handover.id)).status).toBe('sent')
    await receipt(ids[1])
    expect(await test.message(handover.id)).toMatchObject({ status: 'delivered', segmentsDelivered: 2 })
  })

  it('resend: is not needed if a receipt arrives while the message is queued', async () => {
    const handover = await lease({ onUnknown: 'resend' })
    await unknown(handover)
    await resolve()
    await receipt(newId())
    await resolveUnknown(test.context)
    expect(await test.message(handover.id)).toMatchObject({
      status: 'delivered',
      possibleDuplicate: false,
      attempts: 1,
    })
    expect(await test.count('queue', 'message_id = $1', [handover.id])).toBe(0)
  })

  it('resend: is not needed if late responses cover all segments while the message is queued', async () => {
    const handover = await lease({ onUnknown: 'resend', segments: 2 })
    await unknown(handover, { segment: 1, move: null })
    await unknown(handover, { segment: 2 })
    await resolve()
    expect((await test.message(handover.id)).status).toBe('queued')
    for (const segment of [1, 2])
      await test.answer(handover, { segment, carrierMessageId: newId(), move: null, isLate: true })
    expect(await claim()).toEqual([])
    await resolve()
    expect(await test.message(handover.id)).toMatchObject({ status: 'sent', possibleDuplicate: false, attempts: 1 })
  })

  it('resend: does nothing after the validity, and an end in the queue is not a failure', async () => {
    const handover = await lease({ onUnknown: 'resend', validitySeconds: 60 })
    const waiting = await lease({ onUnknown: 'resend', validitySeconds: 60 })
    const claimed = await lease({ onUnknown: 'resend', validitySeconds: 60 })
    await unknown(waiting)
    await unknown(claimed)
    await resolve()
    await unknown(handover)
    const expire = (id: string): Promise<unknown> =>
      test.sql`with q as (update queue set expires_at = now() where message_id = ${id})
        update messages set expires_at = now() - interval '1 second' where id = ${id}`
    await expire(handover.id)
    await expire(waiting.id)
    await resolve()
    await expireMessages(test.context)
    // A claim may see it first.
    await expire(claimed.id)
    expect(await claim()).toEqual([])
    for (const { id } of [handover, waiting, claimed]) {
      expect(await test.message(id)).toMatchObject({
        status: 'unconfirmed',
        errorCode: 'outcome_unknown',
        completedAt: null,
      })
      expect(await resend(id)).toBeNull()
    }
  })

  it('resend: keeps waiting while no link of the carrier is up', async () => {
    const handover = await lease({ onUnknown: 'resend' })
    await unknown(handover)
    await test.sql`update link_states set state = 'down'`
    await resolve()
    expect((await test.message(handover.id)).status).toBe('unconfirmed')
    await test.sql`update link_states set state = 'bound'`
    await resolve()
    expect((await test.message(handover.id)).status).toBe('queued')
    await claim()
  })
})

const resend = (id: string): ReturnType<typeof resendMessage> =>
  inTransaction(test.db, (tx) =>
    resendMessage(tx, test.accountId, id, { kind: 'key', id: newId(), requestId: 'req_1' }),
  )

describe('a manual resend', () => {
  it('is queued even if a claim is about to remove an earlier leftover', async () => {
    const handover = await lease()
    await unknown(handover)
    await resend(handover.id)
    await inTransaction(test.db, async (tx) => {
      // As a claim without room does.
      await tx.query('select from queue where message_id = $1 for update', [handover.id])
      await cancelMessage(test.context, test.accountId, handover.id)
    })
    expect(await test.message(handover.id)).toMatchObject({ status: 'unconfirmed' })
    const inLine = (): Promise<number> => test.count('queue', 'message_id = $1', [handover.id])
    expect(await inLine()).toBe(1)
    const [row] = await test.sql<{ id: string }>`select lane_id as id from queue where message_id = ${handover.id}`
    const rooms = [{ id: test.linkId, carrierId: test.carrierId }]
    let claimed: Promise<unknown> | undefined
    await inTransaction(test.db, async (tx) => {
      await tx.query('select from nodes where id = $1 for update', [test.nodeId])
      // It has seen that the message is not queued.
      claimed = claimMessages(test.context, test.nodeId, rooms, row?.id ?? '', noId, 100)
      await untilBlocked(test.db, 1)
      await resend(handover.id)
    })
    await claimed
    expect(await test.message(handover.id)).toMatchObject({ status: 'queued' })
    expect(await inLine()).toBe(1)
  })

  it('may be requested again if it was canceled before it was sent', async () => {
    const handover = await lease()
    await unknown(handover)
    expect(await resend(handover.id)).not.toBeNull()
    await cancelMessage(test.context, test.accountId, handover.id)
    expect(await test.message(handover.id)).toMatchObject({ status: 'unconfirmed' })
    expect(await resend(handover.id)).not.toBeNull()
    expect(await test.count('resends', 'message_id = $1', [handover.id])).toBe(1)
    expect(await claim()).toHaveLength(1)
  })

  it('stays at its carrier while no link of that is up, because that may have it and charge for it', async () => {
    const handover = await lease()
    await unknown(handover)
    await resend(handover.id)
    expect(await claim([])).toEqual([])
    const ofCarrier = { carrierId: test.carrierId }
    expect(await test.message(handover.id)).toMatchObject({ status: 'queued', holdReason: 'no_route', ...ofCarrier })
    await receipt(newId())
    await resolveUnknown(test.context)
    expect(await test.message(handover.id)).toMatchObject({ status: 'delivered', ...ofCarrier })
  })

  it('waits for a late response that is being written, of everything open, before it is queued', async () => {
    const handover = await lease({ segments: 2 })
    await test.answer(handover, { carrierMessageId: newId(), move: null })
    await unknown(handover, { segment: 2 })
    await inTransaction(test.db, async (tx) => {
      await tx.query('select from submissions where message_id = $1 and segment = 2 for update', [handover.id])
      await resend(handover.id)
      expect(await claim()).toEqual([])
    })
    expect((await test.message(handover.id)).status).toBe('queued')
    await test.answer(handover, { segment: 2, carrierMessageId: newId(), move: null, isLate: true })
    await resolveUnknown(test.context)
    expect((await test.message(handover.id)).status).toBe('sent')
    expect(await claim()).toEqual([])
  })

  it('happens once, however many request it at once, and is recorded', async () => {
    const handover = await lease()
    expect(await resend(handover.id)).toBeNull()
    await unknown(handover)
    await resolve()
    const answers = await Promise.all(Array.from({ length: 4 }, () => resend(handover.id)))
    expect(answers.filter((row) => row !== null)).toHaveLength(1)
    expect(await resend(handover.id)).toBeNull()
    expect(await test.count('queue', 'message_id = $1', [handover.id])).toBe(1)
    expect(await test.count('resends', 'message_id = $1', [handover.id])).toBe(1)
    expect(await claim()).toHaveLength(1)
    expect(await resend(handover.id)).toBeNull()
  })
})

describe('a message that ends its process', () => {
  /** Another process crashes with the message in hand. */
  async function crash({ id }: Handover): Promise<void> {
    const nodeId = newId()
    await test.sql`update intents set node_id = ${nodeId} where message_id = ${id}`
    await test.sql`update messages set node_id = ${nodeId} where id = ${id} and node_id is not null`
    await test.sql`with node as (insert into nodes (id, name) values (${nodeId}, 'dead') returning id)
      insert into heartbeats (node_id, seen_at, low_water) select id, now(), '00000000-0000-0000-0000-000000000000'
      from node`
    expect(await settleIntents(test.db, test.ledger, nodeId)).toBe(1)
  }

  it('is sent again twice, and parked the third time, until it is requested', async () => {
    let handover = await lease({ onUnknown: 'resend' })
    for (let n = 1; n < crashesMax; n++) {
      await crash(handover)
      await resolve()
      const [again] = await claim()
      expect(again).toMatchObject({ id: handover.id, try: n + 1 })
      if (again) handover = again
    }
    await crash(handover)
    await resolve()
    expect(await claim()).toEqual([])
    const row = await test.message(handover.id)
    expect(renderMessage(row)).toMatchObject({ status: 'unconfirmed', hold: { reason: 'parked', until: null } })
    expect(await resend(handover.id)).toMatchObject({ status: 'queued', holdReason: null })
    expect(await claim()).toHaveLength(1)
  })

  it('is counted once per process, whichever of them settles it', async () => {
    const handover = await lease()
    await unknown(handover)
    const nodeId = newId()
    const keys = [{ accountId: test.accountId, messageId: handover.id }]
    for (let n = 0; n < crashesMax; n++) await noteCrashes(test.db, nodeId, keys)
    await parkPoison(test.db, keys)
    expect((await test.message(handover.id)).holdReason).toBeNull()
  })
})

const theirNumber = (): string => `1555300${String(people).padStart(4, '0')}`

type Changes = Parameters<LedgerTest['lease']>[0]
const lease = (changes: Changes = {}): Promise<Handover> => test.lease({ theirNumber: theirNumber(), ...changes })
const unknown = (handover: Handover, changes: Partial<Answer> = {}): Promise<void> =>
  endUnknown(test, handover, changes)
const receipt = (rawId: string, changes: Partial<ReceiptIn> = {}): Promise<void> =>
  tellDelivered(test, theirNumber(), rawId, changes)
const resolve = (): Promise<void> => resolveDue(test)
const claim = (rooms?: Parameters<typeof claimFor>[2]): Promise<Handover[]> => claimFor(test, theirNumber(), rooms)
const tries = (id: string): ReturnType<typeof triesOf> => triesOf(test, id)
