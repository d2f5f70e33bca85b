import type { LightMyRequestResponse } from 'fastify'
import { expect, it } from 'vitest'
import { buildTestApp, createTestAccount, type TestAccount } from '../accounts/testing.ts'
import { openWall } from '../ground/db/scoped.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import { newId, showId } from '../ground/base/ids.ts'
import { silent } from '../messages/testing.ts'
import { recountCounters } from './recount.ts'
import { usageRoutes } from './usage-http.ts'

const [carrierId, campaignId] = [newId(), newId()]

const database = await createTestDatabase()
const { db, sql } = database
const app = await buildTestApp(db, (own) => usageRoutes(own, database))
const account = await createTestAccount(db)
const other = await createTestAccount(db, { scopes: ['messages:read'] })
const insert = (accountId: string, fields: object): Promise<unknown> => {
  const row = {
    account_id: accountId,
    id: newId(),
    status: 'delivered',
    their_number: '15551230001',
    encoding: 'GSM-7',
    characters: 1,
    segments: 2,
    country: 'US',
    carrier_id: carrierId,
    sent_at: '2026-03-01T00:00:00Z',
    cost: '0.015',
    cost_currency: 'EUR',
    cost_carrier_id: carrierId,
    ...fields,
  }
  const names = Object.keys(row)
  return db.query(
    `insert into messages (${names.join()}) values (${names.map((_, i) => `$${i + 1}`).join()})`,
    Object.values(row),
  )
}
const messages: object[] = [
  { created_at: '2026-03-01T10:59:59Z' },
  { created_at: '2026-03-01T23:59:59.999Z', country: 'GB', cost: '0.04', cost_currency: 'USD' },
  { created_at: '2026-03-03T00:00:00Z', campaign_id: campaignId, type: 'marketing' },
  { created_at: '2026-03-03T01:00:00Z', campaign_id: campaignId, type: 'otp', is_confirmation: true },
  // No cost: no carrier took it, or not the one it was priced for.
  { created_at: '2026-03-03T02:00:00Z', status: 'rejected', sent_at: null, error_code: 'invalid_destination' },
  { created_at: '2026-03-03T02:00:00Z', status: 'sent', cost_carrier_id: newId() },
  { created_at: '2026-03-03T03:00:00Z', status: 'received', direction: 'inbound', carrier_id: null },
  { created_at: '2026-03-03T04:00:00Z', is_test: true },
  // In the hours before and after the span.
  { created_at: '2026-02-28T23:59:59Z' },
  { created_at: '2026-03-04T00:00:00Z' },
]
for (const fields of messages) await insert(account.accountId, fields)
await insert(other.accountId, { created_at: '2026-03-01T10:00:00Z' })
await recountCounters(db)

const march = 'from=2026-03-01T00:00:00Z&to=2026-03-04T00:00:00Z'

it('reports every day, and adds up', async () => {
  const body = (await get(march)).json<Record<string, unknown>>()
  expect(body).toMatchObject({
    object: 'usage',
    from: '2026-03-01T00:00:00.000Z',
    to: '2026-03-04T00:00:00.000Z',
    group: 'day',
    data: [
      {
        day: '2026-03-01',
        messages: 2,
        segments: 4,
        cost: [
          { amount: '0.01500', currency: 'EUR' },
          { amount: '0.04000', currency: 'USD' },
        ],
      },
      { day: '2026-03-02', messages: 0, segments: 0, replies: 0, cost: [] },
      { day: '2026-03-03', messages: 4, delivered: 2, sent: 1, failed: 1, replies: 1, segments: 8 },
    ],
    total: {
      messages: 6,
      segments: 12,
      replies: 1,
      cost: [
        { amount: '0.04500', currency: 'EUR' },
        { amount: '0.04000', currency: 'USD' },
      ],
    },
  })
})

