/** The program with HTTP carriers: send, delivery, failure, reply, a lost response, and an outage. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { carrierBody, FakeCarrier } from '../server/http-carriers/testing.ts'
import type { AdapterName } from '../server/links/carrier-settings.ts'
import type { Message } from './client.ts'
import { startProgram, type Program } from './harness.ts'
import { Receiver } from './receiver.ts'
import { until } from './until.ts'

interface Carrier {
  id: string
  inbound: { receipts_url: string; replies_url: string; refused: number }
  links: { state: string; last_error: string | null }[]
}

let program: Program
let receiver: Receiver
const fakes: FakeCarrier[] = []

beforeAll(async () => {
  program = await startProgram()
  receiver = await Receiver.start(program.client)
})
afterEach(async () => {
  for (const fake of fakes.splice(0)) await fake.close()
})
afterAll(async () => {
  await receiver?.close()
  await program?.remove()
})

async function open(
  name: AdapterName,
  number: string,
): Promise<{ fake: FakeCarrier; carrier: Carrier; show: () => Promise<Carrier> }> {
  const fake = await FakeCarrier.start(name)
  fakes.push(fake)
  const { client } = program
  const carrier = await client.expect<Carrier>('POST', '/v1/carriers', { ...carrierBody(name, fake.url), pace: 500 })
  await client.expect('POST', '/v1/senders', { number, carrier: carrier.id, country: 'US' })
  const show = (): Promise<Carrier> => client.get<Carrier>(`/v1/carriers/${carrier.id}`)
  await until('the link is up', async () => (await show()).links[0]?.state === 'bound')
  return { fake, carrier, show }
}

const referenceOf = (fake: FakeCarrier): string =>
  /[\w-]{43}\.\d+\.\d+/.exec(`${fake.sends.at(-1)?.path} ${decodeURIComponent(fake.sends.at(-1)?.body ?? '')}`)?.[0] ??
  ''

/** The receipt URL given to the carrier with its last message. */
function receiptsUrl(fake: FakeCarrier, { inbound }: Carrier): string {
  return fake.name === 'twilio' ? `${inbound.receipts_url}?ref=${referenceOf(fake)}` : inbound.receipts_url
}

test.each([
  ['twilio', '15557650001'],
  ['generic', '15557650002'],
] as const)('%s: sent, delivered, failed, answered, each reported to the client once', async (name, from) => {
  const { client } = program
  const { fake, carrier, show } = await open(name, from)
  const sent = await client.send({ to: '15551230001', from, message: 'Hello' })
  await client.waitForStatus(sent.id, ['sent'])
  expect(fake.sends).toHaveLength(1)
  const values = { id: fake.ids.at(-1) ?? '', reference: referenceOf(fake), text: '' }
  expect(await fake.post('delivered', receiptsUrl(fake, carrier), values)).toBe(200)
  expect(await client.waitForStatus(sent.id, ['delivered'])).toMatchObject({
    delivery_status: 'Delivered',
    error: null,
  })
  await receiver.waitForMessage('message.delivered', sent.id)

  const failing = await client.send({ to: '15551230002', from, message: 'Hello' })
  await client.waitForStatus(failing.id, ['sent'])
  const second = { id: fake.ids.at(-1) ?? '', reference: referenceOf(fake), text: '' }
  expect(await fake.post('failed', receiptsUrl(fake, carrier), second)).toBe(200)
  expect(await client.waitForStatus(failing.id, ['undelivered'])).toMatchObject({ delivery_status: 'Failed' })
  await receiver.waitForMessage('message.failed', failing.id)

  fake.behaviours.push('invalid number')
  const refused = await client.send({ to: '15551230003', from, message: 'Hello' })
  expect(await client.waitForStatus(refused.id, ['rejected'])).toMatchObject({
    error: { code: 'invalid_destination', stage: 'submit' },
  })

  const reply = { id: 'in-1', text: `Thank you, ${name} 👍`, reference: '', our: from }
  const isReply = ({ data }: { data: { message: Message } }): boolean => data.message.message === reply.text
  expect(await fake.post('reply', carrier.inbound.replies_url, reply)).toBe(200)
  const event = await receiver.waitForEvent('the reply', isReply)
  expect(event).toMatchObject({
    type: 'message.received',
    data: { message: { from: '15551230001', to: from, in_reply_to: sent.id } },
  })
  expect(await fake.post('reply', carrier.inbound.replies_url, reply)).toBe(200)

  const forged = await fetch(carrier.inbound.receipts_url, {
    method: 'POST',
    body: 'MessageSid=x&MessageStatus=delivered',
  })
  expect([forged.status, await forged.text()]).toEqual([403, ''])
  expect((await show()).inbound.refused).toBe(1)
})

test('a lost response leaves the message unconfirmed, never sent twice, until its receipt arrives', async () => {
  const { client } = program
  const from = '15557650003'
  const { fake, carrier } = await open('sinch', from)
  fake.behaviours.push((_response, socket) => void socket.destroy())
  const sent = await client.send({ to: '15551230004', from, message: 'Only once' })
  expect(await client.waitForStatus(sent.id, ['unconfirmed'])).toMatchObject({ error: { code: 'outcome_unknown' } })
  const values = { id: 'late', reference: referenceOf(fake), text: '' }
  expect(await fake.post('delivered', carrier.inbound.receipts_url, values)).toBe(200)
  const delivered = await client.waitForStatus(sent.id, ['delivered'])
  expect(delivered).toMatchObject({ error: null, delivery_status: 'Delivered' } satisfies Partial<Message>)
  expect(fake.sends).toHaveLength(1)
})

test('messages wait while the carrier cannot be reached, and are sent when it is back', async () => {
  const { client } = program
  const from = '15557650004'
  const { fake, carrier, show } = await open('telnyx', from)
  fake.behaviours.push('wrong key')
  const sent = await client.send({ to: '15551230005', from, message: 'Patience' })
  await until('the link is down', async () => (await show()).links[0]?.state === 'down')
  expect((await show()).links[0]?.last_error).toBe('10009')
  expect(['queued', 'sending']).toContain((await client.message(sent.id)).status)
  await client.expect('PATCH', `/v1/carriers/${carrier.id}`, { secrets: { api_key: 'KEY_new' } })
  await client.waitForStatus(sent.id, ['sent'])
  expect(fake.sends.map(({ headers }) => headers.authorization)).toEqual([
    'Bearer KEY0123456789ABCDEF',
    'Bearer KEY_new',
  ])
})

test('a refused connection is not an attempt', async () => {
  const { client } = program
  const from = '15557650005'
  const { fake, carrier, show } = await open('infobip', from)
  await fake.close()
  const sent = await client.send({ to: '15551230006', from, message: 'Nobody listens' })
  await until('the link is down', async () => (await show()).links[0]?.state === 'down')
  const back = await FakeCarrier.start('infobip')
  fakes.push(back)
  await client.expect('PATCH', `/v1/carriers/${carrier.id}`, { settings: { base_url: back.url } })
  expect(await client.waitForStatus(sent.id, ['sent'])).toMatchObject({ attempts: 1 })
  expect(back.sends).toHaveLength(1)
})

test('every reply arrived once', () => {
  const replies = [...receiver.events.values()].filter(({ type }) => type === 'message.received')
  expect(replies).toHaveLength(2)
  expect(receiver.refused).toEqual([])
})
