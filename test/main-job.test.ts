/** The main job for a new user: start, send, see it arrive, get the webhook, receive the reply. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Phones } from './carrier.ts'
import type { Answer, Message, Problem, Sent } from './client.ts'
import { startProgram, type Program } from './harness.ts'
import { Receiver } from './receiver.ts'
import { until } from './until.ts'

let program: Program
let phones: Phones
let receiver: Receiver
let ours: string

beforeAll(async () => {
  program = await startProgram()
  phones = new Phones(Number(/Simulated phones +http:\/\/127\.0\.0\.1:(\d+)/.exec(program.stdout)?.[1]))
  receiver = await Receiver.start(program.client)
})

afterAll(async () => {
  await receiver?.close()
  await program?.remove()
})

async function runPrintedCurl(): Promise<Answer<Message>> {
  const command = /^ +curl -i (\S+)[^]+?-d '.+'$/m.exec(program.stdout)
  const headers = Object.fromEntries(
    [...(command?.[0] ?? '').matchAll(/-H '([^:']+): ([^']+)'/g)].map(([, name = '', value = '']) => [name, value]),
  )
  const body = /-d '(.+)'/.exec(command?.[0] ?? '')?.[1] ?? ''
  const response = await fetch(command?.[1] ?? '', { method: 'POST', headers, body })
  return { status: response.status, headers: response.headers, body: (await response.json()) as Message }
}

test('the printed curl gets 202, the phone shows the text, the message is delivered, and the webhook gets its event', async () => {
  const { status, headers, body } = await runPrintedCurl()
  expect(status).toBe(202)
  expect(body).toMatchObject({
    object: 'message',
    to: '12025550123',
    delivery_status: null,
    final: false,
    warnings: [],
  })
  expect(headers.get('location')).toBe(`/v1/messages/${body.id}`)
  ours = body.from ?? ''
  await until('the phone shows the text', async () => (await phones.texts('12025550123')).includes(body.message ?? ''))
  const delivered = await program.client.waitForStatus(body.id, ['delivered'])
  expect(delivered).toMatchObject({ delivery_status: 'Delivered', final: true, error: null, segments_delivered: 1 })
  const event = await receiver.waitForMessage('message.delivered', body.id)
  expect(event.data.message).toMatchObject({ id: body.id, status: 'delivered', delivery_status: 'Delivered' })
})

test('the printed login works', async () => {
  const { email, password } = program
  const answer = await program.client.call<{ access_token: string }>('POST', '/v1/auth/login', { email, password })
  expect(answer.status).toBe(200)
  const authorization = `Bearer ${answer.body.access_token}`
  expect((await program.client.call('GET', '/v1/settings', undefined, { authorization })).status).toBe(200)
})

test('a reply typed on the phone arrives as message.received, with the message it answers', async () => {
  const sent = await program.client.send({ to: '15551230101', message: 'Shall we meet?' })
  await until('the phone shows the text', async () => (await phones.texts('15551230101')).length === 1)
  await phones.reply('15551230101', ours, 'Yes, at six 👍')
  const event = await receiver.waitForEvent(
    'message.received',
    ({ type, data }) => type === 'message.received' && data.message.from === '15551230101',
  )
  expect(event.data.message).toMatchObject({
    direction: 'inbound',
    status: 'received',
    to: ours,
    message: 'Yes, at six 👍',
    in_reply_to: sent.id,
    keyword: null,
  })
  expect(await program.client.message(event.data.message.id)).toMatchObject({ message: 'Yes, at six 👍' })
})

test('STOP refuses the next send at once and is confirmed once, START allows it again, HELP is answered', async () => {
  const to = '15551230102'
  const { client } = program
  const send = (): Promise<Answer<Sent>> =>
    client.call('POST', '/v1/messages/send', { to, message: 'Offer of the day' })
  const arrived = (count: number): Promise<void> =>
    until(`${count} texts on the phone`, async () => (await phones.texts(to)).length === count)
  expect((await send()).status).toBe(202)
  await arrived(1)

  await phones.reply(to, ours, ' Stop! ')
  await receiver.waitForEvent('the STOP', ({ data }) => data.message.from === to && data.message.keyword === 'stop')
  const refused = await send()
  expect([refused.status, refused.body.code]).toEqual([422, 'recipient_opted_out'])
  expect(refused.headers.get('content-type')).toContain('application/problem+json')
  await arrived(2)
  expect((await phones.texts(to)).at(-1)).toContain('unsubscribed')

  await phones.reply(to, ours, 'start')
  await receiver.waitForEvent('the START', ({ data }) => data.message.from === to && data.message.keyword === 'start')
  await arrived(3)
  expect((await send()).status).toBe(202)
  await arrived(4)

  await phones.reply(to, ours, 'HELP')
  await arrived(5)
  expect((await phones.texts(to)).at(-1)).toContain('STOP')
  // Nothing more came: one confirmation per keyword.
  const { data } = await client.get<{ data: Message[] }>(`/v1/messages?to=${to}`)
  expect(data).toHaveLength(5)
})

test('a long text with emoji is three segments and arrives complete', async () => {
  const text = 'Grüße aus Köln 🎡, wo der Dom steht. '.repeat(5).trim()
  const sent = await program.client.send({ to: '15551230103', message: text })
  expect(sent).toMatchObject({ encoding: 'UCS-2', segments: 3, message: text })
  const delivered = await program.client.waitForStatus(sent.id, ['delivered'])
  expect(delivered.segments_delivered).toBe(3)
  expect(await phones.texts('15551230103')).toEqual([text])
  await receiver.waitForMessage('message.delivered', sent.id)
})

test('a preview shows segments and sends nothing', async () => {
  const preview = await program.client.expect<{ segments: number; parts: { text: string }[]; opted_out: boolean }>(
    'POST',
    '/v1/messages/preview',
    { to: '15551230104', message: 'a'.repeat(161) },
  )
  expect(preview).toMatchObject({ segments: 2, opted_out: false })
  expect(preview.parts.map((part) => part.text.length)).toEqual([153, 8])
  expect(await program.client.listMessages('to=15551230104')).toEqual([])
})

test('a batch is answered item by item, and sends nothing twice when repeated with its key', async () => {
  const messages = [
    { to: '15551230105', message: 'One' },
    { to: 'nobody', message: 'Two' },
    { to: '15551230106', message: 'Three' },
  ]
  type Result = { index: number; status: number; message?: Message; error?: Problem }
  const post = (): Promise<{ accepted: number; refused: number; results: Result[] }> =>
    program.client.expect('POST', '/v1/messages/batch', { messages }, { 'idempotency-key': 'batch-of-the-journey' })
  const first = await post()
  expect(first).toMatchObject({ accepted: 2, refused: 1 })
  expect(first.results.map((result) => result.status)).toEqual([202, 422, 202])
  expect(first.results[1]?.error?.errors).toMatchObject([{ pointer: '#/to', code: 'invalid_phone_number' }])
  const ids = first.results.flatMap(({ message }) => (message ? [message.id] : []))
  for (const id of ids) await program.client.waitForStatus(id, ['delivered'])
  const again = await post()
  expect(again.results.flatMap(({ message }) => (message ? [message.id] : []))).toEqual(ids)
  expect(await phones.texts('15551230105')).toEqual(['One'])
})

test('a scheduled message waits, is sent when it is due, and can be canceled before', async () => {
  const { client } = program
  const soon = await client.send({ to: '15551230107', message: 'Soon', send_at: inSeconds(2) })
  const later = await client.send({ to: '15551230108', message: 'Later', send_at: inSeconds(3600) })
  expect([soon.status, later.status]).toEqual(['scheduled', 'scheduled'])
  const canceled = await client.expect<Message>('POST', `/v1/messages/${later.id}/cancel`)
  expect(canceled).toMatchObject({ status: 'canceled', final: true, delivery_status: null })
  const delivered = await client.waitForStatus(soon.id, ['delivered'])
  expect(Date.parse(delivered.sent_at ?? '')).toBeGreaterThanOrEqual(Date.parse(soon.send_at ?? ''))
  const tooLate = await client.call<Problem>('POST', `/v1/messages/${soon.id}/cancel`)
  expect([tooLate.status, tooLate.body.code]).toEqual([409, 'not_cancelable'])
  expect(await phones.texts('15551230108')).toEqual([])
})

test('every well-known recipient has the table’s fate', async () => {
  const fates = {
    '0001': { status: 'delivered' },
    '0002': {
      status: 'undelivered',
      delivery_status: 'Failed',
      error: { code: 'unknown_subscriber', stage: 'receipt' },
    },
    '0003': { status: 'delivered', attempts: 3 },
    '0004': { status: 'sent', delivery_status: null, final: false },
    '0005': { status: 'delivered' },
    '0006': { status: 'delivered' },
    '0007': { status: 'delivered' },
  } as const
  const { client } = program
  await Promise.all(
    Object.entries(fates).map(async ([ending, fate]) => {
      const text = `The fate of ${ending}`
      const { id } = await client.send({ to: `1555124${ending}`, message: text })
      expect(await client.waitForStatus(id, [fate.status])).toMatchObject(fate)
      if (fate.status === 'delivered') await receiver.waitForMessage('message.delivered', id)
      if (fate.status === 'undelivered') await receiver.waitForMessage('message.failed', id)
    }),
  )
  await receiver.waitForEvent(
    'STOP of …0006',
    ({ data }) => data.message.from === '15551240006' && data.message.keyword === 'stop',
  )
  await receiver.waitForEvent(
    'the echo of …0007',
    ({ data }) => data.message.from === '15551240007' && data.message.message === 'The fate of 0007',
  )
  const refused = await client.call<Problem>('POST', '/v1/messages', { to: '15551240006', message: 'Once more' })
  expect([refused.status, refused.body.code]).toEqual([422, 'recipient_opted_out'])
})

test('every post verified, and no event arrived under two ids', async () => {
  expect(receiver.refused).toEqual([])
  const contents = [...receiver.events.values()].map(({ type, data }) => `${type} ${data.message.id}`)
  expect(new Set(contents).size).toBe(contents.length)
  // Browsers open spare connections; a stop that waited for one would end after a minute, with 1.
  const silent = connect(Number(new URL(program.address).port), '127.0.0.1')
  await once(silent, 'connect')
  const ending = await program.stop()
  silent.destroy()
  expect(ending).toMatchObject({ code: 0, signal: null })
})

const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1000).toISOString()
