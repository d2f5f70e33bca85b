/** A real server answers incoming messages in Twilio's form; the test follows each answer to the messages in it. */
import type { ServerResponse } from 'node:http'
import { beforeEach, expect, it, test } from 'vitest'
import { createTestDatabase, forEachTest } from '../ground/db/testing.ts'
import { recordEvents } from '../events/events.ts'
import { newId, showId } from '../ground/base/ids.ts'
import { openLedgerTest, ourNumber, silent } from '../messages/testing.ts'
import type { TakeAnswer } from '../post/asked.ts'
import {
  insertTestWebhook,
  nobody,
  startReceiver,
  startTestDispatcher,
  type Received,
  type Receiver,
} from '../webhooks/testing.ts'
import { until } from '../../test/until.ts'
import { TwilioAnswers } from './answers.ts'

const person = '15551230001'
let answers: TwilioAnswers
let receiver: Receiver
let webhookId: string
/** The server's answer; set by each test. */
let answer: (response: ServerResponse, received: Received) => void

const { db, sql } = await createTestDatabase()
const ledger = forEachTest(db, openLedgerTest)
beforeEach(async () => {
  answers = new TwilioAnswers(silent)
  answers.open({ ...ledger.routeContext, shortUrl: null })
  receiver = await startReceiver((response, received) => answer(response, received))
  webhookId = (await insertTestWebhook(db, ledger.accountId, `${receiver.url}/in?shop=7#twilio`)).id
})
test('sends an answer’s messages in order, to the numbers they name and otherwise to the person', async () => {
  answer = xml(
    '<Message>One</Message><Message to="+15551230002" action="status?n=1"><Body>Two</Body></Message><Message>Three</Message>',
  )
  await receive()
  const plain = { to: person, from: ourNumber, callback: null }
  expect(await sent()).toEqual([
    { ...plain, body: 'One' },
    { ...plain, to: '15551230002', body: 'Two', callback: `${receiver.url}/status?n=1#twilio` },
    { ...plain, body: 'Three' },
  ])
  expect(await told()).toEqual([])
  expect(receiver.received).toHaveLength(1)
})

it.each([
  ['an empty response', 'text/xml', '<Response/>'],
  ['nothing', 'text/plain', ' \n'],
  ['nothing, without a type', '', ''],
])('does not read %s as a reply', async (_, type, body) => {
  answer = (response) => response.writeHead(200, type === '' ? {} : { 'content-type': type }).end(body)
  await receive()
  expect(await sent()).toEqual([])
  expect(await told()).toEqual([])
})

const hello = '<Response><Message>Hello</Message></Response>'
it.each<[string, Record<string, string>, string | Buffer, [string | null, number | null, number][]]>([
  ['malformed XML', {}, '<Response><Message>Hello</Response>', [[null, null, 12100]]],
  ['another content type', { 'content-type': 'application/json' }, hello, [[null, null, 12300]]],
  ['plain text', { 'content-type': 'text/plain' }, 'ok', [[null, null, 12300]]],
  ['another charset', { 'content-type': 'text/xml; charset="iso-8859-1"' }, hello, [[null, null, 12300]]],
  ['what is not UTF-8', {}, Buffer.from('<Response><Message>Ü</Message></Response>', 'latin1'), [[null, null, 12100]]],
  ['too long an answer', {}, `<Response>${' '.repeat(70_000)}</Response>`, [[null, null, 11750]]],
  [
    'other verbs',
    {},
    '<Response><Redirect>/x</Redirect><Play/></Response>',
    [
      ['Redirect', 1, 12200],
      ['Play', 2, 12200],
    ],
  ],
  ['a text too long', {}, `<Response><Message>${'x'.repeat(1601)}</Message></Response>`, [['Message', 1, 21617]]],
  ['a wrong number', {}, '<Response><Message to="+1">x</Message></Response>', [['Message', 1, 21211]]],
  [
    'a sender of somebody else',
    {},
    '<Response><Message from="+15550009999">x</Message></Response>',
    [['Message', 1, 21606]],
  ],
  ['a premium number', {}, '<Response><Message to="+19005551234">x</Message></Response>', [['Message', 1, 21408]]],
])('reports %s and sends nothing', async (_, headers, body, faults) => {
  answer = (response) => response.writeHead(200, { 'content-type': 'text/xml', ...headers }).end(body)
  await receive()
  expect(await sent()).toEqual([])
  expect(await told()).toEqual(faults)
})

test('reports a truncated answer, and sends nothing of it', async () => {
  answer = (response) => {
    response.writeHead(200, { 'content-type': 'text/xml', 'content-length': '900' }).write(hello)
    setTimeout(() => response.destroy(), 50)
  }
  await receive()
  expect(await sent()).toEqual([])
  expect(await told()).toEqual([[null, null, 12100]])
})

test('sends the permitted messages beside a refused one: an opted-out person, and a guard', async () => {
  await sql`insert into opt_outs (account_id, number, source) values (${ledger.accountId}, '15551230003', 'reply')`
  await sql`update accounts set settings = '{"guards":{"dedupe_window":60}}'`
  await ledger.context.guards.refresh()
  answer = xml('<Message to="+15551230003">a</Message><Message>b</Message><Message>b</Message><Pause/>')
  await receive()
  expect((await sent()).map(({ body }) => body)).toEqual(['b'])
  const [optedOut, duplicate, verb] = await told()
  expect(optedOut).toEqual(['Message', 1, 21610])
  expect(duplicate?.slice(0, 2)).toEqual(['Message', 3])
  expect(verb).toEqual(['Pause', 4, 12200])
  const [row] = await sql<{ payload: string }>`select payload from events where type = 'webhook.answer_refused'`
  expect(JSON.parse(row?.payload ?? '')).toMatchObject({
    data: {
      webhook: showId('whk', webhookId),
      faults: [{ detail: expect.stringMatching(/opted out|opted out of messages from the account/) as string }, {}, {}],
    },
  })
})

