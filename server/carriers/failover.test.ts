import type { Socket } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Simulator } from '../../simulator/index.ts'
import { testVault } from '../accounts/testing.ts'
import { inTransaction } from '../ground/db/db.ts'
import { ensurePartitions } from '../ground/db/partitions.ts'
import { createTestDatabase, emptyTables, forEachTest } from '../ground/db/testing.ts'
import { newId } from '../ground/base/ids.ts'
import { asAccepted } from '../accept/accepted.ts'
import { findLanes } from '../queue/claim.ts'
import { renderMessage } from '../message/show.ts'
import { readCounts } from '../usage/counts.ts'
import { readCounterFaults } from '../usage/testing.ts'
import { insertTestCarrier, insertTestSender, ourNumber, silent } from '../messages/testing.ts'
import { until } from '../../test/until.ts'
import { sealSecrets } from '../http-carriers/sealed.ts'
import { configure, FakeCarrier } from '../http-carriers/testing.ts'
import { replaceRates } from '../rates/store.ts'
import { insertCarrier } from '../links/carrier-store.ts'
import { openCarrierTest, promptSimulator, untilBound } from './testing.ts'

let second: Simulator
let secondId: string

const { db, sql } = await createTestDatabase()
await ensurePartitions(db, silent)

/** Two carriers, both with the account's number; the test's own goes first. */
const test = forEachTest(db, openCarrierTest)
beforeEach(async () => {
  await sql`delete from routes`
  await emptyTables(db, 'tallies, tally_deltas')
  second = new Simulator(promptSimulator)
  const { smppPort } = await second.start()
  secondId = newId()
  await inTransaction(db, (tx) => insertTestCarrier(tx, secondId, { port: smppPort }, { priority: 200 }))
  await insertTestSender(db, test.accountId, secondId, ourNumber)
  await until('both carriers are bound', () => test.submitter.links.size === 2)
  await untilBound(test)
  await test.routing.refresh()
})
afterEach(async () => {
  await test.close()
  await second.close()
  expect(test.errors).toEqual([])
})

it('after a permanent refusal the next carrier gets the message, and the first is not tried again', async () => {
  test.simulator.misbehave({ submit: 'RINVDSTADR' })
  const { id } = await test.submit()
  expect(await test.reaches(id, 'delivered')).toMatchObject({ carrierId: secondId, attempts: 2, errorCode: null })
  expect(texts(second)).toEqual(['Hello'])
  expect(test.simulator.ledger.map((entry) => entry.status)).toEqual(['RINVDSTADR'])
})

it('a message is rejected when its last carrier refuses it', async () => {
  for (const one of [test.simulator, second]) one.misbehave({ submit: 'RINVDSTADR' })
  const { id } = await test.submit()
  expect(await test.reaches(id, 'rejected')).toMatchObject({ attempts: 2, errorCode: 'invalid_destination' })
  expect([test.simulator.ledger.length, second.ledger.length]).toEqual([1, 1])
})

it('a message is rejected if the other carriers of its chain are disabled', async () => {
  await test.sql`update carriers set enabled = false where id = ${secondId}`
  test.simulator.misbehave({ submit: 'RINVDSTADR' })
  const { id } = await test.submit()
  expect(await test.reaches(id, 'rejected')).toMatchObject({ attempts: 1, errorCode: 'invalid_destination' })
})

it('a message stays with a busy carrier, and leaves a faulty one after three tries', async () => {
  test.simulator.misbehave({ submit: 'RTHROTTLED', submitTimes: 1 })
  const busy = await test.submit({ body: 'busy' })
  await until('it is asked again', async () => {
    await test.skipBackOff()
    return (await test.message(busy.id)).status === 'delivered'
  })
  expect(texts(test.simulator)).toEqual(['busy'])
  test.simulator.misbehave({ submit: 'RSYSERR', submitTimes: 0 })
  const faulty = await test.submit({ body: 'faulty' })
  await until('it has gone elsewhere', async () => {
    await test.skipBackOff()
    return (await test.message(faulty.id)).status === 'delivered'
  })
  expect(await test.message(faulty.id)).toMatchObject({ attempts: 4, carrierId: secondId })
  expect(texts(second)).toEqual(['faulty'])
})

it('a message never goes to another carrier while the first may have it', async () => {
  test.simulator.misbehave({ submit: 'drop', submitTimes: 1 })
  const { id } = await test.submit()
  await test.reaches(id, 'unconfirmed')
  expect(texts(second)).toEqual([])
})

