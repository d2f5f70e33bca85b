import { beforeAll, describe, expect, it } from 'vitest'
import { emptyTables } from '../ground/db/testing.ts'
import { newId, showId } from '../ground/base/ids.ts'
import { claimMessages, findLanes } from '../queue/claim.ts'
import { messageRoutes } from './http.ts'
import { storeReply } from '../inbound/reply.ts'
import { insertTestSender, moveTo, ledgerWorld, ourNumber } from './testing.ts'

const { account, test, app } = await ledgerWorld([messageRoutes])

const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString()

describe('pages', () => {
  const numbered = (from: number, to: number): string[] =>
    Array.from({ length: from - to + 1 }, (_, i) => `p${from - i}`)
  const query = { to: '15551230100' }

  beforeAll(async () => {
    for (let i = 1; i <= 10; i++) await test.send({ theirNumber: query.to, body: `p${i}` })
  })

  it('go from the newest to the oldest and back, and show nothing twice while more arrives', async () => {
    const first = (await list({ ...query, limit: '4' })).page
    expect([textsOf(first), first.has_more, first.prev_cursor]).toEqual([numbered(10, 7), true, null])
    await test.send({ theirNumber: query.to, body: 'p11' })
    const second = (await list({ ...query, limit: '4', cursor: first.next_cursor ?? '' })).page
    expect([textsOf(second), second.has_more]).toEqual([numbered(6, 3), true])
    const last = (await list({ ...query, limit: '4', cursor: second.next_cursor ?? '' })).page
    expect([textsOf(last), last.has_more, last.next_cursor]).toEqual([['p2', 'p1'], false, null])
    const back = (await list({ ...query, limit: '4', cursor: last.prev_cursor ?? '' })).page
    expect(textsOf(back)).toEqual(numbered(6, 3))
    const top = (await list({ ...query, limit: '4', cursor: back.prev_cursor ?? '' })).page
    expect(textsOf(top)).toEqual(numbered(10, 7))
    const fresh = (await list({ ...query, cursor: first.refresh_cursor ?? '' })).page
    // Known messages may repeat while another transaction of this PostgreSQL runs; new ones are certain.
    expect([textsOf(fresh)[0], fresh.has_more, fresh.prev_cursor]).toEqual(['p11', false, null])
    expect(numbered(11, 1)).toEqual(expect.arrayContaining(textsOf(fresh)))
    const none = (await list({ ...query, cursor: fresh.refresh_cursor ?? '' })).page
    expect(numbered(11, 1)).toEqual(expect.arrayContaining(textsOf(none)))
    expect(none.has_more).toBe(false)
    expect(none.refresh_cursor).not.toBeNull()
  })

  it('belong to their filters, in any order', async () => {
    const { page } = await list({ ...query, type: 'transactional', limit: '2' })
    const cursor = page.next_cursor ?? ''
    expect((await list({ type: 'transactional', limit: '5', cursor, ...query })).status).toBe(200)
    for (const other of [{ ...query, cursor }, { cursor }, { ...query, type: 'otp', cursor }])
      expect(await list(other)).toMatchObject({ status: 422, page: { code: 'invalid_cursor' } })
    expect(await list({ cursor: 'garbage' })).toMatchObject({ status: 422, page: { code: 'invalid_cursor' } })
  })

  it('have 1 to 200 items', async () => {
    for (const limit of ['0', '201', 'x', '1.5']) expect((await list({ limit })).status).toBe(422)
    expect((await list({ limit: '200' })).status).toBe(200)
  })
})

