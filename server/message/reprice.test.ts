import { beforeEach, expect, it } from 'vitest'
import { inTransaction, openPool } from '../ground/db/db.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import { newId } from '../ground/base/ids.ts'
import type { MessageRow } from './message.ts'
import { renderMessage } from './show.ts'
import { repriceStrays } from './reprice.ts'
import { insertTestCarrier, moveTo, openLedgerTest } from '../messages/testing.ts'
import { readCounterFaults } from '../usage/testing.ts'

const database = await createTestDatabase()
const { db } = database
const test = await openLedgerTest(db)
beforeEach(() => setRate('US', 7900))

it('reprices a message that its link cuts into another number of segments', async () => {
  const handover = await test.lease()
  await test.answer(handover, { state: 'released', carrierMessageId: null, move: { ...moveTo('queued'), segments: 3 } })
  expect(renderMessage(await test.message(handover.id)).price).toBe(null)
  const [again] = await test.claim()
  for (const segment of [1, 2, 3])
    if (again) await test.answer(again, { segment, move: segment === 3 ? moveTo('sent') : null })
  expect(renderMessage(await test.message(handover.id))).toMatchObject({
    status: 'sent',
    price: { amount: '0.02370', currency: 'USD' },
    estimated_price: { amount: '0.00790', currency: 'USD' },
  })
  expect(await readCounterFaults(test.db)).toEqual([])
})

it('keeps the price of a message that goes where it was planned, whatever the card says since', async () => {
  const { id } = await test.send()
  await setRate('US', 50_000)
  const [handover] = await test.claim()
  expect(handover?.id).toBe(id)
  if (handover) await test.answer(handover)
  expect(renderMessage(await test.message(id))).toMatchObject({ price: { amount: '0.00790' } })
})

it('keeps the price of a message that is requeued unchanged, and of one without a price', async () => {
  const handover = await test.lease()
  await setRate('GB', 1)
  const unpriced = await test.lease()
  await setRate('US', 50_000)
  const released = { state: 'released', carrierMessageId: null } as const
  await test.answer(handover, { ...released, move: moveTo('queued') })
  await test.answer(unpriced, { ...released, move: { ...moveTo('queued'), segments: 3 } })
  await test.claim()
  expect(await test.message(handover.id)).toMatchObject({ status: 'sending', cost: '0.00790', firstEstimate: null })
  expect(await test.message(unpriced.id)).toMatchObject({ segments: 3, cost: null, costCarrierId: null })
})

it('keeps the price of a message that ends instead of being sent', async () => {
  const { id } = await test.send()
  const estimated = await test.message(id)
  await test.sql`update queue set expires_at = now() where message_id = ${id}`
  await test.sql`update messages set expires_at = now() where id = ${id}`
  expect(await test.claim()).toEqual([])
  const { cost, costCarrierId, firstEstimate } = estimated
  expect([cost, costCarrierId]).toEqual([expect.any(String), test.carrierId])
  expect(await test.message(id)).toMatchObject({ status: 'expired', cost, costCarrierId, firstEstimate })
})

