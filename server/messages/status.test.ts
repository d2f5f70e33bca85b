import { describe, expect, it } from 'vitest'
import { inTransaction } from '../ground/db/db.ts'
import { createTestDatabase, emptyTables } from '../ground/db/testing.ts'
import { cancelMessage } from './cancel.ts'
import { expireMessages, queueDue } from '../queue/due.ts'
import { endWithoutReceipt } from '../ledger/no-receipt.ts'
import type { Handover } from '../message/handover.ts'
import { canBecome, deliveryStatusOf, isFinal, statuses, type Status } from '../message/message.ts'
import { resendMessage } from '../ledger/resend.ts'
import { recountCounters } from '../usage/recount.ts'
import { readCounterFaults } from '../usage/testing.ts'
import { moveTo, openLedgerTest } from './testing.ts'

const { db } = await createTestDatabase()
const test = await openLedgerTest(db)

const receipt = (state: string, stat: string) => (handover: Handover) =>
  test.ledger.receipt({
    linkId: test.linkId,
    rawId: handover.id,
    matchId: handover.id,
    state,
    stat,
    err: null,
    networkError: null,
    doneDate: '',
  })

/** An earlier try had an unknown outcome, and it is, or was, to be resent. */
const repeated =
  (happen: Happening['happen']): Happening['happen'] =>
  async (handover) => {
    await test.sql`update messages set possible_duplicate = true where id = ${handover.id}`
    await test.sql`insert into submissions (account_id, message_id, segment, try, link_id, state, is_repeated)
      values (${test.accountId}, ${handover.id}, 1, 1, ${test.linkId}, 'unknown', true)`
    return happen(handover)
  }

const happenings: Happening[] = [
  {
    name: 'the carrier takes it',
    to: 'sent',
    from: ['sending', 'unconfirmed'],
    happen: (handover) => test.answer(handover),
  },
  {
    name: 'the carrier refuses it for good',
    to: 'rejected',
    from: ['sending', 'unconfirmed'],
    happen: (handover) => test.answer(handover, { state: 'refused', carrierMessageId: null, move: moveTo('rejected') }),
  },
  {
    name: 'the carrier says nothing',
    to: 'unconfirmed',
    from: ['sending'],
    happen: (handover) =>
      test.answer(handover, { state: 'unknown', carrierMessageId: null, move: moveTo('unconfirmed') }),
  },
  {
    name: 'the carrier is busy',
    to: 'queued',
    from: ['sending'],
    happen: (handover) =>
      test.answer(handover, {
        state: 'refused',
        carrierMessageId: null,
        move: moveTo('queued', { retryAfterMs: 60_000 }),
      }),
  },
  {
    name: 'it was not written',
    to: 'queued',
    from: ['sending'],
    happen: (handover) => test.answer(handover, { state: 'released', carrierMessageId: null, move: moveTo('queued') }),
  },
  {
    name: 'a receipt says delivered',
    to: 'delivered',
    from: ['sending', 'sent', 'unconfirmed'],
    happen: receipt('delivered', 'DELIVRD'),
  },
  {
    name: 'a receipt says undeliverable',
    to: 'undelivered',
    from: ['sending', 'sent', 'unconfirmed'],
    happen: receipt('undeliverable', 'UNDELIV'),
  },
  {
    name: 'a receipt says rejected',
    to: 'rejected',
    from: ['sending', 'sent', 'unconfirmed'],
    happen: receipt('rejected', 'REJECTD'),
  },
  { name: 'no receipt came', to: 'unconfirmed', from: ['sent'], happen: () => endWithoutReceipt(test.context, 72) },
  {
    name: 'somebody cancels it',
    to: 'canceled',
    from: ['scheduled', 'queued'],
    happen: ({ id }) => cancelMessage(test.context, test.accountId, id),
  },
  { name: 'its validity passes', to: 'expired', from: ['queued'], happen: () => expireMessages(test.context) },
  {
    name: 'somebody wants it sent again',
    to: 'queued',
    from: ['unconfirmed'],
    happen: async ({ id }) => {
      await test.sql`update messages set error_code = 'outcome_unknown' where id = ${id}`
      await recountCounters(test.db)
      const actor = { kind: 'key', id: 'k', requestId: 'r' } as const
      await inTransaction(test.db, (tx) => resendMessage(tx, test.accountId, id, actor))
    },
  },
  {
    name: 'the carrier has taken it, is told while it waits to be sent again',
    to: 'sent',
    from: ['queued', 'sending', 'unconfirmed'],
    happen: repeated((handover) => test.answer(handover, { isLate: true })),
  },
  {
    name: 'a receipt says delivered while it waits to be sent again',
    to: 'delivered',
    from: ['queued', 'sending', 'sent', 'unconfirmed'],
    happen: repeated(receipt('delivered', 'DELIVRD')),
  },
  {
    name: 'a receipt says undeliverable while it waits to be sent again',
    to: 'undelivered',
    from: ['queued', 'sending', 'sent', 'unconfirmed'],
    happen: repeated(receipt('undeliverable', 'UNDELIV')),
  },
  {
    name: 'a receipt says rejected while it waits to be sent again',
    to: 'rejected',
    from: ['queued', 'sending', 'sent', 'unconfirmed'],
    happen: repeated(receipt('rejected', 'REJECTD')),
  },
  {
    name: 'its validity passes while it waits to be sent again',
    to: 'unconfirmed',
    from: ['queued'],
    happen: repeated(() => expireMessages(test.context)),
  },
  {
    name: 'somebody cancels it while it waits to be sent again',
    to: 'unconfirmed',
    from: ['queued'],
    happen: async (handover) => {
      if ((await test.message(handover.id)).status === 'scheduled') return
      await repeated(({ id }) => cancelMessage(test.context, test.accountId, id))(handover)
    },
  },
  {
    name: 'the carrier refuses for good what it may have taken before',
    to: 'unconfirmed',
    from: ['sending'],
    happen: repeated(async (handover) => {
      await test.sql`update messages set attempts = 2 where id = ${handover.id}`
      const move = moveTo('rejected', { errorCode: 'invalid_sender' })
      await test.answer({ ...handover, try: 2 }, { state: 'refused', carrierMessageId: null, move })
    }),
  },
  { name: 'its time comes', to: 'queued', from: ['scheduled'], happen: () => queueDue(test.db) },
  { name: 'a link has room', to: 'sending', from: ['queued'], happen: () => test.claim() },
  {
    name: 'a link has room, and the person has opted out',
    to: 'canceled',
    from: ['queued'],
    happen: async () => {
      await test.sql`insert into opt_outs (account_id, number, source)
        values (${test.accountId}, '15551230001', 'reply')`
      await test.claim()
    },
  },
]

