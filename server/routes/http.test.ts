import { beforeEach, describe, expect, it } from 'vitest'
import { world, createTestAccount, errorsOf, type Call } from '../accounts/testing.ts'
import { inTransaction } from '../ground/db/db.ts'
import { emptyTables } from '../ground/db/testing.ts'
import { newId, showId } from '../ground/base/ids.ts'
import { insertTestCarrier, insertTestSender } from '../messages/testing.ts'
import { routeRoutes } from './http.ts'
import { routeTestRoutes } from './test-http.ts'

const ids = [newId(), newId(), newId()]
const [a, b, c] = ids.map((id) => showId('car', id)) as [string, string, string]

const { db, sql, account, other, call } = await world([routeRoutes, routeTestRoutes])
await inTransaction(db, async (tx) => {
  for (const [i, id] of ids.entries()) await insertTestCarrier(tx, id, {}, { priority: i })
})
beforeEach(() => emptyTables(db, 'routes, senders, campaigns, sender_pools, idempotency_keys'))

describe('routes', () => {
  it('are created, read, changed and deleted', async () => {
    const body = {
      name: 'US codes',
      match: { type: 'otp', countries: ['US'], prefixes: ['+1212', '1212'], senders: ['Acme', '+15557654321'] },
      carriers: [
        { carrier: a, weight: 3, cost: usd('0.0079') },
        { carrier: b, cost: usd('0.008123') },
      ],
      failover: [{ carrier: c, cost: usd('1') }],
      max_cost: usd('0.5'),
    }
    const created = await create(body)
    expect([created.status, created.headers.location]).toEqual([201, `/v1/routes/${String(created.body['id'])}`])
    expect(created.body).toMatchObject({
      object: 'route',
      position: 1,
      name: 'US codes',
      match: { type: 'otp', countries: ['US'], prefixes: ['1212'], senders: ['15557654321', 'Acme'] },
      carriers: [
        { carrier: a, weight: 3, cost: usd('0.00790') },
        { carrier: b, weight: 1, cost: usd('0.008123') },
      ],
      failover: [{ carrier: c, cost: usd('1.00000') }],
      max_cost: usd('0.50000'),
      enabled: true,
      warnings: [],
    })
    const url = String(created.headers.location)
    expect((await call('GET', url)).body).toEqual(created.body)
    const changed = await call('PATCH', url, { match: {}, max_cost: null, failover: [], enabled: false })
    expect(changed.body).toEqual({
      ...created.body,
      match: {},
      max_cost: null,
      failover: [],
      enabled: false,
      updated_at: changed.body['updated_at'],
    })
    expect((await call('DELETE', url)).status).toBe(204)
    for (const method of ['GET', 'DELETE'] as const) expect((await call(method, url)).status).toBe(404)
    expect((await call('PATCH', url, { enabled: true })).status).toBe(404)
  })

  it('report all wrong fields at once', async () => {
    const theirs = newId()
    await sql`insert into campaigns (account_id, id, name) values (${other.accountId}, ${theirs}, 'theirs')`
    const match = {
      account: showId('acc', account.accountId),
      campaign: showId('cmp', theirs),
      countries: ['XX'],
      senders: ['!'],
      mcc_mnc: ['310-260'],
    }
    const { status, body } = await create({ match, carriers: [{ carrier: 'car_x' }], position: 0 })
    expect([status, errorsOf(body)]).toEqual([
      422,
      ['#/carriers/0/carrier invalid_value', '#/match/mcc_mnc unknown_field', '#/position out_of_range'],
    ])
    const { mcc_mnc: _, ...sound } = match
    expect(errorsOf((await create({ match: sound })).body)).toEqual([
      '#/match/campaign campaign_not_found',
      '#/match/countries/0 invalid_value',
      '#/match/senders/0 invalid_sender',
    ])
    expect(errorsOf((await create({ match: { campaign: showId('cmp', theirs) } })).body)).toEqual([
      '#/match/campaign invalid_value',
    ])
    expect(errorsOf((await create({ match: { account: showId('acc', newId()) } })).body)).toEqual([
      '#/match/account invalid_value',
    ])
    expect(errorsOf((await call('POST', '/v1/routes', { carriers: 'x' })).body)).toEqual([
      '#/carriers invalid_type',
      '#/match required',
    ])
    for (const odd of [null, [], 'x', {}]) expect((await call('POST', '/v1/routes', odd)).status).toBeLessThan(500)
  })

  it('refuse a chain that returns to a carrier', async () => {
    const twice = await create({ carriers: [{ carrier: a }, { carrier: a }] })
    expect(errorsOf(twice.body)).toEqual(['#/carriers/1/carrier invalid_value'])
    const cycle = await create({ failover: [{ carrier: b }, { carrier: a }] })
    expect(cycle.body['errors']).toEqual([
      { pointer: '#/failover/1/carrier', code: 'invalid_value', detail: 'is already in the chain at #/carriers/0' },
    ])
    const {
      headers: { location },
    } = await create({ failover: [{ carrier: b }] })
    const later = await call('PATCH', String(location), { carriers: [{ carrier: b }] })
    expect(errorsOf(later.body)).toEqual(['#/carriers/0/carrier invalid_value'])
    expect(errorsOf((await create({ carriers: [], failover: [{ carrier: b }] })).body)).toEqual([
      '#/failover invalid_value',
    ])
  })

  it('compare money only in one currency', async () => {
    const mixed = await create({
      carriers: [{ carrier: a, cost: usd('1') }],
      max_cost: { amount: '1', currency: 'EUR' },
    })
    expect(errorsOf(mixed.body)).toEqual(['#/max_cost/currency invalid_value'])
    expect(errorsOf((await create({ max_cost: usd('1') })).body)).toEqual(['#/max_cost invalid_value'])
    expect(errorsOf((await create({ max_cost: usd('1e3') })).body)).toEqual(['#/max_cost/amount invalid_format'])
    const none = await create({ carriers: [{ carrier: 'none' }], max_cost: usd('1') })
    expect(errorsOf(none.body)).toEqual(['#/carriers/0/carrier invalid_value'])
  })

  it('have a unique match while they are enabled', async () => {
    const match = { countries: ['US', 'GB'] }
    const first = await create({ match })
    const second = await create({ match: { countries: ['GB', 'US', 'GB'] } })
    expect([second.status, second.body['errors']]).toEqual([
      422,
      [
        {
          pointer: '#/match',
          code: 'invalid_value',
          detail: `is the same as that of ${String(first.body['id'])} at position 1; one of them would never be used`,
        },
      ],
    ])
    const spare = await create({ match, enabled: false })
    expect(spare.status).toBe(201)
    expect(errorsOf((await call('PATCH', String(spare.headers.location), { enabled: true })).body)).toEqual([
      '#/match invalid_value',
    ])
    expect((await call('PATCH', String(first.headers.location), { match, name: 'same' })).status).toBe(200)
  })

  it('name the earlier route that shadows them', async () => {
    const all = await create({ name: 'all' })
    const us = await create({ match: { countries: ['US'] } })
    expect(us.body['warnings']).toEqual([
      { code: 'shadowed', detail: 'The route at position 1 takes all of its messages first.', route: all.body['id'] },
    ])
    const moved = await call('PATCH', String(us.headers.location), { position: 1 })
    expect(moved.body).toMatchObject({ position: 1, warnings: [] })
    expect((await call('GET', String(all.headers.location))).body).toMatchObject({ position: 2, warnings: [] })
  })

  it('stay in order without gaps, however they are moved', async () => {
    const made = new Map<string, string>()
    for (const [i, name] of ['1', '2', '3', '4'].entries()) {
      const { body } = await create({ name, match: { prefixes: [`${i + 1}`] } })
      made.set(name, String(body['id']))
    }
    const id = (name: string): string => made.get(name) ?? ''
    const move = (name: string, position: number): ReturnType<Call> =>
      call('PATCH', `/v1/routes/${id(name)}`, { position })
    await move('4', 2)
    expect(await order()).toEqual(['1', '4', '2', '3'])
    expect((await move('1', 99)).body['position']).toBe(4)
    expect(await order()).toEqual(['4', '2', '3', '1'])
    const { body } = await create({ name: 'new', match: { prefixes: ['5'] }, position: 2 })
    expect(await order()).toEqual(['4', 'new', '2', '3', '1'])
    await call('DELETE', `/v1/routes/${String(body['id'])}`)
    const routes = ['1', '2', '3', '4'].map(id)
    expect((await call('POST', '/v1/routes/reorder', { routes })).status).toBe(204)
    expect(await order()).toEqual(['1', '2', '3', '4'])
    const wrong = await call('POST', '/v1/routes/reorder', { routes: [routes[0], routes[0], 'rte_x', routes[2]] })
    expect(errorsOf(wrong.body)).toEqual(['#/routes too_short', '#/routes/1 invalid_value', '#/routes/2 invalid_value'])
    expect(await order()).toEqual(['1', '2', '3', '4'])
  })

  it('are created one after the other if requested at once', async () => {
    await Promise.all(Array.from({ length: 8 }, (_, i) => create({ match: { prefixes: [`${i + 1}`] }, position: 1 })))
    const rows = await sql`select position from routes order by position`
    expect(rows.map(({ position }) => position)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  })

  it('prevent the deletion of their carriers', async () => {
    await create()
    await expect(sql`delete from carriers where id = ${ids[0]}`).rejects.toMatchObject({ code: '23503' })
  })

  it('are for the operator', async () => {
    const user = await createTestAccount(db, { scopes: ['carriers:read', 'settings:write', 'routes:read'] })
    expect((await call('GET', '/v1/routes', undefined, user.headers)).status).toBe(200)
    expect((await call('POST', '/v1/routes', { match: {}, carriers: [] }, user.headers)).status).toBe(403)
  })

  it('may be ten thousand', async () => {
    await sql`with made as (
        insert into routes (id, position, match_prefixes, match_key)
        select gen_random_uuid(), n, array['49' || n], int8send(n) from generate_series(1, 10000) as n
        returning id
      )
      insert into route_carriers (route_id, carrier_id, position, weight) select id, ${ids[0]}, 1, 1 from made`
    const { body } = await call('GET', '/v1/routes?from=9999&limit=50')
    expect((body['data'] as Body[]).map((one) => one['position'])).toEqual([9999, 10_000])
    expect(body['has_more']).toBe(false)
    const test = await call('POST', '/v1/routes/test', { to: '+15551230001' })
    expect((test.body['rules'] as Body[]).length).toBe(10_000)
    const tooMany = await create()
    expect([tooMany.status, errorsOf(tooMany.body)]).toEqual([422, ['# too_long']])
  })
})

describe('a test of routes', () => {
  const ask = (body: Body, headers = account.headers): ReturnType<Call> =>
    call('POST', '/v1/routes/test', body, headers)

  it('shows how each rule judged the message', async () => {
    await insertTestSender(db, account.accountId, ids[1] ?? '', '15557654321', true)
    const gb = await create({ name: 'GB', match: { countries: ['GB'] } })
    const wrong = await create({ name: 'at a', match: { countries: ['US'] } })
    const taken = await create({
      name: 'US',
      match: { prefixes: ['1'] },
      carriers: [{ carrier: b, cost: usd('0.01') }],
    })
    const late = await create({ name: 'rest', carriers: [{ carrier: a }, { carrier: b }] })
    const { status, body } = await ask({ to: '+15551230001', message: 'x'.repeat(200) })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      outcome: 'held',
      detail: 'The route at position 3 matches; the message waits until one of the carriers is bound.',
      refusal: null,
      to: '15551230001',
      country: 'US',
      type: 'transactional',
      segments: 2,
      sender: { number: '15557654321', rule: 'default', passed_over: [] },
      route: taken.body['id'],
      chain: [{ carrier: b, weight: 1, cost: usd('0.01000'), links: [{ state: 'down' }] }],
    })
    expect((body['rules'] as Body[]).map((one) => [one['route'], one['matched'], one['taken'], one['reason']])).toEqual(
      [
        [gb.body['id'], false, false, 'country'],
        [wrong.body['id'], false, false, 'sender_carrier'],
        [taken.body['id'], true, true, null],
        [late.body['id'], true, false, null],
      ],
    )
  })

  it('shows refusals, holds and the default route', async () => {
    expect((await ask({ to: '15551230001' })).body).toMatchObject({
      route: null,
      detail: 'The default route matches; the message waits until one of the carriers is bound.',
      sender: { number: null, rule: 'none' },
      chain: [{ carrier: a }, { carrier: b }, { carrier: c }],
    })
    await insertTestSender(db, account.accountId, ids[0] ?? '', '15557654321', true)
    expect((await ask({ to: '15551230001', from: 'Acme' })).body).toMatchObject({
      outcome: 'refused',
      refusal: 'sender_not_found',
      chain: [],
      rules: [],
    })
    await create({ carriers: [] })
    expect((await ask({ to: '15551230001' })).body).toMatchObject({
      outcome: 'refused',
      refusal: 'no_route_available',
      detail: 'The route at position 1 matches and has no carriers, so it refuses the message.',
    })
    const campaign = (await ask({ to: '15551230001', campaign: 'none' })).body
    expect(campaign['refusal']).toBe('campaign_not_found')
  })

  it('for another account uses only that account’s resources', async () => {
    await insertTestSender(db, other.accountId, ids[2] ?? '', '447700900123', true)
    const poolId = newId()
    await sql`insert into sender_pools (account_id, id, name, strategy)
      values (${other.accountId}, ${poolId}, 'x', 'sticky')`
    const theirs = { to: '447700900001', account: showId('acc', other.accountId) }
    expect((await ask(theirs)).body).toMatchObject({ sender: { number: '447700900123' }, chain: [{ carrier: c }] })
    const pool = { sender_pool: showId('pol', poolId) }
    expect((await ask({ ...theirs, ...pool })).body['refusal']).toBe('sender_not_allowed')
    expect((await ask({ to: '447700900001', ...pool })).body['refusal']).toBe('pool_not_found')
    expect((await ask({ to: '447700900001', from: '447700900123' })).body['refusal']).toBe('sender_not_found')
  })

  it('reports all wrong fields at once', async () => {
    const wrong = { to: '12', account: 'acc_x', from: '!', sender_pool: 'x', type: 'spam', text: 'Hi' }
    expect(errorsOf((await ask(wrong)).body)).toEqual([
      '#/account invalid_value',
      '#/from invalid_sender',
      '#/sender_pool invalid_value',
      '#/text unknown_field',
      '#/to invalid_phone_number',
      '#/type invalid_value',
    ])
  })
})

type Body = Record<string, unknown>

const create = (body: Body = {}): ReturnType<Call> =>
  call('POST', '/v1/routes', { match: {}, carriers: [{ carrier: a }], ...body })
const order = async (): Promise<unknown[]> =>
  ((await call('GET', '/v1/routes')).body['data'] as Body[]).map((one) => one['name'])
const usd = (amount: string): Body => ({ amount, currency: 'USD' })