describe('filters', () => {
  let campaignId: string

  beforeAll(async () => {
    await emptyTables(test.db, 'messages, queue, delayed, intents, outcomes, submissions, carrier_ids, receipts')
    campaignId = newId()
    await test.sql`insert into campaigns (account_id, id, key, name)
      values (${account.accountId}, ${campaignId}, 'sale', 'Sale')`
    await insertTestSender(test.db, account.accountId, test.carrierId, '15550002222')
    await test.send({ body: 'queued', tags: ['red', 'blue'] })
    await test.send({ body: 'campaign', campaignId, type: 'marketing', metadata: { order: '77' } })
    await test.send({ body: 'sender', sender: '15550002222', isTest: true })
    await test.send({ body: 'number', theirNumber: '15551230002', segments: 2 })
    await test.send({ body: 'scheduled', sendAt: new Date(Date.now() + 60_000) })
    const states = { delivered: 'DELIVRD', undeliverable: 'UNDELIV', expired: 'EXPIRED' }
    for (const [state, stat] of Object.entries(states)) {
      const handover = await test.lease({ body: state, theirNumber: '15551230003' })
      await test.answer(handover)
      const receipt = { linkId: test.linkId, rawId: handover.id, matchId: handover.id, state, stat, err: null }
      await test.ledger.receipt({ ...receipt, networkError: null, doneDate: '' })
    }
    const lost = await test.lease({ body: 'unconfirmed' })
    await test.answer(lost, {
      state: 'unknown',
      carrierMessageId: null,
      move: moveTo('unconfirmed', { errorCode: 'outcome_unknown' }),
    })
    const settled = await test.lease({ body: 'settled' })
    await test.answer(settled, {
      state: 'unknown',
      carrierMessageId: null,
      move: moveTo('unconfirmed', { errorCode: 'outcome_unknown' }),
    })
    await test.answer(settled)
    const reply = {
      linkId: test.linkId,
      source: '15551230001',
      destination: ourNumber,
      text: 'reply',
      isPartial: false,
    }
    await storeReply({ ...test.context, wake: () => {} }, reply)
  })

  it.each<[Record<string, string>, string[]]>([
    [{ status: 'queued' }, ['number', 'sender', 'campaign', 'queued']],
    [{ status: 'queued,scheduled', type: 'transactional' }, ['scheduled', 'number', 'sender', 'queued']],
    [{ status: 'delivered' }, ['delivered']],
    [{ status: 'unconfirmed' }, ['unconfirmed']],
    [{ status: 'sent' }, ['settled']],
    [{ status: 'delivered,queued', to: '15551230003' }, ['delivered']],
    [{ delivery_status: 'Delivered' }, ['delivered']],
    [{ delivery_status: 'Failed' }, ['expired', 'undeliverable']],
    [{ delivery_status: 'Failed', status: 'delivered' }, []],
    [{ error_code: 'expired_at_carrier' }, ['expired']],
    [{ error_code: 'expired_at_carrier', status: 'undelivered' }, ['expired']],
    [{ error_code: 'outcome_unknown' }, ['unconfirmed']],
    [{ campaign: 'sale' }, ['campaign']],
    [{ type: 'marketing' }, ['campaign']],
    [{ tag: 'blue', created_after: daysAgo(31) }, ['queued']],
    [{ tag: 'blue', status: 'queued', created_after: daysAgo(1) }, ['queued']],
    [{ 'metadata[order]': '77', campaign: 'sale' }, ['campaign']],
    [{ 'metadata[order]': '77', 'metadata[kind]': 'x', campaign: 'sale' }, []],
    [{ segments_gte: '2', created_after: daysAgo(1) }, ['number']],
    [{ test: 'true' }, ['sender']],
    [{ test: 'true', status: 'delivered' }, []],
    [{ status: 'scheduled' }, ['scheduled']],
    [{ status: 'scheduled,unconfirmed,undelivered' }, ['unconfirmed', 'expired', 'undeliverable', 'scheduled']],
    [{ status: 'scheduled,unconfirmed', sort: 'created_at' }, ['scheduled', 'unconfirmed']],
    [{ campaign: 'sale', updated_after: daysAgo(1) }, ['campaign']],
    [{ campaign: 'sale', updated_before: daysAgo(1) }, []],
    [{ campaign: 'sale', sort: '-created_at' }, ['campaign']],
    [{ from: '15550002222' }, ['sender']],
    [{ to: '+15551230002' }, ['number']],
    [{ direction: 'inbound' }, ['reply']],
    [{ direction: 'inbound', from: '15551230001' }, ['reply']],
    [{ direction: 'inbound', to: ourNumber }, ['reply']],
    [{ direction: 'inbound', from: '15551230009' }, []],
    [{ number: '+15551230001' }, ['reply', 'settled', 'unconfirmed', 'scheduled', 'sender', 'campaign', 'queued']],
    [{ number: '15551230001', sort: 'created_at', tag: 'red' }, ['queued']],
    [{ number: '15551230001', direction: 'inbound', to: ourNumber }, ['reply']],
    [{ number: '15551230001', from: '15550002222' }, ['sender']],
    [{ number: 'Carrier' }, []],
    [{ from: 'Shop' }, []],
    [{ direction: 'inbound', from: '72727' }, []],
    [{ direction: 'inbound', from: 'Carrier' }, []],
    [{ created_before: '2020-01-01T00:00:00Z' }, []],
    [{ created_before: '2020-01-01' }, []],
    [{ created_after: '2999-01-01T00:00:00Z' }, []],
    [{ created_after: '2020-01-01', created_before: '2999-01-01', type: 'marketing' }, ['campaign']],
    [{ created_after: '2020-01-01T00:00:00Z', status: 'delivered' }, ['delivered']],
  ])('%j', async (query, texts) => {
    const { status, page } = await list(query)
    expect([status, textsOf(page)]).toEqual([200, texts])
  })

  it('take a contact by its id', async () => {
    const contactId = newId()
    await test.sql`insert into contacts (account_id, campaign_id, id, phone_number)
      values (${account.accountId}, ${campaignId}, ${contactId}, '15551230077')`
    await test.send({ body: 'contact', campaignId, theirNumber: '15551230077' })
    for (const query of [{}, { campaign: 'sale' }, { tag: 'no' }])
      expect(textsOf((await list({ contact: showId('ctc', contactId), ...query })).page)).toEqual(
        'tag' in query ? [] : ['contact'],
      )
    expect(textsOf((await list({ contact: showId('ctc', newId()) })).page)).toEqual([])
  })

  it('without an index are searched in the results of another, or in 31 days', async () => {
    const searched = {
      tag: 'red',
      'metadata[a]': 'b',
      segments_gte: '2',
      updated_after: daysAgo(1),
      updated_before: daysAgo(0),
    }
    const found = {
      to: '15551230001',
      campaign: 'sale',
      error_code: 'no_receipt',
      status: 'failed,scheduled',
      delivery_status: 'Failed',
    }
    for (const [name, value] of Object.entries(searched)) {
      for (const other of [
        {},
        { type: 'otp' },
        { status: 'queued' },
        { created_after: daysAgo(33) },
        { created_before: daysAgo(1) },
      ])
        expect(await list({ [name]: value, ...other })).toMatchObject({
          status: 422,
          page: { code: 'filter_combination_not_allowed', detail: expect.stringContaining('campaign') as string },
        })
      for (const other of Object.entries(found))
        expect((await list({ [name]: value, ...Object.fromEntries([other]) })).status).toBe(200)
      const month = { created_after: daysAgo(90), created_before: daysAgo(60) }
      expect((await list({ [name]: value, ...month })).status).toBe(200)
    }
  })

  it('find a message that has had several of the statuses, at any end of a window', async () => {
    const person = '15551230777'
    const made = Array.from({ length: 1000 }, () => newId())
    await test.sql`with m as (
        insert into messages (account_id, id, status, their_number, body, encoding, characters, segments, tags)
        select ${account.accountId}::uuid, id, case n when 1 then 'expired' else 'unconfirmed' end, ${person}, 'x', 'GSM-7', 1, 1, case n when 1 then '{edge}'::text[] end
        from unnest(${made}::uuid[]) with ordinality as k (id, n)
        returning id, status
      )
      insert into outcomes (account_id, status, message_id)
      select ${account.accountId}::uuid, 'unconfirmed', id from m
      union all
      select ${account.accountId}::uuid, status, id from m where status = 'expired'`
    for (const status of ['unconfirmed,expired', 'expired,unconfirmed'])
      expect(textsOf((await list({ status, tag: 'edge' })).page)).toEqual(['x'])
    await test.sql`delete from outcomes where message_id = any (${made}::uuid[])`
    await test.sql`delete from messages where id = any (${made}::uuid[])`
  })

  it('find queued messages, also those that wait for a carrier', async () => {
    const queued = textsOf((await list({ status: 'queued' })).page)
    for (const { id } of await findLanes(test.db))
      await claimMessages(test.context, test.nodeId, [], id, '00000000-0000-0000-0000-000000000000', 100)
    expect(await test.count('queue', 'lane_id in (select id from backlogs)')).toBeGreaterThan(0)
    expect(textsOf((await list({ status: 'queued' })).page)).toEqual(queued)
    expect(textsOf((await list({ status: 'queued', sort: 'created_at' })).page)).toEqual(queued.reverse())
  })

  it('take a campaign by its id', async () => {
    expect(textsOf((await list({ campaign: showId('cmp', campaignId), type: 'marketing' })).page)).toEqual(['campaign'])
    expect((await list({ campaign: showId('cmp', newId()) })).page.errors?.[0]?.code).toBe('campaign_not_found')
  })

  it('keep times to the millisecond', async () => {
    const { page } = await list({ to: '15551230002' })
    const created = (page.data[0] as unknown as { created_at: string }).created_at
    const query = { to: '15551230002' }
    expect((await list({ ...query, created_after: created })).page.data).toHaveLength(1)
    expect((await list({ ...query, created_before: created })).page.data).toHaveLength(0)
  })

  it.each<[Record<string, string>, string[]]>([
    [{ status: 'queued,sended', error_code: 'nope' }, ['?error_code invalid_value', '?status invalid_value']],
    [{ error_code: 'toString' }, ['?error_code invalid_value']],
    [{ created_after: '2026-11-20T12:00:00+05' }, ['?created_after invalid_format']],
    [{ created_before: '2016-12-31T23:59:60Z' }, ['?created_before invalid_format']],
    [{ created_before: 'yesterday' }, ['?created_before invalid_format']],
    [{ direction: 'both' }, ['?direction invalid_value']],
    [{ recipient: 'x' }, ['?recipient unknown_field']],
    [{ contact: 'ann' }, ['?contact invalid_format']],
    [{ campaign: 'none' }, ['?campaign campaign_not_found']],
    [{ to: 'abc' }, ['?to invalid_phone_number']],
    [{ number: '1-2' }, ['?number invalid_sender']],
    [{ number: '15551230001', to: '15551230001' }, ['?to invalid_value']],
    [{ number: '15551230001', from: '15551230001', direction: 'inbound' }, ['?from invalid_value']],
    [{ created_after: '2026-02-30', number: '1-2' }, ['?created_after invalid_format', '?number invalid_sender']],
    [
      { to: '1555', from: '12', campaign: 'none' },
      ['?campaign campaign_not_found', '?from invalid_sender', '?to invalid_phone_number'],
    ],
    [{ direction: 'inbound', to: 'not a sender', from: '1-2' }, ['?from invalid_sender', '?to invalid_sender']],
    [{ segments_gte: '0' }, ['?segments_gte out_of_range']],
    [{ sort: 'status' }, ['?sort invalid_value']],
  ])('refuse %j', async (query, errors) => {
    const { status, page } = await list(query)
    expect([status, page.errors?.map((error) => `${error.pointer} ${error.code}`).sort()]).toEqual([422, errors])
  })
})

