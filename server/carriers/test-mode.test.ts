import { linkOpener } from './open-link.ts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Simulator } from '../../simulator/index.ts'
import { testVault } from '../accounts/testing.ts'
import { inTransaction } from '../ground/db/db.ts'
import { ensurePartitions } from '../ground/db/partitions.ts'
import { createTestDatabase, emptyTables } from '../ground/db/testing.ts'
import { newId } from '../ground/base/ids.ts'
import type { Draft } from '../message/draft.ts'
import { resendMessage, resolveUnknown } from '../ledger/resend.ts'
import { insertTestCarrier, insertTestSender, ourNumber, rowOf, silent } from '../messages/testing.ts'
import { until } from '../../test/until.ts'
import { Node } from '../links/node.ts'
import { receive } from '../inbound/receive.ts'
import { RoutingTable } from '../routes/routing.ts'
import { InFlight } from '../links/stranded.ts'
import { Submitter } from '../links/submit.ts'
import { ensureTestCarrier } from './test-mode.ts'
import { openCarrierTest, promptSimulator, untilBound, type CarrierTest } from './testing.ts'

/** Two carriers that play real ones: the test's own and a second. */
let test: CarrierTest
let second: Simulator
let secondId: string
/** The simulator of test mode. */
let simulated: Simulator
let testPort: number
let more: { close(): Promise<void> }[]

const { db, sql } = await createTestDatabase()
await ensurePartitions(db, silent)
beforeEach(async () => {
  await emptyTables(db, 'accounts, carriers, nodes, messages, queue, delayed, intents, receipts, carrier_ids')
  await sql`delete from routes`
  more = []
  second = new Simulator(promptSimulator)
  simulated = new Simulator(promptSimulator)
  const [{ smppPort }, { smppPort: own }] = await Promise.all([second.start(), simulated.start()])
  testPort = own
  test = await openCarrierTest(db, { testPort, settings: { response_timeout_seconds: 1 } })
  secondId = newId()
  await inTransaction(db, (tx) =>
    insertTestCarrier(tx, secondId, { port: smppPort, response_timeout_seconds: 1 }, { priority: 200 }),
  )
  await insertTestSender(db, test.accountId, secondId, ourNumber)
  await until('both carriers are bound', () => test.submitter.links.size === 2)
  await untilBound(test)
  await test.routing.refresh()
})
afterEach(async () => {
  for (const one of [test.simulator, second, simulated]) one.do('drop')
  for (const one of more) await one.close()
  await test.close()
  await Promise.all([second.close(), simulated.close()])
  expect(test.errors).toEqual([])
})

