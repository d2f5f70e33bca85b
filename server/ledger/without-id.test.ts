import { beforeEach, expect, it } from 'vitest'
import { createTestDatabase } from '../ground/db/testing.ts'
import { newId } from '../ground/base/ids.ts'
import type { Answer } from './answer.ts'
import type { Handover } from '../message/handover.ts'
import { openLedgerTest } from '../messages/testing.ts'
import { bindLink, claimFor, endUnknown, resolveDue, tellDelivered, triesOf } from './testing.ts'

let theirNumber = ''
let people = 0

const { db } = await createTestDatabase()
const test = await openLedgerTest(db)
await bindLink(test)
beforeEach(() => {
  theirNumber = `1555300${String(people++).padStart(4, '0')}`
})

it('returns to a try the id that a receipt gave to the previous try, when its late response names it', async () => {
  const id = newId()
  const first = await test.lease({ theirNumber, onUnknown: 'resend' })
  await unknown(first)
  await resolve()
  const second = await claim()
  await unknown(second)
  await delivered(id)
  await resolve()
  expect(await tries(first.id)).toEqual([
    [1, 1, 'accepted', id, true],
    [2, 1, 'unknown', null, false],
  ])

  await test.answer(second, { carrierMessageId: id, isLate: true })

  expect(await tries(first.id)).toEqual([
    [1, 1, 'unknown', null, false],
    [2, 1, 'accepted', id, false],
  ])
  expect(await test.message(first.id)).toMatchObject({ status: 'delivered', possibleDuplicate: true })
  // The outcome of the first is still open.
  const other = newId()
  await delivered(other)
  await resolve()
  expect((await tries(first.id))[0]).toEqual([1, 1, 'accepted', other, true])
})

it('returns the id to a timely response too', async () => {
  const id = newId()
  const first = await test.lease({ theirNumber, onUnknown: 'resend' })
  await unknown(first)
  await resolve()
  const second = await claim()
  await delivered(id)
  // As if another process that checked before the claim were stopped during adoption.
  await test.sql`update messages set status = 'queued' where id = ${first.id}`
  await resolve()
  await test.sql`update messages set status = 'sending' where id = ${first.id} and status = 'queued'`
  expect((await tries(first.id))[0]).toEqual([1, 1, 'accepted', id, true])

  await test.answer(second, { carrierMessageId: id })

  expect(await tries(first.id)).toEqual([
    [1, 1, 'unknown', null, false],
    [2, 1, 'accepted', id, false],
  ])
})

it('returns it for one segment of several, or for all if one receipt covers them', async () => {
  for (const concatenation of ['udh', 'payload']) {
    theirNumber = `1555301${String(people++).padStart(4, '0')}`
    await test.sql`update carriers
      set settings = settings || jsonb_build_object('concatenation', ${concatenation}::text)`
    const isWhole = concatenation === 'payload'
    const first = await test.lease({ theirNumber, onUnknown: 'resend', segments: 2 })
    const [id, kept] = [newId(), newId()]
    await unknown(first, { segment: 2, move: null, ...(!isWhole && { state: 'accepted', carrierMessageId: kept }) })
    await unknown(first, { segment: 1 })
    await resolve()
    const second = await claim()
    if (isWhole) await unknown(second, { segment: 2, move: null })
    await unknown(second, { segment: 1 })
    await delivered(id)
    await resolve()
    expect((await tries(first.id)).slice(0, 1)).toEqual([[1, 1, 'accepted', id, true]])

    await test.answer(second, { segment: 1, carrierMessageId: id, isLate: true, move: null })

    const ofFirst = (await tries(first.id)).filter(([n]) => n === 1)
    expect(ofFirst).toEqual([
      [1, 1, 'unknown', null, false],
      isWhole ? [1, 2, 'unknown', null, false] : [1, 2, 'accepted', kept, false],
    ])
  }
})

const unknown = (handover: Handover, changes: Partial<Answer> = {}): Promise<void> =>
  endUnknown(test, handover, changes)
const delivered = (id: string): Promise<void> => tellDelivered(test, theirNumber, id)
const resolve = (): Promise<void> => resolveDue(test)
async function claim(): Promise<Handover> {
  const [handover] = await claimFor(test, theirNumber)
  if (!handover) throw new Error('it did not wait in the queue')
  return handover
}
const tries = (id: string): ReturnType<typeof triesOf> => triesOf(test, id)
