/** Kannel's own sendsms and get-url as a carrier: Cyrillic and emoji in both directions over the generic HTTP adapter. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CarrierProcess } from './carrier.ts'
import { startProgram, type Program } from './harness.ts'
import { Kannel } from './kannel.ts'
import { until } from './until.ts'

const ours = '15557650077'
const person = '15551660001'

let program: Program
let network: CarrierProcess
let kannel: Kannel

beforeAll(async () => {
  program = await startProgram()
  network = await CarrierProcess.start()
  const { client } = program
  // Created first, and updated with Kannel's address: Kannel needs the reply URL at its start.
  const settings = (sendUrl: string): object => ({
    adapter: 'generic',
    request: {
      method: 'GET',
      url: `${sendUrl}&to={{to}}&from={{from}}&text={{text}}&charset=UTF-8&coding={{encoding}}&dlr-mask=19&dlr-url={{receipt_url}}%3Fref%3D{{id}}%26state%3D%25d`,
      encodings: { 'GSM-7': '0', 'UCS-2': '2' },
      format: 'none',
    },
    receipt: {
      id: '/ref',
      reference: '/ref',
      state: '/state',
      states: { 1: 'delivered', 2: 'undeliverable', 16: 'rejected' },
    },
    reply: { from: '/from', to: '/to', text: '/text', charset_at: '/charset', charsets: { GSM: 'UTF-8' } },
  })
  const made = await client.expect<{ id: string; inbound: { replies_url: string } }>('POST', '/v1/carriers', {
    name: 'Kannel',
    kind: 'http',
    settings: settings('http://127.0.0.1:9/'),
  })
  kannel = await Kannel.start(
    { port: network.smppPort, systemId: 'heliogram', password: 'secret' },
    `${made.inbound.replies_url}?from=%p&to=%P&text=%b&charset=%C`,
  )
  await client.expect('PATCH', `/v1/carriers/${made.id}`, { settings: settings(kannel.sendUrl) })
  await client.expect('POST', '/v1/senders', { number: ours, carrier: made.id, country: 'US' })
})
afterAll(async () => {
  await kannel?.close()
  await network?.close()
  await program?.remove()
})

test.each([
  ['plain', 'Hello, 5 £ & more'],
  ['Cyrillic', 'Привет из Казани'],
  ['an emoji', 'See you 👋🏽 at six'],
])('%s is sent, reaches the phone as written, and its receipt returns', async (_, message) => {
  const { client } = program
  const { id } = await client.send({ to: person, from: ours, message })
  await client.waitForStatus(id, ['delivered'])
  expect((await network.phones.texts(person)).at(-1)).toBe(message)
})

test.each([
  ['plain', 'Yes, at six'],
  ['Western letters', 'Grüße & 3 £ für José'],
  ['Cyrillic', 'Спасибо, до вечера'],
  ['an emoji', '👍🏽 ok'],
])('a reply in %s arrives as it was typed', async (_, text) => {
  const { client } = program
  await network.phones.reply(person, ours, text)
  await until('it is there', async () => {
    const replies = await client.listMessages(`from=${person}&direction=inbound`)
    return replies.some((one) => one.message === text)
  })
})
