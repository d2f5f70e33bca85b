import { describe, expect, it } from 'vitest'
import { inTransaction } from '../ground/db/db.ts'
import { ensurePartitions } from '../ground/db/partitions.ts'
import { createTestDatabase, untilBlocked, forEachTest } from '../ground/db/testing.ts'
import { writeAnswers, type Answer } from './answer.ts'
import { queueDue } from '../queue/due.ts'
import type { Handover } from '../message/handover.ts'
import { resolveUnknown } from './resend.ts'
import { listSubmissions } from '../message/store.ts'
import { moveTo, openLedgerTest, testAnswer, silent } from '../messages/testing.ts'
import { until } from '../../test/until.ts'

const { db } = await createTestDatabase()
// As in production: statements for one day's messages use that day's partitions.
await ensurePartitions(db, silent)
const test = forEachTest(db, openLedgerTest)

const long = { body: 'x'.repeat(400), characters: 400, segments: 3 }

describe('an accepted segment', () => {
  it('makes the message sent, and its carrier id known', async () => {
    const handover = await test.lease()
    await test.answer(handover, { carrierMessageId: 'abc' })
    expect(await test.message(handover.id)).toMatchObject({
      status: 'sent',
      sequence: 2,
      providerMessageId: 'abc',
      sentAt: expect.any(Date) as Date,
      completedAt: null,
    })
    expect(await test.count('intents', 'true')).toBe(0)
    // The message row has the result; there is no submission row.
    expect(await test.count('submissions', 'true')).toBe(0)
    const [one] = await listSubmissions(test.db, test.accountId, handover.id)
    expect(one).toMatchObject({ segment: 1, try: 1, state: 'accepted', carrierMessageId: 'abc' })
    expect(await test.count('carrier_ids', `carrier_message_id = 'abc' and message_id = $1`, [handover.id])).toBe(1)
  })

  it('changes the message only if it is its last segment', async () => {
    const handover = await test.lease(long)
    await test.answer(handover, { segment: 1, carrierMessageId: 'a', move: null })
    await test.answer(handover, { segment: 3, carrierMessageId: 'c', move: null })
    expect((await test.message(handover.id)).status).toBe('sending')
    await test.answer(handover, { segment: 2, carrierMessageId: 'b' })
    expect((await test.message(handover.id)).status).toBe('sent')
  })

  it('needs no carrier id', async () => {
    const handover = await test.lease()
    await test.answer(handover, { carrierMessageId: null })
    expect(await test.message(handover.id)).toMatchObject({ status: 'sent', providerMessageId: null })
    expect(await test.count('carrier_ids', 'true')).toBe(0)
  })

  it('accepts a carrier id that an earlier message had', async () => {
    const [first, second] = [await test.lease(), await test.lease()]
    await test.answer(first, { carrierMessageId: '7' })
    await test.answer(second, { carrierMessageId: '7' })
    expect(await test.count('carrier_ids', `message_id = $1`, [second.id])).toBe(1)
  })

  it('records message.sent only for subscribers', async () => {
    const unheard = await test.lease()
    await test.answer(unheard)
    await test.subscribe('message.sent')
    const heard = await test.lease()
    await test.answer(heard)
    expect([await test.eventsOf(unheard.id), await test.eventsOf(heard.id)]).toEqual([[], ['message.sent']])
  })
})

describe('a permanent refusal', () => {
  it('ends the message with its reason, and reports it', async () => {
    const handover = await test.lease()
    const move = moveTo('rejected', { errorCode: 'invalid_destination', errorRaw: 'ESME_RINVDSTADR' })
    await test.answer(handover, { state: 'refused', commandStatus: 0x0b, carrierMessageId: null, move })
    expect(await test.message(handover.id)).toMatchObject({
      status: 'rejected',
      errorCode: 'invalid_destination',
      errorStage: 'submit',
      errorRaw: 'ESME_RINVDSTADR',
      completedAt: expect.any(Date) as Date,
    })
    expect(await test.eventsOf(handover.id)).toEqual(['message.failed'])
    expect(await test.count('outcomes', `status = 'rejected' and error_code = 'invalid_destination'`)).toBe(1)
  })
})

