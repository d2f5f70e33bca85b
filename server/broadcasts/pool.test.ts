/** Broadcasts and single sends that take senders from a pool, over a real link. */
import { beforeEach, describe, expect, it } from 'vitest'
import { Simulator } from '../../simulator/index.ts'
import { createTestAccount, errorsOf, type Answer, type TestAccount } from '../accounts/testing.ts'
import { findPool, savePool } from '../senders/pool-store.ts'
import { openCarrierTest, promptSimulator, untilBound, type CarrierTest } from '../carriers/testing.ts'
import { inTransaction } from '../ground/db/db.ts'
import { createTestDatabase, forEachTest } from '../ground/db/testing.ts'
import { newId, parseId, showId } from '../ground/base/ids.ts'
import { insertTestSender, ourNumber, rowOf } from '../messages/testing.ts'
import { until } from '../../test/until.ts'
import { openCampaignTest } from '../campaigns/testing.ts'
import { Broadcaster } from './send.ts'

let carrier: CarrierTest
let simulated: Simulator
let broadcaster: Broadcaster
const errors: unknown[] = []
const log = { info: () => {}, warn: () => {}, error: (fields: object) => void errors.push(fields) }
const numbers = ['15557000001', '15557000002', '15557000003']

const { db, sql } = await createTestDatabase()
const test = forEachTest(db, (own) =>
  openCampaignTest(own, { acceptor: { plan: (drafts) => carrier.acceptor.plan(drafts) } }),
)
beforeEach(async () => {
  simulated = new Simulator(promptSimulator)
  const { smppPort: testPort } = await simulated.start()
  carrier = await openCarrierTest(db, { accountId: test.account.accountId, testPort })
  await untilBound(carrier)
  for (const number of numbers) await insertTestSender(db, test.account.accountId, carrier.carrierId, number)
  errors.length = 0
  broadcaster = new Broadcaster({ ...carrier.context, log, acceptor: carrier.acceptor })
  return async () => {
    await broadcaster.close()
    await carrier.close()
    await simulated.close()
    await test.app.close()
    expect([...errors, ...carrier.errors]).toEqual([])
  }
})

