import { expect, it } from 'vitest'
import { inTransaction } from '../ground/db/db.ts'
import type { Log } from '../ground/db/log.ts'
import { createTestDatabase, untilBlocked, forEachTest } from '../ground/db/testing.ts'
import { parseId } from '../ground/base/ids.ts'
import type { Acceptor } from '../accept/accept.ts'
import { claimMessages, findLanes } from '../queue/claim.ts'
import { recountCounters } from '../usage/recount.ts'
import { silent } from '../messages/testing.ts'
import { until } from '../../test/until.ts'
import { readOpenCampaign } from '../campaigns/campaign.ts'
import type { CampaignTest } from '../campaigns/testing.ts'
import { orderBroadcast, readOrder } from './order.ts'
import { Broadcaster } from './send.ts'
import { openBroadcastTest } from './testing.ts'

const noId = '00000000-0000-0000-0000-000000000000'

const { db, sql } = await createTestDatabase()
const test = forEachTest(db, openBroadcastTest)

it('a broadcast does not end while another process is taking its recipients', async () => {
  await addContact()
  const { body } = await send()
  const id = parseId('brc', String(body['id']))
  await sql`with expanded as (update broadcasts set is_expanded = true, recipients = 1 where id = ${id})
    insert into recipients (account_id, broadcast_id, contact_id) select account_id, ${id}, id from contacts`
  const { acceptor } = test.ledger
  let looks = 0
  const broadcaster = newBroadcaster({
    roomFor: (...args) => acceptor.roomFor(...args),
    // The other process holds the broadcast when this one wants recipients, and releases it once this one has its answer.
    acceptFrom: (accountId, take) =>
      looks++ > 0
        ? acceptor.acceptFrom(accountId, take)
        : inTransaction(db, async (tx) => {
            await tx.query('select from broadcasts where id = $1 for update', [id])
            return acceptor.acceptFrom(accountId, take)
          }),
  })
  broadcaster.wake()
  await until('it has looked', () => looks > 0)
  await broadcaster.close()
  expect(await test.read(body['id'])).toMatchObject({ status: 'sending', remaining: 1 })
})

it('a broadcast takes no recipients if it is canceled when it is about to', async () => {
  await addContact()
  const { body } = await send()
  const { acceptor } = test.ledger
  const broadcaster = newBroadcaster({
    roomFor: (...args) => acceptor.roomFor(...args),
    acceptFrom: async (...args) => {
      await call('cancel')
      return acceptor.acceptFrom(...args)
    },
  })
  broadcaster.wake()
  await until('it is canceled', async () => (await test.read(body['id']))['status'] === 'canceled')
  await broadcaster.close()
  expect(await test.read(body['id'])).toMatchObject({ recipients: 1, messages: 0, skipped: {} })
  const { stats } = (await test.call('GET', `/v1/campaigns/${test.campaign}`)).body
  expect(stats).toMatchObject({ recipients: 1, canceled: 1, skipped: { invalid: 0 } })
})

it('a broadcast that is canceled before its time withdraws its queued messages at once', async () => {
  await addContact()
  const later = { send_at: new Date(Date.now() + 3_600_000).toISOString() }
  await test.call('POST', `/v1/campaigns/${test.campaign}/send`, { message: 'Hello', ...later }, undefined, {
    'idempotency-key': 'order-1',
  })
  const single = await test.ledger.send({
    campaignId: parseId('cmp', test.campaign),
    sendAt: new Date(Date.now() + 60_000),
  })
  await test.call('POST', `/v1/campaigns/${test.campaign}/cancel`)
  const broadcaster = newBroadcaster()
  broadcaster.wake()
  await until('nothing is to be done', async () => (await test.ledger.count('broadcasts', 'is_settled')) === 1)
  await broadcaster.close()
  expect((await test.ledger.message(single.id)).status).toBe('canceled')
})

