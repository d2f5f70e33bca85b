/** The operator gets one alert of replies without an account until they are given or deleted. */
import { beforeEach, describe, expect, it } from 'vitest'
import { buildTestApp, createTestAccount, testVault, type TestAccount } from '../accounts/testing.ts'
import { createTestDatabase, forEachTest } from '../ground/db/testing.ts'
import { Subscriptions, type Outbox } from '../events/events.ts'
import { newId, showId } from '../ground/base/ids.ts'
import { openLedgerTest } from '../messages/testing.ts'
import { storeReply } from '../inbound/reply.ts'
import { doctorRoutes } from '../doctor/http.ts'
import { alertRoutes } from './alerts-http.ts'
import { watchLinks, watchOrphans } from './alerts.ts'

let operator: TestAccount
let other: TestAccount
let subscriptions: Subscriptions
const outbox: Outbox = { nodeId: null, offer: () => {} }

const { db, sql } = await createTestDatabase()
const app = await buildTestApp(db, (one) => {
  alertRoutes(one, { db })
  doctorRoutes(one, { db, vault: testVault })
})
const test = forEachTest(db, openLedgerTest)
beforeEach(async () => {
  operator = await createTestAccount(db)
  other = await createTestAccount(db)
  await sql`update users set is_operator = true where account_id = ${operator.accountId}`
  for (const { accountId } of [operator, other])
    await sql`insert into webhooks (account_id, id, url, events, secret)
      values (${accountId}, ${newId()}, 'https://example.com/', '{reply.*}', '')`
  subscriptions = new Subscriptions(db)
  await subscriptions.refresh()
})

describe('replies to a number that no account has', () => {
  it('are one alert for the operator until the last is assigned, and one event', async () => {
    await look()
    expect(await alerts()).toEqual([])
    await says('4915550001')
    await look()
    await says('4915550002')
    await look()
    await watchLinks({ db, outbox, subscriptions })
    expect(await alerts()).toMatchObject([
      {
        type: 'reply.orphaned',
        status: 'open',
        carrier: { id: showId('car', test.carrierId) },
        sender: '4915550001',
        link: null,
        webhook: null,
      },
    ])
    expect(await alerts(other)).toEqual([])
    expect(await told()).toEqual([{ accountId: operator.accountId, type: 'reply.orphaned' }])
    await sql`delete from orphan_replies where destination = '4915550001'`
    await look()
    expect(await alerts()).toMatchObject([{ status: 'open' }])
    await sql`delete from orphan_replies`
    await look()
    expect(await alerts()).toMatchObject([{ status: 'closed', closed_at: expect.any(String) as string }])
    expect(await told()).toHaveLength(1)
    await says('4915550003')
    await look()
    expect(await alerts()).toMatchObject([{ status: 'open', sender: '4915550003' }, { status: 'closed' }])
    expect(await told()).toHaveLength(2)
  })

  it('are named by their carrier’s doctor, with their number and a remedy', async () => {
    const doctor = `/v1/carriers/${showId('car', test.carrierId)}/doctor`
    expect((await get(doctor))['replies']).toEqual([])
    await says('4915550001')
    await says('4915550002')
    await says('4915550002', 'Hi')
    const { replies } = await get(doctor)
    expect(replies).toEqual([
      {
        number: '4915550002',
        count: 2,
        last_received_at: expect.any(String) as string,
        last: expect.stringMatching(/^orp_/) as string,
        advice: expect.stringMatching(
          /^2 replies arrived for 4915550002, .*register it as a sender.*POST \/v1\/orphan-replies\/orp_\w+\/give/,
        ) as string,
      },
      expect.objectContaining({ number: '4915550001', count: 1 }) as object,
    ])
  })
})

const says = (destination: string, text = 'STOP'): ReturnType<typeof storeReply> =>
  storeReply(
    { ...test.context, wake: () => {} },
    { linkId: test.linkId, source: '447700900123', destination, text, isPartial: false },
  )
const look = (): Promise<void> => watchOrphans({ db, outbox, subscriptions })
const get = async (url: string, { headers }: TestAccount = operator): Promise<Record<string, unknown>> =>
  (await app.inject({ url, headers })).json()
const alerts = async (who?: TestAccount): Promise<unknown> => (await get('/v1/alerts', who))['data']
const told = async (): Promise<unknown[]> => await sql<object>`select account_id as "accountId", type from events`
