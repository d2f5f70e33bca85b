import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { inTransaction, openPool } from '../db/db.ts'
import { createTestDatabase, type TestDatabase } from '../db/testing.ts'
import { newId } from '../ids.ts'
import { claimMessages } from './claim.ts'
import type { Handover } from './handover.ts'
import { renderMessage } from './message.ts'
import { repriceStrays } from './reprice.ts'
import { moveTo, openLedgerTest, type LedgerTest } from './testing.ts'
import { readTallyFaults } from './tallies/testing.ts'

let database: TestDatabase
let test: LedgerTest

beforeAll(async () => {
  database = await createTestDatabase()
  test = await openLedgerTest(database.db)
})
afterAll(async () => {
  await test.ledger.close()
  await database.close()
})
beforeEach(() => setRate('US', 7900))

/** The card of the carrier: one row. */
async function setRate(destination: string, cost: number): Promise<void> {
  await test.db.query('delete from rates')
  await test.db.query(
    `insert into rates (carrier_id, destination, effective_from, cost, currency)
     values ($1, $2, '2020-01-01', $3, 'USD'), ($1, $2, '2999-01-01', 1, 'USD')`,
    [test.carrierId, destination, cost],
  )
  await test.db.query('update routes_version set version = version + 1, rates = rates + 1')
  await test.routing.refresh()
}

async function claim(): Promise<Handover | undefined> {
  const { rows } = await test.db.query<{ id: string }>('select id from lanes where account_id = $1', [test.accountId])
  const rooms = [{ id: test.linkId, carrierId: test.carrierId }]
  const from = '00000000-0000-0000-0000-000000000000'
  const { handovers } = await claimMessages(test.context, test.nodeId, rooms, rows[0]?.id ?? '', from, 10)
  return handovers[0]
}

it('prices a message anew that its link cuts into another number of segments', async () => {
  const handover = await test.lease()
  await test.answer(handover, { state: 'released', carrierMessageId: null, move: { ...moveTo('queued'), segments: 3 } })
  expect(renderMessage(await test.message(handover.id)).price).toBe(null)
  const again = await claim()
  for (const segment of [1, 2, 3])
    if (again) await test.answer(again, { segment, move: segment === 3 ? moveTo('sent') : null })
  expect(renderMessage(await test.message(handover.id))).toMatchObject({
    status: 'sent',
    price: { amount: '0.02370', currency: 'USD' },
    estimated_price: { amount: '0.00790', currency: 'USD' },
  })
  expect(await readTallyFaults(test.db)).toEqual([])
})

it('leaves the price alone of what goes where it was to go, whatever the card says since', async () => {
  const { id } = await test.send()
  await setRate('US', 50_000)
  const handover = await claim()
  expect(handover?.id).toBe(id)
  if (handover) await test.answer(handover)
  expect(renderMessage(await test.message(id))).toMatchObject({ price: { amount: '0.00790' } })
})

it('asks the database nothing where nobody knows a price, or all go where they were to go', async () => {
  await test.db.query('delete from rates')
  await setRate('GB', 1)
  const unknown = { ...(await test.send()), status: 'sending', carrierId: newId() } as const
  await setRate('US', 7900)
  const straight = { ...(await test.send()), status: 'sending', carrierId: test.carrierId } as const
  // A connection of its own has prepared no statement yet.
  const pool = openPool(database.connection, { name: 'other', max: 1 })
  await inTransaction(pool, async (tx) => {
    await repriceStrays(tx, [unknown, straight])
    const { rows } = await tx.query('select name from pg_prepared_statements')
    expect(rows).toEqual([])
    await repriceStrays(tx, [{ ...straight, carrierId: newId() }])
    expect((await tx.query('select name from pg_prepared_statements')).rows).toEqual([{ name: 'reprice-strays' }])
  })
  await pool.end()
})
