import { afterEach, describe, expect, it } from 'vitest'
import { openCampaignTest } from '../campaigns/testing.ts'
import { inTransaction } from '../ground/db/db.ts'
import { newId, showId } from '../ground/base/ids.ts'
import { messageRoutes } from '../messages/http.ts'
import { renderMessage } from '../message/show.ts'
import { insertTestCarrier, ledgerWorld, rowOf } from '../messages/testing.ts'
import { replaceRates } from './store.ts'

const { db, sql, account, test, app } = await ledgerWorld([messageRoutes])
const dearId = newId()
await inTransaction(db, (tx) => insertTestCarrier(tx, dearId, {}, { priority: 200 }))
// Both carriers have the account's number.
await sql`insert into senders (account_id, id, carrier_id, number, kind, country, capabilities, is_default)
  select account_id, ${newId()}, ${dearId}, number, kind, country, capabilities, false from senders`
afterEach(() => setRates({}))

describe('a message', () => {
  it('has no price without a card', async () => {
    expect((await send()).body).toMatchObject({ price: null, estimated_price: null })
    await setRates({ [test.carrierId]: { GB: 5 } })
    expect((await send()).body).toMatchObject({ price: null, estimated_price: null })
  })

  it('is estimated by all its segments, and gets its price from the carrier that took it', async () => {
    await setRates({ [test.carrierId]: { US: 7900, '1555': 8123 } })
    const { body } = await send({ message: 'x'.repeat(200) })
    expect(body).toMatchObject({ segments: 2, price: null, estimated_price: usd('0.016246') })
    const handover = await test.lease()
    await test.answer(handover)
    const row = await test.message(handover.id)
    expect(renderMessage(row)).toMatchObject({
      status: 'sent',
      price: usd('0.008123'),
      estimated_price: usd('0.008123'),
    })
    // Another carrier took it than the price was estimated for.
    expect(renderMessage({ ...row, carrierId: dearId })).toMatchObject({ price: null })
  })

  it('is refused above its maximum price, also in another currency, and sent without a known price', async () => {
    await setRates({ [test.carrierId]: { US: 7900 } })
    expect(await send({ max_price: usd('0.0078') })).toMatchObject({
      status: 422,
      body: { code: 'max_price_exceeded' },
    })
    expect((await send({ max_price: { amount: '1', currency: 'EUR' } })).body).toMatchObject({
      code: 'max_price_exceeded',
    })
    expect(await send({ max_price: usd('0.0079') })).toMatchObject({ status: 202 })
    expect(await send({ message: 'x'.repeat(161), max_price: usd('0.0079') })).toMatchObject({ status: 422 })
    expect(await send({ to: '447700900001', max_price: usd('0') })).toMatchObject({ status: 202 })
    expect((await send({ max_price: usd('-1') })).body).toMatchObject({ errors: [{ pointer: '#/max_price/amount' }] })
  })

  it('in test mode costs nothing', async () => {
    await setRates({ [test.carrierId]: { '*': 7900 } })
    const row = rowOf(await test.acceptor.accept(test.draft({ isTest: true })))
    expect(row).toMatchObject({ cost: null, costCurrency: null, costCarrierId: null })
  })
})

describe('a preview', () => {
  it('shows the price of each carrier in the route', async () => {
    await setRates({ [test.carrierId]: { US: 7900 }, [dearId]: { '*': 50_000 } })
    const message = 'x'.repeat(161)
    expect((await post('/v1/messages/preview', { message, to: '15551230001' })).body).toMatchObject({
      segments: 2,
      estimated_price: usd('0.01580'),
      routes: [
        { carrier: showId('car', test.carrierId), cost: usd('0.01580') },
        { carrier: showId('car', dearId), cost: usd('0.10000') },
      ],
    })
    expect((await post('/v1/messages/preview', { message, to: '447700900001' })).body).toMatchObject({
      estimated_price: null,
      routes: [{ cost: null }, { cost: usd('0.10000') }],
    })
    expect((await post('/v1/messages/preview', { message })).body).not.toHaveProperty('routes')
  })
})

describe('the dry run of a broadcast', () => {
  it('shows the cost, and whom it would skip', async () => {
    await setRates({ [test.carrierId]: { US: 7900, GB: 50_000 } })
    const campaigns = await openCampaignTest(db, { acceptor: test.acceptor })
    const campaign = await campaigns.newCampaign()
    for (const phone_number of ['15551230001', '15551230002', '447700900001', '4915112345678'])
      await campaigns.call('POST', `/v1/campaigns/${campaign}/contacts`, { phone_number })
    const dry = (changes: object = {}) =>
      campaigns.call('POST', `/v1/campaigns/${campaign}/send`, { message: 'Hello', dry_run: true, ...changes })
    expect((await dry()).body).toMatchObject({ messages: 4, cost: [usd('0.06580')] })
    await setRates({})
    expect((await dry()).body).toMatchObject({ messages: 4, cost: [] })
    await campaigns.app.close()
  })
})

/** Prices by destination, in millionths of a dollar. */
async function setRates(cards: Record<string, Record<string, number>>): Promise<void> {
  const effectiveFrom = new Date(0)
  await inTransaction(db, async (tx) => {
    for (const carrierId of [test.carrierId, dearId])
      await replaceRates(
        tx,
        carrierId,
        Object.entries(cards[carrierId] ?? {}).map(([destination, amount]) => ({
          destination,
          effectiveFrom,
          price: { amount, currency: 'USD' },
        })),
      )
  })
  await test.routing.refresh()
}
const usd = (amount: string): object => ({ amount, currency: 'USD' })

async function post(url: string, payload: object): Promise<{ status: number; body: Record<string, unknown> }> {
  const answer = await app.inject({ method: 'POST', url, headers: account.headers, payload })
  return { status: answer.statusCode, body: answer.json() }
}
const send = (changes: object = {}) => post('/v1/messages', { to: '15551230001', message: 'Hello', ...changes })