describe('a broadcast from a pool', () => {
  it('uses its senders, and the same one for each person the next time, though contacts were added', async () => {
    const pool = await setPool(numbers)
    const campaign = await test.newCampaign({ sender_pool: pool, message: 'Hello' })
    await addContacts(campaign, 15551009001, 60)
    await untilTaken(await order(campaign))
    const first = await sendersOf(60)
    expect([...new Set(first.values())].toSorted()).toEqual(numbers)
    const stored = await db.query<{ to: string; from: string }>(
      `select their_number as "to", our_number as "from" from messages order by 1`,
    )
    expect(new Map(stored.rows.map(({ to, from }) => [to, from]))).toEqual(first)
    await until('all are known', async () => (await carrier.count('sender_affinity', 'true')) === 60)

    await insertTestSender(db, test.account.accountId, carrier.carrierId, '15557000009')
    await setPool([...numbers, '15557000009'], [1, 1, 1, 1000], parseId('pol', pool) ?? '')
    await sql`update broadcasts set status = 'completed'`
    await addContacts(campaign, 15552009001, 20)
    await until('the new sender is known', async () => {
      // The choice by recipient gives each other sender one in a thousand.
      const drafts = [1, 2, 3].map((n) =>
        carrier.draft({ poolId: parseId('pol', pool), theirNumber: `1555300900${n}` }),
      )
      const plans = await carrier.acceptor.plan(drafts)
      return plans.some(({ route }) => route.sender.sender?.number === '15557000009')
    })
    await untilTaken(await order(campaign))
    const second = await sendersOf(140)
    for (const [to, from] of first) expect(second.get(to)).toBe(from)
    const added = [...second].filter(([to]) => to.startsWith('15552')).map(([, from]) => from)
    expect(added.filter((from) => from === '15557000009').length).toBeGreaterThan(15)
  })

  it('in the order precedes the campaign’s sender, and a sender in the order precedes the pool', async () => {
    const pool = await setPool(numbers.slice(0, 1))
    const campaign = await test.newCampaign({ from: ourNumber })
    await addContacts(campaign, 15551009001, 3)
    await untilTaken(await order(campaign, { sender_pool: pool }))
    expect(new Set((await sendersOf(3)).values())).toEqual(new Set(numbers.slice(0, 1)))
    await test.call('PATCH', `/v1/campaigns/${campaign}`, { sender_pool: pool })
    await sql`update broadcasts set status = 'completed'`
    await untilTaken(await order(campaign, { from: numbers[1] }))
    expect(new Set((await sendersOf(6)).values())).toEqual(new Set([numbers[1]]))
  })

  it('prefers senders of each recipient’s country', async () => {
    await insertTestSender(db, test.account.accountId, carrier.carrierId, '447700900111')
    await sql`update senders set country = 'GB' where number = '447700900111'`
    const campaign = await test.newCampaign({ sender_pool: await setPool(['447700900111', ...numbers]) })
    await addContacts(campaign, 15551009001, 5)
    await addContacts(campaign, 447700900201, 5)
    await untilTaken(await order(campaign))
    for (const [to, from] of await sendersOf(10)) expect(from === '447700900111').toBe(to.startsWith('44'))
  })

  it('stops and continues in place, with the pool that the campaign has then', async () => {
    const [one, two] = [await setPool(numbers.slice(0, 1)), await setPool(numbers.slice(1, 2))]
    const campaign = await test.newCampaign({ sender_pool: one })
    const act = (verb: string): Promise<Answer> => test.call('POST', `/v1/campaigns/${campaign}/${verb}`)
    await addContacts(campaign, 15551009001, 5)
    const ordered = await order(campaign)
    await act('pause')
    broadcaster.wake()
    await test.call('PATCH', `/v1/campaigns/${campaign}`, { sender_pool: two })
    expect((await carrier.submit({ theirNumber: '15553009001', type: 'otp' })).ourNumber).toBe(ourNumber)
    await act('resume')
    expect(await untilTaken(ordered)).toMatchObject({ messages: 5, skipped: {} })
    const senders = await sendersOf(6)
    senders.delete('15553009001')
    expect(new Set(senders.values())).toEqual(new Set([numbers[1]]))
    expect(await carrier.count('(select contact_id from messages group by 1 having count(*) > 1) x', 'true')).toBe(0)
  })

  it('without a sender left sends no message, as a single send is refused; a dry run reports this before', async () => {
    const pool = await setPool(numbers.slice(0, 1))
    const campaign = await test.newCampaign({ sender_pool: pool })
    await addContacts(campaign, 15551009001, 4)
    await test.optOut('15551009002')
    const dry = async (): Promise<object> => (await order(campaign, { dry_run: true })).body
    expect(await dry()).toMatchObject({ messages: 3, skipped: { recipient_opted_out: 1 } })
    const ordered = await order(campaign)
    await sql`delete from senders where number = ${numbers[0]}`
    expect(await findPool(db, test.account.accountId, parseId('pol', pool) ?? '')).toMatchObject({ members: [] })
    expect(await dry()).toMatchObject({ recipients: 4, messages: 0, skipped: { sender_not_allowed: 4 } })
    expect(await carrier.acceptor.accept(carrier.draft({ campaignId: parseId('cmp', campaign) }))).toMatchObject({
      refusal: 'sender_not_allowed',
    })
    expect(await untilTaken(ordered)).toMatchObject({ messages: 0, skipped: { sender_not_allowed: 4 } })
    expect(carrier.simulator.ledger).toEqual([])
  })

  it('cannot be another account’s', async () => {
    const pool = await setPool(numbers)
    const theirs = await test.call('POST', '/v1/campaigns', { name: 'x' }, test.other)
    for (const dry_run of [true, false]) {
      const { status, body } = await order(String(theirs.body['id']), { sender_pool: pool, dry_run }, test.other)
      expect([status, errorsOf(body)]).toEqual([422, ['#/sender_pool pool_not_found']])
    }
    expect((await order(await test.newCampaign({ sender_pool: pool }), {}, test.other)).status).toBe(404)
  })

  it('in test mode also provides senders, and only the test carrier sees it', async () => {
    const tester = await createTestAccount(db, { mode: 'test' })
    await sql`update api_keys set account_id = ${test.account.accountId} where id = ${tester.keyId}`
    const campaign = await test.newCampaign({ sender_pool: await setPool(numbers) })
    await addContacts(campaign, 15551009001, 12)
    // No real carrier could take it.
    await sql`update carriers set enabled = false`
    expect((await order(campaign, { dry_run: true }, tester)).body).toMatchObject({ messages: 12, skipped: {} })
    expect(await untilTaken(await order(campaign, {}, tester))).toMatchObject({ messages: 12, test: true })
    for (const from of (await sendersOf(12, simulated)).values()) expect(numbers).toContain(from)
    expect(carrier.simulator.ledger).toEqual([])
  })
})

