/** Texts in carriers' alphabets, over real sessions: each arrives unchanged, in the counted number of segments. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { countSegments } from '@heliogram/smpp'
import smpp, { type NpmPdu } from 'smpp'
import { describe, expect, it } from 'vitest'
import { Simulator, type SimulatorOptions } from '../../simulator/index.ts'
import { inTransaction } from '../ground/db/db.ts'
import { ensurePartitions } from '../ground/db/partitions.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import { newId } from '../ground/base/ids.ts'
import type { Draft } from '../message/draft.ts'
import { insertTestCarrier, insertTestSender, ourNumber, silent } from '../messages/testing.ts'
import { until } from '../../test/until.ts'
import { joinLateParts } from '../inbound/reply-join.ts'
import type { SmppSettings } from '../links/carrier-settings.ts'
import { openBoundTest, promptSimulator, untilBound, type CarrierTest } from './testing.ts'

let test: CarrierTest

const { db } = await createTestDatabase()
await ensurePartitions(db, silent)

const draftOf = (body: string, more: Partial<Draft> = {}): Partial<Draft> => ({ ...countSegments(body), body, ...more })

const euro = `Ihr Guthaben beträgt 12,50 €. ${'Mehr dazu im Netz. '.repeat(3)}`

describe('a carrier of Latin-1', () => {
  it.each([
    ['as data_coding 0', { default_alphabet: 'latin1' }, { alphabet: 'latin1' }],
    ['as data_coding 3', { default_alphabet: 'latin1', data_codings_out: { latin1: 3 } }, {}],
  ] as const)('%s gets readable text, in as many segments as were counted', async (_, settings, simulator) => {
    await open(settings, simulator)
    expect(await send('Grüße, José [1] @ Ñandú')).toEqual({ accepted: 1, segments: 1, delivered: 1, submits: 1 })
    expect(await send('ü'.repeat(400))).toEqual({ accepted: 3, segments: 3, delivered: 3, submits: 3 })
    expect(await send('Привет')).toEqual({ accepted: 1, segments: 1, delivered: 1, submits: 1 })
    // Not in Latin-1, but short enough for UCS-2.
    expect(await send('12,50 €')).toEqual({ accepted: 1, segments: 1, delivered: 1, submits: 1 })
  })

  it('recounts a text that it can only read in UCS-2, before a byte is written', async () => {
    await open({ default_alphabet: 'latin1' }, { alphabet: 'latin1' })
    expect(await send(euro)).toEqual({ accepted: 1, segments: 2, delivered: 2, submits: 2 })
    expect(await send(euro.repeat(3))).toEqual({ accepted: 2, segments: 4, delivered: 4, submits: 4 })
    expect(await test.count('intents', 'true')).toBe(0)
    expect(await test.count('submissions', `state <> 'accepted'`)).toBe(0)
  })

  it('gives its queued messages the right number of segments', async () => {
    await open({ default_alphabet: 'latin1' }, { alphabet: 'latin1' })
    test.simulator.do('unbind')
    await until('the link is down', () => [...test.submitter.links.values()].every(({ state }) => state !== 'bound'))
    const rows = await Promise.all([1, 2, 3].map((n) => test.submit(draftOf(`${n}: ${euro}`))))
    for (const { id } of rows)
      expect(await test.reaches(id, 'delivered')).toMatchObject({ segments: 2, segmentsDelivered: 2 })
    expect(test.simulator.ledger).toHaveLength(6)
    expect(await test.count('queue', 'true')).toBe(0)
  })

  it('by message_payload is counted by its own encoding of the text', async () => {
    await open({ default_alphabet: 'latin1', concatenation: 'payload' }, { alphabet: 'latin1' })
    expect(await send(euro)).toEqual({ accepted: 1, segments: 2, delivered: 2, submits: 1 })
    expect([...test.submitter.links.values()].map(({ submitted }) => submitted)).toEqual([2])
  })

  it('that refuses it leaves it to the next carrier, with that carrier’s number of segments', async () => {
    await open({ default_alphabet: 'latin1' }, { alphabet: 'latin1' })
    const second = new Simulator(promptSimulator)
    const { smppPort } = await second.start()
    const secondId = newId()
    await inTransaction(test.db, (tx) => insertTestCarrier(tx, secondId, { port: smppPort }, { priority: 200 }))
    await insertTestSender(test.db, test.accountId, secondId, ourNumber)
    await until('both carriers are bound', () => test.submitter.links.size === 2)
    await untilBound(test)
    await test.routing.refresh()
    test.simulator.misbehave({ submit: 'RINVSRCADR' })
    const { id } = await test.submit(draftOf(euro))
    expect(await test.reaches(id, 'delivered')).toMatchObject({
      segments: 1,
      segmentsDelivered: 1,
      carrierId: secondId,
    })
    expect(second.ledger.map(({ text }) => text)).toEqual([euro])
    expect(test.simulator.ledger.every(({ status }) => status === 'RINVSRCADR')).toBe(true)
    await second.close()
  })
})

it.each([
  ['ascii', 'ascii'],
  ['gsm7-packed', 'gsm7-packed'],
] as const)('a carrier of %s gets every text', async (default_alphabet, alphabet) => {
  await open({ default_alphabet }, { alphabet })
  for (const body of ['Hello', 'x'.repeat(200), 'Grüße', 'ü'.repeat(100), 'Привет', '1234567', '€'.repeat(90)]) {
    const { segments, delivered, submits } = await send(body)
    expect([delivered, submits]).toEqual([segments, segments])
  }
})

it('an npm smpp carrier reads our texts, and we read its replies', async () => {
  const texts: string[] = []
  const server = smpp.createServer((session) => {
    session.on('bind_transceiver', (pdu: NpmPdu) => session.send(pdu.response()))
    session.on('enquire_link', (pdu: NpmPdu) => session.send(pdu.response()))
    session.on('unbind', (pdu: NpmPdu) => session.send(pdu.response()))
    session.on('submit_sm', (pdu: NpmPdu) => {
      texts.push((pdu['short_message'] as { message: string }).message)
      session.send(pdu.response({ message_id: String(texts.length) }))
      session.deliver_sm({
        source_addr: pdu['destination_addr'],
        destination_addr: ourNumber,
        short_message: { message: (pdu['short_message'] as { message: string }).message },
      })
    })
    session.on('error', () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // It writes the GSM alphabet as data coding 1.
  await open({ port: (server.address() as AddressInfo).port, data_codings_in: { 1: 'gsm7' } })
  const bodies = ['Hello @ [x] €', 'Привет', 'Grüße {1}', '👋 hi']
  for (const body of bodies) await test.reaches((await test.submit(draftOf(body))).id, 'sent')
  expect(texts).toEqual(bodies)
  await until('all replies are there', async () => (await replies()).length === bodies.length)
  expect((await replies()).map(({ body }) => body).sort()).toEqual([...bodies].sort())
  await test.submitter.close()
  server.close()
})

async function replies(): Promise<{ body: string; isPartial: boolean }[]> {
  const rows = await test.sql<{ body: string; isPartial: boolean }>`select body, is_partial as "isPartial"
    from messages where direction = 'inbound' order by id`
  return rows
}

/** Whether the service has answered every part of so many replies: one on its way is not held. */
function isAllAnswered(replies: number): boolean {
  const { repliesTyped, repliesAnswered, repliesSent, held } = test.simulator.stats()
  return repliesTyped === replies && repliesAnswered === repliesSent && held === 0
}

