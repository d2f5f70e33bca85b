import { expect, it } from 'vitest'
import { createTestDatabase, forEachTest, untilBlocked } from '../ground/db/testing.ts'
import { parseId } from '../ground/base/ids.ts'
import { until } from '../../test/until.ts'
import type { CampaignTest } from '../campaigns/testing.ts'
import { openBroadcastTest } from './testing.ts'

const { db, sql } = await createTestDatabase()
const test = forEachTest(db, (own) => openBroadcastTest(own, { subscriptions: { wants: () => true } }))

it('a withdrawal leaves the campaign as it was before, with all its other messages', async () => {
  await addContacts(2)
  const single = await test.ledger.send({
    campaignId: parseId('cmp', test.campaign),
    sendAt: new Date(Date.now() + 60_000),
  })
  const id = await order({ send_at: tomorrow() })
  expect(await readCampaign()).toMatchObject({ status: 'scheduled' })

  expect(await withdraw(id)).toMatchObject({
    status: 200,
    body: { id, status: 'withdrawn', messages: 0, remaining: 0 },
  })

  expect(await readCampaign()).toMatchObject({ status: 'active', stats: { recipients: 1, queued: 1, canceled: 0 } })
  expect((await test.ledger.message(single.id)).status).toBe('scheduled')
  expect(await test.read(id)).toMatchObject({ completed_at: expect.any(String) as string, approval: null })
  const next = await order()
  const broadcaster = test.newBroadcaster()
  broadcaster.wake()
  await until('the next one is sent', async () => (await test.read(next))['messages'] === 2)
  await broadcaster.close()
})

it('a withdrawal is reported once: a second request gets the first response', async () => {
  const id = await order({ send_at: tomorrow() })
  const [first, second] = [await withdraw(id), await withdraw(id)]
  expect([second.status, second.body]).toEqual([200, first.body])
  const rows = await sql<{ target: string; after: object }>`select target, after from audit_events
    where account_id = ${test.ledger.accountId} and action = 'broadcast.withdrawn'`
  expect(rows).toMatchObject([{ target: id, after: { status: 'withdrawn' } }])
  const events = await sql<{ payload: string }>`select payload from events where type = 'campaign.withdrawn'`
  expect(events.map(({ payload }) => payload)).toEqual([expect.stringContaining(`"status":"withdrawn"`)])
})

it('a withdrawal is available to the requester, while it waits for another person’s approval', async () => {
  await addContacts(2)
  await sql`update accounts set settings = '{"guards": {"recipients_above": 1}}' where id = ${test.ledger.accountId}`
  const id = await order()
  expect(await test.read(id)).toMatchObject({ status: 'awaiting_approval' })
  expect(await withdraw(id)).toMatchObject({ status: 200, body: { status: 'withdrawn', remaining: 0 } })
  const late = await test.call('POST', `/v1/broadcasts/${id}/approve`, {}, test.account)
  expect([late.status, late.body['code']]).toEqual([409, 'campaign_not_in_state'])
})

it('a withdrawal counts recipients without a message as canceled', async () => {
  await addContacts(3)
  const id = await order()
  // As if no carrier has room: all are recipients, without messages.
  const broadcaster = test.newBroadcaster({ roomFor: () => null, acceptFrom: () => Promise.resolve(null) })
  broadcaster.wake()
  await until('all are recipients', async () => (await test.read(id))['expanded'] === true)
  await broadcaster.close()
  await test.call('POST', `/v1/campaigns/${test.campaign}/pause`)
  expect(await withdraw(id)).toMatchObject({ status: 200, body: { recipients: 3, remaining: 0 } })
  expect(await readCampaign()).toMatchObject({ status: 'active', stats: { recipients: 3, queued: 0, canceled: 3 } })
})

it('a withdrawal is refused when a message has been made, and if there is no such broadcast', async () => {
  await addContacts(1)
  const id = await order()
  const broadcaster = test.newBroadcaster()
  broadcaster.wake()
  await until('it is made', async () => (await test.read(id))['messages'] === 1)
  await broadcaster.close()
  const { status, body } = await withdraw(id)
  expect([status, body['code']]).toEqual([409, 'campaign_not_in_state'])
  expect(body['detail']).toContain('cancel its campaign')
  expect(await readCampaign()).toMatchObject({ status: 'sending' })
  expect(await withdraw('brc_01m7xz9y2ze00bdwqt7ts2ame7')).toMatchObject({ status: 404 })
})

it('a withdrawal waits for the piece that makes the first messages, and is then refused', async () => {
  await addContacts(2)
  const id = await order()
  const { acceptor } = test.ledger
  let answer: ReturnType<CampaignTest['call']> | undefined
  const broadcaster = test.newBroadcaster({
    roomFor: (...args) => acceptor.roomFor(...args),
    acceptFrom: (accountId, take) =>
      acceptor.acceptFrom(accountId, async (tx) => {
        const taken = await take(tx)
        if (taken && !answer) {
          answer = withdraw(id)
          await untilBlocked(db, 1)
        }
        return taken
      }),
  })
  broadcaster.wake()
  await until('they are made', async () => (await test.read(id))['messages'] === 2)
  await broadcaster.close()
  expect((await answer)?.status).toBe(409)
  expect(await test.ledger.count('messages', 'true')).toBe(2)
})

it('a withdrawal takes back everything or nothing, at any moment and in any number of processes', async () => {
  await addContacts(3)
  const seen = new Set<unknown>()
  for (let round = 0; round < 16; round++) {
    const before = await test.ledger.count('messages', 'true')
    const id = await order()
    const broadcasters = [test.newBroadcaster(), test.newBroadcaster()]
    if (round > 0) for (const one of broadcasters) one.wake()
    // Each round withdraws later: each read takes about as long as a piece.
    for (let i = 0; i < round % 8; i++) await test.read(id)
    if (round === 15) await until('it is too late', async () => Number((await test.read(id))['messages']) > 0)
    const [one, other] = await Promise.all([withdraw(id), withdraw(id)])
    expect(one.status).toBe(other.status)
    for (const each of broadcasters) await each.close()
    const made = (await test.ledger.count('messages', 'true')) - before
    expect([one.status, made > 0]).toEqual(one.status === 200 ? [200, false] : [409, true])
    expect((await readCampaign())['status']).toBe(one.status === 200 ? 'active' : 'sending')
    seen.add(one.status)
    if (one.status === 200) continue
    await sql`update broadcasts set status = 'completed' where id = ${parseId('brc', id)}`
    await sql`update campaigns set status = 'active'`
  }
  expect(seen).toEqual(new Set([200, 409]))
})

async function addContacts(count: number): Promise<void> {
  for (let i = 0; i < count; i++)
    await test.call('POST', `/v1/campaigns/${test.campaign}/contacts`, { phone_number: `1555100${1000 + i}` })
}

const tomorrow = (): string => new Date(Date.now() + 86_400_000).toISOString()

async function order(fields: object = {}): Promise<string> {
  const { status, body } = await test.order(fields)
  if (status !== 202) throw new Error(JSON.stringify(body))
  return String(body['id'])
}
const withdraw = (id: string): ReturnType<CampaignTest['call']> =>
  test.call('POST', `/v1/broadcasts/${id}/withdraw`, {})
const readCampaign = async (): Promise<Record<string, unknown>> =>
  (await test.call('GET', `/v1/campaigns/${test.campaign}`)).body