describe('a single send', () => {
  it('of a campaign with a pool uses it, unless the send names its own', async () => {
    const pool = await setPool(numbers.slice(0, 1))
    const campaign = await test.newCampaign({ sender_pool: pool, key: 'autumn', message: 'For broadcasts' })
    const campaignId = parseId('cmp', campaign)
    const other = parseId('pol', await setPool(numbers.slice(2)))
    const sent = await Promise.all([
      carrier.submit({ campaignId }),
      carrier.submit({ campaignKey: 'autumn', theirNumber: '15551230002' }),
      carrier.submit({ campaignId, sender: numbers[1] ?? null }),
      carrier.submit({ campaignId, poolId: other }),
      carrier.submit({}),
    ])
    expect(sent.map((row) => row.ourNumber)).toEqual([numbers[0], numbers[0], numbers[1], numbers[2], ourNumber])
    expect(sent.map((row) => row.body)).not.toContain('For broadcasts')
    await until('whom it wrote to is known', async () => (await carrier.count('sender_affinity', 'true')) === 3)
    expect(await carrier.count('sender_affinity', 'pool_id = $1', [parseId('pol', pool)])).toBe(2)
  })

  it('uses a pool that the campaign was given a moment ago', async () => {
    const pools = [await setPool(numbers.slice(0, 1)), await setPool(numbers.slice(1, 2))]
    const campaign = await test.newCampaign({ sender_pool: pools[0] })
    const campaignId = parseId('cmp', campaign)
    expect((await carrier.submit({ campaignId })).ourNumber).toBe(numbers[0])
    await test.call('PATCH', `/v1/campaigns/${campaign}`, { sender_pool: pools[1] })
    await sql`delete from sender_pools where id = ${parseId('pol', pools[0] ?? '')}`
    expect(rowOf(await carrier.acceptor.accept(carrier.draft({ campaignId }))).ourNumber).toBe(numbers[1])
  })
})

/** Creates or replaces a pool; the default weight is one. Returns its public id. */
async function setPool(members: string[], weights: number[] = [], id = newId()): Promise<string> {
  const { accountId } = test.account
  const rows = await sql<{ id: string; number: string }>`select id, number from senders`
  const memberOf = (number: string, i: number): { senderId: string; weight: number }[] =>
    rows.filter((row) => row.number === number).map((row) => ({ senderId: row.id, weight: weights[i] ?? 1 }))
  const pool = { accountId, id, name: id, strategy: 'sticky' as const, members: members.flatMap(memberOf) }
  await inTransaction(db, (tx) => savePool(tx, pool))
  return showId('pol', id)
}

/** Adds contacts with consecutive numbers. */
async function addContacts(campaign: string, first: number, count: number): Promise<void> {
  for (let i = 0; i < count; i++)
    await sql`insert into contacts (account_id, id, campaign_id, phone_number)
      values (${test.account.accountId}, ${newId()}, ${parseId('cmp', campaign)}, ${String(first + i)})`
}

const order = (campaign: string, body: object = {}, who: TestAccount = test.account): Promise<Answer> =>
  test.call('POST', `/v1/campaigns/${campaign}/send`, { message: 'Hello', ...body }, who, {
    'idempotency-key': newId(),
  })
const read = async (id: unknown): Promise<Record<string, unknown>> =>
  (await test.call('GET', `/v1/broadcasts/${String(id)}`)).body

async function untilTaken({ body }: Answer): Promise<Record<string, unknown>> {
  await until('all had their turn', async () => {
    broadcaster.wake()
    const row = await read(body['id'])
    return row['expanded'] === true && row['remaining'] === 0
  })
  return read(body['id'])
}

/** Waits until the carrier has this many messages; returns the last sender for each number. */
async function sendersOf(count: number, where = carrier.simulator): Promise<Map<string, string>> {
  await until(`the carrier has ${count}`, () => where.ledger.length >= count)
  expect(where.ledger.length).toBe(count)
  return new Map(where.ledger.map(({ destination, source }) => [destination, source]))
}
