import { setTimeout as pause } from 'node:timers/promises'
import { errorsOf } from '../accounts/testing.ts'
import { describe, expect, it } from 'vitest'
import { createTestDatabase, forEachTest } from '../ground/db/testing.ts'
import { inTransaction } from '../ground/db/db.ts'
import { newId, parseId } from '../ground/base/ids.ts'
import { claimMessages, findLanes } from '../queue/claim.ts'
import { recountCounters } from '../usage/recount.ts'
import { insertTemplate } from '../templates/store.ts'
import { until } from '../../test/until.ts'
import type { CampaignTest } from '../campaigns/testing.ts'
import { countQueued } from './store.ts'
import { openBroadcastTest } from './testing.ts'

const noId = '00000000-0000-0000-0000-000000000000'

const { db, sql } = await createTestDatabase()
const test = forEachTest(db, openBroadcastTest)

const named = { message: 'Hello {{ first_name }}' }

describe('a broadcast', () => {
  it('makes one message for each contact, with its own text, also in two processes at once', async () => {
    await addContacts(1234)
    const { status, body, headers } = await send({
      message: 'Hello {{ first_name | default: "there" }}',
      metadata: { a: 'b' },
    })
    expect([status, headers['location']]).toEqual([202, `/v1/broadcasts/${String(body['id'])}`])
    test.start()
    test.start()
    await until('all have a message', async () => (await messages()) === 1234)
    expect(await test.ledger.count('(select contact_id from messages group by contact_id) x', 'true')).toBe(1234)
    expect(
      await messages(
        `body = 'Hello there' and metadata = '{"a": "b"}' and type = 'marketing' and campaign_id is not null`,
      ),
    ).toBe(123)
    expect(await messages(`body = 'Hello Ann 7' and their_number = '15551000007'`)).toBe(1)
    expect(await test.read(body['id'])).toMatchObject({
      status: 'sending',
      recipients: 1234,
      expanded: true,
      messages: 1234,
      segments: 1234,
      skipped: {},
      remaining: 0,
    })
    expect((await test.call('GET', `/v1/campaigns/${test.campaign}`)).body).toMatchObject({ status: 'sending' })
  })

  it('goes straight to a link with room, and waits in its lane if that has had none for a while', async () => {
    await addContacts(300)
    Object.assign(test.ledger.ownLinks, { room: 100, most: 200 })
    await send({ message: 'Hello' })
    test.start()
    await until('all have a message', async () => (await messages()) === 300)
    expect(test.ledger.ownLinks.taken).toHaveLength(100)
    expect(await test.ledger.count('queue', 'true')).toBe(200)
  })

  it('skips people who cannot get it, and says how many and why', async () => {
    await addContacts(20)
    await test.optOut('15551000003')
    const { body } = await send()
    test.start()
    await until(
      'all had their turn',
      async () => (await test.read(body['id']))['remaining'] === 0 && (await messages()) > 0,
    )
    expect(await test.read(body['id'])).toMatchObject({
      messages: 17,
      skipped: { missing_variable: 2, recipient_opted_out: 1 },
    })
    expect((await test.call('GET', `/v1/campaigns/${test.campaign}`)).body).toMatchObject({
      stats: { recipients: 20, queued: 17, skipped: { opted_out: 1, invalid: 2, duplicate: 0, quiet_hours: 0 } },
    })
  })

  it('is completed when its last message has left', async () => {
    await addContacts(3)
    await test.ledger.subscribe('campaign.completed')
    const { body } = await send({ message: 'Hello' })
    const one = test.start()
    await until('all have a message', async () => (await messages()) === 3)
    expect(await test.ledger.claim(500)).toHaveLength(3)
    await sql`update messages set status = 'sent'`
    await recountCounters(db)
    await until('it is over', async () => {
      one.wake()
      return (await test.read(body['id']))['status'] === 'completed'
    })
    expect((await test.call('GET', `/v1/campaigns/${test.campaign}`)).body).toMatchObject({ status: 'completed' })
    expect(await test.ledger.count('events', `type = 'campaign.completed'`)).toBe(1)
    expect((await send({ message: 'Again' }, 'order-2')).status).toBe(202)
    await until('all have a second message', async () => (await messages()) === 6)
  })

  it('is sent to an audience', async () => {
    await addContacts(20)
    await send({ message: 'Hello', audience: { tags: ['even', 'other'] } })
    test.start()
    await until('all have a message', async () => (await messages()) === 10)
  })

  it('by a template gives each contact the text in its language, as it was at the time of the order', async () => {
    await addContacts(3)
    await sql`update contacts set language = 'de-AT' where phone_number = '15551000002'`
    await inTransaction(db, (tx) =>
      insertTemplate(tx, test.account.accountId, {
        id: newId(),
        name: 'sale',
        body: '{{ first_name }}: {{ percent }} off',
        language: 'en',
        languages: { de: '{{ first_name }}: {{ percent }} weniger' },
      }),
    )
    expect(errorsOf((await send({ template: 'sael', variables: { other: 1 } })).body)).toEqual([
      '#/template template_not_found',
      '#/variables/other unknown_field',
    ])
    expect((await send({ template: 'sale', variables: { percent: '20 %' } })).status).toBe(202)
    await sql`update templates set body = 'Changed'`
    test.start()
    await until('all have a message', async () => (await messages()) === 3)
    expect(await messages(`body = 'Ann 2: 20 % weniger'`)).toBe(1)
    expect(await messages(`body = 'Ann 3: 20 % off'`)).toBe(1)
  })

  it('is ordered once for a key, and alone in its campaign', async () => {
    const first = await send()
    const again = await send()
    expect([again.status, again.body['id'], again.headers['idempotency-replayed']]).toEqual([
      202,
      first.body['id'],
      'true',
    ])
    expect(await send({ message: 'Other' })).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } })
    expect(await send(named, 'order-2')).toMatchObject({
      status: 409,
      body: { code: 'campaign_busy', existing_id: first.body['id'] },
    })
    expect(await test.call('POST', `/v1/campaigns/${test.campaign}/send`, named)).toMatchObject({
      status: 400,
      body: { code: 'invalid_header' },
    })
    expect((await test.call('GET', `/v1/broadcasts/${String(first.body['id'])}`, undefined, test.other)).status).toBe(
      404,
    )
    expect((await test.call('POST', `/v1/campaigns/${test.campaign}/pause`, undefined, test.other)).status).toBe(404)
  })

  it('reports all faults of an order at once', async () => {
    const { status, body } = await send({
      message: 'Hello {{ first_name',
      from: '!',
      send_at: '2020-01-01T00:00:00.000Z',
      send_at_local: '2026-02-30T09:00',
    })
    expect(status).toBe(422)
    expect(errorsOf(body)).toEqual([
      '#/from invalid_sender',
      '#/message invalid_template',
      '#/send_at out_of_range',
      '#/send_at_local invalid_value',
    ])
    expect(errorsOf((await send({ message: 'Hello', send_at_local: '2027-02-30T09:00' })).body)).toEqual([
      '#/send_at_local invalid_format',
    ])
    expect(errorsOf((await send({ message: 'Hello', from: '15550009999' })).body)).toEqual(['#/from sender_not_found'])
  })
})