describe('a temporary refusal', () => {
  it('requeues the message after its delay, as the next try', async () => {
    const handover = await test.lease()
    const move = moveTo('queued', { retryAfterMs: 60_000 })
    await test.answer(handover, { state: 'refused', commandStatus: 0x58, carrierMessageId: null, move })
    expect((await test.message(handover.id)).status).toBe('queued')
    expect(await queueDue(test.db)).toBe(0)
    await skipBackOff()
    expect(await test.claim()).toMatchObject([{ id: handover.id, try: 2, pending: [1] }])
  })

  it('requeues only segments that no carrier accepted', async () => {
    const handover = await test.lease(long)
    await test.answer(handover, { segment: 1, carrierMessageId: 'a', move: null })
    await test.answer(handover, {
      segment: 2,
      state: 'refused',
      commandStatus: 0x58,
      carrierMessageId: null,
      move: null,
    })
    await test.answer(handover, { segment: 3, carrierMessageId: 'c', move: moveTo('queued', { retryAfterMs: 1 }) })
    await skipBackOff()
    const [again] = await test.claim()
    expect(again).toMatchObject({ id: handover.id, try: 2, pending: [2], segments: 3 })
    expect(await test.count('intents', `message_id = $1 and segment = 2 and try = 2`, [handover.id])).toBe(1)
    expect(await test.count('intents', 'true')).toBe(1)
  })
})

describe('an unwritten segment', () => {
  it('is requeued at once', async () => {
    const handover = await test.lease()
    await test.answer(handover, { state: 'released', carrierMessageId: null, move: moveTo('queued') })
    expect(await test.message(handover.id)).toMatchObject({ status: 'queued', errorCode: null })
    expect(await test.count('submissions', 'true')).toBe(0)
    expect(await test.claim()).toMatchObject([{ id: handover.id, try: 2, pending: [1] }])
  })

  it('is requeued alone if the carrier accepted its siblings', async () => {
    const handover = await test.lease(long)
    await test.answer(handover, { segment: 1, carrierMessageId: 'a', move: null })
    await test.answer(handover, { segment: 2, state: 'released', carrierMessageId: null, move: null })
    await test.answer(handover, { segment: 3, state: 'released', carrierMessageId: null, move: moveTo('queued') })
    expect(await test.claim()).toMatchObject([{ id: handover.id, try: 2, pending: [2, 3] }])
  })

  it('is requeued alone even if a sibling’s response is written later: its connection broke', async () => {
    const handover = await test.lease(long)
    const released = { state: 'released', carrierMessageId: null } as const
    const written = await inTransaction(test.db, async (tx) => {
      await tx.query(`select from intents where segment = 1 for update`)
      const first = test.answer(handover, { segment: 1, carrierMessageId: 'a', move: null })
      const [pid] = await untilBlocked(test.db, 1)
      const others = [2, 3].map((segment) =>
        test.answer(handover, { ...released, segment, move: segment === 3 ? moveTo('queued') : null }),
      )
      await tx.query('select pg_terminate_backend($1)', [pid])
      return [first, ...others]
    })
    let claimed: Handover[] = []
    await until('it comes back', async () => (claimed = await test.claim()).length > 0)
    await Promise.all(written)
    expect(claimed).toMatchObject([{ id: handover.id, pending: [2, 3] }])
  })

  it('is requeued alone even if all responses are written together', async () => {
    const handover = await test.lease(long)
    await Promise.all([
      test.answer(handover, { segment: 1, carrierMessageId: 'a', move: null }),
      test.answer(handover, { segment: 2, state: 'released', carrierMessageId: null, move: null }),
      test.answer(handover, { segment: 3, state: 'released', carrierMessageId: null, move: moveTo('queued') }),
    ])
    expect(await test.claim()).toMatchObject([{ id: handover.id, pending: [2, 3] }])
  })
})

