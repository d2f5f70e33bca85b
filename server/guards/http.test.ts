import { beforeEach, describe, expect, it } from 'vitest'
import { accountRoutes } from '../accounts/http.ts'
import { openAuthenticator } from '../accounts/authenticate.ts'
import { buildTestApp, createTestAccount, testSettings, testVault, type TestAccount } from '../accounts/testing.ts'
import { createTestDatabase, untilBlocked, emptyTables } from '../ground/db/testing.ts'
import { newId, showId } from '../ground/base/ids.ts'
import type { App } from '../ground/http/http.ts'
import { messageRoutes } from '../messages/http.ts'
import { openLedgerTest, type LedgerTest } from '../messages/testing.ts'
import { passTurnOfHour } from './testing.ts'
import { endStopsOf, guardRoutes } from './http.ts'
import { forgetUsed, readUsed } from './windows.ts'

let account: TestAccount
let other: TestAccount
let ledger: LedgerTest
let app: App

const { db, sql } = await createTestDatabase()

beforeEach(async () => {
  await passTurnOfHour()
  await emptyTables(db, 'accounts, carriers, nodes, messages, queue, delayed, intents, events')
  account = await createTestAccount(db)
  other = await createTestAccount(db)
  ledger = await openLedgerTest(db, { accountId: account.accountId })
  const context = ledger.routeContext
  app = await buildTestApp(db, async (own) => {
    const settings = { ...testSettings, endStops: endStopsOf(ledger.subscriptions), readUsed, forgetUsed }
    await accountRoutes(own, { db, vault: testVault, authenticator: openAuthenticator(db), settings })
    messageRoutes(own, context)
    guardRoutes(own, context)
  })
})

describe('the settings of guards', () => {
  it('are off by default, and stay as set', async () => {
    expect((await call('GET', '/v1/settings')).body).toMatchObject({
      allowed_countries: ['*'],
      country_limits: [],
      limits: { daily_segments: null, segments_today: null },
      spend: { daily_limit: null, spent_today: null, currency: null, resets_at: null },
      velocity: { per_prefix_per_hour: null },
      dedupe_window: 0,
      approval: { recipients_above: null },
    })
    const change = {
      timezone: 'Europe/Berlin',
      allowed_countries: ['US', 'DE'],
      country_limits: [{ country: 'DE', per_hour: 100, action: 'block' }],
      limits: { daily_segments: 10 },
      spend: { daily_limit: '25.50', currency: 'EUR' },
      velocity: { per_prefix_per_hour: 50 },
      dedupe_window: 30,
      approval: { recipients_above: 1000 },
    }
    const said = await patch(change)
    expect(said).toMatchObject({ status: 200, body: change })
    // PostgreSQL orders keys its own way.
    expect(JSON.stringify(said.body['country_limits'])).toBe(JSON.stringify(change.country_limits))
    expect((await send()).status).toBe(202)
    expect((await call('GET', '/v1/settings')).body).toMatchObject({
      limits: { segments_today: 1 },
      spend: { spent_today: '0.000000' },
    })
    expect((await patch({ allowed_countries: ['*'], country_limits: [], dedupe_window: 0 })).body).toMatchObject({
      allowed_countries: ['*'],
      limits: { daily_segments: 10 },
      spend: { daily_limit: '25.50', currency: 'EUR' },
    })
    const off = {
      limits: { daily_segments: null },
      spend: { daily_limit: null },
      velocity: { per_prefix_per_hour: null },
      approval: { recipients_above: null },
    }
    await patch(off)
    expect(await ledger.count('accounts', `settings ? 'guards'`)).toBe(0)
  })

  it('report the day’s use from before a limit was set, and without one', async () => {
    await send()
    await sql`insert into tally_deltas (account_id, hour, type, is_test, segments, to_bucket, carrier_id, currency, messages, cost)
      values (${account.accountId}, date_trunc('hour', now(), 'UTC'), 'otp', false, 1, 'sent', ${ledger.carrierId}, 'EUR', 1, 0.0201)`
    const limits = { limits: { daily_segments: 4 }, spend: { daily_limit: '1.00', currency: 'EUR' } }
    const none = { limits: { daily_segments: null }, spend: { daily_limit: null } }
    expect((await patch(limits)).body).toMatchObject({
      limits: { segments_today: 2 },
      spend: { spent_today: '0.020100' },
    })
    await send()
    await patch(none)
    await send()
    await sql`insert into guard_counters (account_id, kind, key, starts_at, ends_at, used)
      select ${other.accountId}, kind, key, starts_at, ends_at, 7 from guard_counters where kind = 'daily_segments'`
    expect((await patch(limits)).body).toMatchObject({ limits: { segments_today: 4 } })
    expect(await ledger.count('guard_counters', 'account_id = $1 and used = 7', [other.accountId])).toBe(1)
    expect(await send()).toMatchObject({ status: 429, body: { code: 'spend_limit_reached' } })
    // Another limit of the same day does not begin anything.
    await sql`update guard_counters set used = used + 1 where kind = 'daily_segments'`
    expect((await patch({ limits: { daily_segments: 9 } })).body).toMatchObject({ limits: { segments_today: 5 } })
    expect((await call('GET', '/v1/settings', undefined, other)).body).toMatchObject({
      limits: { segments_today: null },
      spend: { spent_today: null },
    })
  })

  it('report all their faults at once', async () => {
    const { status, body } = await patch({
      timezone: 'Mars',
      allowed_countries: ['*', 'UK'],
      country_limits: [
        { country: 'DE', per_hour: 1, action: 'block' },
        { country: 'DE', per_hour: 2, action: 'alert' },
      ],
      spend: { daily_limit: '1.00' },
      // Refused by the schema and by the other settings: neither hides the other.
      dedupe_window: -1,
      quiet_hours: { start: '09:00', end: '09:00' },
      default_country: 'XX',
    })
    expect(status).toBe(422)
    expect((body['errors'] as { pointer: string }[]).map(({ pointer }) => pointer)).toEqual([
      '#/dedupe_window',
      '#/default_country',
      '#/timezone',
      '#/allowed_countries',
      '#/allowed_countries/1',
      '#/country_limits/1/country',
      '#/quiet_hours/end',
      '#/spend/currency',
    ])
  })
})