describe('a pause', () => {
  it('also stops queued messages, and a resume continues in place', async () => {
    await addContacts(12)
    const { body } = await send({ message: 'Hello' })
    test.start()
    await until('all have a message', async () => (await messages()) === 12)
    expect(await test.act('pause')).toMatchObject({ status: 200, body: { status: 'paused' } })
    expect(await test.ledger.claim(500)).toHaveLength(0)
    expect(await findLanes(db)).toEqual([])
    expect(await test.act('pause')).toMatchObject({ status: 409, body: { code: 'campaign_not_in_state' } })
    expect(await test.act('resume')).toMatchObject({ status: 200, body: { status: 'sending', id: body['id'] } })
    expect(await test.ledger.claim(500)).toHaveLength(12)
  })

  it('keeps the other recipients from getting a message', async () => {
    await addContacts(5)
    await send({ message: 'Hello' })
    await test.act('pause')
    const one = test.start()
    await test.act('resume')
    one.wake()
    await until('all have a message', async () => (await messages()) === 5)
  })
})

describe('a pause of a test', () => {
  it('holds no live messages of its campaign', async () => {
    const tester = await test.newKey('test')
    const headers = { 'idempotency-key': 'test' }
    await test.call('POST', `/v1/campaigns/${test.campaign}/send`, { message: 'Hello' }, tester, headers)
    const pause = (): ReturnType<CampaignTest['call']> =>
      test.call('POST', `/v1/campaigns/${test.campaign}/pause`, undefined, tester)
    expect(await pause()).toMatchObject({ status: 200, body: { status: 'paused', test: true } })
    const campaignId = parseId('cmp', test.campaign)
    await test.ledger.acceptor.accept(test.ledger.draft({ campaignId }))
    expect(await test.ledger.claim(500)).toMatchObject([{ campaignId }])
    // A campaign is not sending before the time of its broadcast.
    test.campaign = await test.newCampaign()
    const later = { message: 'Hello', send_at: new Date(Date.now() + 3_600_000).toISOString() }
    await test.call('POST', `/v1/campaigns/${test.campaign}/send`, later, tester, { 'idempotency-key': 'later' })
    await pause()
    expect((await test.call('GET', `/v1/campaigns/${test.campaign}`)).body['status']).toBe('scheduled')
    test.campaign = String((await test.call('POST', '/v1/campaigns', { name: 'Trial' }, tester)).body['id'])
    await test.call('POST', `/v1/campaigns/${test.campaign}/send`, { message: 'Hello' }, tester, {
      'idempotency-key': 'own',
    })
    await pause()
    expect((await test.call('GET', `/v1/campaigns/${test.campaign}`)).body['status']).toBe('paused')
  })
})

