/** The Twilio-compatible API against hostile requests. */
import { beforeEach, expect, test, vi } from 'vitest'
import { buildTestApp, createTestAccount, testVault, type TestAccount } from '../accounts/testing.ts'
import { inTransaction } from '../ground/db/db.ts'
import { createTestDatabase, emptyTables } from '../ground/db/testing.ts'
import { openDoor, type Door } from '../program/door/door.ts'
import type { App } from '../ground/http/http.ts'
import { newId } from '../ground/base/ids.ts'
import { openLedgerTest, type LedgerTest } from '../messages/testing.ts'
import { showSid } from '../post/twilio-words.ts'
import { createTwilioCredential, openTwilioAuthenticator } from './credential.ts'
import { twilioRoutes } from './http.ts'

let account: TestAccount
let ledger: LedgerTest
let app: App
let door: Door
let token: string

const { db, sql } = await createTestDatabase()
beforeEach(async () => {
  await emptyTables(db, 'accounts, carriers, nodes, messages, queue, delayed, intents, events')
  account = await createTestAccount(db)
  ledger = await openLedgerTest(db, { accountId: account.accountId })
  const context = ledger.routeContext
  door = openDoor({ perSecond: 100_000 })
  app = await buildTestApp(db, (own) => twilioRoutes(own, { ...context, callers: openTwilioAuthenticator(db) }), {
    door,
  })
  const made = await inTransaction(db, (tx) =>
    createTwilioCredential(tx, testVault, account.accountId, { name: 'x', mode: 'live' }),
  )
  token = made?.token ?? ''
  return () => app.close()
})

test('a guard that stops a send is reported with its stop', async () => {
  await sql`update accounts set settings = '{"guards":{"daily_segments":1}}' where id = ${account.accountId}`
  await ledger.context.guards.refresh()
  expect((await send('To=%2B15551230001&Body=Hello')).statusCode).toBe(201)
  const answer = await send('To=%2B15551230001&Body=Hello')
  expect(answer.statusCode).toBe(429)
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
  expect(answer.json().message).toMatch(/exceeds the daily limit of 1 segments/)
})

test('a NUL anywhere is a wrong parameter', async () => {
  for (const form of ['To=%2B15551230001&Body=a%00b', 'To=%2B1555%00&Body=a', 'To=%2B15551230001&From=a%00&Body=a'])
    expect((await send(form)).statusCode, form).toBe(400)
  const list = await app.inject({ url: `${path()}?To=%00`, headers: headersOf(token) })
  expect(list.statusCode).toBe(400)
})

test('a refusal has Twilio’s number, and its own status if it is temporary', async () => {
  const hello = 'To=%2B15551230001&Body=Hello'
  const told = async (form: string): Promise<[number, number]> => {
    const answer = await send(form)
    return [answer.statusCode, answer.json().code]
  }
  const guard = async (guards: object): Promise<void> => {
    await sql`update accounts set settings = jsonb_build_object('guards', ${guards}::jsonb)`
    await ledger.context.guards.refresh()
  }
  expect(await told('To=%2B1&Body=Hello')).toEqual([400, 21211])
  expect(await told(`${hello}&From=%2B12`)).toEqual([400, 21212])
  expect(await told(`${hello}&From=%2B15550009999`)).toEqual([400, 21606])
  expect(await told(`${hello}&MessagingServiceSid=MG${'0'.repeat(32)}`)).toEqual([400, 21701])
  expect(await told(`${hello}&ScheduleType=fixed&SendAt=2999-01-01T00:00:00Z`)).toEqual([400, 35114])
  await guard({ allowed_countries: ['DE'] })
  expect(await told(hello)).toEqual([400, 21408])
  await guard({})
  await sql`delete from senders`
  await sql`delete from carriers`
  await ledger.routing.refresh()
  expect(await told(hello)).toEqual([400, 21612])
  await sql`update accounts set status = 'suspended'`
  expect(await told(hello)).toEqual([403, 20005])
})