describe('a send that a guard stops', () => {
  it('names the stop and its end, and the stop is listed and released', async () => {
    await patch({ limits: { daily_segments: 1 } })
    await send()
    const stopped = await send()
    expect(stopped).toMatchObject({ status: 429, body: { code: 'spend_limit_reached', retryable: true } })
    expect(Number(stopped.headers['retry-after'])).toBeGreaterThan(0)
    const [stop] = await stops()
    expect(stop).toMatchObject({
      id: stopped.body['guard'],
      object: 'guard',
      kind: 'daily_segments',
      key: null,
      action: 'block',
      limit: '1',
      count: 1,
      released_at: null,
    })
    const path = `/v1/guards/${String(stop?.['id'])}/release`
    expect(await stops(other)).toEqual([])
    expect(await call('POST', path, { reason: 'mine' }, other)).toMatchObject({ status: 404 })
    const wrong = { reason: '', until: '2020-01-01T00:00:00Z', raise_by: '1' }
    expect(await call('POST', path, wrong)).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: '#/reason' }, { pointer: '#/until' }, { pointer: '#/raise_by' }] },
    })
    expect(await call('POST', path, { reason: 'sale', raise_by: '0.5' })).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: '#/raise_by', detail: 'must be a whole number above 0' }] },
    })
    expect(await call('POST', path, { reason: 'sale', until: '2020-01-01T00:00:00Z' })).toMatchObject({ status: 422 })
    expect(await call('POST', path, { reason: 'sale', raise_by: '1' })).toMatchObject({
      status: 200,
      body: { released_by: showId('key', account.keyId), reason: 'sale', raised_by: '1', released_until: null },
    })
    expect(await call('POST', path, { reason: 'again' })).toMatchObject({ status: 409, body: { code: 'guard_over' } })
    expect((await send()).status).toBe(202)
    expect((await send()).status).toBe(429)
    expect(
      await ledger.count('audit_events', `account_id = $1 and action = 'guard.released'`, [account.accountId]),
    ).toBe(1)
  })

  it('names one of the current guards, which report their use before they stop anything', async () => {
    const limits = async (query = '', who = account): Promise<unknown> =>
      (await call('GET', `/v1/guards/limits${query}`, undefined, who)).body['data']
    expect(await limits()).toEqual([])
    await patch({
      timezone: 'Asia/Kolkata',
      allowed_countries: ['US', 'DE'],
      country_limits: [
        { country: 'US', per_hour: 9, action: 'alert' },
        { country: 'DE', per_hour: 0, action: 'block' },
      ],
      limits: { daily_segments: 2 },
      spend: { daily_limit: '25.50', currency: 'EUR' },
      velocity: { per_prefix_per_hour: 5 },
      dedupe_window: 30,
    })
    await send('One')
    await send('Two')
    await send('Three')
    const [stop] = await stops()
    const none = { raised_by: null, released_until: null, stop: null, action: 'block', key: null }
    const [segments, spend, us, de, prefix, countries, repeats] = [
      { kind: 'daily_segments', limit: '2', used: '2', stop: stop?.['id'] },
      { kind: 'spend', key: 'EUR', limit: '25.50', used: '0.00' },
      { kind: 'country_limit', key: 'US', limit: '9', used: '2', action: 'alert' },
      { kind: 'country_limit', key: 'DE', limit: '0', used: '0' },
      { kind: 'velocity', limit: '5', used: null },
      { kind: 'allowed_countries', limit: null, used: null, resets_at: null },
      { kind: 'duplicate', limit: null, used: null, resets_at: null },
    ].map((one) => ({ ...none, ...one }))
    const all = await limits()
    expect(all).toMatchObject([segments, spend, us, de, prefix, countries, repeats])
    const ends = (all as { resets_at: string | null }[]).map(({ resets_at: end }) => end?.slice(14))
    expect(ends).toEqual([...Array(2).fill('30:00.000Z'), ...Array(3).fill('00:00.000Z'), undefined, undefined])
    await call('POST', `/v1/guards/${String(stop?.['id'])}/release`, { reason: 'sale', raise_by: '3' })
    const ofNumber = { ...prefix, key: '1555123', used: '2' }
    const raised = { ...segments, raised_by: '3', stop: null }
    expect(await limits('?number=%2B15551239999')).toMatchObject([raised, spend, us, de, ofNumber, {}, {}])
    expect(await call('GET', '/v1/guards/limits?number=12&of=x')).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: '?of' }, { pointer: '?number' }] },
    })
    expect(await limits('', other)).toEqual([])
  })

  it('is released once by two requests at once', async () => {
    await patch({ limits: { daily_segments: 0 } })
    await send()
    const [stop] = await stops()
    const path = `/v1/guards/${String(stop?.['id'])}/release`
    // Both read before either has its window.
    const lock = await ledger.db.connect()
    await lock.query('begin; select from guard_counters for update')
    const both = Promise.all(['one', 'other'].map((reason) => call('POST', path, { reason })))
    await untilBlocked(ledger.db, 2)
    await lock.query('commit')
    lock.release()
    expect((await both).map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409])
  })

  it('stays stopped when the same settings are saved again', async () => {
    const country_limits = [{ country: 'US', per_hour: 0, action: 'block' }]
    const spend = { daily_limit: '10.00', currency: 'EUR' }
    await patch({ country_limits, spend })
    await send()
    const before = await stops()
    expect(before).toMatchObject([{ kind: 'country_limit' }])
    await patch({ country_limits, spend })
    expect(await stops()).toEqual(before)
    await patch({ country_limits: [] })
    expect(await stops()).toEqual([])
  })

  it('is possible when the settings are changed', async () => {
    await ledger.subscribe('guard.released')
    await patch({ limits: { daily_segments: 0 } })
    await send()
    expect(await stops()).toHaveLength(1)
    // Stops of other kinds or accounts remain.
    await sql`insert into guards (account_id, id, kind, key, action, since, starts_at, ends_at)
      select account_id, id, kind, '', 'block', now(), now(), now() + interval '1 hour'
      from unnest(${[account.accountId, other.accountId]}::uuid[], ${[newId(), newId()]}::uuid[], '{velocity,daily_segments}'::text[]) as g (account_id, id, kind)`
    await patch({ limits: { daily_segments: 5 } })
    expect(await stops()).toMatchObject([{ kind: 'velocity' }])
    expect(await stops(other)).toMatchObject([{ kind: 'daily_segments' }])
    expect((await send()).status).toBe(202)
    expect(await ledger.count('events', `type = 'guard.released'`)).toBe(1)
  })

  it('is refused for good by its country, consecutive numbers, and as a duplicate', async () => {
    await patch({ allowed_countries: ['US'], dedupe_window: 60, velocity: { per_prefix_per_hour: 2 } })
    expect(await send('Hi', '+447400123456')).toMatchObject({ status: 403, body: { code: 'destination_not_allowed' } })
    const first = await send()
    expect(await send()).toMatchObject({
      status: 409,
      body: { code: 'duplicate_message', existing_id: first.body['id'] },
    })
    await send('Two')
    expect(await send('Three')).toMatchObject({ status: 403, body: { code: 'fraud_suspected', retryable: false } })
    const listed = await stops()
    expect(listed.map((stop) => `${String(stop['kind'])} ${String(stop['key'])}`)).toEqual([
      'velocity 1555123',
      'duplicate null',
      'allowed_countries GB',
    ])
    const country = listed[2]
    expect(
      await call('POST', `/v1/guards/${String(country?.['id'])}/release`, { reason: 'x', raise_by: '1' }),
    ).toMatchObject({ status: 422 })
  })

  it('says how to allow a number without a country', async () => {
    await patch({ allowed_countries: ['US'] })
    const refused = await send('Hi', '+80012345678')
    expect(refused).toMatchObject({ status: 403, body: { code: 'destination_not_allowed' } })
    expect(refused.body['detail']).toMatch(
      /^The number belongs to no country, .*; "\*" in PATCH \/v1\/settings allows all\. To allow it now: POST/,
    )
    expect(await stops()).toMatchObject([{ kind: 'allowed_countries', key: '?' }])
  })

  it('gets its error in its place in a batch', async () => {
    await patch({ limits: { daily_segments: 1 } })
    const messages = [1, 2].map((n) => ({ to: `+1555123000${n}`, message: 'Hello' }))
    const answer = await app.inject({
      method: 'POST',
      url: '/v1/messages/batch',
      headers: { ...account.headers, 'idempotency-key': 'batch' },
      payload: { messages },
    })
    expect(answer.json()).toMatchObject({
      accepted: 1,
      refused: 1,
      results: [{ status: 202 }, { status: 429, error: { code: 'spend_limit_reached' } }],
    })
  })
})

