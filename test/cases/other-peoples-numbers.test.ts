/** Kind D: digits that form another person's number are never sent to, at any interface. */
import { connectSession, ESME, TON, type Session } from '@heliogram/smpp'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseId } from '../../server/ground/base/ids.ts'
import { showSid } from '../../server/post/twilio-words.ts'
import { until, waitFor } from '../until.ts'
import { openAccount, type Account } from '../shared-program.ts'

interface TwilioCredential {
  account_sid: string
  auth_token: string
}

let account: Account
let twilio: TwilioCredential
/** Id of a sender pool, as a MessagingServiceSid. */
let service: string
let session: Session<(status: number) => void>

const national = readFileSync(join(import.meta.dirname, 'inputs/national.txt'), 'utf8').trim()
const full = `1${national}`

beforeAll(async () => {
  account = await openAccount()
  const { client, smppPort: port } = account
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
})

async function sendTwilio(
  parameters: Record<string, string>,
): Promise<{ status: number; body: { code?: number; to?: string } }> {
  const { account_sid: sid, auth_token: token } = twilio
  const response = await fetch(`${account.address}/2010-04-01/Accounts/${sid}/Messages.json`, {
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
      source_addr: '',
      dest_addr_ton: ton,
      dest_addr_npi: 1,
      destination_addr: destination,
      short_message: Buffer.from('Hi'),
    }
    session.submit(fields, resolve)
  })

const sentTo = async (number: string): Promise<number> =>
  (await account.client.listMessages(`to=${encodeURIComponent(`+${number}`)}`)).length

const refusal = { pointer: '#/to', code: 'invalid_phone_number', suggestion: full }

test('a national number is refused as the recipient of a send, a preview and a batch, with both possible numbers', async () => {
  const { client } = account
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
  for (const from of [{ MessagingServiceSid: service }, {}, { From: `+${account.number}` }])
    expect(await sendTwilio({ To: national, ...from }), JSON.stringify(from)).toMatchObject({
      status: 400,
      body: { code: 21211 },
    })
  expect(await sendTwilio({ To: `+${full}`, MessagingServiceSid: service })).toMatchObject({ status: 201 })
})

test('over SMPP it is refused as international, and with TON 2 it belongs to the account’s country', async () => {
  expect(await submit(TON.INTERNATIONAL, national)).toBe(ESME.RINVDSTADR)
  expect(await submit(TON.UNKNOWN, national)).toBe(ESME.RINVDSTADR)
  const before = await sentTo(full)
  expect(await submit(TON.NATIONAL, national)).toBe(ESME.ROK)
  expect(await sentTo(full)).toBe(before + 1)
  // Kannel sends TON 2 with full numbers too.
  expect(await submit(TON.NATIONAL, '447911123456')).toBe(ESME.ROK)
  expect(await sentTo('447911123456')).toBe(1)
  expect(await submit(TON.NATIONAL, '4479111')).toBe(ESME.RINVDSTADR)
  await account.client.expect('PATCH', '/v1/settings', { default_country: null })
})

test('without a country of the account, its sender’s decides, on every interface alike', async () => {
  const { client } = account
  await client.expect('PATCH', '/v1/settings', { default_country: null })
  await until('every door knows that there is none', async () => {
    const { status } = await client.call('POST', '/v1/messages/preview', { to: '4791234567', message: 'Hi' })
    return status === 200
  })
  for (const from of [{}, { from: account.number }]) {
    const one = { to: national, message: 'Hi', ...from }
    expect((await client.call('POST', '/v1/messages/send', one)).body).toMatchObject({ errors: [refusal] })
    const key = { 'idempotency-key': JSON.stringify(from) }
    const batch = await client.call('POST', '/v1/messages/batch', { messages: [one] }, key)
    expect(JSON.stringify(batch.body)).toContain(`"suggestion":"${full}"`)
  }
  for (const from of [{ MessagingServiceSid: service }, {}, { From: `+${account.number}` }])
    expect(await sendTwilio({ To: national, ...from })).toMatchObject({ status: 400, body: { code: 21211 } })
  for (const ton of [TON.UNKNOWN, TON.INTERNATIONAL]) expect(await submit(ton, national)).toBe(ESME.RINVDSTADR)
  const before = await sentTo(full)
  expect(await submit(TON.NATIONAL, national)).toBe(ESME.ROK)
  expect(await sentTo(full)).toBe(before + 1)
  for (const to of ['447911123457', '33639980012', '4791234567'])
    expect(await client.send({ to, message: 'Hi' })).toMatchObject({ to })
})

test('it opts out nobody else, and is not a contact in Egypt', async () => {
  const { client } = account
  await client.expect('PATCH', '/v1/settings', { default_country: 'US' })
  expect((await client.call('POST', '/v1/opt-outs', { number: national })).body).toMatchObject({
    errors: [{ ...refusal, pointer: '#/number' }],
  })
  const list = { opt_outs: [{ number: national }] }
  expect(await client.expect('POST', '/v1/opt-outs/import', list)).toMatchObject({ errors: [{ suggestion: full }] })
  const file = await client.expect('POST', '/v1/opt-outs/import', `number\n${national}\n`, {
    'content-type': 'text/csv',
  })
  expect(file).toMatchObject({ errors: [] })
  expect((await client.call('GET', `/v1/opt-outs/${full}`)).status).toBe(200)
  await client.expect('DELETE', `/v1/opt-outs/${full}?reason=test`)
  expect((await client.call('GET', `/v1/opt-outs/${national}`)).status).toBe(404)
  const { id } = await client.expect<{ id: string }>('POST', '/v1/campaigns', { name: 'US', type: 'marketing' })
  expect((await client.call('POST', `/v1/campaigns/${id}/contacts`, { phone_number: national })).body).toMatchObject({
    errors: [{ ...refusal, pointer: '#/phone_number' }],
  })
})

