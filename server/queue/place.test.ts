import { expect, it } from 'vitest'
import { buildTestApp, callAs, createTestAccount } from '../accounts/testing.ts'
import { createTestDatabase, forEachTest } from '../ground/db/testing.ts'
import { conversationRoutes } from '../conversations/http.ts'
import { newId, showId } from '../ground/base/ids.ts'
import { claimMessages, findLanes } from './claim.ts'
import { messageRoutes } from '../messages/http.ts'
import { findPlace } from './place.ts'
import { storeReply } from '../inbound/reply.ts'
import { openLedgerTest, ourNumber } from '../messages/testing.ts'

const { db } = await createTestDatabase()
const test = forEachTest(db, openLedgerTest)

const noId = '00000000-0000-0000-0000-000000000000'

it('gives the queue before a message, of its own account and type', async () => {
  await report('bound')
  const rows = []
  for (let i = 0; i < 3; i++) rows.push(await test.send({ segments: 2 }))
  await test.send({ type: 'otp' })
  const places = await Promise.all(rows.map((row) => findPlace(test.db, row)))
  expect(places.map((place) => place?.ahead)).toEqual([0, 2, 4])
  expect(places[0]).toMatchObject({ carrierId: null, holdReason: null })
})

it('reports that no carrier can be reached, and when one can again', async () => {
  const row = await test.send()
  expect(await findPlace(test.db, row)).toMatchObject({ holdReason: 'no_route' })
  await report('bound')
  expect(await findPlace(test.db, row)).toMatchObject({ holdReason: null })
  await test.sql`update link_states set updated_at = now() - interval '20 seconds'`
  expect(await findPlace(test.db, row)).toMatchObject({ holdReason: 'no_route' })
})

it('reports this for the carrier that the message waits for, whatever its row says', async () => {
  const row = await test.send()
  const [lane] = await findLanes(test.db)
  await claimMessages(test.context, test.nodeId, [], lane?.id ?? '', noId, 10)
  const held = await test.message(row.id)
  expect(held).toMatchObject({ status: 'queued', holdReason: 'no_route' })
  expect(await findPlace(test.db, held)).toEqual({ ahead: 0, carrierId: test.carrierId, holdReason: 'no_route' })
  await report('throttled')
  expect(await findPlace(test.db, held)).toMatchObject({ carrierId: test.carrierId, holdReason: null })
})

it('reports a paused campaign, but not for an answer to a keyword, which is sent anyway', async () => {
  await report('bound')
  const campaignId = newId()
  await test.sql`insert into campaigns (account_id, id, name) values (${test.accountId}, ${campaignId}, 'One')`
  const [row, answer] = [await test.send({ campaignId }), await test.send({ campaignId })]
  await test.sql`update messages set is_confirmation = true where id = ${answer.id}`
  await test.sql`update campaigns set status = 'paused'`
  expect(await findPlace(test.db, row)).toMatchObject({ holdReason: 'campaign_paused' })
  const written = await test.message(answer.id)
  expect(await findPlace(test.db, written)).toMatchObject({ holdReason: null })
})

it('gives no time of sending for a message of a paused campaign', async () => {
  const account = await createTestAccount(db)
  const test = await openLedgerTest(db, { accountId: account.accountId })
  await report('bound')
  test.ownLinks.estimate = new Date()
  const app = await buildTestApp(db, (one) => messageRoutes(one, test.routeContext))
  const call = callAs(app, account)
  const campaignId = newId()
  await test.sql`insert into campaigns (account_id, id, name) values (${test.accountId}, ${campaignId}, 'One')`
  const url = `/v1/messages/${showId('msg', (await test.send({ campaignId })).id)}`
  expect((await call('GET', url)).body).toMatchObject({ estimated_send_at: test.ownLinks.estimate.toISOString() })
  await test.sql`update campaigns set status = 'paused'`
  expect((await call('GET', url)).body).toMatchObject({
    hold: { reason: 'campaign_paused', until: null },
    estimated_send_at: null,
  })
  const body = { to: '15551230001', message: 'Hi', campaign: showId('cmp', campaignId) }
  const key = { 'idempotency-key': 'paused' }
  const accepted = await call('POST', '/v1/messages', body, key)
  expect(accepted.status).toBe(202)
  expect((await call('POST', '/v1/messages', body, key)).body).toEqual(accepted.body)
  const found = await call('GET', `/v1/messages/${String(accepted.body['id'])}`)
  expect(found.body).toMatchObject({ hold: { reason: 'campaign_paused', until: null }, estimated_send_at: null })
  expect(accepted.body).toEqual(found.body)
  await app.close()
})