it('a message keeps its parts at the carrier that has one of them', async () => {
  const body = 'x'.repeat(400)
  // For long messages to 0031, the carrier refuses the second part for good and accepts the others.
  const { id } = await test.submit({ body, characters: 400, segments: 3, theirNumber: '15551230031' })
  expect(await test.reaches(id, 'rejected')).toMatchObject({ carrierId: test.carrierId })
  expect(texts(second)).toEqual([])
  test.simulator.misbehave({ submit: 'RSYSERR', submitTimes: 1 })
  const later = await test.submit({ body, characters: 400, segments: 3 })
  await until('the part is asked for again', async () => {
    await test.skipBackOff()
    return (await test.message(later.id)).status === 'delivered'
  })
  expect(second.ledger).toEqual([])
})

it('a message goes to the next carrier of its chain while all links of the first are down', async () => {
  test.simulator.misbehave({ connect: 'drop' })
  test.simulator.do('drop')
  await until('the first is known to be down', () => !test.submitter.upCarriers.has(test.carrierId))
  const { id } = await test.submit()
  expect(await test.reaches(id, 'delivered')).toMatchObject({ carrierId: secondId, attempts: 1 })
})

it('a message is the trial of an HTTP carrier that was down, though another of its chain is up', async () => {
  const fake = await FakeCarrier.start('twilio')
  const { settings, secrets } = configure('twilio', fake.url)
  const id = newId()
  await inTransaction(test.db, async (tx) => {
    const sealed = sealSecrets(testVault, id, secrets)
    const fields = { name: 'api', kind: 'http', enabled: true, pace: 100, priority: 1 } as const
    await insertCarrier(tx, { id, ...fields, settings, secrets: sealed })
  })
  await insertTestSender(test.db, test.accountId, id, ourNumber)
  await test.routing.refresh()
  await until('it is up', () => test.submitter.upCarriers.has(id))
  const sockets: Socket[] = []
  const lose = (_response: unknown, socket: Socket): void => void socket.destroy()
  const hold = (_response: unknown, socket: Socket): void => void sockets.push(socket)
  const wantsTrial = (): boolean => [...test.submitter.running.values()].some(({ state }) => state === 'binding')
  fake.behaviours.push(lose, lose, lose, hold)
  for (let n = 0; n < 3; n++) await test.reaches((await test.submit()).id, 'unconfirmed')
  await until('it wants a trial', wantsTrial)
  const first = await test.submit()
  await until('it is known to be down', () => sockets.length === 1 && !test.submitter.upCarriers.has(id))
  const meanwhile = await test.submit()
  expect(await test.reaches(meanwhile.id, 'delivered')).toMatchObject({ carrierId: test.carrierId })
  sockets[0]?.destroy()
  await test.reaches(first.id, 'unconfirmed')

  await until('it wants another', wantsTrial)
  const next = await test.submit()
  await until('it has gone', async () => (await test.message(next.id)).sentAt !== null)
  expect(await test.message(next.id)).toMatchObject({ carrierId: id })
  await until('it is up', () => test.submitter.upCarriers.has(id))
  await fake.close()
})

it('a message waits for another process’s trial of an HTTP carrier that has not begun', async () => {
  const { settings, secrets } = configure('twilio', 'http://127.0.0.1:1')
  const [id, other] = [newId(), newId()]
  await inTransaction(test.db, async (tx) => {
    const sealed = sealSecrets(testVault, id, secrets)
    const fields = { name: 'api', kind: 'http', enabled: true, pace: 100, priority: 1 } as const
    await insertCarrier(tx, { id, ...fields, settings, secrets: sealed })
    await tx.query(`insert into nodes (id, name) values ($1, 'other')`, [other])
    await tx.query(
      `with slot as (
         insert into link_slots (link_id, slot, node_id, epoch, leased_until)
         select id, 1, $2, 1, now() + interval '1 hour' from links where carrier_id = $1
       )
       insert into link_states (link_id, node_id, leased_until, state)
       select id, $2, now() + interval '1 hour', 'binding' from links where carrier_id = $1`,
      [id, other],
    )
  })
  await insertTestSender(test.db, test.accountId, id, ourNumber)
  await test.routing.refresh()
  await until('it is known to wait', () => test.submitter.upCarriers.has(id))
  const message = await test.submit()
  await until('it waits for that carrier', async () =>
    (await findLanes(test.db)).some(({ carrierId }) => carrierId === id),
  )
  await test.sql`update link_states set in_flight = 1 where node_id = ${other}`
  expect(await test.reaches(message.id, 'delivered')).toMatchObject({ carrierId: test.carrierId })
  expect(test.submitter.upCarriers.has(id)).toBe(false)
})

