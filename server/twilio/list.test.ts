/** Lists as Twilio filters and pages them: by number, day and page. */
import { beforeEach, expect, test } from 'vitest'
import { buildTestApp, createTestAccount, testVault } from '../accounts/testing.ts'
import { inTransaction } from '../ground/db/db.ts'
import { createTestDatabase, emptyTables } from '../ground/db/testing.ts'
import { firstIdAt } from '../ground/base/ids.ts'
import { openLedgerTest, ourNumber } from '../messages/testing.ts'
import { showSid } from '../post/twilio-words.ts'
import { createTwilioCredential, openTwilioAuthenticator } from './credential.ts'
import { twilioRoutes } from './http.ts'

const { db, sql } = await createTestDatabase()
const account = await createTestAccount(db)
const ledger = await openLedgerTest(db, { accountId: account.accountId })
const callers = openTwilioAuthenticator(db)
const app = await buildTestApp(db, (own) => twilioRoutes(own, { ...ledger.routeContext, callers }))
const made = await inTransaction(db, (tx) =>
  createTwilioCredential(tx, testVault, account.accountId, { name: 'x', mode: 'live' }),
)
const authorization = `Basic ${Buffer.from(`${showSid('AC', account.accountId)}:${made?.token}`).toString('base64')}`
beforeEach(() => emptyTables(db, 'messages, queue, delayed'))

test('a number of the account is matched on its own side, whether as To or From', async () => {
  await ledger.send({ body: 'one' })
  await ledger.send({ body: 'two', theirNumber: '15551230002' })
  await ledger.reply('re')
  for (const [query, bodies] of [
    ['', ['re', 'two', 'one']],
    ['To=&From=', ['re', 'two', 'one']],
    ['To=%2B15551230001', ['one']],
    ['To=+15551230001', ['one']],
    ['To=15551230001', ['one']],
    [`To=%2B${ourNumber}`, ['re']],
    [`From=%2B${ourNumber}`, ['two', 'one']],
    ['From=%2B15551230001', ['re']],
    [`To=%2B15551230002&From=%2B${ourNumber}`, ['two']],
    [`To=%2B${ourNumber}&From=%2B15551230001`, ['re']],
    [`To=%2B${ourNumber}&From=%2B15551230002`, []],
  ] as const)
    expect([query, bodiesOf(await list(query))]).toEqual([query, bodies])
})

test('days begin and end at midnight UTC', async () => {
  for (const at of [
    '2026-11-18T23:59:59.999Z',
    '2026-11-19T00:00:00.000Z',
    '2026-11-19T23:59:59.999Z',
    '2026-11-20T00:00:00.000Z',
  ]) {
    const { id } = await ledger.send({ body: at.slice(8, 13) })
    const made = firstIdAt(Date.parse(at)).replace(/0$/, '1')
    await sql`update messages set id = ${made} where id = ${id}`
  }
  for (const [query, bodies] of [
    ['DateSent=2026-11-19', ['19T23', '19T00']],
    ['DateSent%3E=2026-11-19', ['20T00', '19T23', '19T00']],
    ['DateSentAfter=2026-11-20', ['20T00']],
    ['DateSent%3C=2026-11-19', ['18T23']],
    ['DateSentBefore=2026-11-20', ['19T23', '19T00', '18T23']],
    ['DateSent%3E=2026-11-19&DateSent%3C=2026-11-19T12:00:00Z', ['19T00']],
  ] as const)
    expect([query, bodiesOf(await list(query))]).toEqual([query, bodies])
  for (const query of ['DateSent=yesterday', 'DateSentAfter=19.11.2026', 'DateSent%3C=2026-13-01'])
    expect([query, (await list(query)).code]).toEqual([query, 20001])
})

test('pages link to each other, with their filters', async () => {
  for (const body of ['1', '2', '3', '4', '5']) await ledger.send({ body })
  await ledger.send({ body: 'other', theirNumber: '15551230002' })
  const first = await list('To=%2B15551230001&PageSize=2')
  expect(first).toMatchObject({ page: 0, page_size: 2, start: 0, end: 1, previous_page_uri: null })
  expect(bodiesOf(first)).toEqual(['5', '4'])
  const second = await get(first.next_page_uri ?? '')
  expect(second).toMatchObject({ page: 1, page_size: 2, start: 2, end: 3, first_page_uri: first.first_page_uri })
  expect(bodiesOf(second)).toEqual(['3', '2'])
  expect(bodiesOf(await get(second.uri))).toEqual(['3', '2'])
  const third = await get(second.next_page_uri ?? '')
  expect(third).toMatchObject({ page: 2, start: 4, end: 4, next_page_uri: null })
  expect(bodiesOf(third)).toEqual(['1'])
  const back = await get(third.previous_page_uri ?? '')
  expect(back).toMatchObject({ page: 1 })
  expect(bodiesOf(back)).toEqual(['3', '2'])
  expect(bodiesOf(await get(third.first_page_uri))).toEqual(['5', '4'])
  // A page token is bound to its filters.
  const elsewhere = (first.next_page_uri ?? '').replace('15551230001', '15551230002')
  expect((await get(elsewhere)).code).toBe(20001)
  const none = await list('To=%2B15551230003')
  expect(none).toMatchObject({ messages: [], start: 0, end: 0, next_page_uri: null })
})

test.each([
  ['', 50],
  ['PageSize=0', 1],
  ['PageSize=1000', 1000],
  ['PageSize=5000', 1000],
])('%j has pages of %i', async (query, size) => {
  expect((await list(query)).page_size).toBe(size)
})

test.each(['PageSize=ten', 'PageSize=-1', 'Page=x', 'PageToken=x'])('%s is refused', async (query) => {
  expect((await list(query)).code).toBe(20001)
})

interface Page {
  messages: { body: string; direction: string }[]
  first_page_uri: string
  next_page_uri: string | null
  previous_page_uri: string | null
  uri: string
  page: number
  page_size: number
  start: number
  end: number
}

const path = (): string => `/2010-04-01/Accounts/${showSid('AC', account.accountId)}/Messages.json`
const get = async (url: string): Promise<Page & { code?: number }> =>
  (await app.inject({ url, headers: { authorization } })).json()
const list = (query: string): ReturnType<typeof get> => get(`${path()}?${query}`)
const bodiesOf = ({ messages }: Page): string[] => messages.map(({ body }) => body)
