/** Twilio's own client for Node.js, with only its base address changed. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import twilio from 'twilio'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Phones } from './carrier.ts'
import { openAccount, type Account } from './shared-program.ts'
import { until, waitFor } from './until.ts'

interface Credential {
  id: string
  account_sid: string
  auth_token: string
}

let account: Account
let phones: Phones
let credential: Credential
let client: ReturnType<typeof twilio>
let app: Server
let appUrl: string
const callbacks: Record<string, string>[] = []
const forged: string[] = []
/** The application's TwiML, written by Twilio's library. */
let replyTo = (_incoming: Record<string, string>): string => '<Response/>'

const connect = ({ account_sid, auth_token }: Credential): ReturnType<typeof twilio> => {
  const one = twilio(account_sid, auth_token)
  one.api.baseUrl = account.address
  return one
}

beforeAll(async () => {
  account = await openAccount()
  phones = new Phones(account.phonesPort)
  credential = await account.client.expect<Credential>('POST', '/v1/twilio-credentials', { name: 'Old shop' })
  client = connect(credential)
  app = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8')
      const parameters = Object.fromEntries(new URLSearchParams(body))
      const signature = String(request.headers['x-twilio-signature'])
      const isGenuine = twilio.validateRequest(credential.auth_token, signature, appUrl + request.url, parameters)
      if (isGenuine) callbacks.push(parameters)
      else forged.push(body)
      response.writeHead(200, { 'content-type': 'text/xml' }).end(replyTo(parameters))
    })
  })
  await once(app.listen(0, '127.0.0.1'), 'listening')
  appUrl = `http://127.0.0.1:${(app.address() as AddressInfo).port}`
})
afterAll(() => app?.close())

const failure = async (work: Promise<unknown>): Promise<{ status: number; code: number; message: string }> =>
  work.then(
    () => {
      throw new Error('it did not fail')
    },
    (error: { status: number; code: number; message: string }) => error,
  )

describe('messages', () => {
  test('one is created, reaches the phone, and is fetched as delivered', async () => {
    const made = await client.messages.create({ to: '+15551239001', body: 'Your parcel is here 📦' })
    expect(made).toMatchObject({
      sid: expect.stringMatching(/^SM[0-9a-f]{32}$/) as string,
      accountSid: credential.account_sid,
      status: 'queued',
      direction: 'outbound-api',
      to: '+15551239001',
      body: 'Your parcel is here 📦',
      numSegments: '1',
      errorCode: null,
    })
    expect(made.dateCreated).toBeInstanceOf(Date)
    const delivered = await waitFor('delivered', async () => {
      const one = await client.messages(made.sid).fetch()
      return one.status === 'delivered' ? one : undefined
    })
    expect(delivered.dateSent).toBeInstanceOf(Date)
    expect(await phones.texts('15551239001')).toEqual(['Your parcel is here 📦'])
  })

  test('the status callback reports each step, with a signature that the official check accepts', async () => {
    const made = await client.messages.create({
      to: '+15551239002',
      body: 'Told at every step',
      statusCallback: `${appUrl}/status?shop=7`,
    })
    const ofIt = (): string[] =>
      callbacks.filter((one) => one['MessageSid'] === made.sid).map((one) => one['MessageStatus'] ?? '')
    await until('sent and delivered were told', () => ofIt().includes('sent') && ofIt().includes('delivered'))
    expect(callbacks.find((one) => one['MessageSid'] === made.sid)).toMatchObject({
      AccountSid: credential.account_sid,
      ApiVersion: '2010-04-01',
      To: '+15551239002',
    })
    expect(forged).toEqual([])
  })

  test('a failure has Twilio’s number', async () => {
    const made = await client.messages.create({
      to: '+15005550002',
      body: 'Nobody home',
      statusCallback: `${appUrl}/status`,
    })
    const ended = await waitFor('an end', async () => {
      const one = await client.messages(made.sid).fetch()
      return ['failed', 'undelivered'].includes(one.status) ? one : undefined
    })
    expect(ended.errorCode).toBeGreaterThan(20000)
    await until('it was told', () =>
      callbacks.some((one) => one['MessageSid'] === made.sid && one['ErrorCode'] === String(ended.errorCode)),
    )
  })

  test('a scheduled one is canceled, once', async () => {
    const sendAt = new Date(Date.now() + 3_600_000)
    const made = await client.messages.create({ to: '+15551239003', body: 'Later', sendAt, scheduleType: 'fixed' })
    expect(made.status).toBe('scheduled')
    expect((await client.messages(made.sid).update({ status: 'canceled' })).status).toBe('canceled')
    expect((await client.messages(made.sid).update({ status: 'canceled' })).status).toBe('canceled')
  })

  test('a sent one is redacted: its text is gone', async () => {
    const made = await client.messages.create({ to: '+15551239004', body: 'Secret' })
    await waitFor('delivered', async () =>
      (await client.messages(made.sid).fetch()).status === 'delivered' ? true : undefined,
    )
    expect((await client.messages(made.sid).update({ body: '' })).body).toBe('')
    expect((await client.messages(made.sid).fetch()).body).toBe('')
  })

  test('the list pages by itself, with filters', async () => {
    for (let i = 0; i < 7; i++) await client.messages.create({ to: '+15551239005', body: `Number ${i}` })
    const all = await client.messages.list({ to: '+15551239005', pageSize: 3, limit: 20 })
    expect(all.map((one) => one.body)).toEqual([6, 5, 4, 3, 2, 1, 0].map((i) => `Number ${i}`))
    expect(await client.messages.list({ to: '+15551239005', limit: 2 })).toHaveLength(2)
    const tomorrow = new Date(Date.now() + 86_400_000)
    expect(await client.messages.list({ dateSentAfter: tomorrow, limit: 2 })).toEqual([])
    expect((await client.messages.list({ limit: 5 })).length).toBe(5)
  })
})

