import { describe, expect, it } from 'vitest'
import { createTestDatabase } from '../ground/db/testing.ts'
import { newId, parseId, showId } from '../ground/base/ids.ts'
import { inTransaction } from '../ground/db/db.ts'
import { replaceRates } from '../rates/store.ts'
import { cancelMessage } from '../messages/cancel.ts'
import { storeReply } from '../inbound/reply.ts'
import { foldCounters } from '../usage/fold.ts'
import { moveTo, openLedgerTest, ourNumber } from '../messages/testing.ts'
import type { Stats } from './stats-schema.ts'
import { openCampaignTest } from './testing.ts'

const { db, sql } = await createTestDatabase()
const test = await openCampaignTest(db)
const ledger = await openLedgerTest(db, { accountId: test.account.accountId })
const campaign = await test.newCampaign({ key: 'autumn' })
const campaignId = parseId('cmp', campaign) ?? ''
await fill()

/** One message of each kind, a reply, a STOP, and a broadcast with skipped and waiting recipients. */
async function fill(): Promise<void> {
  const lease = (theirNumber: string, segments = 1) => ledger.lease({ theirNumber, segments, campaignId })
  const receipt = (id: string, state: string, stat: string) =>
    ledger.ledger.receipt({
      linkId: ledger.linkId,
      rawId: id,
      matchId: id,
      state,
      stat,
      err: '001',
      networkError: null,
      doneDate: '',
    })
  await ledger.send({ theirNumber: '15551230001', campaignId })
  await ledger.send({ theirNumber: '15551230002', campaignId, sendAt: new Date(Date.now() + 3_600_000) })
  await ledger.answer(await lease('15551230003'))
  const price = { amount: 7500, currency: 'EUR' }
  const rates = ['15551230004', '4477'].map((destination) => ({ destination, effectiveFrom: new Date(0), price }))
  await inTransaction(db, (tx) => replaceRates(tx, ledger.carrierId, rates))
  await ledger.routing.refresh()
  for (const [number, state, stat] of [
    ['15551230004', 'delivered', 'DELIVRD'],
    ['447700900123', 'delivered', 'DELIVRD'],
    ['447700900124', 'undeliverable', 'UNDELIV'],
  ] as const) {
    const handover = await lease(number)
    await ledger.answer(handover)
    await receipt(handover.id, state, stat)
  }
  await ledger.answer(await lease('15551230005', 2), {
    state: 'unknown',
    carrierMessageId: null,
    move: moveTo('unconfirmed', { errorCode: 'outcome_unknown' }),
  })
  const canceled = await ledger.send({ theirNumber: '15551230006', segments: 3, campaignId })
  await cancelMessage(ledger.context, ledger.accountId, canceled.id)
  // The last reply answers a message outside the campaign.
  await ledger.send({ theirNumber: '15551230009' })
  for (const [source, text] of [
    ['15551230004', 'Thanks'],
    ['15551230004', 'STOP'],
    ['15551230009', 'STOP'],
  ] as const)
    await storeReply(
      { ...ledger.context, wake: () => {} },
      { linkId: ledger.linkId, source, destination: ourNumber, text, isPartial: false },
    )
  await sql`insert into broadcasts (account_id, id, campaign_id, status, body, is_test, send_at, timezone, recipients, messages, skipped)
    values (${ledger.accountId}, ${newId()}, ${campaignId}, 'sending', '{}', false, now(), 'UTC', 110, 3, '{"recipient_opted_out": 4, "missing_variable": 1}'),
      (${ledger.accountId}, ${newId()}, ${campaignId}, 'canceled', '{}', false, now(), 'UTC', 20, 5, '{"duplicate": 5}'),
      (${ledger.accountId}, ${newId()}, ${campaignId}, 'rejected', '{}', false, now(), 'UTC', 7, 0, '{"quiet_hours": 2, "duplicate_message": 1}')`
  await sql`insert into campaign_clicks (account_id, campaign_id, clicks)
    values (${ledger.accountId}, ${campaignId}, 3), (${ledger.accountId}, ${parseId('cmp', await test.newCampaign())}, 5)`
}

describe('the stats of a campaign', () => {
  it('add up, before and after they are folded', async () => {
    const before = await stats()
    expect(before).toEqual({
      recipients: 137,
      queued: 2 + 102,
      sent: 1,
      delivered: 2,
      failed: 1,
      failures: { unknown_subscriber: 1 },
      unconfirmed: 1,
      canceled: 1 + 10 + 4,
      skipped: { opted_out: 4, invalid: 1, duplicate: 6, quiet_hours: 2 },
      replies: 2,
      opt_outs: 1,
      clicks: 3,
      segments: 11,
      cost: [{ amount: '0.02250', currency: 'EUR' }],
    })
    const { queued, sent, delivered, failed, unconfirmed, canceled, skipped } = before
    const passedOver = Object.values(skipped).reduce((sum, count) => sum + count, 0)
    expect(queued + sent + delivered + failed + unconfirmed + canceled + passedOver).toBe(before.recipients)
    expect(await foldCounters(db)).toBeGreaterThan(0)
    expect(await stats()).toEqual(before)
  })

  it('are empty for a new campaign, and exclude another account’s', async () => {
    const { body } = await test.call('GET', `/v1/campaigns/${await test.newCampaign()}`)
    expect(body['stats']).toMatchObject({ recipients: 0, queued: 0, skipped: { invalid: 0 }, segments: 0, cost: [] })
    for (const path of ['stats', 'stats/export'])
      expect((await test.call('GET', `/v1/campaigns/${campaign}/${path}`, undefined, test.other)).status).toBe(404)
  })
})

