import { beforeEach, describe, expect, it } from 'vitest'
import { world, createTestAccount, errorsOf, type Call } from '../accounts/testing.ts'
import { inTransaction } from '../ground/db/db.ts'
import { emptyTables } from '../ground/db/testing.ts'
import { newId, showId } from '../ground/base/ids.ts'
import { insertTestCarrier } from '../messages/testing.ts'
import { poolRoutes } from './pool-http.ts'
import { findAffinities, forgetAffinities, rememberAffinities } from './pool-store.ts'
import { senderRoutes } from './http.ts'

const [carrierId, secondId] = [newId(), newId()]
const [carrier, second] = [showId('car', carrierId), showId('car', secondId)]

const { db, sql, account, other, call } = await world([senderRoutes, poolRoutes])
await inTransaction(db, async (tx) => {
  await insertTestCarrier(tx, carrierId)
  await insertTestCarrier(tx, secondId)
})
beforeEach(() => emptyTables(db, 'senders, sender_pools, idempotency_keys'))

describe('senders', () => {
  it('are numbers and names; the first is the default until another is', async () => {
    const first = await add({ number: '+15557654321' })
    expect([first.status, first.headers.location]).toEqual([201, `/v1/senders/${String(first.body['id'])}`])
    expect(first.body).toMatchObject({
      account: showId('acc', account.accountId),
      number: '15557654321',
      kind: 'long_code',
      country: 'US',
      default: true,
      carrier,
      capabilities: ['sms', 'replies'],
      pace: null,
    })
    const short = await add({ number: '40404', country: 'GB', pace: 30 })
    expect(short.body).toMatchObject({ kind: 'short_code', country: 'GB', default: false, pace: 30 })
    const name = await add({ number: 'Acme', default: true })
    expect(name.body).toMatchObject({ kind: 'alphanumeric', country: null, default: true, capabilities: ['sms'] })
    const { body } = await call('GET', '/v1/senders')
    expect((body['data'] as Body[]).map((one) => [one['number'], one['default']])).toEqual([
      ['Acme', true],
      ['40404', false],
      ['15557654321', false],
    ])
    expect((await call('GET', String(first.headers.location))).body).toEqual({ ...first.body, default: false })
  })

  it('have the kind of their number, and no other', async () => {
    const kinds = async (number: string, body: Body = {}): Promise<unknown> => {
      const answer = await add({ number, ...body })
      return answer.status === 201 ? [answer.body['kind'], answer.body['country']] : errorsOf(answer.body)
    }
    expect(await kinds('18335550100')).toEqual(['toll_free', 'US'])
    expect(await kinds('18335550101', { country: 'CA' })).toEqual(['toll_free', 'CA'])
    expect(await kinds('448001234567')).toEqual(['toll_free', 'GB'])
    expect(await kinds('447700900123')).toEqual(['long_code', 'GB'])
    expect(await kinds('12345678', { kind: 'short_code', country: 'ZA' })).toEqual(['short_code', 'ZA'])
    expect(await kinds('ABCDEFGHIJK')).toEqual(['alphanumeric', null])
    expect(await kinds('ABCDEFGHIJKL')).toEqual(['#/number invalid_sender'])
    expect(await kinds('12')).toEqual(['#/number invalid_sender'])
    expect(await kinds('123456789', { kind: 'short_code' })).toEqual(['#/kind invalid_value'])
    expect(await kinds('40405', { kind: 'long_code' })).toEqual(['#/kind invalid_value'])
    expect(await kinds('15557654321', { kind: 'toll_free' })).toEqual(['#/kind invalid_value'])
    expect(await kinds('18335550102', { kind: 'long_code' })).toEqual(['#/kind invalid_value'])
    expect(await kinds('15557654321', { kind: 'alphanumeric' })).toEqual(['#/kind invalid_value'])
    expect(await kinds('Acme', { kind: 'short_code' })).toEqual(['#/kind invalid_value'])
    expect(await kinds('447700900124', { country: 'FR' })).toEqual(['#/country invalid_value'])
    expect(await kinds('15557654322', { country: 'GB' })).toEqual(['#/country invalid_value'])
  })

  it('report all wrong fields at once, including the schema’s', async () => {
    const { status, body } = await add({ number: 'Müller', carrier: 'car_x', country: 'XX', pace: 0, colour: 'red' })
    expect([status, errorsOf(body)]).toEqual([
      422,
      [
        '#/carrier invalid_value',
        '#/colour unknown_field',
        '#/country invalid_value',
        '#/number invalid_sender',
        '#/pace out_of_range',
      ],
    ])
    expect(errorsOf((await add({ number: 15557654321, capabilities: ['fax'] })).body)).toEqual([
      '#/capabilities/0 invalid_value',
      '#/number invalid_type',
    ])
    for (const odd of [null, [], 'x']) expect((await call('POST', '/v1/senders', odd)).status).toBeLessThan(500)
  })

  it('are refused for more wrong fields than are reported, whatever the others are', async () => {
    const answer = await add({ ...Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`x${i}`, 1])), number: 5 })
    expect([answer.status, errorsOf(answer.body).length]).toEqual([422, 100])
  })

  it('change only in the given fields', async () => {
    const { body: first } = await add({ number: '15557654321' })
    const { body: next } = await add({ number: '40404' })
    const url = `/v1/senders/${String(next['id'])}`
    const changes = { default: true, pace: 5, country: 'GB', carrier: second, capabilities: ['sms', 'international'] }
    const changed = await call('PATCH', url, changes)
    expect([changed.status, changed.body]).toEqual([200, { ...next, ...changes }])
    expect((await call('GET', url)).body).toEqual(changed.body)
    expect((await call('GET', `/v1/senders/${String(first['id'])}`)).body['default']).toBe(false)
    expect((await call('PATCH', url, { pace: null, country: null })).body).toMatchObject({ pace: null, country: null })
    expect(errorsOf((await call('PATCH', url, { carrier: 'x', country: 'XX', number: '1' })).body)).toEqual([
      '#/carrier invalid_value',
      '#/country invalid_value',
      '#/number unknown_field',
    ])
    expect((await call('PATCH', url, {})).status).toBe(422)
    await add({ number: '40404', carrier })
    expect((await call('PATCH', url, { carrier })).body['code']).toBe('sender_taken')
  })

  it('are listed by page and filter', async () => {
    for (const number of ['15557654321', '40404', 'Acme', '447700900123']) await add({ number })
    await add({ number: '15557654321', carrier: second })
    const list = async (query: string): Promise<unknown[]> =>
      numbersOf((await call('GET', `/v1/senders?${query}`)).body)
    expect(await list('kind=short_code')).toEqual(['40404'])
    expect(await list('country=GB')).toEqual(['447700900123'])
    expect(await list('number=%2B15557654321')).toHaveLength(2)
    expect(await list(`carrier=${second}`)).toEqual(['15557654321'])
    expect(await list('carrier=x')).toEqual([])
    expect(await list('default=true')).toEqual(['15557654321'])
    const { body } = await call('GET', '/v1/senders?limit=3')
    expect(numbersOf(body)).toEqual(['15557654321', '447700900123', 'Acme'])
    expect(await list(`limit=3&cursor=${String(body['next_cursor'])}`)).toEqual(['40404', '15557654321'])
    expect((await call('GET', '/v1/senders?colour=red')).status).toBe(422)
  })

  it('belong to one account at a carrier', async () => {
    const mine = await add({ number: '15557654321' })
    expect(await add({ number: '15557654321' }, other.headers)).toMatchObject({
      status: 409,
      body: { code: 'sender_taken' },
    })
    expect(numbersOf((await call('GET', '/v1/senders', undefined, other.headers)).body)).toEqual([])
    const url = `/v1/senders/${String(mine.body['id'])}`
    expect((await call('GET', url, undefined, other.headers)).status).toBe(404)
    expect((await call('PATCH', url, { pace: 1 }, other.headers)).status).toBe(404)
    expect((await call('DELETE', url, undefined, other.headers)).status).toBe(404)
    expect((await call('DELETE', url)).status).toBe(204)
    expect((await call('DELETE', url)).status).toBe(404)
  })

  it('are given to a subaccount, and changed and removed there', async () => {
    const below = await createTestAccount(db, { scopes: ['settings:read'] })
    await sql`update accounts set parent_id = ${account.accountId} where id = ${below.accountId}`
    const theirs = showId('acc', below.accountId)
    const given = await add({ number: '15557654321', account: theirs })
    expect(given.body).toMatchObject({ account: theirs, default: true })
    const url = String(given.headers.location)
    expect((await call('GET', '/v1/senders')).body['data']).toEqual([])
    for (const headers of [below.headers, account.headers])
      expect((await call('GET', `/v1/senders?account=${theirs}`, undefined, headers)).body['data']).toEqual([
        given.body,
      ])
    expect((await call('GET', '/v1/senders', undefined, below.headers)).body['data']).toEqual([given.body])
    expect((await call('PATCH', url, { pace: 5 })).body).toEqual({ ...given.body, pace: 5 })
    expect((await call('GET', url)).body).toEqual({ ...given.body, pace: 5 })
    // It sees only its own senders, and no other account does.
    const up = showId('acc', account.accountId)
    expect((await call('GET', `/v1/senders?account=${up}`, undefined, below.headers)).status).toBe(403)
    for (const method of ['GET', 'DELETE'] as const)
      expect((await call(method, url, undefined, other.headers)).status).toBe(404)
    expect((await call('GET', `/v1/senders?account=${theirs}`, undefined, other.headers)).status).toBe(404)
    expect(errorsOf((await add({ number: '15557654322', account: theirs }, other.headers)).body)).toEqual([
      '#/account invalid_value',
    ])
    await sql`update accounts set status = 'closed', closed_at = now(), destroy_at = now(), close_webhooks = 'drain'
      where id = ${below.accountId}`
    expect(errorsOf((await add({ number: '15557654323', account: theirs })).body)).toEqual(['#/account invalid_value'])
    expect((await call('DELETE', url)).status).toBe(204)
    expect((await call('GET', url)).status).toBe(404)
  })

  it('are given by the operator', async () => {
    const user = await createTestAccount(db, { scopes: ['settings:read', 'settings:write'] })
    expect((await add({ number: '40404' }, user.headers)).status).toBe(403)
    expect((await call('GET', '/v1/senders', undefined, user.headers)).status).toBe(200)
  })
})