describe('every state change', () => {
  it.each(happenings)('$name', async ({ to, from, happen }) => {
    for (const status of statuses) {
      const handover = await messageIn(status)
      await happen(handover)
      const row = await test.message(handover.id)
      expect({ was: status, is: row.status }).toEqual({ was: status, is: from.includes(status) ? to : status })
      if (row.status === status) expect(row.sequence).toBe(1)
      expect(await readCounterFaults(test.db)).toEqual([])
      expect(row.completedAt !== null).toBe(row.status !== status && isFinal(row.status))
      const isTold = ['delivered', 'undelivered', 'rejected', 'expired'].includes(row.status) && row.status !== status
      expect(await test.count('events', 'true')).toBe(isTold ? 1 : 0)
    }
  })

  it('is in canBecome', () => {
    const told = Object.entries(canBecome).map(([to, from]) => [to, [...from].sort()])
    const done = Object.keys(canBecome).map((to) => [
      to,
      [...new Set(happenings.filter((one) => one.to === to).flatMap((one) => one.from))].sort(),
    ])
    expect(done).toEqual(told)
  })

  it('leads out of no final state', () => {
    for (const from of Object.values(canBecome)) expect(from.filter((status) => isFinal(status))).toEqual([])
  })
})

it('has the specification’s word for an outcome', () => {
  expect(statuses.filter((status) => deliveryStatusOf(status) === 'Delivered')).toEqual(['delivered'])
  expect(statuses.filter((status) => deliveryStatusOf(status) === 'Failed')).toEqual([
    'undelivered',
    'rejected',
    'failed',
    'expired',
  ])
})

/** An event in a message's life, its new state, and its possible old ones. */
interface Happening {
  name: string
  to: Status
  from: Status[]
  happen: (handover: Handover) => Promise<unknown>
}

/** A message in this state, with all rows that any event could need. */
async function messageIn(status: Status): Promise<Handover> {
  await emptyTables(
    test.db,
    'messages, intents, queue, delayed, carrier_ids, receipts, submissions, outcomes, opt_outs, events',
  )
  const handover = await test.lease()
  await test.sql`with lane as (select id from lanes where account_id = ${test.accountId} and type = 'transactional'),
      queued as (
        insert into queue (lane_id, message_id, account_id, segments, expires_at)
        select id, ${handover.id}::uuid, ${test.accountId}::uuid, 1, now() from lane),
      delayed as (
        insert into delayed (account_id, message_id, lane_id, segments, due_at)
        select ${test.accountId}::uuid, ${handover.id}::uuid, id, 1, now() from lane),
      known as (
        insert into carrier_ids (link_id, carrier_message_id, account_id, message_id, segment, segments, at)
        values (${test.linkId}, ${handover.id}::text, ${test.accountId}, ${handover.id}, 1, 1, now() - interval '73 hours'))
    update messages
    set status = ${status}, direction = case when ${status} = 'received' then 'inbound' else direction end
    where id = ${handover.id}`
  if (status !== 'sending') await emptyTables(test.db, 'intents')
  await recountCounters(test.db)
  return handover
}
