/** Segments of one message end at different times and in any order: those that were not accepted are still resent. */
import { beforeEach, expect, it } from 'vitest'
import { inTransaction } from '../ground/db/db.ts'
import { createTestDatabase, untilBlocked } from '../ground/db/testing.ts'
import { newId } from '../ground/base/ids.ts'
import { referenceOf } from './adoption.ts'
import type { Answer } from './answer.ts'
import type { Handover } from '../message/handover.ts'
import { resolveUnknown } from './resend.ts'
import { moveTo, openLedgerTest } from '../messages/testing.ts'
import { bindLink, claimFor, endUnknown, resolveDue, tellDelivered } from './testing.ts'

let theirNumber = ''
let people = 0

const { db } = await createTestDatabase()
const test = await openLedgerTest(db)
await bindLink(test)
beforeEach(() => {
  theirNumber = `1555300${String(people++).padStart(4, '0')}`
})

it('a segment whose wait ends while another is at the carrier waits for that one, and is sent again then', async () => {
  const handover = await lease()
  await unknown(handover, { segment: 1, move: null })
  await resolve()
  expect((await test.message(handover.id)).status).toBe('sending')
  await test.answer(handover, { segment: 2, move: moveTo('unconfirmed', { errorCode: 'outcome_unknown' }) })
  await resolve()
  expect(await claim()).toEqual([1])
})

it('a segment that ends during the check is waited for like any other', async () => {
  const handover = await lease()
  await unknown(handover, { segment: 1, move: null })
  // There is nothing to adopt, and the first one's wait is over.
  await test.sql`update nameless_tries set check_at = now() + interval '1 hour', resend_at = now()
    where message_id = ${handover.id}`
  let resolving: Promise<unknown> = Promise.resolve()
  await inTransaction(test.db, async (tx) => {
    await tx.query('select from nameless_tries where message_id = $1 for update', [handover.id])
    resolving = resolveUnknown(test.context)
    await untilBlocked(test.db, 1, '%nameless_tries%')
    await unknown(handover, { segment: 2 })
  })
  await resolving
  expect((await test.message(handover.id)).status).toBe('unconfirmed')
  await resolve()
  expect(await claim()).toEqual([1, 2])
})

it.each(['a receipt', 'a late answer'])(
  'a segment that was not written is sent when %s shows that the other arrived',
  async (word) => {
    const handover = await lease()
    await test.answer(handover, {
      segment: 2,
      state: 'released',
      carrierMessageId: null,
      commandStatus: null,
      move: null,
    })
    await unknown(handover, { segment: 1 })
    if (word === 'a receipt') await receipt(handover, 1)
    else await test.answer(handover, { segment: 1, carrierMessageId: newId(), move: null, isLate: true })
    await resolve()
    expect(await claim()).toEqual([2])
    await resolve()
    expect(await tries(handover.id)).toBe(0)
  },
)

const lease = (): Promise<Handover> => test.lease({ theirNumber, onUnknown: 'resend', segments: 2 })
const unknown = (handover: Handover, changes: Partial<Answer> = {}): Promise<void> =>
  endUnknown(test, handover, changes)
const receipt = (handover: Handover, segment: number): Promise<void> =>
  tellDelivered(test, theirNumber, newId(), { reference: referenceOf(handover.id, segment, 1) })
const resolve = (): Promise<void> => resolveDue(test)
/** The segments with which the test's message is claimed; null: it is not queued. */
async function claim(): Promise<number[] | null> {
  await claimFor(test, theirNumber)
  const intents = await test.sql<{ segment: number }>`select i.segment
    from intents i join messages m on m.account_id = i.account_id and m.id = i.message_id
    where m.their_number = ${theirNumber} order by i.segment`
  return intents.length > 0 ? intents.map(({ segment }) => segment) : null
}
const tries = (id: string): Promise<number> => test.count('nameless_tries', 'message_id = $1', [id])
