/** A broadcast through kill -9, a pause and a second process: each contact gets its text once, and none is missed. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPool, type Db } from '../server/ground/db/db.ts'
import { CarrierProcess, setUpCarrier } from './carrier.ts'
import { startProgram, type Program } from './harness.ts'
import { until } from './until.ts'

const contacts = 2000
const kills = 2

let carrier: CarrierProcess
let program: Program
let db: Db

beforeAll(async () => {
  carrier = await CarrierProcess.start(['--response-latency', '1-20', '--receipt-latency', '50-200'])
  program = await startProgram({ env: { HELIOGRAM_CARRIER_URL: carrier.url, HELIOGRAM_LOG: 'warn' } })
  await setUpCarrier(program.client)
  db = openPool(await program.connection(), { name: 'journey', max: 1 })
})
afterAll(async () => {
  await db?.end()
  await program?.remove()
  await carrier?.close()
})

type Broadcast = { status: string; recipients: number; messages: number; remaining: number; skipped: object }

test('a broadcast that is killed, paused and resumed reaches each contact once', async () => {
  const { client } = program
  await client.call('POST', '/v1/campaigns', { name: 'Sale', key: 'sale', pace: 600 })
  // Numbers that the carrier delivers to, without well-known endings.
  const rows = Array.from({ length: contacts }, (_, i) => ({
    phone_number: `+1555${String(100 + Math.floor(i / 8000)).padStart(3, '0')}${String(1000 + (i % 8000))}`,
    first_name: `Ann${i}`,
  }))
  const imported = await client.call<{ id: string }>('POST', '/v1/campaigns/sale/contacts/import', { contacts: rows })
  const read = async <T>(path: string): Promise<T> => (await client.call<T>('GET', path)).body
  await until(
    'the contacts are there',
    async () => (await read<{ status: string }>(`/v1/imports/${imported.body.id}`)).status === 'completed',
    60_000,
  )
  const order = { message: 'Hello {{ first_name }}' }
  const ordered = await client.call<{ id: string }>('POST', '/v1/campaigns/sale/send', order, {
    'idempotency-key': 'o1',
  })
  expect(ordered.status).toBe(202)
  const path = `/v1/broadcasts/${ordered.body.id}`
  for (let kill = 1; kill <= kills; kill++) {
    await until('more has been sent', async () => (await carrier.phones.ledger()).length > kill * 400)
    await program.kill9()
    await program.restart()
  }
  expect((await client.call('POST', '/v1/campaigns/sale/send', order, { 'idempotency-key': 'o1' })).body).toEqual(
    ordered.body,
  )
  await client.call('POST', '/v1/campaigns/sale/pause')
  // A claim that began before the pause may still hand over some messages.
  let looks = 0
  await until('what the carrier had is answered, three looks in a row', async () => {
    const { rows } = await db.query(`select 1 from messages where status = 'sending' limit 1`)
    looks = rows.length === 0 ? looks + 1 : 0
    return looks === 3
  })
  const before = (await carrier.phones.ledger()).length
  await new Promise((resolve) => setTimeout(resolve, 1500))
  expect((await carrier.phones.ledger()).length).toBe(before)
  await client.call('POST', '/v1/campaigns/sale/resume')
  await until('it is over', async () => (await read<Broadcast>(path)).status === 'completed')
  expect(await read<Broadcast>(path)).toMatchObject({
    recipients: contacts,
    messages: contacts,
    remaining: 0,
    skipped: {},
  })
  const submitted = (await carrier.phones.ledger()).filter((entry) => entry.status === 'ROK')
  const texts = new Map(submitted.map((entry) => [entry.destination, entry.text]))
  expect(submitted.length).toBe(texts.size)
  // A submit left unanswered by a kill is held: its outcome is unknown.
  const { rows: held } = await db.query<{ number: string }>(
    `select their_number as number from messages where status = 'unconfirmed'`,
  )
  const missing = rows.filter(({ phone_number }) => !texts.has(phone_number.slice(1)))
  expect(missing.filter(({ phone_number }) => !held.some(({ number }) => number === phone_number.slice(1)))).toEqual([])
  for (const { phone_number, first_name } of rows.slice(0, 50)) {
    const text = texts.get(phone_number.slice(1))
    if (text !== undefined) expect(text).toBe(`Hello ${first_name}`)
  }
  console.log(`${submitted.length} of ${contacts} submitted, ${held.length} held after ${kills} kills`)
}, 300_000)