describe('sender pools', () => {
  const make = async (...numbers: string[]): Promise<string[]> =>
    Promise.all(numbers.map(async (number) => String((await add({ number, default: false })).body['id'])))

  it('are created, changed, listed and deleted', async () => {
    const [one, two] = await make('15557654321', '15557654322')
    const created = await call('POST', '/v1/sender-pools', { name: 'US', senders: [{ sender: one }] })
    expect([created.status, created.headers.location]).toEqual([201, `/v1/sender-pools/${String(created.body['id'])}`])
    expect(created.body).toMatchObject({ name: 'US', strategy: 'sticky', senders: [{ sender: one, weight: 1 }] })
    const url = String(created.headers.location)
    const senders = [{ sender: two, weight: 3 }]
    const changed = await call('PATCH', url, { strategy: 'round_robin', senders })
    expect(changed.body).toEqual({
      ...created.body,
      strategy: 'round_robin',
      senders,
      updated_at: changed.body['updated_at'],
    })
    expect((await call('GET', url)).body).toEqual(changed.body)
    expect((await call('GET', '/v1/sender-pools')).body['data']).toEqual([changed.body])
    await call('DELETE', `/v1/senders/${two ?? ''}`)
    expect((await call('GET', url)).body['senders']).toEqual([])
    expect((await call('DELETE', url)).status).toBe(204)
    expect((await call('GET', url)).status).toBe(404)
  })

  it('report all wrong fields at once; another account’s sender does not exist', async () => {
    const [mine] = await make('15557654321')
    const theirs = await add({ number: '15557654322' }, other.headers)
    const senders = [{ sender: mine }, { sender: mine }, { sender: theirs.body['id'] }, { sender: 'x', weight: 0 }]
    expect(errorsOf((await call('POST', '/v1/sender-pools', { senders })).body)).toEqual([
      '#/name required',
      '#/senders/3/weight out_of_range',
    ])
    const sound = senders.slice(0, 3)
    expect(
      errorsOf((await call('POST', '/v1/sender-pools', { name: 'x', strategy: 'y', senders: sound })).body),
    ).toEqual(['#/senders/1/sender invalid_value', '#/senders/2/sender sender_not_found', '#/strategy invalid_value'])
    const good = { name: 'One', senders: [{ sender: mine }] }
    const {
      headers: { location },
    } = await call('POST', '/v1/sender-pools', good)
    expect(errorsOf((await call('POST', '/v1/sender-pools', good)).body)).toEqual(['#/name invalid_value'])
    for (const [method, body] of [['GET'], ['PATCH', { name: 'y' }], ['DELETE']] as const)
      expect((await call(method, String(location), body, other.headers)).status).toBe(404)
    expect((await call('GET', '/v1/sender-pools', undefined, other.headers)).body['data']).toEqual([])
  })

  it('remember their recipients for a long time', async () => {
    const poolId = newId()
    const person = { accountId: account.accountId, poolId, theirNumber: '15551230001' }
    await sql`insert into sender_pools (account_id, id, name, strategy)
      values (${account.accountId}, ${poolId}, 'x', 'sticky')`
    const [first, next] = [newId(), newId()]
    await rememberAffinities(db, [
      { ...person, senderId: first },
      { ...person, senderId: first },
    ])
    expect([...(await findAffinities(db, [person])).values()]).toEqual([first])
    await rememberAffinities(db, [{ ...person, senderId: next }])
    expect([...(await findAffinities(db, [person, { ...person, theirNumber: '1' }])).values()]).toEqual([next])
    expect(await forgetAffinities(db, 10)).toBe(0)
    await sql`update sender_affinity set expires_at = now() - interval '1 second'`
    expect(await findAffinities(db, [person])).toEqual(new Map())
    expect(await forgetAffinities(db, 10)).toBe(1)
  })
})

type Body = Record<string, unknown>

const add = (body: Body, headers = {}): ReturnType<Call> => call('POST', '/v1/senders', { carrier, ...body }, headers)
const numbersOf = (body: Body): unknown[] => (body['data'] as Body[]).map((one) => one['number'])