describe('a queue that waits for its own campaign', () => {
  it.each([
    ['that is paused', () => test.act('pause')],
    ['that has a pace', () => test.call('PATCH', `/v1/campaigns/${test.campaign}`, { pace: 1 })],
  ])('and the campaign %s, however long, does not delay other broadcasts of the account', async (_, slow) => {
    await addContacts(2000)
    await send({ message: 'Hello' })
    test.start()
    await until('its line is full', async () => (await messages()) >= 1500)
    await slow()
    // Messages that may not go now are moved out of the queue, as links do.
    const isInTheWay = (): Promise<number> =>
      test.ledger.count('queue q', 'not exists (select from backlogs where id = q.lane_id and campaign_id is not null)')
    for (let left = await isInTheWay(); left > 0; left = await isInTheWay())
      await test.ledger.claim(500, (lane) => lane.campaignId === null)
    const before = await messages()
    test.campaign = await test.newCampaign()
    await addContacts(3)
    await send({ message: 'Hurry' }, 'order-2')
    await until('it goes out', async () => (await messages(`body = 'Hurry'`)) === 3)
    expect(await messages()).toBe(before + 3)
  })
})

describe('a broadcast with a pace', () => {
  // One in four seconds: five go in a quarter of the validity.
  const order = { message: 'Hello', max_rate: 15, validity_period: 80 }

  it('queues no more than can be sent before they expire', async () => {
    await addContacts(13)
    await send(order)
    test.start()
    for (const made of [5, 10, 13]) {
      await until('the line is full', async () => (await messages()) >= made)
      expect(await messages()).toBe(made)
      // The first claim sorts, the second takes.
      const handed = [...(await test.ledger.claim(500)), ...(await test.ledger.claim(500))]
      for (const one of handed) await test.ledger.answer(one)
    }
  })

  it('is not queued during the night', async () => {
    test.campaign = await test.newCampaign({ quiet_hours: { enabled: true, start: '00:00', end: '23:59' } })
    await test.ledger.context.quietHours.refresh()
    await addContacts(13)
    await send(order)
    test.start()
    await until('some are held', async () => (await messages(`hold_reason = 'quiet_hours'`)) > 0)
    expect(await messages()).toBe(5)
  })

  it('gets no pace from a test key if live messages follow it', async () => {
    const tester = await test.newKey('test')
    const ask = (key: string): ReturnType<CampaignTest['call']> =>
      test.call('POST', `/v1/campaigns/${test.campaign}/send`, order, tester, { 'idempotency-key': key })
    expect(await ask('a')).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } })
    expect((await test.call('GET', `/v1/campaigns/${test.campaign}`)).body['pace']).toBeNull()
    test.campaign = String((await test.call('POST', '/v1/campaigns', { name: 'Trial' }, tester)).body['id'])
    expect((await ask('b')).status).toBe(202)
    expect((await test.call('GET', `/v1/campaigns/${test.campaign}`)).body['pace']).toBe(0.25)
  })
})