describe('long replies over two sessions', () => {
  const text = 'Здравствуйте, это длинный ответ 👋. '.repeat(8)

  it.each(['udh8', 'udh16', 'sar', 'payload'] as const)(
    'by %s arrive whole, with their parts in any order and repeated',
    async (mode) => {
      await open({ sessions: 2 }, { concatenation: mode })
      await until('two sessions are bound', () => test.simulator.stats().bound === 2)
      test.simulator.misbehave({ partOrder: 'shuffled', partCopies: mode === 'payload' ? 1 : 2 })
      for (let n = 1; n <= 3; n++) test.simulator.reply(`1555123000${n}`, ourNumber, `${n} ${text}`)
      await until('all replies are there', async () => (await replies()).length >= 3)
      await until('all parts are answered', () => isAllAnswered(3))
      expect((await replies()).map(({ body }) => body).sort()).toEqual([1, 2, 3].map((n) => `${n} ${text}`))
      expect(await test.count('reply_parts', 'true')).toBe(0)
    },
  )

  it('are stored once if a carrier misses our responses and repeats parts after the whole', async () => {
    // Long enough for a busy machine to answer.
    await open({ sessions: 2 }, { deliverTimeoutMs: 1500 })
    await until('two sessions are bound', () => test.simulator.stats().bound === 2)
    test.simulator.misbehave({ deliver: 'deaf', deliverTimes: 5 })
    test.simulator.reply('15551230001', ourNumber, text)
    await until('parts came again', () => test.simulator.stats().redelivered >= 5)
    await until('all parts are answered', () => isAllAnswered(1))
    expect(await replies()).toEqual([{ body: text, isPartial: false }])
    expect(await test.count('reply_parts', 'true')).toBe(0)
  })

  it('with a missing part are stored as partial after a minute', async () => {
    await open({ sessions: 2 })
    await test.submit({ theirNumber: '15551230072' })
    await until('parts are there', async () => (await test.count('reply_parts', 'true')) >= 3)
    await joinLateParts(test.receiving)
    expect(await replies()).toEqual([])
    await test.sql`update reply_parts set received_at = now() - interval '61 seconds'`
    // Even if the link is gone meanwhile.
    await joinLateParts(test.receiving)
    expect(await replies()).toMatchObject([{ isPartial: true }])
  })
})

describe('receipts of each part', () => {
  const long = draftOf('x'.repeat(400))

  it.each([
    ['all delivered', '15551230001', 'delivered', 3],
    ['the second undelivered', '15551230049', 'undelivered', 2],
    ['all undelivered', '15551230002', 'undelivered', 0],
    ['delivered, and then another word for each', '15551230040', 'delivered', 3],
    ['undelivered, and then another word for each', '15551230041', 'undelivered', 0],
    ['each three times', '15551230012', 'delivered', 3],
  ] as const)('%s', async (_, theirNumber, status, segmentsDelivered) => {
    await open({})
    const { id } = await test.submit({ ...long, theirNumber })
    await test.reaches(id, status)
    await until('all receipts are answered', () => {
      const { receiptsDue, receiptsAnswered, held } = test.simulator.stats()
      return receiptsDue >= 3 && receiptsAnswered === receiptsDue && held === 0
    })
    expect(await test.message(id)).toMatchObject({ status, segments: 3, segmentsDelivered })
  })
})

async function open(settings: Partial<SmppSettings>, simulator: SimulatorOptions = {}): Promise<void> {
  test = await openBoundTest(db, { settings, simulator })
}

/** Returns the segments counted at acceptance and at the end, and the number of submits. */
async function send(body: string): Promise<{ accepted: number; segments: number; delivered: number; submits: number }> {
  const before = test.simulator.ledger.length
  const { id, segments: accepted } = await test.submit(draftOf(body))
  const { segments, segmentsDelivered: delivered } = await test.reaches(id, 'delivered')
  expect(test.simulator.phones.messages('15551230001').at(-1)?.text).toBe(body)
  return { accepted, segments, delivered, submits: test.simulator.ledger.length - before }
}