test('with a plus sign, or the country code in front of it, it is accepted as international', async () => {
  const { client } = account
  expect(await client.send({ to: `+${national}`, message: 'Hi' })).toMatchObject({ to: national })
  expect(await client.send({ to: full, message: 'Hi' })).toMatchObject({ to: full })
  // Other numbers with country code, none national.
  for (const to of ['447911123456', '33639980011', '525512345678', '15551230001'])
    expect(await client.send({ to, message: 'Hi' })).toMatchObject({ to })
})

/** Imports into a new campaign; returns its numbers, and errors by line. */
async function importInput(
  name: string,
  query = '',
  file: string | Buffer = readFileSync(join(import.meta.dirname, 'inputs', name)),
): Promise<{ numbers: string[]; errors: Record<string, unknown>[]; repairs: unknown }> {
  const { client } = account
  const { id } = await client.expect<{ id: string }>('POST', '/v1/campaigns', { name: `${name}${query}` })
  const path = `/v1/campaigns/${id}/contacts/import${query}`
  const made = await client.expect<{ id: string }>('POST', path, file, { 'content-type': 'text/csv' })
  const { repairs } = await waitFor('the import is over', async () => {
    const one = await client.get<{ completed_at: string | null; repairs: unknown }>(`/v1/imports/${made.id}`)
    return one.completed_at ? one : null
  })
  const contacts = await client.get<{ data: { phone_number: string }[] }>(`/v1/campaigns/${id}/contacts`)
  const errors = await client.get<{ data: Record<string, unknown>[] }>(`/v1/imports/${made.id}/errors`)
  return { numbers: contacts.data.map((one) => one.phone_number).toSorted(), errors: errors.data, repairs }
}

test('each row of a file is read with its own country, not with the default', async () => {
  await account.client.expect('PATCH', '/v1/settings', { default_country: null })
  const numbers = ['33639980011', '447700900111', '491713920052']
  for (const query of ['', '?default_country=GB', '?default_country=US'])
    expect(await importInput('row-country.csv', query), query).toMatchObject({ numbers, errors: [] })
})

test('each row of a file is read with its calling code, not with the default', async () => {
  const rows = ['+33,639980011', '0044,07911 123456', '52,5512345678', '1,4165550100', ',+491713920052']
  for (const name of ['Country Code', 'Dial code'])
    expect(await importInput(name, '?default_country=US', [`${name},Phone`, ...rows].join('\n'))).toMatchObject({
      numbers: ['14165550100', '33639980011', '447911123456', '491713920052', '525512345678'],
      errors: [],
    })
})

test('two numbers in a cell are not joined, and an extension is refused with the number before it', async () => {
  const german = await importInput('two-numbers.csv', '?default_country=DE')
  expect(german.numbers).toEqual(['491713920073'])
  expect(german.repairs).toMatchObject({ several_numbers: 1 })
  expect(german.errors).toMatchObject([
    { line: 2, code: 'invalid_phone_number' },
    {
      line: 3,
      code: 'invalid_phone_number',
      suggestion: '16085550101',
      detail: expect.stringContaining('extension') as string,
    },
    { line: 4, code: 'invalid_phone_number', suggestion: '491713920071' },
  ])
  const american = await importInput('two-numbers.csv', '?default_country=US')
  expect(american.numbers).toEqual(['491713920073'])
  expect(american.errors).toMatchObject([{ suggestion: '14244172469' }, { suggestion: '16085550101' }, { line: 4 }])
})

test('of several numbers in a cell the first is taken, and counted', async () => {
  const { numbers, repairs } = await importInput('several-values.csv')
  expect(numbers).toEqual(['15551231401', '15551231403'])
  expect(repairs).toMatchObject({ several_numbers: 1 })
})

test('typographic blanks are blanks, in a file and in a send’s suggestion', async () => {
  const { numbers, errors } = await importInput('blanks.csv', '?default_country=FR')
  expect({ numbers, errors }).toEqual({ numbers: ['33639980021', '33639980024', '491713920061'], errors: [] })
  const to = readFileSync(join(import.meta.dirname, 'inputs/blanks.csv'), 'utf8')
    .split('\n')[1]
    ?.split(',')[0]
  const send = await account.client.call('POST', '/v1/messages/send', { to, message: 'Hi' })
  expect(send.body).toMatchObject({ errors: [{ pointer: '#/to', suggestion: '33639980021' }] })
})

test('a premium number gets nothing until the account allows it, on any interface', async () => {
  const { client } = account
  const code = 'premium_number_not_allowed'
  // Of the United States, the United Kingdom, France, and no country.
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

test('only explicit numbers in Egypt got messages', async () => {
  expect(await sentTo(national)).toBe(1)
})
