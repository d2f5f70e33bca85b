import { expect, it } from 'vitest'
import { inTransaction } from '../ground/db/db.ts'
import { createTestDatabase, untilBlocked } from '../ground/db/testing.ts'
import { newId } from '../ground/base/ids.ts'
import { cancelMessage } from '../messages/cancel.ts'
import { claimMessages } from '../queue/claim.ts'
import { expireMessages } from '../queue/due.ts'
import type { Handover } from '../message/handover.ts'
import { resendMessage, resolveUnknown } from './resend.ts'
import { moveTo, openLedgerTest } from '../messages/testing.ts'
import { endUnknown, tellDelivered } from './testing.ts'

const noId = '00000000-0000-0000-0000-000000000000'

const { db } = await createTestDatabase()
const test = await openLedgerTest(db)

it('searches leftovers in the lanes only where a message of its number and campaign may be', async () => {
  const id = await unknown()
  await test.sql`insert into backlogs (id, lane_id, carrier_id, campaign_id)
    select gen_random_uuid(), id, ${test.carrierId}, gen_random_uuid() from lanes, generate_series(1, 100)`
  expect((await resend(id)).probes).toBeLessThan(10)
  await cancelMessage(test.context, test.accountId, id)
  await test.sql`delete from backlogs`
})

it('queues a message once, even if a claim that saw it before its cancel queues it elsewhere', async () => {
  const id = await unknown()
  await resend(id)
  const [row] = await test.sql<{ id: string }>`select lane_id as id from queue where message_id = ${id}`
  const laneId = row?.id ?? ''
  const work: Promise<unknown>[] = []
  await inTransaction(test.db, async (tx) => {
    await tx.query(`insert into backlogs (id, lane_id, carrier_id) values (gen_random_uuid(), $1, $2)`, [
      laneId,
      test.carrierId,
    ])
    // No link has room: this claim creates the part of the lane for the carrier.
    work.push(claimMessages(test.context, test.nodeId, [], laneId, noId, 100))
    await untilBlocked(test.db, 1)
    await cancelMessage(test.context, test.accountId, id)
    work.push(resend(id))
    // It waits for the claim.
    await untilBlocked(test.db, 2)
    await tx.query('delete from backlogs where lane_id = $1', [laneId])
  })
  await Promise.all(work)
  expect(await test.message(id)).toMatchObject({ status: 'queued' })
  expect(await test.count('queue', 'message_id = $1', [id])).toBe(1)
})

it('a message is not sent again, and says so, if its carrier turns out to have all of it and its tries are no longer checked', async () => {
  const handover = await test.lease({ segments: 2 })
  await test.answer(handover, { carrierMessageId: newId(), move: null })
  const answer = { segment: 2, carrierMessageId: null, state: 'unknown' } as const
  await test.answer(handover, { ...answer, move: moveTo('unconfirmed', { errorCode: 'outcome_unknown' }) })
  await resend(handover.id)
  await test.answer(handover, { segment: 2, carrierMessageId: newId(), move: null, isLate: true })
  await test.sql`delete from nameless_tries`
  const [row] = await test.sql<{ id: string }>`select id from lanes where type = 'transactional'`
  const rooms = [{ id: test.linkId, carrierId: test.carrierId }]
  const { handovers } = await claimMessages(test.context, test.nodeId, rooms, row?.id ?? '', noId, 100)
  expect(handovers.filter(({ id }) => id === handover.id)).toEqual([])
  expect(await test.message(handover.id)).toMatchObject({ status: 'sent', possibleDuplicate: false })
  expect(await test.count('queue', 'message_id = $1', [handover.id])).toBe(0)
})