describe('a small broadcast', () => {
  it('joins a lane filled by a large one, once', async () => {
    await addContacts(2000)
    await send({ message: 'Hello' })
    test.start()
    await until('the line is full', async () => (await messages()) >= 1500)
    const before = await messages()
    test.campaign = await test.newCampaign()
    await addContacts(700)
    await send({ message: 'Hurry' }, 'order-2')
    await until('a piece of it waits, too', async () => (await messages(`body = 'Hurry'`)) > 0)
    const joined = await messages(`body = 'Hurry'`)
    expect(joined).toBeLessThan(700)
    test.campaign = await test.newCampaign()
    await addContacts(3)
    await send({ message: 'Third' }, 'order-3')
    await until('so does a third', async () => (await messages(`body = 'Third'`)) === 3)
    expect([await messages(`body = 'Hurry'`), await messages()]).toEqual([joined, before + joined + 3])
  })
})

describe('a cancel', () => {
  it('withdraws what is queued, and leaves what a carrier has', async () => {
    await addContacts(6)
    await test.ledger.subscribe('message.canceled')
    const { body } = await send({ message: 'Hello' })
    test.start()
    await until('all have a message', async () => (await messages()) === 6)
    const [lane] = await findLanes(db)
    const rooms = [{ id: test.ledger.linkId, carrierId: test.ledger.carrierId, segments: 2 }]
    await claimMessages(test.ledger.context, test.ledger.nodeId, rooms, lane?.id ?? '', noId, 2)
    expect(await test.act('cancel')).toMatchObject({ status: 200, body: { status: 'canceled', id: body['id'] } })
    // A retry gets the same answer; a canceled broadcast cannot resume.
    expect(await test.act('cancel')).toMatchObject({ status: 200, body: { status: 'canceled', id: body['id'] } })
    expect(await test.act('resume')).toMatchObject({ status: 409, body: { code: 'campaign_not_in_state' } })
    await until('what waits is canceled', async () => (await messages(`status = 'canceled'`)) === 4)
    expect(await messages(`status = 'sending'`)).toBe(2)
    expect(await test.ledger.count('queue', 'true')).toBe(0)
    expect(await test.ledger.count('events', `type = 'message.canceled'`)).toBe(4)
    expect(await send(named, 'order-2')).toMatchObject({ status: 409, body: { code: 'campaign_closed' } })
    expect(await test.act('archive')).toMatchObject({ status: 200, body: { status: 'archived' } })
  })

  it('withdraws what a link has and returns', async () => {
    await addContacts(2)
    await send({ message: 'Hello' })
    test.start()
    await until('all have a message', async () => (await messages()) === 2)
    const [lane] = await findLanes(db)
    const rooms = [{ id: test.ledger.linkId, carrierId: test.ledger.carrierId }]
    const claimed = await claimMessages(test.ledger.context, test.ledger.nodeId, rooms, lane?.id ?? '', noId, 2)
    await test.act('cancel')
    await pause(1200)
    const move = { to: 'queued', retryAfterMs: null, errorCode: null, errorRaw: null } as const
    for (const handover of claimed.handovers)
      await test.ledger.answer(handover, { state: 'released', carrierMessageId: null, move })
    await until('it is canceled', async () => (await messages(`status = 'canceled'`)) === 2)
    await until('nothing is to be done', async () => (await test.ledger.count('broadcasts', 'is_settled')) === 1)
  })

  it('leaves nothing in its lane that would delay others, also if its messages wait separately', async () => {
    await addContacts(12)
    await send({ message: 'Hello' })
    test.start()
    await until('all have a message', async () => (await messages()) === 12)
    await test.act('pause')
    // Moved out of the queue.
    expect(await test.ledger.claim(500)).toHaveLength(0)
    expect(await test.ledger.count('queue q', 'exists (select from backlogs where id = q.lane_id)')).toBe(12)
    await test.act('cancel')
    await until('what waits is canceled', async () => (await messages(`status = 'canceled'`)) === 12)
    const { accountId } = test.account
    expect(await countQueued(db, { accountId, campaignId: String(parseId('cmp', test.campaign)) }, 100)).toBe(0)
  })
})