test('a message is shown as Twilio shows it', async () => {
  const get = async (id: string) =>
    (await app.inject({ url: path().replace('.json', `/${showSid('SM', id)}.json`), headers: headersOf(token) })).json()
  const set = (id: string, sql: string) => db.query(`update messages set ${sql} where id = $1`, [id])
  const { id } = await ledger.send({ body: 'Hello', segments: 2 })
  await set(id, `created_at = '2026-11-20T01:02:03Z', updated_at = '2026-11-21T11:12:13Z'`)
  const uri = path().replace('.json', `/${showSid('SM', id)}`)
  const shown = {
    account_sid: sid(),
    api_version: '2010-04-01',
    body: 'Hello',
    date_created: 'Fri, 20 Nov 2026 01:02:03 +0000',
    date_sent: null,
    date_updated: 'Sat, 21 Nov 2026 11:12:13 +0000',
    direction: 'outbound-api',
    error_code: null,
    error_message: null,
    from: '+15557654321',
    messaging_service_sid: null,
    num_media: '0',
    num_segments: '2',
    price: null,
    price_unit: 'USD',
    sid: showSid('SM', id),
    status: 'queued',
    subresource_uris: { media: `${uri}/Media.json` },
    tags: null,
    to: '+15551230001',
    uri: `${uri}.json`,
  }
  expect(await get(id)).toEqual(shown)
  await set(
    id,
    `status = 'undelivered', sent_at = '2026-11-20T01:02:04Z', error_code = 'unknown_subscriber', body = null`,
  )
  expect(await get(id)).toMatchObject({
    body: '',
    date_sent: 'Fri, 20 Nov 2026 01:02:04 +0000',
    error_code: 30005,
    error_message: expect.stringMatching(/^\w/),
    status: 'undelivered',
  })
  // An unconfirmed message has not failed.
  await set(id, `status = 'unconfirmed', error_code = 'no_receipt'`)
  expect(await get(id)).toMatchObject({ status: 'sent', error_code: null, error_message: null })
  await set(id, `direction = 'inbound', status = 'received', error_code = null`)
  expect(await get(id)).toMatchObject({
    direction: 'inbound',
    status: 'received',
    date_sent: shown.date_created,
    from: shown.to,
    to: shown.from,
  })
})

test('a change cancels, redacts, or does both, for messages that allow it', async () => {
  const change = async (id: string, payload: string) => {
    const url = path().replace('.json', `/${showSid('SM', id)}.json`)
    const answer = await app.inject({ method: 'POST', url, headers: headersOf(token), payload })
    const { code, status, body } = answer.json()
    return [answer.statusCode, code ?? `${status} ${body}`]
  }
  const { id } = await ledger.send()
  for (const form of ['', 'Status=sent', 'Body=Other', 'Body=Other&Status=canceled'])
    expect([form, await change(id, form)]).toEqual([form, [400, 20001]])
  expect(await change(id, 'Body=')).toEqual([409, 20409])
  expect((await ledger.message(id)).status).toBe('queued')
  expect(await change(id, 'Status=canceled&Body=')).toEqual([200, 'canceled '])
  const sent = await ledger.lease()
  expect(await change(sent.id, 'Status=canceled')).toEqual([400, 30409])
  expect(await change(newId(), 'Status=canceled')).toEqual([404, 20404])
})

test('a wrong parameter is named as it was given', async () => {
  const base = 'To=%2B15551230001&Body=Hello'
  for (const name of ['ShortenUrls=true', 'From=%2B15550000000', 'SendAt=2999-01-01T00:00:00Z&ScheduleType=fixed']) {
    const answer = await send(`${base}&${name}`)
    expect(answer.statusCode, name).toBe(400)
    expect(answer.json().message).toContain(`The '${name.replace(/=.*/, '')}' parameter `)
  }
})

test('a callback address has the same limit as in our own API', async () => {
  const ask = (length: number) =>
    send(`To=%2B15551230001&Body=Hello&StatusCallback=${'https://example.com/'.padEnd(length, 'a')}`)
  expect((await ask(2048)).statusCode).toBe(201)
  const answer = await ask(2049)
  expect([answer.statusCode, answer.json().code]).toEqual([400, 21609])
})

test('an unencoded plus sign is accepted', async () => {
  const answer = await send('To=+15551230001&From=+15557654321&Body=Hello')
  expect(answer.json()).toMatchObject({ to: '+15551230001', from: '+15557654321' })
})

test('a time without a zone is in UTC, whatever the machine’s zone', async () => {
  const zone = process.env['TZ']
  process.env['TZ'] = 'America/New_York'
  try {
    const at = new Date(Date.now() + 7_200_000).toISOString().slice(0, 19)
    const sent = await send(`To=%2B15551230001&Body=Hello&ScheduleType=fixed&SendAt=${at}`)
    expect(sent.json()).toMatchObject({ status: 'scheduled' })
    const rows = await sql<{ at: Date }>`select send_at as at from messages`
    expect(rows.map((row) => row.at.toISOString().slice(0, 19))).toEqual([at])
    const since = new Date(Date.now() - 3_600_000).toISOString().slice(0, 19)
    for (const written of [since, since.replace('T', '%20')]) {
      const list = await app.inject({ url: `${path()}?DateSent%3E=${written}`, headers: headersOf(token) })
      expect(list.json().messages).toHaveLength(1)
    }
  } finally {
    if (zone === undefined) delete process.env['TZ']
    else process.env['TZ'] = zone
  }
})

test('a body that is not a form, or too long, is refused in that API’s form', async () => {
  const headers = { ...headersOf(token), 'content-type': 'application/json' }
  const json = await app.inject({ method: 'POST', url: path(), headers, payload: '{"To":"+15551230001"}' })
  expect([json.statusCode, json.json()]).toEqual([
    415,
    expect.objectContaining({ status: 415, code: 20415, message: expect.stringMatching(/x-www-form-urlencoded/) }),
  ])
  const long = await send(`To=%2B15551230001&Body=${'x'.repeat(70_000)}`)
  expect([long.statusCode, long.json().code]).toEqual([413, 20413])
})