it('a broadcast that is canceled while a claim waits for the pace leaves nothing in its lane', async () => {
  await addContact()
  const { body } = await send()
  const broadcaster = newBroadcaster()
  broadcaster.wake()
  await until('it is in line', async () => (await test.ledger.count('queue', 'true')) === 1)
  await sql`update campaigns set pace = 1`
  const claim = async (): Promise<void> => {
    const [lane] = await findLanes(db)
    const { carrierId, linkId, nodeId } = test.ledger
    const options = { laneId: lane?.laneId ?? '', campaignId: lane?.campaignId ?? null }
    const rooms = [{ id: linkId, carrierId, segments: 0 }]
    await claimMessages(test.ledger.context, nodeId, rooms, lane?.id ?? '', noId, 1, options)
  }
  await claim()
  expect(await test.ledger.count('queue q join backlogs b on b.id = q.lane_id', 'b.campaign_id is not null')).toBe(1)
  await inTransaction(db, async (tx) => {
    // As the next claim does.
    await tx.query('select 1 from queue for update')
    await call('cancel')
    await until('it is canceled', async () => {
      broadcaster.wake()
      return (await test.ledger.count('messages', `status = 'canceled'`)) === 1
    })
  })
  await until('nothing is to be done', async () => {
    broadcaster.wake()
    return (await test.ledger.count('broadcasts', 'is_settled')) === 1
  })
  await broadcaster.close()
  expect(await test.read(body['id'])).toMatchObject({ status: 'canceled' })
  expect(await test.ledger.count('queue', 'true')).toBe(0)
})

it('a broadcast ends when the hour of its last message is over, though its campaign sends all the time', async () => {
  await addContact()
  const { body } = await send()
  const broadcaster = newBroadcaster()
  broadcaster.wake()
  await until('it has a message', async () => (await test.ledger.count('messages', 'true')) === 1)
  await test.ledger.acceptor.accept(
    test.ledger.draft({ campaignId: parseId('cmp', test.campaign), theirNumber: '15551000002' }),
  )
  await sql`update messages set status = 'sent' where their_number = '15551000001'`
  await recountCounters(db)
  await sql`update tallies set hour = hour + interval '2 hours' where bucket = 'queued'`
  await until('it is over', async () => {
    broadcaster.wake()
    return (await test.read(body['id']))['status'] === 'completed'
  })
  await broadcaster.close()
  expect(await test.ledger.count('messages', `status = 'queued'`)).toBe(1)
})

it('a broadcast has all recipients of one local time, in any number of pieces', async () => {
  await sql`insert into contacts (account_id, id, campaign_id, phone_number, timezone)
    select ${test.account.accountId}, gen_random_uuid(), ${parseId('cmp', test.campaign)}, (15551000000 + i)::text, 'UTC'
    from generate_series(1, 30) i`
  const order = { message: 'Hello', send_at_local: new Date(Date.now() - 3_600_000).toISOString().slice(0, 19) }
  const headers = { 'idempotency-key': 'local' }
  const { body } = await test.call('POST', `/v1/campaigns/${test.campaign}/send`, order, undefined, headers)
  // The first piece has room for ten, the next for the rest.
  Object.assign(test.ledger.ownLinks, { room: 10, most: 10 })
  const broadcaster = newBroadcaster()
  broadcaster.wake()
  await until('all have a message', async () => (await test.ledger.count('messages', 'true')) === 30)
  await broadcaster.close()
  expect(test.ledger.ownLinks.taken).toHaveLength(10)
  expect(await test.ledger.count('(select distinct contact_id from messages) x', 'true')).toBe(30)
  expect(await test.read(body['id'])).toMatchObject({ status: 'sending', messages: 30, skipped: {}, remaining: 0 })
})

const call = (verb: string): ReturnType<CampaignTest['call']> =>
  test.call('POST', `/v1/campaigns/${test.campaign}/${verb}`)
const statusOf = async (): Promise<unknown> => (await test.call('GET', `/v1/campaigns/${test.campaign}`)).body['status']

