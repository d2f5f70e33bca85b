import { expect, it } from 'vitest'
import { createTestAccount } from '../accounts/testing.ts'
import { newId, showId } from '../ground/base/ids.ts'
import { countryOf } from '../ground/numbers/number.ts'
import { Meter } from '../ground/metrics/meter.ts'
import { saveLive } from '../live/live.ts'
import { ledgerWorld, moveTo } from '../messages/testing.ts'
import { foldCounters } from './fold.ts'
import { seriesRoutes } from './series-http.ts'

const { db, account, test, other, ...made } = await ledgerWorld([seriesRoutes])
const [campaignId, webhookId] = [newId(), newId()]
await test.sql`insert into campaigns (account_id, id, name) values (${test.accountId}, ${campaignId}, 'Sale')`
await test.sql`insert into webhooks (account_id, id, url, events, secret)
  values (${test.accountId}, ${webhookId}, 'http://127.0.0.1:9/', '{}', '')`
interface Body {
  id: string
  since: string
  until: string
  step_seconds: number
  counts: Record<string, number[]>
  latency?: Record<string, { p50_ms: (number | null)[]; histogram: { up_to_ms: number; count: number }[] }>
}
const get = (query: string, headers = account.headers) => made.app.inject({ url: `/v1/series?${query}`, headers })
const read = async (query: string): Promise<Body> => (await get(query)).json<Body>()
const sums = ({ counts }: Body): Record<string, number> =>
  Object.fromEntries(Object.entries(counts).map(([name, all]) => [name, all.reduce((sum, one) => sum + one, 0)]))

const [ofCampaign, ofCarrier, ofLink, ofWebhook] = [
  `by=campaign&id=${showId('cmp', campaignId)}`,
  `by=carrier&id=${showId('car', test.carrierId)}`,
  `by=link&id=${showId('lnk', test.linkId)}`,
  `by=webhook&id=${showId('whk', webhookId)}`,
]

it('counts moves of messages by account, campaign and carrier, in every step', async () => {
  for (const state of ['delivered', 'undeliverable', null]) {
    const handover = await test.lease({ theirNumber: `1555123000${state?.length ?? 1}`, campaignId })
    const carrierMessageId = newId()
    await test.answer(handover, { carrierMessageId, move: moveTo('sent') })
    const receipt = {
      linkId: test.linkId,
      rawId: carrierMessageId,
      matchId: carrierMessageId,
      err: '000',
      networkError: null,
    }
    if (state !== null) await test.ledger.receipt({ ...receipt, state, stat: 'X', doneDate: '' })
  }
  await test.reply('Thanks', { source: '15551230009' })
  await test.send({ theirNumber: '15551230005', isTest: true })
  await foldCounters(db)
  const expected = { accepted: 3, sent: 3, delivered: 1, failed: 1, replies: 1 }
  for (const [step, length] of [
    ['10s', 360],
    ['1m', 1440],
    ['1h', 168],
  ] as const) {
    const body = await read(`step=${step}`)
    expect(sums(body)).toEqual(expected)
    expect(body.counts['sent']).toHaveLength(length)
    expect(Date.parse(body.until) - Date.parse(body.since)).toBe(length * body.step_seconds * 1000)
  }
  expect(sums(await read(ofCampaign))).toEqual(expected)
  expect(sums(await read(ofCarrier))).toEqual({ sent: 3, delivered: 1, failed: 1 })
})

it('adds up what several processes measured of links, carriers and webhooks', async () => {
  for (let n = 0; n < 2; n++) {
    const meter = new Meter(countryOf)
    const note = meter.linkObserver(test.linkId, test.carrierId)
    note('15551230001', { state: 'accepted' }, 20)
    note('15551230001', { state: 'refused', reason: { handling: 'permanent' } }, 20)
    note('447400123456', { state: 'refused', reason: { handling: 'throttling' } }, 100)
    const to = { accountId: test.accountId, endpointId: webhookId, isCallback: false }
    meter.notePost(to, { outcome: 'ok', statusCode: 200, durationMs: 50 })
    meter.notePost(to, { outcome: 'refused', statusCode: null, durationMs: 1 })
    await saveLive(db, test.nodeId, meter)
    await saveLive(db, test.nodeId, meter)
  }
  const link = await read(ofLink)
  expect(sums(link)).toEqual({ sent: 2, failed: 2, throttled: 2 })
  const histogram = [
    { up_to_ms: 32, count: 4 },
    { up_to_ms: 64, count: 0 },
    { up_to_ms: 128, count: 2 },
  ]
  expect(link.latency?.['response']?.histogram).toEqual(histogram)
  expect(link.latency?.['response']?.p50_ms.filter((ms) => ms !== null)[0]).toBeCloseTo(20, -1)
  expect((await read(ofCarrier)).latency?.['response']?.histogram).toEqual(histogram)
  const webhook = await read(ofWebhook)
  expect(sums(webhook)).toEqual({ succeeded: 2, failed: 2 })
  expect(webhook.latency?.['response']?.histogram).toEqual([{ up_to_ms: 64, count: 2 }])
})

it('shows when a link was down', async () => {
  await test.sql`insert into alerts (account_id, id, type, subject, seen_at, opened_at, clear_at, closed_at)
    values (${account.accountId}, ${newId()}, 'link.down', ${test.linkId}, now() - interval '100 seconds', now() - interval '90 seconds',
      now() - interval '60 seconds', now() - interval '50 seconds')`
  const { states } = (await get(ofLink)).json<{ states: Record<string, number[]> }>()
  expect(states['down_seconds']).toHaveLength(360)
  expect(states['down_seconds']?.reduce((sum, one) => sum + one, 0)).toBeCloseTo(40, -1)
  expect(Math.max(...(states['down_seconds'] ?? []))).toBe(10)
  expect(Math.max(...(states['throttled_seconds'] ?? []))).toBe(0)
})

it('shows an account its own subjects, and carriers to those who may read them', async () => {
  expect(sums((await get('', other.headers)).json<Body>())).toMatchObject({ accepted: 0, delivered: 0 })
  for (const query of [ofCampaign, ofWebhook, `id=${showId('acc', test.accountId)}`])
    expect((await get(query, other.headers)).statusCode).toBe(404)
  const few = await createTestAccount(db, { scopes: ['usage:read'] })
  for (const query of [ofCampaign, ofCarrier, ofLink, ofWebhook])
    expect((await get(query, few.headers)).json()).toMatchObject({ code: 'insufficient_scope' })
})

it.each([
  ['by=carrier', '?id'],
  ['since=2020-01-01', '?since'],
  ['until=2200-01-01', '?until'],
  ['since=2100-01-02&until=2100-01-01', '?until'],
  ['by=message', '?by'],
])('refuses %s', async (query, pointer) => {
  expect((await get(query)).json()).toMatchObject({ errors: [{ pointer }] })
})