describe('the series of a campaign', () => {
  it('has every hour from the first message', async () => {
    const body = await get('')
    expect(body).toMatchObject({
      object: 'campaign_stats',
      campaign,
      group: 'hour',
      total: { messages: 8, replies: 2 },
    })
    const data = body['data'] as { hour: string; messages: number }[]
    expect(data[0]).toMatchObject({ hour: body['from'] })
    expect(data.reduce((sum, one) => sum + one.messages, 0)).toBe(8)
    const from = new Date(Date.now() - 48 * 3_600_000)
    const longer = (await get(`from=${from.toISOString()}`))['data'] as { hour: string; messages: number }[]
    expect(longer).toHaveLength(49)
    expect(longer[0]).toMatchObject({ hour: hourOf(from.getTime()), messages: 0, delivered: 0, cost: [] })
    expect(longer.slice(-2).reduce((sum, one) => sum + one.messages, 0)).toBe(8)
  })

  it.each([
    ['from=2026-01-01T00:00:00Z&to=2026-03-01T00:00:00Z', '?from', 'out_of_range'],
    ['from=2026-03-01T00:00:00Z&to=2026-01-01T00:00:00Z', '?to', 'invalid_value'],
    ['from=yesterday', '?from', 'invalid_format'],
    ['group=minute', '?group', 'invalid_value'],
  ])('refuses %s', async (query, pointer, code) => {
    expect((await test.call('GET', `/v1/campaigns/autumn/stats?${query}`)).body).toMatchObject({
      code: 'validation_failed',
      errors: [{ pointer, code }],
    })
  })
})

it('a series has at most the last 744 hours, and a breakdown has all of them', async () => {
  const id = await test.newCampaign({ key: 'long' })
  const now = Date.now()
  const days = [60, 40, 29, 0]
  await sql`insert into tallies (account_id, hour, campaign_id, type, is_test, segments, bucket, messages)
    select ${ledger.accountId}, t.hour, ${parseId('cmp', id)}, 'otp', false, 1, 'sent', t.messages
    from unnest(${days.map((day) => hourOf(now - day * 86_400_000))}::timestamptz[], ${[1, 10, 100, 1000]}::int[]) as t (hour, messages)`
  const of = async (query: string) => (await test.call('GET', `/v1/campaigns/long/stats?${query}`)).body
  const series = await of('')
  expect(series).toMatchObject({ to: hourOf(now + 3_600_000), total: { messages: 1100 } })
  expect(series['data']).toHaveLength(744)
  expect(await of('group=country')).toMatchObject({
    from: hourOf(now - 60 * 86_400_000),
    data: [{ country: null, messages: 1111 }],
  })
  const until = `to=${hourOf(now - 29 * 86_400_000)}`
  expect(await of(`group=country&${until}`)).toMatchObject({ total: { messages: 11 } })
  expect(await of(until)).toMatchObject({ total: { messages: 11 } })
})

describe('a breakdown', () => {
  const rows = async (group: string): Promise<unknown[][]> =>
    ((await get(`group=${group}`))['data'] as Record<string, unknown>[]).map((one) => [
      one[group === 'segments' ? 'segments_per_message' : group],
      one['messages'],
      one['delivered'],
      one['failed'],
      one['segments'],
    ])

  it('separates countries', async () =>
    expect(await rows('country')).toEqual([
      ['US', 6, 1, 0, 9],
      ['GB', 2, 1, 1, 2],
    ]))
  it('separates carriers, and messages without one', async () =>
    expect(await rows('carrier')).toEqual([
      [showId('car', ledger.carrierId), 5, 2, 1, 6],
      [null, 3, 0, 0, 5],
    ]))
  it('separates errors', async () =>
    expect(await rows('error')).toEqual([
      [null, 1, 0, 0, 3],
      ['unknown_subscriber', 1, 0, 1, 1],
    ]))
  it('separates numbers of segments', async () =>
    expect(await rows('segments')).toEqual([
      [1, 6, 2, 1, 6],
      [2, 1, 0, 0, 2],
      [3, 1, 0, 0, 3],
    ]))
})

it('is exported in full', async () => {
  const answer = await test.app.inject({ url: `/v1/campaigns/${campaign}/stats/export`, headers: test.account.headers })
  expect(answer.headers).toMatchObject({
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': 'attachment; filename="autumn-stats.csv"',
  })
  const [header, ...lines] = answer.body.trim().split('\n')
  expect(header).toBe(
    'hour,type,test,country,carrier,status,error,segments_per_message,messages,segments,cost,currency',
  )
  const carrier = showId('car', ledger.carrierId)
  expect(lines.map((line) => line.slice(line.indexOf(',') + 1))).toEqual(
    expect.arrayContaining([
      `transactional,false,GB,${carrier},delivered,,1,1,1,0.007500,EUR`,
      `transactional,false,GB,${carrier},failed,unknown_subscriber,1,1,1,0.007500,EUR`,
      'transactional,false,US,,canceled,,3,1,3,,',
      'transactional,false,US,,scheduled,,1,1,1,,',
    ]),
  )
  expect(lines.reduce((sum, line) => sum + Number(line.split(',')[8]), 0)).toBe(10)
})

const stats = async (): Promise<Stats> => (await test.call('GET', `/v1/campaigns/${campaign}`)).body['stats'] as Stats
const get = async (query: string): Promise<Record<string, unknown>> =>
  (await test.call('GET', `/v1/campaigns/autumn/stats?${query}`)).body
const hourOf = (time: number): string => new Date(Math.floor(time / 3_600_000) * 3_600_000).toISOString()
