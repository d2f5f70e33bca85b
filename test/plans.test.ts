/**
 * How the database serves lists of 120,000 messages, more than a page may read (TEST_ROWS makes more): every allowed combination of filters, by the
 * application's own statements. None reads a whole table, sorts more than pages, or touches more than a bounded number of pages.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addAccounts, fillMessages, type Filled } from '../scripts/fill.ts'
import type { Db } from '../server/ground/db/db.ts'
import { openWall, withinAccount } from '../server/ground/db/scoped.ts'
import { createTestDatabase, type TestDatabase } from '../server/ground/db/testing.ts'
import { hashToken, newKey } from '../server/accounts/token.ts'
import { scopes } from '../server/ground/http/http.ts'
import { newId, showId } from '../server/ground/base/ids.ts'
import { silent } from '../server/messages/testing.ts'
import { explain, readTableRows, watchQueries } from './plans.ts'
import { openWorld, type World } from './tenancy-world.ts'

const messages = Number(process.env['TEST_ROWS'] ?? 120_000)

const queries = watchQueries()
let database: TestDatabase
// Statements are explained as requests run them: with row security.
let walled: Db
let accountId: string
let world: World
let filled: Filled
let rowsOf: Map<string, number>
let authorization: string
let webhookId: string

beforeAll(async () => {
  database = await createTestDatabase()
  const accountIds = await addAccounts(database.db)
  filled = await fillMessages(database.db, { accountIds, messages, days: 5 })
  const { key, publicId } = newKey('live')
  await database.db.query(
    `insert into api_keys (account_id, id, public_id, secret_hash, name, scopes) values ($1, $2, $3, $4, 'Lists', $5)`,
    [accountIds[0], newId(), publicId, hashToken(key), scopes],
  )
  authorization = `Bearer ${key}`
  await database.db.query(
    `insert into delayed (account_id, message_id, lane_id, segments, due_at)
     select account_id, id, gen_random_uuid(), 1, now() from messages where status = 'queued'`,
  )
  webhookId = await fillOthers(database.db, accountIds[0], filled.campaignId)
  rowsOf = await readTableRows(database.db)
  world = await openWorld(database)
  walled = await openWall(database.db, silent)
  accountId = accountIds[0]
}, 300_000)
afterAll(async () => {
  queries.end()
  await world?.close()
  await database?.close()
})

/** Data for the other lists: enough rows to notice a full read. Returns the id of an endpoint. */
async function fillOthers(db: Db, accountId: string, campaignId: string): Promise<string> {
  const [webhook, count] = [newId(), Math.min(messages, 50_000)]
  const id = `(left($2::text, 24) || lpad(to_hex(n), 12, '0'))::uuid`
  const from = `from generate_series(1, ${count}) as n`
  const base = newId()
  const fills = [
    `insert into contacts (account_id, campaign_id, id, phone_number, first_name, tags)
     select $1, $3, ${id}, (15552000000 + n)::text, 'Ann', case when n % 100 = 1 then array['vip'] else '{}' end ${from}`,
    `insert into opt_outs (account_id, id, number, source, reason)
     select $1, ${id}, (15552000000 + 10 * n)::text, case n when 7 then 'review' else 'api' end, 'a complaint' ${from}`,
    `insert into conversations (account_id, id, our_number, their_number, last_reply_id, unread, campaign_id, created_at, closed_at, closed_by)
     select $1, ${id}, '15557654321', (15552000000 + n)::text, ${id}, n % 3, $3, now(),
       case n % 1000 when 1 then now() end, case n % 1000 when 1 then 'usr_' end ${from}`,
    `insert into consents (account_id, id, number_hmac, status, source, campaign_id)
     select $1, ${id}, ('\\x' || lpad(to_hex(n % 100), 8, '0'))::bytea, 'opted_in', 'api', $3 ${from}`,
    `insert into events (account_id, id, type)
     select $1, ${id}, case n % 10 when 1 then 'message.failed' else 'message.delivered' end ${from}`,
  ]
  await db.query(
    `insert into webhooks (account_id, id, url, events, secret) values ($1, $2, 'https://example.com/', '{message.delivered}', '')`,
    [accountId, webhook],
  )
  fills.push(`insert into attempts (account_id, id, endpoint_id, event_id, try, outcome, duration_ms)
     select $1, ${id}, $3, ${id}, 1, 'delivered', 5 ${from}`)
  for (const fill of fills)
    await db.query(fill, [
      accountId,
      base,
      ...(fill.includes('$3') ? [fill.includes('attempts') ? webhook : campaignId] : []),
    ])
  await db.query('analyze delayed, contacts, opt_outs, conversations, consents, events, attempts')
  return webhook
}

