/** A carrier that disappears, refuses us, falls silent or hangs up: messages wait or have unknown outcomes, and none is sent twice. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CarrierProcess, setUpCarrier } from './carrier.ts'
import type { Client, Message } from './client.ts'
import { startProgram, type Program } from './harness.ts'
import { Receiver } from './receiver.ts'
import { until, waitFor } from './until.ts'

let carrier: CarrierProcess
let program: Program
let client: Client
let receiver: Receiver

beforeAll(async () => {
  carrier = await CarrierProcess.start(['--latency', '0', '--credentials', 'heliogram:secret'])
  program = await startProgram({
    env: { HELIOGRAM_CARRIER_URL: carrier.url, HELIOGRAM_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' },
  })
  client = program.client
  await setUpCarrier(client, { response_timeout_seconds: 0.5 })
  receiver = await Receiver.start(client, ['message.delivered', 'message.failed', 'message.unconfirmed'])
})

afterAll(async () => {
  await receiver?.close()
  await program?.remove()
  await carrier?.close()
})

async function submitsOf(text: string): Promise<number> {
  return (await carrier.phones.ledger()).filter((entry) => entry.text === text && entry.status === 'ROK').length
}

const sendTo = (endings: string[], text: string): Promise<Message[]> =>
  Promise.all(endings.map((ending) => client.send({ to: `1555130${ending}`, message: text })))

test('messages accepted while the carrier is down wait, and are sent when it is back', async () => {
  await carrier.kill9()
  const down = await waitFor('the link is seen to be down', async () => {
    const link = await client.link()
    return link.state === 'bound' ? null : link
  })
  expect(down.last_error).toMatch(/peer_closed|ECONNREFUSED|ECONNRESET/)
  const sent = await sendTo(['1001', '1002', '1003'], 'While you were away')
  for (const { id } of sent)
    expect(await client.message(id)).toMatchObject({ status: 'queued', final: false, estimated_send_at: null })
  await carrier.start()
  for (const { id } of sent) await client.waitForStatus(id, ['delivered'])
  expect(await submitsOf('While you were away')).toBe(3)
  await until('nothing is under way', async () => (await client.waitForBound()).in_flight === 0)
})

test('a wrong password is in the link’s state, and is not retried for a minute', async () => {
  const { id } = await client.carrier()
  await client.expect('PATCH', `/v1/carriers/${id}`, { password: 'wrong' })
  const link = await waitFor('the refusal is seen', async () => {
    const seen = await client.link()
    return seen.last_error?.includes('RINVPASWD') ? seen : null
  })
  expect(link).toMatchObject({ state: 'down', last_error: 'bind_refused: ESME_RINVPASWD' })
  expect(program.stderr).toMatch(/bind_refused: ESME_RINVPASWD; again in (4[89]|[56]\d|7[0-2])\.\d s/)
  const refused = (await carrier.phones.stats()).bindsRefused
  const [message] = await sendTo(['1005'], 'As soon as we may')
  await client.expect('PATCH', `/v1/carriers/${id}`, { password: 'secret' })
  await client.waitForStatus(message?.id ?? '', ['delivered'])
  expect(refused).toBe(1)
})

test('a disabled carrier holds its messages, with a reason, until it is enabled', async () => {
  const { id } = await client.carrier()
  await client.expect('PATCH', `/v1/carriers/${id}`, { enabled: false })
  await until('the link is closed', async () => (await carrier.phones.stats()).bound === 0)
  expect((await client.link()).state).toBe('disabled')
  const [message] = await sendTo(['1006'], 'On hold')
  expect((await client.message(message?.id ?? '')).status).toBe('queued')
  await client.expect('PATCH', `/v1/carriers/${id}`, { enabled: true })
  await client.waitForStatus(message?.id ?? '', ['delivered'])
  expect(await submitsOf('On hold')).toBe(1)
})

test('a submit without a response has an unknown outcome, never failed and never sent again, until its receipt is matched', async () => {
  const [message] = await sendTo(['0010'], 'Did you get this?')
  const { data } = await receiver.waitForMessage('message.unconfirmed', message?.id ?? '')
  expect(data.message).toMatchObject({
    delivery_status: null,
    final: false,
    error: { code: 'outcome_unknown', stage: 'submit', permanent: false },
  })
  // Its id was never returned; numbers and time identify it.
  await client.waitForStatus(message?.id ?? '', ['delivered'])
  await receiver.waitForMessage('message.delivered', message?.id ?? '')
  expect(await submitsOf('Did you get this?')).toBe(1)
})

test('a late response, and the receipt after it, settle the unknown outcome', async () => {
  await carrier.phones.control({ isPaused: true })
  const sent = await sendTo(['1007', '1008'], 'Take your time')
  for (const { id } of sent) await client.waitForStatus(id, ['unconfirmed'])
  await carrier.phones.control({ isPaused: false })
  for (const { id } of sent) {
    expect(await client.waitForStatus(id, ['delivered'])).toMatchObject({ delivery_status: 'Delivered', error: null })
    await receiver.waitForMessage('message.delivered', id)
  }
  expect(await submitsOf('Take your time')).toBe(2)
})

test('a long text with a throttled segment is accepted completely, each segment once', async () => {
  await carrier.phones.control({ throttleRatio: 0.5 })
  const text = 'Every word of it. '.repeat(30).trim()
  const [message] = await sendTo(['1010'], text)
  await client.waitForStatus(message?.id ?? '', ['delivered'])
  await carrier.phones.control({ reset: true })
  expect(await carrier.phones.texts('15551301010')).toEqual([text])
  const parts = (await carrier.phones.ledger()).filter(
    (entry) => entry.destination === '15551301010' && entry.status === 'ROK',
  )
  expect(parts.map((entry) => entry.part).toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4])
})

test('a permanent refusal fails the message with the carrier’s word', async () => {
  const { id } = await client.send({ to: '15005550001', message: 'Nobody there' })
  expect(await client.waitForStatus(id, ['rejected'])).toMatchObject({
    delivery_status: 'Failed',
    final: true,
    error: { code: 'invalid_destination', stage: 'submit', source: { raw: 'ESME_RINVDSTADR' } },
  })
  await receiver.waitForMessage('message.failed', id)
})

test('a carrier that sends unbind is bound again', async () => {
  const { binds } = await carrier.phones.stats()
  await carrier.phones.control({ do: 'unbind' })
  const [message] = await sendTo(['1004'], 'See you soon')
  await client.waitForStatus(message?.id ?? '', ['delivered'])
  expect((await carrier.phones.stats()).binds).toBe(binds + 1)
  expect(await submitsOf('See you soon')).toBe(1)
})

test('a connection that closes on a submit leaves it unknown, and the next message goes over a new one', async () => {
  const [message] = await sendTo(['0011'], 'Hello? Hello?')
  const { data } = await receiver.waitForMessage('message.unconfirmed', message?.id ?? '')
  expect(data.message.error?.detail).toContain('the session ended before the response')
  const [next] = await sendTo(['1009'], 'There you are')
  await client.waitForStatus(next?.id ?? '', ['delivered'])
  expect(await submitsOf('Hello? Hello?')).toBe(1)
})