it('lists give each message’s hold, as the message does', async () => {
  const account = await createTestAccount(db)
  const test = await openLedgerTest(db, { accountId: account.accountId })
  const app = await buildTestApp(db, (one) => {
    messageRoutes(one, test.routeContext)
    conversationRoutes(one, test.routeContext)
  })
  const call = callAs(app, account)
  const [paused, other] = [newId(), newId()]
  await test.sql`insert into campaigns (account_id, id, name, status)
    values (${test.accountId}, ${paused}, 'One', 'paused'), (${test.accountId}, ${other}, 'Two', 'active')`
  const theirNumber = '15551230001'
  await test.send({ theirNumber, campaignId: paused })
  const answer = await test.send({ theirNumber, campaignId: paused })
  await test.sql`update messages set is_confirmation = true where id = ${answer.id}`
  await test.send({ theirNumber, campaignId: other })
  await test.send({ theirNumber, sendAt: new Date(Date.now() + 60_000) })
  const expectHolds = async (...reasons: (string | null)[]): Promise<void> => {
    const { body } = await call('GET', '/v1/messages?sort=created_at')
    const listed = body['data'] as { id: string; hold: { reason: string } | null }[]
    expect(listed.map(({ hold }) => hold?.reason ?? null)).toEqual(reasons)
    for (const { id, hold } of listed) expect((await call('GET', `/v1/messages/${id}`)).body['hold']).toEqual(hold)
    const { payload } = await app.inject({ url: '/v1/messages/export', headers: account.headers })
    expect(
      payload
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(listed)
  }
  await expectHolds('campaign_paused', 'no_route', 'no_route', null)
  await report('bound')
  await expectHolds('campaign_paused', null, null, null)
  await test.sql`update accounts set pace = 1 where id = ${test.accountId}`
  await expectHolds('campaign_paused', 'rate', 'rate', null)
  const context = { ...test.context, wake: () => {} }
  await storeReply(context, {
    linkId: test.linkId,
    source: theirNumber,
    destination: ourNumber,
    text: 'Hi',
    isPartial: false,
  })
  const last = { hold: { reason: 'campaign_paused' } }
  await test.send({ theirNumber, campaignId: paused })
  const { body } = await call('GET', '/v1/conversations')
  expect(body['data']).toMatchObject([{ last_message: last }])
  const [conversation] = body['data'] as { id: string }[]
  const messages = await call('GET', `/v1/conversations/${conversation?.id}/messages?limit=1`)
  expect(messages.body['data']).toMatchObject([last])
  await app.close()
})

it('gives no position for a message outside the queue', async () => {
  expect(await findPlace(test.db, await test.send({ sendAt: new Date(Date.now() + 60_000) }))).toBeNull()
  await test.lease()
  const [row] = await test.sql<{ id: string }>`select id from messages where status = 'sending'`
  expect(await findPlace(test.db, await test.message(row?.id ?? ''))).toBeNull()
})

const report = (state: string): Promise<unknown> =>
  test.sql`insert into link_states (link_id, node_id, leased_until, state)
    values (${test.linkId}, ${test.nodeId}, now(), ${state})
    on conflict (link_id, node_id) do update set state = excluded.state, updated_at = now()`