describe('replies', () => {
  test('a reply is posted as an incoming message, signed', async () => {
    await account.client.expect('POST', '/v1/webhooks', { url: `${appUrl}/sms#twilio`, events: ['message.received'] })
    const made = await client.messages.create({ to: '+15551239006', body: 'Coming?' })
    await until('it is on the phone', async () => (await phones.texts('15551239006')).length === 1)
    await phones.reply('15551239006', (made.from ?? '').replace('+', ''), 'Yes & no')
    const told = await waitFor('the reply', () => callbacks.find((one) => one['From'] === '+15551239006'))
    expect(told).toMatchObject({ Body: 'Yes & no', To: made.from, NumMedia: '0', SmsStatus: 'received' })
    const inbound = await client.messages(told['MessageSid'] ?? '').fetch()
    expect(inbound).toMatchObject({ direction: 'inbound', body: 'Yes & no', from: '+15551239006' })
  })

  test('TwiML from the application is sent to the person, and unsent parts are an event', async () => {
    replyTo = ({ From }) => {
      if (From !== '+15551239008') return '<Response/>'
      const written = new twilio.twiml.MessagingResponse()
      written.message({ action: '/status?of=answer' }, 'Thank you & see you')
      written.message({ to: '+15551239009' }, '').body('They come')
      written.redirect('/elsewhere')
      return written.toString()
    }
    const made = await client.messages.create({ to: '+15551239008', body: 'Coming too?' })
    await until('it is on the phone', async () => (await phones.texts('15551239008')).length === 1)
    await phones.reply('15551239008', (made.from ?? '').replace('+', ''), 'Yes')
    await until('the answers are on the phones', async () => {
      const [one, two] = [await phones.texts('15551239008'), await phones.texts('15551239009')]
      return one.includes('Thank you & see you') && two.includes('They come')
    })
    await until('the status callback of the answer', () =>
      callbacks.some((one) => one['To'] === '+15551239008' && one['MessageStatus'] === 'delivered'),
    )
    const events = await waitFor('the event', async () => {
      const { data } = await account.client.get<{ data: { data: object }[] }>('/v1/events?type=webhook.answer_refused')
      return data.length > 0 ? data : undefined
    })
    expect(events).toMatchObject([{ data: { faults: [{ element: 'Redirect', position: 3, code: 12200 }] } }])
    expect(callbacks.filter((one) => one['From'] === '+15551239008')).toHaveLength(1)
  })
})

