/** Kind D: digits that make a number of somebody else are sent to nobody, at any door. */
import { connectSession, ESME, TON, type Session } from '@heliogram/smpp'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseId } from '../../server/ids.ts'
import { showSid } from '../../server/messages/twilio-words.ts'
import { until } from '../until.ts'
import { findPorts, startProgram, type Program } from '../harness.ts'

interface TwilioCredential {
  account_sid: string
  auth_token: string
}

let program: Program
let port: number
let twilio: TwilioCredential
/** The id of a sender pool, as a MessagingServiceSid. */
let service: string
let session: Session<(status: number) => void>

const national = readFileSync(join(import.meta.dirname, 'inputs/national.txt'), 'utf8').trim()
const full = `1${national}`

beforeAll(async () => {
  port = (await findPorts(1))[0] ?? 0
  program = await startProgram({ env: { HELIOGRAM_SMPP_SERVER_PORT: String(port) } })
  const { client } = program
  await client.expect('PATCH', '/v1/settings', { default_country: 'US' })
  twilio = await client.expect<TwilioCredential>('POST', '/v1/twilio-credentials', { name: 'Old shop' })
  const senders = await client.get<{ data: { id: string; default: boolean }[] }>('/v1/senders')
  const sender = senders.data.find((one) => one.default)?.id ?? ''
  const pool = await client.expect<{ id: string }>('POST', '/v1/sender-pools', {
    name: 'All',
    senders: [{ sender }],
  })
  service = showSid('MG', parseId('pol', pool.id) ?? '')
  const smpp = await client.expect<{ system_id: string; password: string }>('POST', '/v1/smpp-credentials', {
    name: 'A',
  })
  session = connectSession<(status: number) => void>({
    host: '127.0.0.1',
    port,
    windowMax: 10,
    bind: { mode: 'transceiver', system_id: smpp.system_id, password: smpp.password },
    onOutcome: (_session, done, outcome) => done(outcome.kind === 'response' ? outcome.status : -1),
  })
  await session.whenBound()
})
afterAll(async () => {
  await session?.unbind(1000)
  await program?.remove()
})

async function sendTwilio(
  parameters: Record<string, string>,
): Promise<{ status: number; body: { code?: number; to?: string } }> {
  const { account_sid: sid, auth_token: token } = twilio
  const response = await fetch(`${program.address}/2010-04-01/Accounts/${sid}/Messages.json`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${sid}:${token}`).toString('base64')}` },
    body: new URLSearchParams({ Body: 'Hi', ...parameters }),
  })
  return { status: response.status, body: (await response.json()) as { code?: number; to?: string } }
}

const submit = (ton: number, destination: string): Promise<number> =>
  new Promise((resolve) => {
    const fields = {
      source_addr_ton: 1,
      source_addr_npi: 1,
      source_addr: '15557654321',
      dest_addr_ton: ton,
      dest_addr_npi: 1,
      destination_addr: destination,
      short_message: Buffer.from('Hi'),
    }
    session.submit({ ...fields, source_addr: '' }, resolve)
  })

const sentTo = async (number: string): Promise<number> =>
  (await program.client.listMessages(`to=${encodeURIComponent(`+${number}`)}`)).length

const refusal = { pointer: '#/to', code: 'invalid_phone_number', suggestion: full }

test('a national number is refused as recipient of a send, a preview and a batch, with both numbers that it may be', async () => {
  const { client } = program
  const send = await client.call('POST', '/v1/messages/send', { to: national, message: 'Hi' })
  expect(send.body).toMatchObject({
    errors: [{ ...refusal, detail: expect.stringContaining(`write ${full}, or +${national}`) as string }],
  })
  const preview = await client.call('POST', '/v1/messages/preview', { to: national, message: 'Hi' })
  expect(preview.body).toMatchObject({ errors: [refusal] })
  const batch = await client.call(
    'POST',
    '/v1/messages/batch',
    {
      messages: [
        { to: national, message: 'Hi' },
        { to: '15551230001', message: 'Hi' },
      ],
    },
    { 'idempotency-key': 'national' },
  )
  expect(JSON.stringify(batch.body)).toContain(`"suggestion":"${full}"`)
  expect(await sentTo('15551230001')).toBe(1)
})

