/** Test mode beside a real carrier: messages of a test key, single, in batches and in broadcasts, never reach it, in spite of kills. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPool, type Db } from '../server/ground/db/db.ts'
import { CarrierProcess, setUpCarrier } from './carrier.ts'
import { Client, type Message, type Problem } from './client.ts'
import { startProgram, type Program } from './harness.ts'
import { until } from './until.ts'

let carrier: CarrierProcess
let program: Program
let tester: Client
let db: Db

beforeAll(async () => {
  carrier = await CarrierProcess.start(['--response-latency', '1-20', '--receipt-latency', '50-200'])
  program = await startProgram({ env: { HELIOGRAM_CARRIER_URL: carrier.url, HELIOGRAM_LOG: 'warn' } })
  await setUpCarrier(program.client)
  const key = await program.client.expect<{ secret: string }>('POST', '/v1/api-keys', { name: 'test', mode: 'test' })
  tester = new Client(() => program.address, key.secret)
  db = openPool(await program.connection(), { name: 'journey', max: 1 })
})
afterAll(async () => {
  await db?.end()
  await program?.remove()
  await carrier?.close()
})

const count = async (where: string): Promise<number> => {
  const { rows } = await db.query<{ n: number }>(`select count(*)::int as n from messages where ${where}`)
  return rows[0]?.n ?? 0
}
const contacts = 500

test('the real carrier gets the messages of live keys, and none of a test key', async () => {
  const live = program.client
  // The first test message starts the simulator.
  const first = await tester.expect<Message>('POST', '/v1/messages/send', { to: '15551230001', message: 'test' })
  expect(first).toMatchObject({ test: true, status: 'queued' })
  await until('it is delivered', async () => {
    const { status } = await tester.expect<Message>('GET', `/v1/messages/${first.id}`)
    return status === 'delivered'
  })
  const batch = (text: string) => ({
    messages: Array.from({ length: 200 }, (_, i) => ({ to: `1555200${1000 + i}`, message: `${text} ${i}` })),
  })
  const rows = Array.from({ length: contacts }, (_, i) => ({
    phone_number: `+1555201${1000 + i}`,
    first_name: `Ann${i}`,
  }))
  await live.expect('POST', '/v1/campaigns', { name: 'Sale', key: 'sale', pace: 200 })
  const imported = await live.expect<{ id: string }>('POST', '/v1/campaigns/sale/contacts/import', { contacts: rows })
  await until(
    'the contacts are there',
    async () => (await live.expect<{ status: string }>('GET', `/v1/imports/${imported.id}`)).status === 'completed',
  )
  const order = { message: 'test {{ first_name }}' }
  await tester.expect('POST', '/v1/campaigns/sale/send', order, { 'idempotency-key': 'order' })
  for (const kill of [1, 2]) {
    await Promise.all([
      tester.expect('POST', '/v1/messages/batch', batch(`test ${kill}`), { 'idempotency-key': `t${kill}` }),
      live.expect('POST', '/v1/messages/batch', batch(`live ${kill}`), { 'idempotency-key': `l${kill}` }),
    ])
    await until('some went', async () => (await count(`is_test and sent_at is not null`)) > kill * 150)
    await program.kill9()
    await program.restart()
  }
  // A broadcast creates messages as there is room: between two batches the queue may be empty.
  await until('the broadcast has made all', async () => (await count('is_test')) >= 1 + 400 + contacts)
  await until('all went', async () => (await count(`status in ('queued', 'sending')`)) === 0)
  expect(await count('is_test')).toBe(1 + 400 + contacts)
  const texts = (await carrier.phones.ledger()).map((entry) => entry.text)
  expect(texts.filter((text) => !text.startsWith('live '))).toEqual([])
  // A submit left unanswered by a kill is held: its outcome is unknown.
  const held = await count(`not is_test and status = 'unconfirmed'`)
  expect(new Set(texts).size + held).toBeGreaterThanOrEqual(400)
  expect(await count(`is_test and status = 'delivered'`)).toBeGreaterThan(0)
})

test('with HELIOGRAM_TEST_MODE=off test keys are refused', async () => {
  await program.stop()
  await program.restart({ HELIOGRAM_TEST_MODE: 'off' })
  const answer = await tester.call<Problem>('POST', '/v1/messages/send', { to: '15551230001', message: 'test' })
  expect([answer.status, answer.body.code]).toEqual([422, 'test_mode_unavailable'])
})