it('a message waits for a sweep that holds its tries, if the two would deadlock', async () => {
  const [id, other] = [await unknown(), await unknown()]
  await resend(other)
  const claiming = await test.db.connect()
  await claiming.query('begin')
  await claiming.query('select from queue where message_id = $1 for update', [other])
  await cancelMessage(test.context, test.accountId, other)
  await test.sql`insert into link_states (link_id, node_id, leased_until, state)
    values (${test.linkId}, ${test.nodeId}, now() + interval '1 hour', 'bound')`
  await test.sql`update nameless_tries set check_at = now(), resend_at = now() where message_id = any (${[id, other]})`
  // The sweep has locked the tries of both, and waits for the claim before it locks the messages.
  const sweeping = resolveUnknown(test.context)
  await untilBlocked(test.db, 1, '%delete from queue%')
  const asked = resend(id)
  await untilBlocked(test.db, 2)
  await claiming.query('commit')
  claiming.release()
  await Promise.all([sweeping, asked])
  expect(await test.message(id)).toMatchObject({ status: 'queued', possibleDuplicate: true })
  expect(await test.count('resends', 'message_id = $1', [id])).toBe(0)
})

it('a message has the id from a receipt, even if a claim takes it at that moment', async () => {
  const handover = await test.lease({ theirNumber: '15551230002' })
  await endUnknown(test, handover)
  const { id } = handover
  await resend(id)
  const [row] = await test.sql<{ id: string }>`select lane_id as id from queue where message_id = ${id}`
  const rawId = newId()
  const work: Promise<unknown>[] = []
  await inTransaction(test.db, async (tx) => {
    // The claim has locked the message, and waits to write its intent.
    await tx.query(
      `insert into intents (node_id, account_id, message_id, segment, try, link_id) values ($1, $2, $3, 1, 2, $4)`,
      [test.nodeId, test.accountId, id, test.linkId],
    )
    const rooms = [{ id: test.linkId, carrierId: test.carrierId }]
    work.push(claimMessages(test.context, test.nodeId, rooms, row?.id ?? '', noId, 100))
    await untilBlocked(test.db, 1)
    await tellDelivered(test, handover.theirNumber, rawId)
    work.push(resolveUnknown(test.context))
    await untilBlocked(test.db, 2)
    await tx.query('delete from intents where message_id = $1', [id])
  })
  await Promise.all(work)
  expect(await test.message(id)).toMatchObject({ status: 'delivered', providerMessageId: rawId, attempts: 2 })
})

it('does not report a message as sent twice if it was sent, ended or given up before its second try', async () => {
  const waiting = async (segments: number): Promise<Handover> => {
    const handover = await test.lease({ segments })
    const answer = { state: 'unknown', carrierMessageId: null, commandStatus: null } as const
    for (let segment = 1; segment < segments; segment++) await test.answer(handover, { ...answer, segment, move: null })
    const move = moveTo('unconfirmed', { errorCode: 'outcome_unknown' })
    await test.answer(handover, { ...answer, segment: segments, move })
    await resend(handover.id)
    expect(await test.message(handover.id)).toMatchObject({ status: 'queued', possibleDuplicate: true })
    return handover
  }
  const late = await waiting(1)
  await test.answer(late, { carrierMessageId: newId(), isLate: true })
  expect(await test.message(late.id)).toMatchObject({ status: 'sent', possibleDuplicate: false })

  const ended = await waiting(2)
  const ids = [newId(), newId()]
  for (const [i, carrierMessageId] of ids.entries())
    await test.answer(ended, { segment: i + 1, carrierMessageId, move: null, isLate: true })
  for (const id of ids) await tellDelivered(test, ended.theirNumber, id)
  expect(await test.message(ended.id)).toMatchObject({ status: 'delivered', possibleDuplicate: false })

  const [canceled, expired] = [await waiting(1), await waiting(1)]
  await cancelMessage(test.context, test.accountId, canceled.id)
  await test.sql`update queue set expires_at = now() where message_id = ${expired.id}`
  await expireMessages(test.context)
  for (const { id } of [canceled, expired])
    expect(await test.message(id)).toMatchObject({ status: 'unconfirmed', possibleDuplicate: false })
})

const resend = (id: string): Promise<{ probes: number }> =>
  inTransaction(test.db, async (tx) => {
    await resendMessage(tx, test.accountId, id, { kind: 'key', id: newId(), requestId: 'req_1' })
    const { rows } = await tx.query<{ probes: number }>(
      `select idx_scan as probes from pg_stat_xact_user_tables where relname = 'queue'`,
    )
    return { probes: rows[0]?.probes ?? 0 }
  })

async function unknown(): Promise<string> {
  const handover = await test.lease()
  await endUnknown(test, handover)
  return handover.id
}
