import { describe, expect, it } from 'vitest'
import type { AddressInfo } from 'node:net'
import { buildTestApp, createTestAccount, testVault } from '../accounts/testing.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import type { App } from '../ground/http/http.ts'
import { parseId } from '../ground/base/ids.ts'
import { Acceptor } from '../accept/accept.ts'
import type { Answer } from '../ledger/answer.ts'
import type { MessageRow } from '../message/message.ts'
import { defaultReasons } from '../message/taxonomy.ts'
import { insertTestSender, openLedgerTest, ourNumber, silent, rowOf } from '../messages/testing.ts'
import { until } from '../../test/until.ts'
import { carrierRoutes } from '../carriers/http.ts'
import { Limits } from '../links/limits.ts'
import { Pace } from '../links/pace.ts'
import { RoutingTable } from '../routes/routing.ts'
import { adapterNames, type AdapterName, type HttpSettings } from '../links/carrier-settings.ts'
import { findCarrier } from '../links/carrier-store.ts'
import { createHttpLink, type HttpLink } from './http-link.ts'
import { inboundRoutes } from './inbound-http.ts'
import { openSecrets } from './sealed.ts'
import { carrierBody, FakeCarrier } from './testing.ts'

const refusals = new Map<string, number>()

const { db, sql } = await createTestDatabase()
const account = await createTestAccount(db)
const test = await openLedgerTest(db, { accountId: account.accountId })
const receiving = { ...test.context, log: silent, ledger: test.ledger, wake: () => {} }
const context = { db, vault: testVault, refusals, receiving }
const register = (one: App): void => {
  // Known only after listening.
  const shared = {
    ...context,
    get publicUrl(): string {
      return address
    },
  }
  carrierRoutes(one, shared)
  inboundRoutes(one, shared)
}
const app = await buildTestApp(db, register, { trustedProxies: ['127.0.0.1'] })
await app.listen({ host: '127.0.0.1', port: 0 })
const address = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`

describe.each(adapterNames)('%s', (name) => {
  it('sends, gets the delivery once, and a failure with its reason', async () => {
    const journey = await open(name)
    const { fake } = journey
    const sent = await journey.send()
    expect(sent.status).toBe('sent')
    const values = { id: fake.ids.at(-1) ?? '', reference: referenceOf(journey), text: '' }
    const url = receiptsOf(journey)
    expect(await fake.post('delivered', url, values)).toBe(200)
    const delivered = await test.message(sent.id)
    expect(delivered).toMatchObject({ status: 'delivered', providerMessageId: values.id })
    expect([await fake.post('delivered', url, values), await fake.post('failed', url, values)]).toEqual([200, 200])
    expect(await test.message(sent.id)).toEqual(delivered)

    const second = await journey.send()
    await fake.post('failed', receiptsOf(journey), {
      id: fake.ids.at(-1) ?? '',
      reference: referenceOf(journey),
      text: '',
    })
    expect(await test.message(second.id)).toMatchObject({ status: 'undelivered', errorStage: 'receipt' })
    await journey.close()
  })

  it('settles an unknown outcome by its receipt', async () => {
    const journey = await open(name)
    const { fake } = journey
    fake.behaviours.push(...Array.from({ length: 3 }, () => 'fault'))
    const sent = await journey.send()
    expect(sent).toMatchObject({ status: 'unconfirmed', errorCode: 'outcome_unknown' })
    const reference = referenceOf(journey)
    const id = name === 'infobip' ? reference : 'late-1'
    expect(await fake.post('delivered', receiptsOf(journey), { id, reference, text: '' })).toBe(200)
    expect(await test.message(sent.id)).toMatchObject({ status: 'delivered', providerMessageId: id, errorCode: null })
    await journey.close()
  })

  it('stores each reply once', async () => {
    const journey = await open(name)
    const { fake } = journey
    const values = { id: `in-${name}`, text: `Hi from ${name} 👍`, reference: '' }
    const wanted = `body = $1 and direction = 'inbound'`
    expect(await fake.post('reply', journey.repliesUrl, values)).toBe(200)
    expect(await test.count('messages', wanted, [values.text])).toBe(1)
    expect(await fake.post('reply', journey.repliesUrl, values)).toBe(200)
    expect(await test.count('messages', wanted, [values.text])).toBe(1)
    await fake.post('reply', journey.repliesUrl, { ...values, id: `in-${name}-2` })
    expect(await test.count('messages', wanted, [values.text])).toBe(2)
    await journey.close()
  })

  it('is rejected without its signature, and at a wrong address', async () => {
    const journey = await open(name)
    const { fake } = journey
    const sent = await journey.send()
    const values = { id: fake.ids.at(-1) ?? '', reference: referenceOf(journey), text: '' }
    const url = receiptsOf(journey)
    const isVonage = name === 'vonage'
    const unsigned = isVonage
      ? { body: '{"messageId":"x","status":"delivered"}', headers: { 'content-type': 'application/json' } }
      : { headers: { 'content-type': 'application/json' } }
    expect(await fake.post('delivered', url, values, unsigned)).toBe(403)
    expect(refusals.get(journey.carrierId)).toBe(1)
    expect(
      await fake.post('delivered', url.replace(/\/[^/]+\/receipts/, '/aaaaaaaaaaaaaaaaaaaaaaaa/receipts'), values),
    ).toBe(404)
    expect((await test.message(sent.id)).status).toBe('sent')
    await journey.close()
  })
})

it('obeys a STOP in binary data, and keeps its octets', async () => {
  const journey = await open('vonage')
  const person = '447700900321'
  const fields = { msisdn: person, to: ourNumber, messageId: 'in-binary', data: Buffer.from('STOP').toString('hex') }
  const unsigned = await app.inject({
    method: 'PATCH',
    url: `/v1/carriers/${/car_\w+/.exec(journey.receiptsUrl)?.[0] ?? ''}`,
    headers: account.headers,
    payload: { secrets: { signature_secret: null } },
  })
  expect(unsigned.statusCode, unsigned.body).toBe(200)
  const response = await fetch(`${journey.repliesUrl}?${new URLSearchParams(fields).toString()}`)
  expect(response.status).toBe(200)
  const rows = await sql<{ body: string; octets: Buffer }>`select body, octets from messages
    where direction = 'inbound' and their_number = ${person}`
  expect(rows).toEqual([{ body: 'STOP', octets: Buffer.from('STOP') }])
  expect(await test.count('opt_outs', `number = $1`, [person])).toBe(1)
  await journey.close()
})

it('refuses unreadable requests, and counts them', async () => {
  const journey = await open('sinch')
  const changed = await app.inject({
    method: 'PATCH',
    url: `/v1/carriers/${/car_\w+/.exec(journey.receiptsUrl)?.[0] ?? ''}`,
    headers: account.headers,
    payload: { secrets: { callback_secret: null } },
  })
  expect(changed.statusCode, changed.body).toBe(200)
  const response = await fetch(journey.receiptsUrl, { method: 'POST', body: 'no JSON' })
  expect([response.status, await response.text()]).toEqual([400, ''])
  const large = await fetch(journey.receiptsUrl, { method: 'POST', body: 'x'.repeat(2_000_000) })
  expect(large.status).toBe(413)
  const { body } = await app.inject({
    url: `/v1/carriers/${/car_\w+/.exec(journey.receiptsUrl)?.[0] ?? ''}`,
    headers: account.headers,
  })
  expect(JSON.parse(body)).toMatchObject({ inbound: { refused: 1 } })
  await journey.close()
})

it('limits guesses at its addresses and signatures by network, and refuses no carrier for others’ failures', async () => {
  const journey = await open('infobip')
  const authorization = `Basic ${Buffer.from('heliogram:hunter2').toString('base64')}`
  const post = async (url: string, from: string, header = authorization): Promise<number> => {
    const headers = { authorization: header, 'x-forwarded-for': from }
    const response = await fetch(url, { method: 'POST', headers, body: '{"results":[]}' })
    await response.text()
    return response.status
  }
  const guess = async (...args: Parameters<typeof post>): Promise<Set<number>> => {
    const seen = new Set<number>()
    for (let i = 0; i < 20 && !seen.has(429); i++)
      for (const status of await Promise.all(Array.from({ length: 50 }, () => post(...args)))) seen.add(status)
    return seen
  }
  const wrong = journey.receiptsUrl.replace(/\/[^/]+\/receipts/, '/aaaaaaaaaaaaaaaaaaaaaaaa/receipts')
  expect(await post(journey.receiptsUrl, '192.0.2.1')).toBe(200)
  expect(await guess(wrong, '192.0.2.1')).toEqual(new Set([404, 429]))
  // A caller that was believed from this address is let in; another is not even looked up.
  expect(await post(journey.receiptsUrl, '192.0.2.1')).toBe(200)
  expect(await post(journey.repliesUrl.replace(/replies$/, 'receipts'), '192.0.2.9')).toBe(200)
  // Failures recur while this machine is busy, and a carrier that was let in is believed from its address, so each try has its own.
  let from = ''
  let tries = 0
  await until('it is refused for what others there failed at', async () => {
    from = `198.51.100.${++tries}`
    expect(await guess(journey.receiptsUrl, from, 'Basic bm86')).toEqual(new Set([403, 429]))
    return (await post(journey.receiptsUrl, from)) === 429
  })
  await until('its network has failures left', async () => (await post(journey.receiptsUrl, from)) === 200)
  await journey.close()
})

it('accepts all receipts in a request, however many', async () => {
  const journey = await open('infobip')
  const results = Array.from({ length: 1100 }, (_, n) => ({ messageId: `m${n}`, status: { groupId: 3, id: 5 } }))
  const authorization = `Basic ${Buffer.from('heliogram:hunter2').toString('base64')}`
  const body = JSON.stringify({ results })
  const response = await fetch(journey.receiptsUrl, { method: 'POST', headers: { authorization }, body })
  expect(response.status).toBe(200)
  expect(await test.count('receipts', 'link_id = $1', [journey.linkId])).toBe(1100)
  await journey.close()
})

it('keeps a receipt that overtakes its response', async () => {
  const journey = await open('twilio')
  const { fake } = journey
  fake.behaviours.push((response) => {
    const url = receiptsOf(journey)
    void fake
      .post('delivered', url, { id: 'twilio-1', reference: referenceOf(journey), text: '' })
      .then(() => fake.answer(response, 'accepted'))
  })
  const sent = await journey.send()
  await until('it is delivered', async () => (await test.message(sent.id)).status === 'delivered')
  await journey.close()
})

it('finds the message of a receipt by its reference if the response never arrives', async () => {
  const journey = await open('twilio')
  const { fake } = journey
  const posted: number[] = []
  fake.behaviours.push((_response, socket) => {
    const values = { id: 'lost-1', reference: referenceOf(journey), text: '' }
    void fake.post('delivered', receiptsOf(journey), values).then((status) => {
      posted.push(status)
      socket.destroy()
    })
  })
  const sent = await journey.send()
  expect(posted).toEqual([200])
  expect(sent).toMatchObject({ status: 'delivered', providerMessageId: 'lost-1', errorCode: null })
  await journey.close()
})

it('aggregates the receipts of a long message’s segments', async () => {
  const journey = await open('plivo')
  const sent = await journey.send(2)
  const url = receiptsOf(journey)
  const part = (n: number): Promise<number> => {
    const form = {
      MessageUUID: `x${n}`,
      ParentMessageUUID: 'plivo-1',
      PartInfo: `${n} of 2`,
      Status: 'delivered',
      To: '1',
      From: '2',
    }
    const { createHmac } = process.getBuiltinModule('node:crypto')
    const fields = Object.entries(form)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => name + value)
      .join('')
    const [base = '', query = ''] = url.split('?')
    const signature = createHmac('sha256', 'my_auth_token').update(`${base}?${query}.${fields}.1`).digest('base64')
    return fetch(url, {
      method: 'POST',
      headers: { 'x-plivo-signature-v3': signature, 'x-plivo-signature-v3-nonce': '1' },
      body: new URLSearchParams(form),
    }).then((response) => response.status)
  }
  expect(await part(2)).toBe(200)
  expect((await test.message(sent.id)).status).toBe('sent')
  expect(await part(1)).toBe(200)
  expect(await test.message(sent.id)).toMatchObject({ status: 'delivered', segmentsDelivered: 2 })
  await journey.close()
})

it.each(['generic', 'sinch', 'plivo'] as const)(
  '%s is accepted only from the networks in its setting',
  async (name) => {
    const journey = await open(name)
    const allow = (networks: string[]): Promise<unknown> =>
      sql`update carriers
        set settings = settings || jsonb_build_object('allowed_cidrs', ${JSON.stringify(networks)}::jsonb)
        where id = ${journey.carrierId}`
    const reply = (): Promise<number> =>
      journey.fake.post('reply', journey.repliesUrl, {
        id: 'in-1',
        text: `from ${name}`,
        reference: '',
        our: ourNumber,
      })
    await allow(['192.0.2.0/24', '2001:db8::/32'])
    expect(await reply()).toBe(403)
    if (name === 'plivo') {
      await allow([])
      expect(await reply()).toBe(403)
    }
    expect(await test.count('messages', `body = $1`, [`from ${name}`])).toBe(0)
    await allow(['192.0.2.0/24', '127.0.0.1'])
    expect(await reply()).toBe(200)
    await journey.close()
  },
)

interface Journey {
  fake: FakeCarrier
  link: HttpLink
  linkId: string
  carrierId: string
  receiptsUrl: string
  repliesUrl: string
  send(segments?: number): Promise<MessageRow>
  close(): Promise<void>
}

async function open(name: AdapterName): Promise<Journey> {
  const fake = await FakeCarrier.start(name)
  const created = await app.inject({
    method: 'POST',
    url: '/v1/carriers',
    headers: account.headers,
    payload: { ...carrierBody(name, fake.url), name: `${name} ${Math.random()}` },
  })
  expect(created.statusCode, created.body).toBe(201)
  const body = created.json<{
    id: string
    links: { id: string }[]
    inbound: { receipts_url: string; replies_url: string }
  }>()
  const carrierId = parseId('car', body.id) ?? ''
  const linkId = parseId('lnk', body.links[0]?.id ?? '') ?? ''
  const carrier = await findCarrier(db, carrierId)
  if (!carrier) throw new Error('there is no carrier')
  // Routes messages by carrier, not by sender.
  await sql`delete from senders where account_id = ${account.accountId}`
  await insertTestSender(db, account.accountId, carrierId, ourNumber, true)
  // A table with the account's senders in memory would still route by the old one.
  const routing = new RoutingTable(db)
  await routing.refresh()
  const acceptor = new Acceptor({ ...test.context, ownLinks: test.ownLinks, routing })
  const answers: Promise<void>[] = []
  const link = createHttpLink({
    id: linkId,
    carrierId,
    nodeId: test.nodeId,
    pace: new Pace(1000),
    limits: new Limits(),
    reasons: defaultReasons,
    mayWrite: () => true,
    onAnswer: (answer: Answer) => void answers.push(test.ledger.answer(answer)),
    onRoom: () => {},
    onState: () => {},
    settings: carrier.settings as unknown as HttpSettings,
    secrets: openSecrets(testVault, carrier),
    receiptUrl: body.inbound.receipts_url,
  })
  link.renew({ slots: [1], untilMs: performance.now() + 600_000 })
  return {
    fake,
    link,
    linkId,
    carrierId,
    receiptsUrl: body.inbound.receipts_url,
    repliesUrl: body.inbound.replies_url,
    async send(segments = 1) {
      Object.assign(test.ownLinks, { linkId, carrierId })
      test.ownLinks.room = segments
      const { id } = rowOf(await acceptor.accept(test.draft({ segments })))
      const handover = test.ownLinks.taken.find((one) => one.id === id)
      if (!handover) throw new Error('the message was not leased')
      const before = answers.length
      link.submit(handover)
      await until('the ledger has the answer', () => answers.length >= before + segments)
      await Promise.all(answers)
      return test.message(handover.id)
    },
    async close() {
      await link.close(0)
      await fake.close()
    },
  }
}

/** The receipt address of the last send; the account's if it gave none. */
function receiptsOf({ fake, receiptsUrl }: Journey): string {
  const text = decodeURIComponent(fake.sends.at(-1)?.body ?? '')
  const [, query = ''] = /receipts(\?ref=[\w.-]+)/.exec(text) ?? []
  return receiptsUrl + query
}

const referenceOf = ({ fake }: Journey): string =>
  /[\w-]{43}\.\d+\.\d+/.exec(`${fake.sends.at(-1)?.path} ${fake.sends.at(-1)?.body}`)?.[0] ?? ''