describe('a test key', () => {
  let tester: TestAccount
  beforeEach(async () => {
    const made = await createTestAccount(db, { mode: 'test' })
    await sql`update api_keys set account_id = ${account.accountId} where id = ${made.keyId}`
    tester = { ...account, headers: made.headers }
  })

  it('neither releases a stop nor changes guards', async () => {
    await patch({ limits: { daily_segments: 0 } })
    await send()
    const [stop] = await stops()
    const refused = { status: 403, body: { code: 'insufficient_scope' } }
    const url = `/v1/guards/${String(stop?.['id'])}/release`
    expect(await call('POST', url, { reason: 'x' }, tester)).toMatchObject(refused)
    for (const change of [{ limits: { daily_segments: null } }, { approval: { recipients_above: null } }])
      expect(await call('PATCH', '/v1/settings', change, tester)).toMatchObject(refused)
    const leap = { reason: 'x', until: '2026-06-30T23:59:60Z' }
    expect(await call('POST', url, leap)).toMatchObject({ status: 422 })
  })

  it('has its own idempotency keys: a message is not mistaken for its test', async () => {
    const once = async (url: string, payload: object, who: TestAccount) => {
      const headers = { ...who.headers, 'idempotency-key': 'order-1' }
      const answer = await app.inject({ method: 'POST', url, headers, payload })
      return { status: answer.statusCode, body: answer.json<Record<string, unknown>>() }
    }
    const one = { to: '+15551230001', message: 'Hello' }
    for (const [url, payload] of [
      ['/v1/messages/send', one],
      ['/v1/messages/batch', { messages: [one] }],
    ] as const) {
      expect(await once(url, payload, tester)).toMatchObject({ status: 202 })
      expect(await once(url, payload, tester)).toMatchObject({ status: 202 })
      expect(await once(url, payload, account)).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } })
    }
  })
})

async function call(
  method: 'GET' | 'POST' | 'PATCH',
  url: string,
  payload?: object,
  { headers }: TestAccount = account,
): Promise<{ status: number; headers: Record<string, unknown>; body: Record<string, unknown> }> {
  const answer = await app.inject({ method, url, headers, ...(payload && { payload }) })
  return { status: answer.statusCode, headers: answer.headers, body: answer.json() }
}
async function patch(change: object): Promise<{ status: number; body: Record<string, unknown> }> {
  const answer = await call('PATCH', '/v1/settings', change)
  await ledger.context.guards.refresh()
  return answer
}
const send = (message = 'Hello', to = '+15551230001'): ReturnType<typeof call> =>
  call('POST', '/v1/messages/send', { to, message })
const stops = async (who = account): Promise<Record<string, unknown>[]> =>
  (await call('GET', '/v1/guards', undefined, who)).body['data'] as Record<string, unknown>[]