interface Page {
  data: unknown[]
  next_cursor: string | null
  refresh_cursor: string | null
}

/** Requests a page; returns the cost of its statements on large tables. */
async function costOf(
  path: string,
  query: Record<string, string>,
): Promise<{ page: Page; pages: number; faults: string[] }> {
  const { result, asked } = await queries.record(() =>
    world.app.inject({ method: 'GET', url: path, query, headers: { authorization } }),
  )
  expect(result.statusCode, result.body).toBe(200)
  const costs = []
  for (const one of asked)
    if (/^\s*(select|with)\b/i.test(one.text))
      costs.push(await withinAccount(accountId, () => explain(walled, one, rowsOf)))
  const page = result.json<Page>()
  if (page.data.length > 0) expect(costs.some((cost) => cost.pages > 0 && cost.indexes.length > 0)).toBe(true)
  return {
    page,
    pages: costs.reduce((sum, cost) => sum + cost.pages, 0),
    faults: costs.flatMap((cost) => cost.faults),
  }
}

// Sets of filters with a leading index, and one without.
const leads = (): Record<string, Record<string, string>> => ({
  'no filter': {},
  to: { to: filled.number },
  'number, both ways': { number: filled.number },
  'from a person': { from: filled.number, direction: 'inbound' },
  campaign: { campaign: showId('cmp', filled.campaignId) },
  contact: { contact: showId('ctc', filled.contactId) },
  error_code: { error_code: 'handset_unreachable' },
  'one status': { status: 'rejected' },
  statuses: { status: 'undelivered,expired,unconfirmed,canceled,scheduled' },
  'delivery_status=Failed': { delivery_status: 'Failed' },
})

const hourAgo = (): string => new Date(Date.now() - 3_600_000).toISOString()
const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString()

// Checked on the messages that the leading filter finds.
const others = (): Record<string, Record<string, string>> => ({
  alone: {},
  direction: { direction: 'outbound' },
  type: { type: 'otp' },
  'status of most': { status: 'delivered' },
  'status of few': { status: 'queued,sending' },
  'delivery_status=Delivered': { delivery_status: 'Delivered' },
  'from ours': { from: '15557654321' },
  test: { test: 'true' },
  tag: { tag: 'vip' },
  metadata: { 'metadata[order]': 'o77' },
  segments_gte: { segments_gte: '2' },
  updated_after: { updated_after: hourAgo() },
  updated_before: { updated_before: daysAgo(2) },
  created_after: { created_after: hourAgo() },
  created_before: { created_before: daysAgo(2) },
  'a day': { created_after: daysAgo(3), created_before: daysAgo(2) },
  'nothing like it': { tag: 'no such', type: 'marketing' },
})
// Oldest first, the same plans run backwards.
const upward = ['alone', 'type', 'created_after', 'a day', 'nothing like it']
const searched = ['tag', 'metadata[order]', 'segments_gte', 'updated_after', 'updated_before']

// A page that fills immediately touches few pages; one that reads as far as allowed, those of 100,000 messages.
const pagesMax = { full: 3000, looking: 120_000 }