test('our failures also have the form that typed clients read', async () => {
  await sql`alter table messages rename to gone`
  const broken = await app.inject({ url: path(), headers: headersOf(token) })
  await sql`alter table gone rename to messages`
  expect([broken.statusCode, broken.json()]).toEqual([
    500,
    { status: 500, code: 20500, message: expect.any(String), more_info: expect.stringMatching(/20500$/) },
  ])
  await sql`create function canceled() returns trigger language plpgsql as $$
    begin raise 'canceling statement due to statement timeout' using errcode = '57014'; end $$;
    create trigger canceled before insert on messages for each row execute function canceled()`
  const passing = await send('To=%2B15551230001&Body=Hello')
  await sql`drop function canceled cascade`
  expect([passing.statusCode, passing.json().code, passing.headers['retry-after']]).toEqual([503, 20503, '2'])
})

test('returns the credentials’ account, which programs fetch to test them', async () => {
  const ask = (url: string, password = token) => app.inject({ url, headers: headersOf(password) })
  const uri = `/2010-04-01/Accounts/${sid()}`
  const answer = await ask(`${uri}.json`)
  expect([answer.statusCode, answer.json()]).toEqual([
    200,
    {
      auth_token: null,
      date_created: expect.stringMatching(/ \+0000$/),
      date_updated: expect.stringMatching(/ \+0000$/),
      friendly_name: 'Test',
      owner_account_sid: sid(),
      sid: sid(),
      status: 'active',
      subresource_uris: { messages: `${uri}/Messages.json` },
      type: 'Full',
      uri: `${uri}.json`,
    },
  ])
  expect((await ask(`${uri}.json`, 'guess')).json().code).toBe(20003)
  expect((await ask(`/2010-04-01/Accounts/${showSid('AC', newId())}.json`)).statusCode).toBe(404)
})

test('shows the carrier’s price as a debit, and none before', async () => {
  const { sid: id } = (await send('To=%2B15551230001&Body=Hello')).json()
  const priceOf = async (): Promise<unknown> => {
    const one = (await app.inject({ url: path().replace('.json', `/${id}.json`), headers: headersOf(token) })).json()
    return [one.price, one.price_unit]
  }
  const set = (fields: string): Promise<unknown> =>
    db.query(
      `update messages set carrier_id = $1, cost = '0.00790', cost_currency = 'EUR', cost_carrier_id = $1, ${fields}`,
      [ledger.carrierId],
    )
  await set('sent_at = null')
  expect(await priceOf()).toEqual([null, 'EUR'])
  await set('sent_at = now()')
  expect(await priceOf()).toEqual(['-0.00790', 'EUR'])
})

test('a missing resource is also refused in that API’s form', async () => {
  const root = `/2010-04-01/Accounts/${sid()}`
  for (const [method, url, status, code] of [
    ['DELETE', `${root}/Messages/SM${'0'.repeat(32)}.json`, 405, 20004],
    ['GET', `${root}/Balance.json`, 404, 20404],
  ] as const) {
    const answer = await app.inject({ method, url, headers: headersOf(token) })
    expect([answer.statusCode, answer.json()]).toMatchObject([status, { code, status, message: expect.any(String) }])
  }
})

test('a caller who guesses tokens is soon refused without a look-up, and known ones continue', async () => {
  expect((await send('To=%2B15551230001&Body=Hello')).statusCode).toBe(201)
  const note = vi.spyOn(door.unknownCallers, 'note')
  expect((await send('', 'guess')).statusCode).toBe(401)
  expect(note).toHaveBeenCalledOnce()
  // Ten tries a second come back; a hundred dated an hour ahead stay counted, however long the test takes.
  for (let i = 0; i < 100; i++) door.unknownCallers.note('127.0.0.1', performance.now() + 3_600_000)
  note.mockClear()
  expect((await send('', 'another guess')).statusCode).toBe(429)
  expect(note).not.toHaveBeenCalled()
  expect((await send('To=%2B15551230001&Body=Hello')).statusCode).toBe(201)
  expect((await send('To=%2B15551230001&Body=Hello', token, '192.0.2.1')).statusCode).toBe(201)
})

test('a token has its account’s request limit', async () => {
  await sql`update accounts set api_per_second = 3 where id = ${account.accountId}`
  const answer = await app.inject({ url: path(), headers: headersOf(token) })
  expect([answer.statusCode, answer.headers['ratelimit-policy']]).toEqual([200, '"api";q=3;w=1'])
})

const sid = (): string => showSid('AC', account.accountId)
const path = (): string => `/2010-04-01/Accounts/${sid()}/Messages.json`
const headersOf = (password: string) => ({
  authorization: `Basic ${Buffer.from(`${sid()}:${password}`).toString('base64')}`,
  'content-type': 'application/x-www-form-urlencoded',
})
const send = (payload: string, password = token, remoteAddress = '127.0.0.1') =>
  app.inject({ method: 'POST', url: path(), headers: headersOf(password), payload, remoteAddress })