it.each<[group: string, expected: unknown[][]]>([
  [
    'country',
    [
      ['US', 5, 10],
      ['GB', 1, 2],
    ],
  ],
  [
    'campaign',
    [
      [null, 5, 10],
      [showId('cmp', campaignId), 1, 2],
    ],
  ],
  [
    'type',
    [
      ['transactional', 4, 8],
      ['marketing', 1, 2],
      ['otp', 1, 2],
    ],
  ],
  ['error', [['invalid_destination', 1, 2]]],
])('groups by %s', async (group, expected) => expect(await rows(group)).toEqual(expected))

it('reports every month, also if only a part of it is requested', async () => {
  const query = 'from=2026-01-31T00:00:00Z&to=2026-03-04T00:00:00Z&group=month'
  const { data } = (await get(query)).json<{ data: Record<string, unknown>[] }>()
  expect(data.map((one) => [one['month'], one['messages']])).toEqual([
    ['2026-01', 0],
    ['2026-02', 1],
    ['2026-03', 6],
  ])
})

it('groups by several fields, also as a file: existing combinations, with sums', async () => {
  const carrier = showId('car', carrierId)
  const query = 'from=2026-02-01T00:00:00Z&to=2026-03-04T00:00:00Z&group=month,country,carrier'
  const { group, data, total } = (await get(query)).json<Record<string, unknown>>()
  expect([group, total]).toMatchObject(['month,country,carrier', { messages: 7, replies: 1 }])
  expect(data).toMatchObject([
    {
      month: '2026-02',
      country: 'US',
      carrier,
      messages: 1,
      segments: 2,
      cost: [{ amount: '0.01500', currency: 'EUR' }],
    },
    { month: '2026-03', country: 'GB', carrier, messages: 1, cost: [{ amount: '0.04000', currency: 'USD' }] },
    { month: '2026-03', country: 'US', carrier, messages: 5, replies: 0 },
    { month: '2026-03', country: 'US', carrier: null, messages: 0, replies: 1 },
  ])
  const file = await get(query, { accept: 'text/csv' })
  expect(file.headers['content-disposition']).toContain('usage-by-month-country-carrier.csv')
  expect(file.body.split('\n').map((line) => line.split(',').slice(0, 4))).toMatchObject([
    ['month', 'country', 'carrier', 'messages'],
    ['2026-02', 'US', carrier, '1'],
    ['2026-03', 'GB', carrier, '1'],
    ['2026-03', 'US', carrier, '5'],
    ['2026-03', 'US', '', '0'],
    [''],
  ])
})

it('refuses unknown groups, and more lines than a response has', async () => {
  expect((await get('group=month,colour&from=2026-03-02T00:00:00Z&to=2026-03-01T00:00:00Z')).json()).toMatchObject({
    errors: [
      { pointer: '?group', code: 'invalid_value' },
      { pointer: '?to', code: 'invalid_value' },
    ],
  })
  expect((await get('group=day,country,carrier,campaign,type')).statusCode).toBe(422)
  const small = await buildTestApp(db, (own) => usageRoutes(own, { db, linesMax: 2 }))
  const ask = (group: string): Promise<LightMyRequestResponse> =>
    small.inject({ url: `/v1/usage?${march}&group=${group}`, headers: account.headers })
  expect((await ask('day,country')).json()).toMatchObject({ errors: [{ pointer: '?group', code: 'out_of_range' }] })
  expect((await ask('month,country')).statusCode).toBe(200)
  await small.close()
})

it('groups carriers by id; replies have none', async () =>
  expect(await rows('carrier')).toEqual([
    [showId('car', carrierId), 6, 12],
    [null, 0, 0],
  ]))

it('counts test messages on request', async () => {
  expect((await get(`${march}&test=true`)).json()).toMatchObject({ total: { messages: 1, segments: 2 } })
})