it('is open to the next try, even if a process that took its owner for dead settles it a moment later', async () => {
  for (const segments of [1, 2]) {
    const handover = await test.lease({ segments })
    const ends = Array.from({ length: segments }, (_, i) => i + 1)
    for (const state of ['released', 'unknown'] as const)
      for (const segment of ends)
        await test.answer(handover, {
          segment,
          state,
          carrierMessageId: null,
          move: state === 'unknown' ? moveTo('unconfirmed') : segment === segments ? moveTo('queued') : null,
        })
    expect(await test.claim()).toMatchObject([{ id: handover.id, pending: ends }])
    expect(await test.count('intents', 'message_id = $1 and try = 2', [handover.id])).toBe(segments)
    await resolveUnknown(test.context)
    expect(await test.count('nameless_tries', 'true')).toBe(0)
  }
})

describe('a segment without a response', () => {
  const unknown: Partial<Answer> = {
    state: 'unknown',
    carrierMessageId: null,
    commandStatus: null,
    move: moveTo('unconfirmed', { errorCode: 'outcome_unknown', errorRaw: 'the carrier did not answer in time' }),
  }

  it('holds the message: unconfirmed, not final, never sent again', async () => {
    await test.subscribe('message.unconfirmed')
    const handover = await test.lease()
    await test.answer(handover, unknown)
    expect(await test.message(handover.id)).toMatchObject({
      status: 'unconfirmed',
      errorCode: 'outcome_unknown',
      completedAt: null,
    })
    expect(await test.eventsOf(handover.id)).toEqual(['message.unconfirmed'])
    await skipBackOff()
    expect(await test.claim()).toEqual([])
  })

  it('is settled by a late response', async () => {
    const handover = await test.lease()
    await test.answer(handover, unknown)
    await test.answer(handover, { carrierMessageId: 'late' })
    expect(await test.message(handover.id)).toMatchObject({
      status: 'sent',
      errorCode: null,
      errorStage: null,
      providerMessageId: 'late',
    })
    expect(await test.count('submissions', `state = 'accepted' and carrier_message_id = 'late'`)).toBe(1)
  })

  it('holds a long message even if its late response is written first', async () => {
    const handover = await test.lease({ segments: 2 })
    await Promise.all([
      test.answer(handover, { ...unknown, move: null }),
      test.answer(handover, { ...unknown, segment: 2 }),
      test.answer(handover, { segment: 2, carrierMessageId: 'late 2', move: null, isLate: true }),
    ])
    expect((await test.message(handover.id)).status).toBe('unconfirmed')
    await test.answer(handover, { carrierMessageId: 'late 1', move: null, isLate: true })
    await resolveUnknown(test.context)
    expect((await test.message(handover.id)).status).toBe('sent')
  })

  it('is settled by a late response and an earlier receipt', async () => {
    const handover = await test.lease()
    await test.answer(handover, unknown)
    await test.ledger.receipt({
      linkId: test.linkId,
      rawId: 'late',
      matchId: 'late',
      state: 'delivered',
      stat: 'DELIVRD',
      err: '000',
      networkError: null,
      doneDate: '',
    })
    await test.answer(handover, { carrierMessageId: 'late' })
    expect((await test.message(handover.id)).status).toBe('delivered')
  })
})