it('a message follows the matching rule, and names it', async () => {
  const routeId = await test.addRoute([{ carrierId: secondId, weight: 1 }, { carrierId: test.carrierId }], {
    type: 'otp',
  })
  const [code, other] = [await test.submit({ type: 'otp', body: 'code' }), await test.submit({ body: 'other' })]
  await test.reaches(code.id, 'delivered')
  await test.reaches(other.id, 'delivered')
  expect([texts(second), texts(test.simulator)]).toEqual([['code'], ['other']])
  const rows = await test.sql`select route_id as "routeId", chain from messages
    where account_id = ${test.accountId} and id = ${code.id}`
  expect(rows).toEqual([{ routeId, chain: [secondId, test.carrierId] }])
  second.misbehave({ submit: 'RINVSRCADR' })
  const refused = await test.submit({ type: 'otp', body: 'refused' })
  expect(await test.reaches(refused.id, 'delivered')).toMatchObject({ carrierId: test.carrierId, attempts: 2 })
})

/** Sets each carrier's price per segment by destination, in millionths. */
async function setRates(cards: Record<string, Record<string, number>>): Promise<void> {
  for (const carrierId of [test.carrierId, secondId]) {
    const rates = Object.entries(cards[carrierId] ?? {}).map(([destination, amount]) => ({
      destination,
      effectiveFrom: new Date(0),
      price: { amount, currency: carrierId === secondId ? 'EUR' : 'USD' },
    }))
    await inTransaction(test.db, (tx) => replaceRates(tx, carrierId, rates))
  }
  await test.routing.refresh()
}
const pricesOf = async (id: string): Promise<object> => {
  const { price, estimated_price: estimated } = renderMessage(await test.message(id))
  return { price, estimated }
}
const money = (amount: string, currency: string): object => ({ amount, currency })

it('a message costs what its actual carrier charges, by card or route, and keeps the estimate', async () => {
  await setRates({ [test.carrierId]: { US: 7900 }, [secondId]: { '*': 1, US: 2, '1': 3, '1555': 8120, '15559': 4 } })
  test.simulator.misbehave({ submit: 'RINVDSTADR' })
  const { id } = await test.submit({ body: 'x'.repeat(200), characters: 200, segments: 2 })
  await test.reaches(id, 'delivered')
  const prices = { price: money('0.01624', 'EUR'), estimated: money('0.01580', 'USD') }
  expect(await pricesOf(id)).toEqual(prices)
  const replayed = renderMessage(asAccepted(await test.message(id)))
  expect(replayed).toMatchObject({ price: null, estimated_price: money('0.01580', 'USD') })

  await test.addRoute([{ carrierId: test.carrierId }, { carrierId: secondId, cost: 12_345 }], { currency: 'GBP' })
  const routed = await test.submit()
  await test.reaches(routed.id, 'delivered')
  expect(await pricesOf(routed.id)).toEqual({ price: money('0.012345', 'GBP'), estimated: money('0.00790', 'USD') })

  expect(await readCounterFaults(test.db)).toEqual([])
  const { total } = await readCounts(test.db, test.accountId, {}, 'carrier')
  expect(total.cost).toEqual([money('0.01624', 'EUR'), money('0.012345', 'GBP')])
})

it('a message has no price if only the first carrier has a card, and the second’s if only that has one', async () => {
  test.simulator.misbehave({ submit: 'RINVDSTADR' })
  await setRates({ [test.carrierId]: { US: 7900 } })
  const first = await test.submit()
  await test.reaches(first.id, 'delivered')
  expect(await pricesOf(first.id)).toEqual({ price: null, estimated: money('0.00790', 'USD') })
  await setRates({ [secondId]: { US: 9900 } })
  const second = await test.submit()
  await test.reaches(second.id, 'delivered')
  expect(await pricesOf(second.id)).toEqual({ price: money('0.00990', 'EUR'), estimated: null })
  expect(await readCounterFaults(test.db)).toEqual([])
})

it('a message that returns to the first carrier costs the estimate again', async () => {
  await setRates({ [test.carrierId]: { US: 7900 }, [secondId]: { US: 9900 } })
  for (const one of [test.simulator, second]) one.misbehave({ submit: 'RSYSERR', submitTimes: 3 })
  const { id } = await test.submit()
  await until('it has gone', async () => {
    await test.skipBackOff()
    return (await test.message(id)).status === 'delivered'
  })
  expect(await test.message(id)).toMatchObject({ carrierId: test.carrierId, attempts: 7 })
  expect(await pricesOf(id)).toEqual({ price: money('0.00790', 'USD'), estimated: money('0.00790', 'USD') })
  expect(await readCounterFaults(test.db)).toEqual([])
})

const texts = (simulator: Simulator): string[] =>
  simulator.ledger.filter((entry) => entry.status === 'ROK').map((entry) => entry.text)