it('covers this month by default', async () => {
  const now = new Date()
  const { from, data } = (await get('')).json<{ from: string; data: { messages: number }[] }>()
  expect([
    `${now.toISOString().slice(0, 7)}-01T00:00:00.000Z`,
    new Date(now.getTime() - 3_600_000).toISOString(),
  ]).toContain(from)
  expect(data.length).toBe(now.getUTCDate())
})

it('is a file if CSV is requested', async () => {
  const answer = await get(march, { accept: 'text/csv' })
  expect(answer.headers['content-type']).toBe('text/csv; charset=utf-8')
  expect(answer.body).toBe(
    [
      'day,messages,queued,sent,delivered,failed,unconfirmed,canceled,replies,segments,cost_EUR,cost_USD',
      '2026-03-01,2,0,0,2,0,0,0,0,4,0.01500,0.04000',
      '2026-03-02,0,0,0,0,0,0,0,0,0,,',
      '2026-03-03,4,0,1,2,1,0,0,1,8,0.03000,',
      '',
    ].join('\n'),
  )
})

it('has limits, and needs its scope', async () => {
  expect((await get('from=2024-01-01T00:00:00Z&to=2026-01-01T00:00:00Z')).json()).toMatchObject({
    errors: [{ pointer: '?from', code: 'out_of_range' }],
  })
  expect((await get('', {}, other)).statusCode).toBe(403)
})

it('groups subaccounts for callers who may read accounts, also with row security', async () => {
  const scopes = ['usage:read', 'accounts:read'] as const
  const [parent, below, stranger, plain] = await Promise.all([
    createTestAccount(db, { scopes }),
    createTestAccount(db, { scopes }),
    createTestAccount(db, { scopes }),
    createTestAccount(db, { scopes: ['usage:read'] }),
  ])
  await sql`update accounts set parent_id = ${parent.accountId} where id = ${below.accountId}`
  for (const { accountId } of [below, below, parent, stranger])
    await sql`insert into messages (account_id, id, status, their_number, encoding, characters, segments, created_at)
      values (${accountId}, ${newId()}, 'sent', '15551230001', 'GSM-7', 1, 1, '2026-03-02T00:00:00Z')`
  await recountCounters(db)
  const [parentId, belowId] = [parent, below].map(({ accountId }) => showId('acc', accountId))
  const walled = await buildTestApp(db, async (own) => usageRoutes(own, { db: await openWall(db, silent) }))
  const ask = (query: string, who: TestAccount): Promise<LightMyRequestResponse> =>
    walled.inject({ url: `/v1/usage?${march}&${query}`, headers: who.headers })
  const apart = (await ask('group=account', parent)).json()
  expect(apart.data.map((one: Record<string, unknown>) => [one['account'], one['messages']])).toEqual([
    [belowId, 2],
    [parentId, 1],
  ])
  expect(apart.total.messages).toBe(3)
  expect((await ask(`account=${belowId}`, parent)).json().total.messages).toBe(2)
  expect((await ask(`account=${belowId}&group=account`, parent)).json().data).toHaveLength(1)
  expect((await ask('', parent)).json().total.messages).toBe(1)
  expect((await ask(`account=${belowId}`, below)).json().total.messages).toBe(2)
  for (const [who, account] of [
    [below, parentId],
    [stranger, belowId],
    [parent, 'acc_x'],
  ] as const)
    expect((await ask(`account=${account}`, who)).statusCode).toBe(404)
  for (const query of ['group=account', `account=${showId('acc', plain.accountId)}`])
    expect((await ask(query, plain)).json().code).toBe('insufficient_scope')
  await walled.close()
})

const get = (query: string, headers: object = {}, who = account): Promise<LightMyRequestResponse> =>
  app.inject({ url: `/v1/usage?${query}`, headers: { ...who.headers, ...headers } })
const rows = async (group: string): Promise<unknown[][]> =>
  (await get(`${march}&group=${group}`))
    .json<{ data: Record<string, unknown>[] }>()
    .data.map((one) => [one[group], one['messages'], one['segments']])
