/** A response is valid for the next request: no cached table is older than a change that was confirmed. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Client, Message } from './client.ts'
import { startProgram, type Program } from './harness.ts'

let program: Program
let client: Client
let carrier: string

beforeAll(async () => {
  program = await startProgram()
  client = program.client
  carrier = (await client.carrier()).id
})
afterAll(() => program?.remove())

// Caches refresh every second or two: spread over seconds, most tries would hit the old state.
const tries = 5
const send = (changes: object = {}): Promise<Message> =>
  client.send({ to: '15551230001', message: 'Hello', ...changes })
const change = <T = { id: string }>(method: string, path: string, body?: object): Promise<T> =>
  client.expect<T>(method, path, body)

test('the next message uses a sender that was just created, made the default, or given up', async () => {
  const first = await change('POST', '/v1/senders', { number: '14155550100', carrier, default: true })
  for (let n = 1; n <= tries; n++) {
    const number = `1415555010${n}`
    const { id } = await change('POST', '/v1/senders', { number, carrier, default: true })
    expect(await send()).toMatchObject({ from: number })
    await change('PATCH', `/v1/senders/${first.id}`, { default: true })
    expect(await send()).toMatchObject({ from: '14155550100' })
    await change('PATCH', '/v1/settings', { default_sender: number })
    expect(await send()).toMatchObject({ from: number })
    await change('DELETE', `/v1/senders/${id}`)
    expect((await send()).from).not.toBe(number)
  }
})

test('the next message follows a changed campaign, its sender and its quiet hours', async () => {
  await change('POST', '/v1/campaigns', { name: 'Sale', key: 'sale', type: 'marketing', from: '14155550100' })
  await change('POST', '/v1/senders', { number: 'Acme', carrier })
  const start = new Date(Date.now() - 3_600_000).toISOString().slice(11, 16)
  const end = new Date(Date.now() + 3_600_000).toISOString().slice(11, 16)
  const quiet = { enabled: true, start, end, fallback_timezone: 'UTC' }
  const inSale = () => send({ to: '447700900123', campaign: 'sale' })
  for (let n = 0; n < tries; n++) {
    await change('PATCH', '/v1/campaigns/sale', { from: 'Acme' })
    expect(await inSale()).toMatchObject({ from: 'Acme' })
    await change('PATCH', '/v1/campaigns/sale', { from: '14155550100', quiet_hours: quiet })
    expect(await inSale()).toMatchObject({ from: '14155550100', hold: { reason: 'quiet_hours' } })
    await change('PATCH', '/v1/campaigns/sale', { quiet_hours: null })
    expect((await inSale()).hold).toBeNull()
    await change('PATCH', '/v1/settings', { quiet_hours: quiet })
    expect(await inSale()).toMatchObject({ hold: { reason: 'quiet_hours' } })
    await change('PATCH', '/v1/settings', { quiet_hours: { enabled: false } })
    expect((await inSale()).hold).toBeNull()
  }
})

test('guards stop the next message', async () => {
  for (let n = 0; n < tries; n++) {
    await change('PATCH', '/v1/settings', { allowed_countries: ['GB'] })
    expect((await client.call('POST', '/v1/messages/send', { to: '15551230001', message: 'Hello' })).status).toBe(403)
    await change('PATCH', '/v1/settings', { allowed_countries: ['GB', 'US'] })
    await send()
  }
})

test('the next message uses the current routes and prices', async () => {
  for (let n = 1; n <= tries; n++) {
    await change('PUT', `/v1/carriers/${carrier}/rates`, {
      rates: [{ country: 'US', amount: `0.0${n}`, currency: 'USD' }],
    })
    expect(await send()).toMatchObject({ estimated_price: { amount: `0.0${n}000` } })
    const route = await change('POST', '/v1/routes', { match: { countries: ['US'] }, carriers: [] })
    const refused = await client.call('POST', '/v1/messages/send', { to: '15551230001', message: 'Hello' })
    expect(refused.body).toMatchObject({ code: 'no_route_available' })
    await change('DELETE', `/v1/routes/${route.id}`)
    await send()
  }
})

test('a carrier’s code has the meaning that its table was just given', async () => {
  await client.waitForBound()
  for (const error of ['content_filtered', 'fraud_suspected', 'content_filtered', 'fraud_suspected']) {
    await change('PUT', `/v1/carriers/${carrier}/mappings`, {
      mappings: [{ kind: 'submit', code: 'ESME_RPROHIBITED', error, handling: 'permanent' }],
    })
    const { id } = await send({ to: '15005550003' })
    expect(await client.waitForStatus(id, ['failed', 'rejected'])).toMatchObject({ error: { code: error } })
  }
})

test('a webhook gets the next message’s event', async () => {
  for (let n = 0; n < tries; n++) {
    const url = 'https://example.com/hook'
    const hook = await change('POST', '/v1/webhooks', { url, events: ['message.queued'] })
    const told = await send()
    await change('DELETE', `/v1/webhooks/${hook.id}`)
    const untold = await send()
    const { data } = await client.get<{ data: { data: { message: Message } }[] }>(
      '/v1/events?type=message.queued&limit=200',
    )
    const ids = data.map((event) => event.data.message.id)
    expect([ids.includes(told.id), ids.includes(untold.id)]).toEqual([true, false])
  }
})