describe('a send time', () => {
  it('on the recipient’s clock uses the contact’s zone, else the campaign’s', async () => {
    await addContacts(3)
    await sql`update campaigns set timezone = 'UTC'`
    await sql`update contacts set timezone = 'Pacific/Kiritimati' where phone_number = '15551000001'`
    await sql`update contacts set timezone = 'Pacific/Niue' where phone_number = '15551000002'`
    // The same time of day, an hour ago in UTC: long past east of the date line, ten hours ahead west of it.
    const local = new Date(Date.now() - 3_600_000).toISOString().slice(0, 19)
    const { body } = await send({ message: 'Hello', send_at_local: local })
    expect(body).toMatchObject({ send_at: null, send_at_local: local })
    const one = test.start()
    await until('two have a message', async () => (await messages()) === 2)
    one.wake()
    expect(await messages(`their_number = '15551000002'`)).toBe(0)
    expect(await test.read(body['id'])).toMatchObject({ status: 'sending', remaining: 1 })
    await sql`update recipients set due_at = now() where due_at > now()`
    await until('the third has one too', async () => (await messages()) === 3)
    // And no more, though its time is not a whole millisecond.
    await until('it is over', async () => {
      await sql`update messages set status = 'sent'`
      await recountCounters(db)
      return (await test.read(body['id']))['status'] === 'completed'
    })
    expect(await messages()).toBe(3)
  })

  it('may use a zone that the database does not know', async () => {
    await addContacts(3)
    await sql`update campaigns set timezone = 'UTC'`
    // An old name of Los Angeles, and one that only a later version knows.
    await sql`update contacts set timezone = 'US/Pacific-New' where phone_number = '15551000001'`
    await sql`update contacts set timezone = 'Mars/Base' where phone_number = '15551000002'`
    await send({
      message: 'Hello',
      send_at_local: `${new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)}T12:00`,
    })
    await sql`update broadcasts set send_at = now()`
    test.start()
    await until('all are recipients', async () => (await test.ledger.count('recipients', 'true')) === 3)
    const rows = await sql<{
      zone: string
      clock: string
    }>`select c.timezone as zone, to_char(r.due_at at time zone coalesce(z.name, 'UTC'), 'HH24:MI') as clock
      from recipients r
      join contacts c on c.id = r.contact_id
      left join (values ('US/Pacific-New', 'America/Los_Angeles')) as z (old, name) on z.old = c.timezone
      order by c.id`
    expect(rows.map(({ clock }) => clock)).toEqual(['12:00', '12:00', '12:00'])
  })

  it('in the future keeps it scheduled', async () => {
    await addContacts(2)
    const { body } = await send({ message: 'Hello', send_at: new Date(Date.now() + 3_600_000).toISOString() })
    expect(body).toMatchObject({ status: 'scheduled', recipients: 0 })
    const one = test.start()
    await test.act('pause')
    expect(await test.act('resume')).toMatchObject({ body: { status: 'scheduled' } })
    await sql`update broadcasts set send_at = now()`
    one.wake()
    await until('it began', async () => (await messages()) === 2)
  })
})

/** Every tenth contact has no name; every second has a tag. */
async function addContacts(count: number): Promise<void> {
  await sql`insert into contacts (account_id, id, campaign_id, phone_number, first_name, tags)
    select ${test.account.accountId}, (lpad(to_hex(1700000000000 + i), 12, '0') || '70008000' || lpad(to_hex(i), 12, '0'))::uuid, ${parseId('cmp', test.campaign)}, (15551000000 + i)::text,
      case when i % 10 <> 0 then 'Ann ' || i end, case when i % 2 = 0 then array['even'] else '{}' end
    from generate_series(1, ${count}) i`
}

const send = (body: object = named, key = 'order-1', headers: object = {}): ReturnType<CampaignTest['call']> =>
  test.call('POST', `/v1/campaigns/${test.campaign}/send`, body, undefined, { 'idempotency-key': key, ...headers })
const messages = (where = 'true'): Promise<number> =>
  test.ledger.count('messages', `account_id = $1 and ${where}`, [test.account.accountId])