it('no real carrier ever sees a test message, whatever routes say, fails or restarts', async () => {
  await ensureTestCarrier(test.db, testVault)
  await test.sql`update carriers set settings = settings || '{"response_timeout_seconds": 1}' where is_test`
  await test.addRoute(
    [secondId, test.carrierId].map((carrierId) => ({ carrierId, weight: 1 })),
    { type: 'marketing' },
  )
  await test.addRoute([{ carrierId: test.carrierId, weight: 1 }])
  const types = ['otp', 'transactional', 'marketing', null] as const
  // Delivered, throttled twice, refused (three ways that would try the next carrier), one fault, never answered.
  const people = [
    '15551230001',
    '15551230003',
    '15005550001',
    '15005550002',
    '15551230026',
    '15551230020',
    '15551239999',
  ]
  const count = 900
  const draftOf = (i: number): Partial<Draft> => {
    const isTest = i % 2 === 1
    const type = types[i % 4] ?? null
    const validitySeconds = type === 'otp' ? 600 : null
    const sendAt = i % 10 === 3 ? new Date(Date.now() + 200 + i / 10) : null
    const theirNumber = i % 30 < 2 ? (people[Math.floor(i / 30) % people.length] ?? '') : '15551239999'
    return { body: `${isTest ? 'test' : 'live'} ${i}`, isTest, type, validitySeconds, theirNumber, sendAt }
  }
  const all = Array.from({ length: count }, (_, i) => test.draft(draftOf(i)))
  const accept = (drafts: Draft[]) => test.acceptor.acceptAll(drafts)
  const first = accept(all.slice(0, count / 3))
  // With its own pace, the account sends through the queue.
  await test.sql`update accounts set pace = 2000 where id = ${test.accountId}`
  const ids = [...(await first), ...(await accept(all.slice(count / 3, (2 * count) / 3)))].map((one) => rowOf(one).id)
  const dropped = test.submitter
  await Promise.all([
    restart(),
    accept(all.slice((2 * count) / 3)).then((last) => ids.push(...last.map((one) => rowOf(one).id))),
  ])
  expect(dropped.running.size).toBe(0)
  const open = async (): Promise<number> => {
    await test.skipBackOff()
    return test.count('messages', `status in ('queued', 'scheduled', 'sending', 'sent')`)
  }
  await until('all are over', async () => (await open()) === 0)
  // Unknown outcomes are sent again: by policy, and by a person.
  const rows = await test.sql<{ id: string }>`select id from messages where status = 'unconfirmed' and is_test`
  expect(rows.length).toBeGreaterThan(0)
  const actor = { kind: 'key', id: newId(), requestId: 'req' } as const
  for (const { id } of rows.slice(0, 20))
    await inTransaction(test.db, (tx) => resendMessage(tx, test.accountId, id, actor))
  await test.sql`update nameless_tries set check_at = now(), resend_at = now()`
  await resolveUnknown(test.context)
  await until('they are over', async () => (await open()) === 0)

  const real = [...textsOf(test.simulator), ...textsOf(second)]
  expect(real.filter((text) => !text.startsWith('live '))).toEqual([])
  expect(textsOf(simulated).filter((text) => !text.startsWith('test '))).toEqual([])
  expect(new Set(textsOf(simulated)).size).toBe(count / 2)
  expect(new Set(real).size).toBe(count / 2)
  expect(ids.length).toBe(count)
  expect(await test.count('messages', `is_test and carrier_id <> (select id from carriers where is_test)`)).toBe(0)
  expect(await test.count('messages', `is_test and status = 'delivered'`)).toBeGreaterThan(count / 4)
})

it('a chain with a real carrier does not lead a test message there', async () => {
  await ensureTestCarrier(test.db, testVault)
  const [row] = await test.sql<{ id: string }>`select id from carriers where is_test`
  await test.sql`update carriers set enabled = false where is_test`
  await until('its link is gone', () => test.submitter.links.size === 2)
  await test.sql`insert into lanes (id, account_id, type) values (${newId()}, ${test.accountId}, 'transactional')
    on conflict do nothing`
  const id = newId()
  await test.sql`with message as (
      insert into messages (account_id, id, type, status, their_number, our_number, body, encoding, characters, segments, is_test, chain, expires_at)
      values (${test.accountId}, ${id}, 'transactional', 'queued', '15551230001', ${ourNumber}, 'test', 'GSM-7', 4, 1, true, ${[test.carrierId, secondId]}, now() + interval '1 hour')
    )
    insert into queue (lane_id, message_id, account_id, segments, expires_at)
    select id, ${id}, ${test.accountId}, 1, now() + interval '1 hour' from lanes
    where account_id = ${test.accountId} and type = 'transactional'`
  await test.submit({ body: 'live' })
  await until('the live one is there', () => textsOf(test.simulator).includes('live'))
  expect((await test.message(id)).status).toBe('queued')
  await test.sql`update carriers set enabled = true where id = ${row?.id}`
  await test.reaches(id, 'delivered')
  expect([textsOf(test.simulator), textsOf(second), textsOf(simulated)]).toEqual([['live'], [], ['test']])
})

it('a live message never goes to the test carrier, even if no other is up', async () => {
  await submitTest().then(({ id }) => test.reaches(id, 'delivered'))
  await test.sql`update carriers set enabled = false where not is_test`
  await test.routing.refresh()
  const { id } = await test.submit({ body: 'live' })
  await until('the other links are gone', () => test.submitter.links.size === 1)
  test.submitter.wake()
  await submitTest().then((row) => test.reaches(row.id, 'delivered'))
  expect((await test.message(id)).status).toBe('queued')
  expect(textsOf(simulated)).toEqual(['test', 'test'])
})