test('sends at most twenty messages of an answer, and reports the others in one event', async () => {
  answer = xml(Array.from({ length: 45 }, (_, n) => `<Message>${n}</Message>`).join(''))
  await receive()
  expect((await sent()).map(({ body }) => body)).toEqual(Array.from({ length: 20 }, (_, n) => String(n)))
  const faults = await told()
  expect(faults).toHaveLength(21)
  expect(faults[0]).toEqual(['Message', 21, 12200])
  expect(await ledger.count('events', `type = 'webhook.answer_refused'`)).toBe(1)
})

test('answers once if the process dies between the replies and the end of the post', async () => {
  // The second post must not be a duplicate for a guard that compares texts.
  await sql`update accounts set settings = '{"guards":{"dedupe_window":60}}'`
  await ledger.context.guards.refresh()
  answer = xml('<Message>One</Message><Message>Two</Message>')
  let lost = 2
  await receive(async (...given) => {
    await answers.take(...given)
    if (lost-- > 0) throw new Error('lost')
  })
  expect(receiver.received).toHaveLength(3)
  expect((await sent()).map(({ body }) => body)).toEqual(['One', 'Two'])
  expect(await told()).toEqual([])
})

test('resumes a half-done answer, and reports a reply that differs the second time', async () => {
  answer = xml('<Message>One</Message>')
  let isFirst = true
  await receive(async (...given) => {
    await answers.take(...given)
    answer = xml('<Message>Other</Message><Message>Two</Message>')
    if (isFirst) throw new Error(`lost ${(isFirst = false)}`)
  })
  expect((await sent()).map(({ body }) => body)).toEqual(['One', 'Two'])
  expect(await told()).toEqual([['Message', 1, 12200]])
})

test('repeats the post while messages are not accepted yet, and then sends the reply once', async () => {
  answer = xml('<Message>One</Message>')
  const late = new TwilioAnswers(silent)
  const asked = receive(late.take)
  await until('it was posted', () => receiver.received.length > 0)
  late.open({ ...ledger.routeContext, shortUrl: null })
  await asked
  expect((await sent()).map(({ body }) => body)).toEqual(['One'])
})

test('reads no answer to a refusal, to a status callback, or of a webhook in our own form', async () => {
  let posts = 0
  answer = (response) => {
    if (++posts === 1) response.writeHead(500, { 'content-type': 'text/xml' }).end(hello)
    else response.writeHead(200, { 'content-type': 'text/xml' }).end('<Response/>')
  }
  await receive()
  expect(posts).toBe(2)
  answer = xml('<Message>Loop</Message>')
  await sql`update webhooks set url = ${receiver.url}`
  await receive()
  await sql`update webhooks set url = ${`${receiver.url}#twilio`}`
  const message = { id: showId('msg', newId()), direction: 'outbound', status: 'delivered', to: '1', from: '2' }
  const event = { accountId: ledger.accountId, type: 'message.delivered' as const, data: { message } }
  await recordEvents(db, [event], nobody)
  startTestDispatcher(db, { takeAnswer: answers.take, pollMs: 20 })
  await until('the posts are over', async () => (await ledger.count('outbox', 'true')) === 0)
  expect(receiver.received).toHaveLength(4)
  expect(await sent()).toEqual([])
  expect(await told()).toEqual([])
})

const xml = (inner: string) => (response: ServerResponse) =>
  response.writeHead(200, { 'content-type': 'text/xml' }).end(`<Response>${inner}</Response>`)

/** Receives a message from a person; resolves when its post is over. */
async function receive(take: TakeAnswer = answers.take, more: object = {}): Promise<void> {
  const dispatcher = startTestDispatcher(db, { takeAnswer: take, retryDelaysMs: [30, 30, 30], pollMs: 20, ...more })
  const id = newId()
  const message = {
    id: showId('msg', id),
    direction: 'inbound',
    status: 'received',
    from: `+${person}`,
    to: `+${ourNumber}`,
    message: 'Hi',
    segments: 1,
    test: false,
  }
  const event = { accountId: ledger.accountId, type: 'message.received' as const, messageId: id, data: { message } }
  await recordEvents(db, [event], nobody)
  await until('the posts are over', async () => (await ledger.count('outbox', 'true')) === 0)
  await dispatcher.close()
}

async function sent(): Promise<{ to: string; from: string; body: string; callback: string | null }[]> {
  const rows = await sql<{
    to: string
    from: string
    body: string
    callback: string | null
  }>`select their_number as to, our_number as
    from, body, callback_url as callback
    from messages where account_id = ${ledger.accountId} and direction = 'outbound' order by id`
  return rows
}

interface Told {
  data: { webhook: string; faults: { element: string | null; position: number | null; code: number; detail: string }[] }
}

async function told(): Promise<[string | null, number | null, number][]> {
  const rows = await sql<{ payload: string }>`select payload from events
    where account_id = ${ledger.accountId} and type = 'webhook.answer_refused' order by id`
  return rows.flatMap(({ payload }) =>
    (JSON.parse(payload) as Told).data.faults.map(
      ({ element, position, code }): [string | null, number | null, number] => [element, position, code],
    ),
  )
}