it('a campaign is not archived with a broadcast that is ordered at the same time', async () => {
  const { accountId } = test.account
  const archived = await inTransaction(db, async (tx) => {
    const row = await readOpenCampaign(tx, accountId, test.campaign)
    const order = await readOrder(tx, accountId, row, { message: 'Hello' }, { refuseUrl: () => null })
    await orderBroadcast(tx, accountId, row, order, { isTest: false, orderedBy: '' })
    const answer = call('archive')
    await untilBlocked(db, 1)
    return { answer }
  })
  const { status, body } = await archived.answer
  expect([status, body['code'], await statusOf()]).toEqual([409, 'campaign_busy', 'sending'])
})

it('a broadcast stays canceled if another is ordered at the same time', async () => {
  await send()
  const work: ReturnType<CampaignTest['call']>[] = []
  await inTransaction(db, async (tx) => {
    await tx.query('select from campaigns where id = $1 for no key update', [parseId('cmp', test.campaign)])
    work.push(call('cancel'))
    await untilBlocked(db, 1)
    work.push(send('order-2'))
    await untilBlocked(db, 2)
  })
  const [canceled, ordered] = await Promise.all(work)
  expect([canceled?.status, ordered?.status, ordered?.body['code']]).toEqual([200, 409, 'campaign_closed'])
  expect(await statusOf()).toBe('canceled')
})

it.each([
  // An invalid text, as another version of the program may leave it.
  ['cannot be', `update broadcasts set body = jsonb_set(body, '{texts,body}', '"{{"')`],
  ['is canceled by a timeout each time', `update broadcasts set audience_tags = '{slow}'`],
])('a broadcast is sent if one before it %s', async (_, breakIt) => {
  await sql`create or replace function canceled() returns trigger language plpgsql as $$
    begin
      if new.audience_tags = '{slow}' then raise 'canceling statement due to statement timeout' using errcode = '57014'; end if;
      return new;
    end $$;
    create or replace trigger canceled before update on broadcasts
    for each row when (old.audience_tags is not null) execute function canceled()`
  await addContact()
  const broken = await send('order-1')
  expect(broken.status).toBe(202)
  await db.query(breakIt)
  test.campaign = await test.newCampaign()
  await addContact()
  await send('order-2')
  const failed: unknown[] = []
  const broadcaster = newBroadcaster(test.ledger.acceptor, { ...silent, error: (fields) => void failed.push(fields) })
  broadcaster.wake()
  await until('the other is sent', async () => (await test.ledger.count('messages', 'true')) === 1)
  await broadcaster.close()
  expect(failed).toContainEqual(expect.objectContaining({ broadcastId: broken.body['id'] }))
})

it('a broadcast gets its turn, however many others wait longer', async () => {
  await inTransaction(db, async (tx) => {
    await sql`with campaign as (
        insert into campaigns (account_id, id, name) select ${test.account.accountId}, gen_random_uuid(), 'Autumn'
          from generate_series(1, 1000) returning id
      )
      insert into broadcasts (account_id, id, campaign_id, status, body, is_test, send_at, timezone)
      select ${test.account.accountId}, gen_random_uuid(), id, 'sending', '{}', false, now() - interval '1 hour', 'UTC'
      from campaign`
    // Another process holds all of them.
    await tx.query('select from broadcasts for update')
    await addContact()
    await send()
    const broadcaster = newBroadcaster()
    broadcaster.wake()
    await until('it is sent', async () => (await test.ledger.count('messages', 'true')) === 1)
    await broadcaster.close()
  })
})

const newBroadcaster = (
  acceptor: Pick<Acceptor, 'acceptFrom' | 'roomFor'> = test.ledger.acceptor,
  log: Log = silent,
): Broadcaster => new Broadcaster({ ...test.ledger.context, log, acceptor })

const addContact = (): Promise<unknown> =>
  test.call('POST', `/v1/campaigns/${test.campaign}/contacts`, { phone_number: '+15551000001' })
const send = (key = 'order-1'): ReturnType<CampaignTest['call']> =>
  test.call('POST', `/v1/campaigns/${test.campaign}/send`, { message: 'Hello' }, undefined, { 'idempotency-key': key })
