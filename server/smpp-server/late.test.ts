import { beforeEach, expect, it } from 'vitest'
import { createTestDatabase } from '../ground/db/testing.ts'
import { openLedgerTest, ourNumber } from '../messages/testing.ts'
import { findAdmission } from './admission.ts'
import { gatherPart, listLate, refuseGathering, type Gathering } from './gather.ts'
import { createTestCredential } from './testing.ts'

const { db } = await createTestDatabase()
const test = await openLedgerTest(db)
const { id } = await createTestCredential(test.db, test.accountId)
const found = await findAdmission(test.db, test.accountId, id)
if (!found) throw new Error('there is no credential')
const admission = found
beforeEach(() => test.sql`truncate smpp_gatherings, smpp_deliveries`)

it('late parts are listed oldest first', async () => {
  for (const [reference, seconds] of [
    [1, 70],
    [2, 90],
    [3, 59],
    [4, 80],
  ] as const) {
    await gather(reference)
    await age(seconds, reference)
  }
  const listed = async (...how: [limit: number, skip?: number]): Promise<unknown[]> =>
    (await listLate(test, ...how)).map(({ open }) => open().submits.get(1)?.part.concatenation?.reference)
  expect(await listed(2)).toEqual([2, 4])
  expect(await listed(10, 1)).toEqual([4, 1])
})

it('a message that got another part is not ended, and one that is ended is ended once', async () => {
  const gathering = await gather(1)
  const end = (): Promise<boolean> => refuseGathering(test.db, gathering, 'undeliverable', [1], '122')
  await end()
  expect(await left()).toEqual([1, 0])
  // Every process looks for overdue messages.
  await age(61, 1)
  await Promise.all([end(), end()])
  expect(await left()).toEqual([0, 1])
})

it.each([
  [0, 'rejected', 0],
  [1, 'rejected', 1],
  [2, 'undeliverable', 1],
  [3, 'undeliverable', 0],
] as const)('a part with registered_delivery %i gets a receipt that it is %s, or none', async (flags, state, told) => {
  const gathering = await gather(1, flags)
  await age(61, 1)
  await refuseGathering(test.db, gathering, state, [1], '122')
  expect(await left()).toEqual([0, told])
})

it('a repeated part replaces itself, and restarts the time to wait', async () => {
  const { id } = await gather(1)
  await age(61, 1)
  const again = await gather(1)
  expect([again.id, again.submits.size]).toEqual([id, 1])
  expect(await listLate(test, 10)).toEqual([])
})

/** Gathers the first of two parts. */
async function gather(reference: number, registeredDelivery = 1): Promise<Gathering> {
  const gathering = await gatherPart(test, admission, {
    source: ourNumber,
    destination: '15551230001',
    part: {
      concatenation: { kind: 'udh8', reference, total: 2, part: 1 },
      data_coding: 0,
      udhLength: 6,
      shift: {},
      body: Buffer.from('Hello'),
    },
    registeredDelivery,
    sendAt: null,
    validUntil: null,
  })
  if (!gathering) throw new Error('the part was not kept')
  return gathering
}

const age = (seconds: number, reference: number): Promise<unknown> =>
  test.sql`update smpp_gatherings set received_at = now() - make_interval(secs => ${seconds})
    where reference = ${reference}`
const left = async (): Promise<number[]> => [
  await test.count('smpp_gatherings', 'true'),
  await test.count('smpp_deliveries', 'true'),
]