test('it is refused through Twilio’s API with a messaging service, with a sender and without', async () => {
  for (const from of [{ MessagingServiceSid: service }, {}, { From: '+15557654321' }])
    expect(await sendTwilio({ To: national, ...from }), JSON.stringify(from)).toMatchObject({
      status: 400,
      body: { code: 21211 },
    })
  expect(await sendTwilio({ To: `+${full}`, MessagingServiceSid: service })).toMatchObject({ status: 201 })
})

test('over SMPP it is refused as international, and with TON 2 it is of the country of the account', async () => {
  expect(await submit(TON.INTERNATIONAL, national)).toBe(ESME.RINVDSTADR)
  expect(await submit(TON.UNKNOWN, national)).toBe(ESME.RINVDSTADR)
  const before = await sentTo(full)
  expect(await submit(TON.NATIONAL, national)).toBe(ESME.ROK)
  expect(await sentTo(full)).toBe(before + 1)
  expect(await submit(TON.NATIONAL, '447911123456')).toBe(ESME.RINVDSTADR)
  await program.client.expect('PATCH', '/v1/settings', { default_country: null })
})

test('it opts nobody else out, and is no contact of Egypt', async () => {
  const { client } = program
  await client.expect('PATCH', '/v1/settings', { default_country: 'US' })
  expect((await client.call('POST', '/v1/opt-outs', { number: national })).body).toMatchObject({
    errors: [{ ...refusal, pointer: '#/number' }],
  })
  expect((await client.call('GET', `/v1/opt-outs/${national}`)).status).toBe(404)
  const { id } = await client.expect<{ id: string }>('POST', '/v1/campaigns', { name: 'US', type: 'marketing' })
  expect((await client.call('POST', `/v1/campaigns/${id}/contacts`, { phone_number: national })).body).toMatchObject({
    errors: [{ ...refusal, pointer: '#/phone_number' }],
  })
})

test('with a plus sign, or the country code in front of it, it is taken for what it is', async () => {
  const { client } = program
  expect(await client.send({ to: `+${national}`, message: 'Hi' })).toMatchObject({ to: national })
  expect(await client.send({ to: full, message: 'Hi' })).toMatchObject({ to: full })
  // Other numbers with their country code, and no national ones.
  for (const to of ['447911123456', '33639980011', '525512345678', '15551230001'])
    expect(await client.send({ to, message: 'Hi' })).toMatchObject({ to })
})

test('a premium number gets nothing until the account allows it, at any door', async () => {
  const { client } = program
  const code = 'premium_number_not_allowed'
  // Of the United States, the United Kingdom, France, and of no country.
  const numbers = ['19002345678', '449098790000', '33899123456', '979123456789']
  for (const to of numbers)
    expect((await client.call('POST', '/v1/messages/send', { to: `+${to}`, message: 'Hi' })).body, to).toMatchObject({
      code,
    })
  const [to = ''] = numbers
  const batch = await client.call(
    'POST',
    '/v1/messages/batch',
    { messages: [{ to, message: 'Hi' }] },
    { 'idempotency-key': 'premium' },
  )
  expect(JSON.stringify(batch.body)).toContain(`"code":"${code}"`)
  expect(await sendTwilio({ To: `+${to}` })).toMatchObject({ status: 400, body: { code: 21408 } })
  expect(await submit(TON.INTERNATIONAL, to)).toBe(ESME.RINVDSTADR)
  const { id } = await client.expect<{ id: string }>('POST', '/v1/campaigns', { name: 'Paid', type: 'marketing' })
  await client.expect('POST', `/v1/campaigns/${id}/contacts`, { phone_number: to })
  const dry = await client.expect('POST', `/v1/campaigns/${id}/send`, { message: 'Hi', dry_run: true })
  expect(dry).toMatchObject({ skipped: { [code]: 1 } })
  expect(await sentTo(to)).toBe(0)
  await client.expect('PATCH', '/v1/settings', { allow_premium_numbers: true })
  expect(await client.get('/v1/settings')).toMatchObject({ allow_premium_numbers: true })
  await until('it may go', async () => {
    const { status } = await client.call('POST', '/v1/messages/send', { to, message: 'Hi' })
    return status === 202
  })
  await client.expect('PATCH', '/v1/settings', { allow_premium_numbers: false })
})

test('nothing went to Egypt but what said so', async () => {
  expect(await sentTo(national)).toBe(1)
})
