/** Kind L: a letter typed as letter and accent is the same letter, at every interface. */
import { connectSession, type Session } from '@heliogram/smpp'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Phones } from '../carrier.ts'
import type { Message } from '../client.ts'
import { openAccount, type Account } from '../shared-program.ts'
import { until } from '../until.ts'

let account: Account
let phones: Phones
let session: Session<(status: number) => void>

const { to, message } = JSON.parse(readFileSync(join(import.meta.dirname, 'inputs/decomposed.json'), 'utf8')) as {
  to: string
  message: string
}
const composed = message.normalize('NFC')
const oneSegment = { encoding: 'GSM-7', segments: 1 }

beforeAll(async () => {
  account = await openAccount()
  const { client, phonesPort, smppPort: port } = account
  phones = new Phones(phonesPort)
  const made = await client.expect<{ system_id: string; password: string }>('POST', '/v1/smpp-credentials', {
    name: 'A',
  })
  session = connectSession<(status: number) => void>({
    host: '127.0.0.1',
    port,
    windowMax: 10,
    bind: { mode: 'transceiver', system_id: made.system_id, password: made.password },
    onOutcome: (_session, done, outcome) => done(outcome.kind === 'response' ? outcome.status : -1),
  })
  await session.whenBound()
  await client.waitForBound()
})
afterAll(async () => {
  await session?.unbind(1000)
})

test('the case is decomposed, and has more than one segment as it is', () => {
  expect(message).not.toBe(composed)
})

test('a send, its preview and an item of a batch are one segment of GSM-7', async () => {
  const { client } = account
  const sent = await client.send({ to, message })
  expect(sent).toMatchObject({ ...oneSegment, message: composed })
  await until('the phone shows the text', async () => (await phones.texts(to.slice(1))).includes(composed))
  expect(await client.expect('POST', '/v1/messages/preview', { to, message })).toMatchObject(oneSegment)
  const batch = await client.expect(
    'POST',
    '/v1/messages/batch',
    { messages: [{ to, message }] },
    { 'idempotency-key': 'decomposed' },
  )
  expect(JSON.stringify(batch)).toContain('"encoding":"GSM-7"')
  // Needs no option: `gsm7` is valid.
  expect(await client.send({ to, message, encoding: 'gsm7' })).toMatchObject({ encoding: 'GSM-7' })
})

test('templates and broadcasts compose decomposed values', async () => {
  const { client } = account
  await client.expect('POST', '/v1/templates', { name: 'table', body: 'Señor {{ name }}: Café'.normalize('NFD') })
  const sent = await client.expect<Message>('POST', '/v1/messages/send', {
    to,
    template: 'table',
    variables: { name: 'Müller'.normalize('NFD') },
  })
  expect(sent).toMatchObject({ ...oneSegment, message: 'Señor Müller: Café' })
  const { id } = await client.expect<{ id: string }>('POST', '/v1/campaigns', { name: 'Cafés', type: 'marketing' })
  await client.expect('POST', `/v1/campaigns/${id}/contacts`, { phone_number: to, first_name: 'José'.normalize('NFD') })
  const dry = { message: 'Señor {{ first_name }}'.normalize('NFD'), dry_run: true }
  expect(await client.expect('POST', `/v1/campaigns/${id}/send`, dry)).toMatchObject({
    encodings: { 'GSM-7': 1, 'UCS-2': 0 },
  })
})

test('UCS-2 over SMPP, and a body of Twilio’s API, are composed', async () => {
  const { client } = account
  const ucs2 = Buffer.from('Menù über Señor'.normalize('NFD'), 'utf16le').swap16()
  const status = await new Promise<number>((resolve) => {
    const addresses = { source_addr: '', dest_addr_ton: 1, dest_addr_npi: 1, destination_addr: '15551232602' }
    session.submit({ ...addresses, data_coding: 8, short_message: ucs2 }, resolve)
  })
  expect(status).toBe(0)
  expect(await client.listMessages('to=15551232602')).toMatchObject([{ encoding: 'GSM-7', message: 'Menù über Señor' }])
  const { account_sid: sid, auth_token: token } = await client.expect<{ account_sid: string; auth_token: string }>(
    'POST',
    '/v1/twilio-credentials',
    { name: 'Old shop' },
  )
  await fetch(`${account.address}/2010-04-01/Accounts/${sid}/Messages.json`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${sid}:${token}`).toString('base64')}` },
    body: new URLSearchParams({ To: '+15551232603', Body: 'Olé'.normalize('NFD') }),
  })
  expect(await client.listMessages('to=15551232603')).toMatchObject([{ encoding: 'GSM-7', message: 'Olé' }])
})

test('letters that GSM-7 lacks are half as long in UCS-2', async () => {
  const vietnamese = 'Tiếng Việt có dấu, ưỡn ngực, khuỷu tay, và cả những điều khác nữa.'
  const sent = await account.client.send({ to, message: vietnamese.normalize('NFD') })
  expect(sent).toMatchObject({ encoding: 'UCS-2', segments: 1, message: vietnamese })
})

test('a keyword is recognized, composed or not', async () => {
  const { client } = account
  for (const [from, text] of [
    ['15551232611', 'ARRÊT'.normalize('NFD')],
    ['15551232612', '수신거부'.normalize('NFD')],
    ['15551232613', 'désabonner'.normalize('NFD')],
  ] as const) {
    await phones.reply(from, account.number, text)
    await until(`${text} opts out`, async () => (await client.call('GET', `/v1/opt-outs/${from}`)).status === 200)
  }
})