it('runs no query if there are no prices, or all messages go where they were planned', async () => {
  await test.sql`delete from rates`
  await setRate('GB', 1)
  const unknown = { ...(await test.send()), status: 'sending', carrierId: newId() } as const
  await setRate('US', 7900)
  const straight = { ...(await test.send()), status: 'sending', carrierId: test.carrierId } as const
  // A new connection has no prepared statement.
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

it('finds the most specific of the rates in effect, and the route’s before any of them', async () => {
  await test.sql`delete from rates`
  await test.sql`insert into rates (carrier_id, destination, effective_from, cost, currency)
    select ${test.carrierId}, destination, effective_from::timestamptz, cost, 'USD'
    from unnest(${['*', 'US', '155', '1555', '1555', '1555', '1555123000', '44']}::text[], ${['2020-01-01', '2020-01-01', '2020-01-01', '2021-01-01', '2020-01-01', '2999-01-01', '2999-01-01', '2020-01-01']}::text[], ${[90, 70, 60, 45, 50, 1, 1, 7]}::bigint[]) as r (destination, effective_from, cost)`
  // Another carrier's price does not matter, however exact it is.
  const otherId = newId()
  await inTransaction(test.db, (tx) => insertTestCarrier(tx, otherId))
  await test.sql`insert into rates (carrier_id, destination, effective_from, cost, currency)
    values (${otherId}, '15551230001', '2020-01-01', 3, 'USD'), (${otherId}, '49', '2020-01-01', 3, 'USD')`
  const [routeId, silentId] = [newId(), newId()]
  await test.sql`insert into routes (id, position, match_key, currency)
    values (${routeId}, 1, '1', 'EUR'), (${silentId}, 2, '2', 'EUR')`
  // The route without a price leaves it to the card.
  await test.sql`insert into route_carriers (route_id, carrier_id, position, cost)
    values (${routeId}, ${otherId}, 1, 5), (${routeId}, ${test.carrierId}, 2, 33), (${silentId}, ${otherId}, 1, 5), (${silentId}, ${test.carrierId}, 2, null)`
  const price = async (theirNumber: string, changes: object = {}): Promise<Partial<MessageRow>> => {
    const { id } = await test.send({ theirNumber, segments: 2 })
    const columns = Object.entries({ carrier_id: test.carrierId, cost: null, cost_currency: null, ...changes })
    await test.db.query(
      `update messages set ${columns.map(([name], i) => `${name} = $${i + 2}`).join()} where id = $1`,
      [id, ...columns.map(([, value]) => value)],
    )
    const row: MessageRow = { ...(await test.message(id)), status: 'sending', costCarrierId: newId() }
    await inTransaction(test.db, (tx) => repriceStrays(tx, [row]))
    const { cost, costCurrency, costCarrierId, firstEstimate } = row
    expect(await test.message(id)).toMatchObject({ cost, costCurrency, costCarrierId, firstEstimate })
    return { cost, costCurrency, costCarrierId, firstEstimate }
  }
  const known = { costCurrency: 'USD', costCarrierId: test.carrierId, firstEstimate: '' }
  expect(await price('15551230001')).toEqual({ ...known, cost: '0.00009' })
  expect(await price('15591230001')).toEqual({ ...known, cost: '0.00012' })
  expect(await price('12125550001')).toEqual({ ...known, cost: '0.00014' })
  expect(await price('447700900001')).toEqual({ ...known, cost: '0.000014' })
  expect(await price('4915112345678')).toEqual({ ...known, cost: '0.00018' })
  expect(await price('15551230001', { route_id: routeId })).toEqual({ ...known, cost: '0.000066', costCurrency: 'EUR' })
  expect(await price('15551230001', { route_id: silentId })).toEqual({ ...known, cost: '0.00009' })
  // The first estimate stays, even after several prices.
  const estimated = { cost: '0.50', cost_currency: 'GBP' }
  expect(await price('15551230001', estimated)).toMatchObject({ firstEstimate: '0.50 GBP' })
  expect(await price('15551230001', { ...estimated, first_estimate: '0.10 USD' })).toMatchObject({
    cost: '0.00009',
    firstEstimate: '0.10 USD',
  })
  await test.sql`delete from rates`
  expect(await price('15551230001', estimated)).toEqual({
    cost: null,
    costCurrency: null,
    costCarrierId: test.carrierId,
    firstEstimate: '0.50 GBP',
  })
})

/** Sets the carrier's card: one row. */
async function setRate(destination: string, cost: number): Promise<void> {
  await test.sql`delete from rates`
  await test.sql`insert into rates (carrier_id, destination, effective_from, cost, currency)
    values (${test.carrierId}, ${destination}, '2020-01-01', ${cost}, 'USD'), (${test.carrierId}, ${destination}, '2999-01-01', 1, 'USD')`
  await test.sql`update routes_version set version = version + 1, rates = rates + 1`
  await test.routing.refresh()
}