it('a test message is refused if test mode is off, by the setting or because the operator disabled its carrier', async () => {
  await submitTest().then(({ id }) => test.reaches(id, 'delivered'))
  const request = {
    messageId: newId(),
    accountId: test.accountId,
    to: '15551230001',
    from: null,
    poolId: null,
    campaignId: null,
  }
  const asked = { ...request, campaignKey: null, type: null, segments: 1 }
  const off = new RoutingTable(test.db)
  const refusalOf = async (table: RoutingTable, isTest: boolean) =>
    (await table.plan([{ ...asked, isTest }]))[0]?.refusal
  expect([await refusalOf(off, true), await refusalOf(off, false)]).toEqual(['test_mode_unavailable', null])
  expect(await refusalOf(test.routing, true)).toBeNull()
  await test.sql`update carriers set enabled = false where is_test`
  await test.routing.refresh()
  expect([await refusalOf(test.routing, true), await refusalOf(test.routing, false)]).toEqual([
    'test_mode_unavailable',
    null,
  ])
  expect(await test.acceptor.accept(test.draft({ isTest: true }))).toMatchObject({ refusal: 'test_mode_unavailable' })
})

it('a simulated STOP opts out like a real one, and is answered on the simulated phone only', async () => {
  const theirNumber = '15551230006'
  await test.submit({ body: 'live', theirNumber: '15551230001' })
  const { id } = await submitTest({ theirNumber })
  const stops = `direction = 'inbound' and is_test and keyword = 'stop' and in_reply_to = $1`
  await until('the reply is here', async () => (await test.count('messages', stops, [id])) > 0)
  expect(await test.count('opt_outs', `account_id = $1 and number = $2`, [test.accountId, theirNumber])).toBe(1)
  await until('it is confirmed', () => simulated.ledger.length === 2)
  expect(await test.acceptor.accept(test.draft({ theirNumber }))).toMatchObject({ refusal: 'recipient_opted_out' })
  // A simulated START reverts it.
  simulated.reply(theirNumber, ourNumber, 'START')
  await until('it is taken back', async () => (await test.count('opt_outs', `account_id = $1`, [test.accountId])) === 0)
  await until('that is confirmed', () => simulated.ledger.length === 3)
  expect([textsOf(test.simulator), textsOf(second)]).toEqual([['live'], []])
})

it('a person’s reply does not answer a test, and a simulated START does not opt the person in', async () => {
  const theirNumber = '15551230001'
  const live = await test.submit({ body: 'live', theirNumber })
  await test.reaches(live.id, 'delivered')
  const tried = await submitTest({ theirNumber })
  await test.reaches(tried.id, 'delivered')
  test.simulator.reply(theirNumber, ourNumber, 'STOP')
  const stops = `direction = 'inbound' and not is_test and in_reply_to = $1`
  await until('the reply is here', async () => (await test.count('messages', stops, [live.id])) > 0)
  await until('it is confirmed', () => test.simulator.ledger.length === 2)
  simulated.reply(theirNumber, ourNumber, 'START')
  await until('that is here', async () => (await test.count('messages', `is_test and keyword = 'start'`)) === 1)
  expect(await test.count('opt_outs', `account_id = $1`, [test.accountId])).toBe(1)
})

const textsOf = (simulator: Simulator): string[] => simulator.ledger.map((entry) => entry.text)
const submitTest = (changes: Partial<Draft> = {}) => test.submit({ body: 'test', isTest: true, ...changes })

/** Replaces the process by another on the same database. */
async function restart(): Promise<void> {
  await test.submitter.close()
  const { receiving } = test
  const node = new Node({ ...receiving, isAlone: false, settle: async () => {}, onFenced: () => {} })
  await node.start()
  const submitter = new Submitter({
    ...test.context,
    log: receiving.log,
    node,
    ledger: test.ledger,
    inFlight: new InFlight(),
    testPort: () => testPort,
    openLink: linkOpener({
      vault: testVault,
      testPort: () => testPort,
      onDeliver: (link, pdu, respond, session) => receive(receiving, link, pdu, respond, session),
    }),
  })
  await submitter.start()
  more.unshift(submitter, node)
}