test('the account can be fetched to test credentials', async () => {
  const { account_sid: own } = credential
  expect(await client.api.v2010.accounts(own).fetch()).toMatchObject({ sid: own, status: 'active' })
})

describe('refusals', () => {
  test.each([
    [{ to: '+1', body: 'x' }, 400, 21211],
    [{ to: '+15551239007', body: '' }, 400, 21602],
    [{ to: '+15551239007', body: 'x'.repeat(1601) }, 400, 21617],
    [{ to: '+15551239007', body: 'x', from: '+15550009999' }, 400, 21606],
    [{ to: '+15551239007', body: 'x', statusCallback: 'ftp://x' }, 400, 21609],
    [{ to: '+15551239007', body: 'x', mediaUrl: ['https://example.com/cat.png'] }, 400, 20001],
  ])('%j is refused with %i and %i', async (body, status, code) => {
    expect(await failure(client.messages.create(body))).toMatchObject({ status, code })
  })

  test('an opted-out person is refused with 21610', async () => {
    await account.client.expect('POST', '/v1/opt-outs', { number: '15551239008' })
    expect(await failure(client.messages.create({ to: '+15551239008', body: 'x' }))).toMatchObject({ code: 21610 })
  })

  test('a wrong token, and one of another account, are refused', async () => {
    const wrong = connect({ ...credential, auth_token: '0'.repeat(32) })
    expect(await failure(wrong.messages.list({ limit: 1 }))).toMatchObject({ status: 401, code: 20003 })
    const other = connect({ ...credential, account_sid: `AC${'0'.repeat(32)}` })
    expect(await failure(other.messages.list({ limit: 1 }))).toMatchObject({ status: 401, code: 20003 })
  })

  test('a missing message is 20404', async () => {
    expect(await failure(client.messages(`SM${'0'.repeat(32)}`).fetch())).toMatchObject({ status: 404, code: 20404 })
  })
})

test('nothing of another account is found: its messages, senders and pools, and its id in the path', async () => {
  const mine = await client.messages.create({ to: '+15551239010', body: 'Mine' })
  const { key } = await account.client.expect<{ key: { secret: string } }>('POST', '/v1/accounts', {
    name: 'Another',
    key: { name: 'First', expires_at: null },
  })
  const made = await fetch(`${account.address}/v1/twilio-credentials`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key.secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Theirs' }),
  })
  const theirs = (await made.json()) as Credential
  const other = connect(theirs)
  expect(await failure(other.messages(mine.sid).fetch())).toMatchObject({ status: 404, code: 20404 })
  expect(await failure(other.messages(mine.sid).update({ body: '' }))).toMatchObject({ status: 404, code: 20404 })
  expect(await other.messages.list({ limit: 5 })).toEqual([])
  expect(await failure(other.messages.create({ to: '+15551239010', body: 'x', from: mine.from ?? '' }))).toMatchObject({
    code: 21606,
  })
  // The sid in the path is theirs, the credential is not.
  const crossed = connect({ ...credential, account_sid: theirs.account_sid })
  expect(await failure(crossed.messages.list({ limit: 1 }))).toMatchObject({ status: 401, code: 20003 })
  const path = `/2010-04-01/Accounts/${theirs.account_sid}/Messages.json`
  const basic = Buffer.from(`${credential.account_sid}:${credential.auth_token}`).toString('base64')
  const answer = await fetch(account.address + path, { headers: { authorization: `Basic ${basic}` } })
  expect([answer.status, ((await answer.json()) as { code: number }).code]).toEqual([404, 20404])
})

test('a revoked credential ends within five seconds', async () => {
  const second = await account.client.expect<Credential>('POST', '/v1/twilio-credentials', { name: 'Second' })
  const other = connect(second)
  await other.messages.list({ limit: 1 })
  await account.client.call('DELETE', `/v1/twilio-credentials/${second.id}`)
  await until(
    'it is refused',
    () =>
      other.messages.list({ limit: 1 }).then(
        () => false,
        () => true,
      ),
    10_000,
  )
})