describe('a page of messages', () => {
  it.each(['-created_at', 'created_at'])(
    'is read by an index for any filters, sorted by %s',
    async (sort) => {
      const wrong: string[] = []
      for (const [lead, leading] of Object.entries(leads()))
        for (const [other, checked] of Object.entries(others())) {
          if (sort === 'created_at' && !upward.includes(other)) continue
          // Two values of one filter are not a combination.
          if (Object.keys(checked).some((name) => name in leading && checked[name] !== leading[name])) continue
          const isSearch = lead === 'no filter' && Object.keys(checked).some((name) => searched.includes(name))
          const query = { ...leading, ...checked, sort, ...(isSearch && { created_after: daysAgo(30) }) }
          const { pages, faults } = await costOf('/v1/messages', query)
          const atMost = other === 'alone' ? pagesMax.full : pagesMax.looking
          if (pages > atMost) faults.push(`${pages} pages`)
          wrong.push(...faults.map((fault) => `${lead} with ${other}: ${fault}`))
        }
      expect(wrong).toEqual([])
    },
    120_000,
  )
})

describe('the next page, and later rows', () => {
  it('are read like the first, far down the list', async () => {
    const wrong: string[] = []
    for (const [lead, leading] of Object.entries(leads())) {
      const query = { ...leading, created_before: daysAgo(1) }
      const { page } = await costOf('/v1/messages', query)
      for (const cursor of [page.next_cursor, page.refresh_cursor]) {
        if (cursor === null) continue
        const { pages, faults } = await costOf('/v1/messages', { ...query, cursor })
        wrong.push(
          ...[...faults, ...(pages > pagesMax.full ? [`${pages} pages`] : [])].map((fault) => `${lead}: ${fault}`),
        )
      }
    }
    expect(wrong).toEqual([])
  })

  it('costs no more as a page of an export', async () => {
    const { asked } = await queries.record(() =>
      world.app.inject({
        url: `/v1/messages/export?created_after=${daysAgo(0.01)}&type=otp`,
        headers: { authorization },
      }),
    )
    const pages = asked.filter(({ text }) => text.includes('from messages m'))
    expect(pages.length).toBeGreaterThan(0)
    for (const one of pages) {
      const { faults, pages: touched } = await withinAccount(accountId, () => explain(walled, one, rowsOf))
      expect([faults, touched < pagesMax.looking]).toEqual([[], true])
    }
  })
})

describe('the other lists', () => {
  const paths = (): [string, Record<string, string>[]][] => {
    const campaign = showId('cmp', filled.campaignId)
    return [
      [
        `/v1/campaigns/${campaign}/contacts`,
        [{}, { phone_prefix: '155520' }, { tag: 'vip' }, { status: 'active' }, { phone_number: '15552000077' }],
      ],
      ['/v1/opt-outs', [{}, { number: '15552000070' }, { source: 'review' }, { source: 'api' }, { reason: 'rude' }]],
      [
        '/v1/conversations',
        [
          {},
          { unread: 'true' },
          { our_number: '15557654321' },
          { their_number: '15552000077' },
          { assignee: 'none' },
          { state: 'closed' },
          { state: 'open', unread: 'false' },
          { search: '777' },
          { campaign },
        ],
      ],
      ['/v1/events', [{}, { type: 'message.failed' }]],
      [`/v1/webhooks/${showId('whk', webhookId)}/deliveries`, [{}]],
      [`/v1/campaigns/${campaign}/broadcasts`, [{}]],
      [`/v1/campaigns/${campaign}/imports`, [{}]],
      ['/v1/campaigns', [{}, { name: 'sale', status: 'active', tag: 'x', created_after: '2020-01-01' }]],
      ['/v1/webhooks', [{}]],
      ['/v1/templates', [{}, { name: 'sale', language: 'de', created_before: '2020-01-01' }]],
    ]
  }

  it('are also read by an index', async () => {
    const wrong: string[] = []
    for (const [path, queriesOf] of paths())
      for (const query of queriesOf) {
        const { pages, faults } = await costOf(path, query)
        wrong.push(
          ...[
            ...faults,
            ...(pages > ('search' in query ? pagesMax.looking : pagesMax.full) ? [`${pages} pages`] : []),
          ].map((fault) => `${path} ${JSON.stringify(query)}: ${fault}`),
        )
      }
    expect(wrong).toEqual([])
  })
})