it('a scheduled message has an estimated time of sending, also in lists, and a canceled one has none', async () => {
  const sendAt = new Date(Math.ceil(Date.now() / 1000) * 1000 + 3_600_000)
  const theirNumber = '15551230199'
  const id = showId('msg', (await test.send({ theirNumber, sendAt })).id)
  const read = async (url: string) =>
    (await app.inject({ url, headers: account.headers })).json<Record<string, unknown>>()
  const scheduled = { id, status: 'scheduled', estimated_send_at: sendAt.toISOString() }
  expect(await read(`/v1/messages/${id}`)).toMatchObject(scheduled)
  expect((await list({ to: theirNumber })).page.data).toMatchObject([scheduled])
  const url = `/v1/messages/${id}/cancel`
  const answer = await app.inject({ method: 'POST', url, headers: account.headers })
  const canceled = { id, status: 'canceled', estimated_send_at: null }
  expect(answer.json()).toMatchObject(canceled)
  expect(await read(`/v1/messages/${id}`)).toMatchObject(canceled)
})

interface Page {
  data: { id: string; message: string; status: string }[]
  has_more: boolean
  next_cursor: string | null
  prev_cursor: string | null
  refresh_cursor: string | null
  code?: string
  errors?: { pointer: string; code: string }[]
}

async function list(query: Record<string, string> = {}): Promise<{ status: number; page: Page }> {
  const answer = await app.inject({ method: 'GET', url: '/v1/messages', headers: account.headers, query })
  return { status: answer.statusCode, page: answer.json<Page>() }
}

const textsOf = (page: Page): string[] => page.data.map((message) => message.message)