describe('responses that are written twice', () => {
  const cases: [string, Partial<Answer>][] = [
    ['accepted', {}],
    ['refused', { state: 'refused', carrierMessageId: null, move: moveTo('rejected', { errorCode: 'throttled' }) }],
    ['throttled', { state: 'refused', carrierMessageId: null, move: moveTo('queued', { retryAfterMs: 1000 }) }],
    ['released', { state: 'released', carrierMessageId: null, move: moveTo('queued') }],
    [
      'unknown',
      { state: 'unknown', carrierMessageId: null, move: moveTo('unconfirmed', { errorCode: 'outcome_unknown' }) },
    ],
  ]
  it.each(cases)('change nothing the second time: %s', async (_, changes) => {
    await test.subscribe('message.sent', 'message.unconfirmed')
    const handover = await test.lease()
    await test.answer(handover, changes)
    const [row, events] = [await test.message(handover.id), await test.eventsOf(handover.id)]
    await test.answer(handover, changes)
    expect({ ...(await test.message(handover.id)), updatedAt: row.updatedAt }).toEqual(row)
    expect(await test.eventsOf(handover.id)).toEqual(events)
    expect(await test.count('submissions', 'true')).toBeLessThanOrEqual(1)
    expect((await test.count('queue', 'true')) + (await test.count('delayed', 'true'))).toBe(
      row.status === 'queued' ? 1 : 0,
    )
  })

  it('do not disturb the try that was claimed meanwhile', async () => {
    const handover = await test.lease()
    const released: Partial<Answer> = { state: 'released', carrierMessageId: null, move: moveTo('queued') }
    await test.answer(handover, released)
    const [again] = await test.claim()
    expect(again?.id).toBe(handover.id)
    expect(await test.count('intents', 'true')).toBe(1)
    await test.answer(handover, released)
    expect((await test.message(handover.id)).status).toBe('sending')
    expect(await test.count('intents', 'true')).toBe(1)
  })
})

it('a response whose statement an administrator cancels is still written', async () => {
  const handover = await test.lease()
  let answered: Promise<void> = Promise.resolve()
  await inTransaction(test.db, async (tx) => {
    await tx.query('select 1 from messages where account_id = $1 and id = $2 for update', [test.accountId, handover.id])
    answered = test.answer(handover)
    answered.catch(() => {})
    await test.db.query('select pg_cancel_backend($1)', await untilBlocked(test.db, 1))
  })
  await answered
  expect((await test.message(handover.id)).status).toBe('sent')
})

describe('many responses', () => {
  it('of many messages are written together', async () => {
    const handovers = await Promise.all(Array.from({ length: 200 }, () => test.lease()))
    await Promise.all(handovers.map((handover) => test.answer(handover)))
    expect(await test.count('messages', `status = 'sent'`)).toBe(200)
    expect(await test.count('intents', 'true')).toBe(0)
  })

  it('survive one that cannot be written', async () => {
    const handovers = await Promise.all(Array.from({ length: 8 }, () => test.lease()))
    const results = await Promise.allSettled(
      handovers.map((handover, i) => test.answer(handover, i === 3 ? { carrierMessageId: 'NUL\0' } : {})),
    )
    expect(results.map((result) => result.status === 'fulfilled')).toEqual(handovers.map((_, i) => i !== 3))
    expect(await test.count('messages', `status = 'sent'`)).toBe(7)
  })

  it('are kept while the database is down', async () => {
    const handover = await test.lease()
    await test.sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`
    const answered = test.answer(handover)
    await answered
    await until('the message is sent', async () => (await test.message(handover.id)).status === 'sent')
  })
})

it('give an id that the carrier used for two messages at once to the later one', async () => {
  const [first, second] = [await test.lease(), await test.lease()]
  const answers = [first, second].map((one) => ({ ...testAnswer(one, test.nodeId), carrierMessageId: 'twice' }))
  await inTransaction(test.db, (tx) => writeAnswers(tx, answers, () => false))
  const rows = await test.sql<{ id: string }>`select message_id as id from carrier_ids
    where link_id = ${test.linkId}`
  expect(rows).toEqual([{ id: second.id }])
})

it('return only changes that are worth an event', async () => {
  const [first, second] = [await test.lease(), await test.lease()]
  const { moved } = await inTransaction(test.db, (tx) =>
    writeAnswers(
      tx,
      [
        testAnswer(first, test.nodeId),
        { ...testAnswer(second, test.nodeId), state: 'refused', carrierMessageId: null, move: moveTo('rejected') },
      ],
      () => false,
    ),
  )
  expect(moved.map(({ row, from }) => [row.id, row.status, from])).toEqual([[second.id, 'rejected', 'sending']])
})

/** Lets retries fall due now. */
async function skipBackOff(): Promise<void> {
  await test.sql`update delayed set due_at = now()`
  await queueDue(test.db)
}
