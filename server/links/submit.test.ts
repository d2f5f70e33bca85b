import { statusName } from '@heliogram/smpp'
import { describe, expect, it } from 'vitest'
import { ensurePartitions } from '../ground/db/partitions.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import { silent } from '../messages/testing.ts'
import { until } from '../../test/until.ts'
import { listSubmissions } from '../message/store.ts'
import { openBoundTest, untilBound, type CarrierTest } from '../carriers/testing.ts'

let test: CarrierTest

const { db } = await createTestDatabase()
// As in production: statements for one day's messages use that day's partitions.
await ensurePartitions(db, silent)

const long = { body: 'x'.repeat(400), characters: 400, segments: 3 }

describe('a message', () => {
  it('goes from accept to its receipt', async () => {
    await open()
    await until('room is known', () => test.submitter.reserve(1, 'otp', test.carrierId, test.accountId) !== null)
    const { id } = await test.submit({ body: 'Grüße' })
    expect(await test.reaches(id, 'delivered')).toMatchObject({
      attempts: 1,
      segmentsDelivered: 1,
      receiptStat: 'DELIVRD',
    })
    expect(taken()).toEqual(['Grüße'])
  })

  it('of several segments is delivered when all are', async () => {
    await open()
    const { id } = await test.submit({ body: 'é'.repeat(400), characters: 400, segments: 3 })
    expect(await test.reaches(id, 'delivered')).toMatchObject({ segmentsDelivered: 3 })
    expect(test.simulator.phones.messages('15551230001').map((message) => message.text)).toEqual(['é'.repeat(400)])
  })

  it.each(['udh16', 'sar', 'payload'] as const)('arrives complete by %s', async (concatenation) => {
    await open({ settings: { concatenation } })
    const { id } = await test.submit(long)
    expect(await test.reaches(id, 'delivered')).toMatchObject({ segmentsDelivered: 3, attempts: 1 })
    expect(test.simulator.phones.messages('15551230001').map((message) => message.text)).toEqual([long.body])
    expect(await test.count('intents', 'true')).toBe(0)
  })

  it.each([
    ['0002', 'undelivered', 'unknown_subscriber'],
    ['0005', 'delivered', null],
    ['0012', 'delivered', null],
    ['0014', 'rejected', 'recipient_blocked'],
    ['0015', 'undelivered', 'expired_at_carrier'],
  ] as const)('to %s is %s (%s)', async (ending, status, errorCode) => {
    await open()
    const { id } = await test.submit({ theirNumber: `1555123${ending}` })
    expect((await test.reaches(id, status)).errorCode).toBe(errorCode)
  })

  it.each([
    ['15005550001', 'invalid_destination'],
    ['15005550004', 'content_filtered'],
  ])('to %s is refused at once: %s', async (theirNumber, errorCode) => {
    await open()
    const { id } = await test.submit({ theirNumber })
    expect(await test.reaches(id, 'rejected')).toMatchObject({ errorCode, attempts: 1 })
  })

  it.each(['0x80000001', '0xffffffff'] as const)(
    'refused with a status that is not a signed number is over: %s',
    async (submit) => {
      await open()
      test.simulator.misbehave({ submit })
      const { id } = await test.submit()
      expect(await test.reaches(id, 'rejected')).toMatchObject({ errorCode: 'carrier_unknown', errorRaw: submit })
      const [tried] = await listSubmissions(test.db, test.accountId, id)
      expect(statusName(tried?.commandStatus ?? 0)).toBe(submit)
    },
  )

  it('whose receipt writes the id in the other radix is found by the link’s setting', async () => {
    await open({ simulator: { idFormat: 'hex_decimal' }, settings: { message_id_form: 'dec-to-hex' } })
    const { id } = await test.submit()
    await test.reaches(id, 'delivered')
  })
})

describe('a carrier that throttles', () => {
  it('slows the link down, and gets the message later', async () => {
    await open()
    const { id } = await test.submit({ theirNumber: '15551230003' })
    for (const n of [1, 2]) {
      await until(
        `it was throttled ${n} times`,
        async () => test.simulator.stats().throttled === n && (await test.message(id)).status === 'queued',
      )
      expect([...test.submitter.links.values()].map((link) => link.state)).toEqual(['throttled'])
      await test.skipBackOff()
    }
    expect(await test.reaches(id, 'delivered')).toMatchObject({ attempts: 3 })
    expect(test.simulator.stats().distinct).toBe(1)
  })

  it('in the middle of a long message gets only the parts it did not accept', async () => {
    await open()
    test.simulator.misbehave({ throttleRatio: 0.5 })
    const rows = await Promise.all(
      Array.from({ length: 10 }, (_, i) => test.submit({ ...long, body: `${i}`.repeat(400) })),
    )
    await until('all are sent', async () => {
      await test.skipBackOff()
      return (await test.count('messages', `status = 'delivered'`)) === rows.length
    })
    expect(test.simulator.stats()).toMatchObject({ accepted: 30, duplicates: 0 })
  })
})

describe('a response that never arrives', () => {
  it('leaves the message unconfirmed, and its receipt unmatched', async () => {
    await open({ settings: { response_timeout_seconds: 0.2 } })
    const { id } = await test.submit({ theirNumber: '15551230010' })
    expect(await test.reaches(id, 'unconfirmed')).toMatchObject({ errorCode: 'outcome_unknown' })
    expect(test.simulator.stats()).toMatchObject({ accepted: 1, duplicates: 0 })
  })

  it('settles it when it is late after all', async () => {
    await open({ settings: { response_timeout_seconds: 0.2 } })
    test.simulator.misbehave({ isPaused: true })
    const { id } = await test.submit()
    await test.reaches(id, 'unconfirmed')
    test.simulator.misbehave({ isPaused: false })
    await test.reaches(id, 'delivered')
    expect(test.simulator.stats()).toMatchObject({ accepted: 1, duplicates: 0 })
  })

  it('because the session was lost leaves it unconfirmed and submits nothing again', async () => {
    await open()
    const { id } = await test.submit({ theirNumber: '15551230011' })
    await test.reaches(id, 'unconfirmed')
    await untilBound(test)
    const next = await test.submit()
    await test.reaches(next.id, 'delivered')
    expect(test.simulator.stats()).toMatchObject({ accepted: 2, duplicates: 0 })
  })
})

describe('a lost session', () => {
  it('returns what was not written, and nothing is sent twice, including long messages', async () => {
    await open({ settings: { window: 2 } })
    test.simulator.misbehave({ isPaused: true })
    const rows = await Promise.all(
      Array.from({ length: 6 }, (_, i) => test.submit({ ...long, body: `${i}`.repeat(400) })),
    )
    await until('the window is full', () => test.simulator.stats().accepted === 2)
    test.simulator.do('drop')
    test.simulator.misbehave({ isPaused: false })
    await until(
      'every message has its end',
      async () => (await test.count('messages', `status in ('delivered', 'unconfirmed')`)) === rows.length,
    )
    const { duplicates } = test.simulator.stats()
    expect(duplicates).toBe(0)
    const segments = test.simulator.ledger.map((entry) => `${entry.text.slice(0, 1)} ${entry.part}`)
    expect(new Set(segments).size).toBe(segments.length)
  })
})

describe('the queue', () => {
  it('drains when the carrier is back, in order', async () => {
    await open()
    test.simulator.misbehave({ bind: 'RSYSERR' })
    test.simulator.do('drop')
    await until('the link is down', () => [...test.submitter.links.values()].every((link) => link.state !== 'bound'))
    const rows = []
    for (let i = 0; i < 20; i++) rows.push(await test.submit({ body: `${i}` }))
    expect(await test.count('queue', 'true')).toBe(20)
    test.simulator.misbehave({ bind: 'accept' })
    await Promise.all(rows.map((row) => test.reaches(row.id, 'delivered')))
    expect(taken()).toEqual(rows.map((row) => row.body))
  })

  it('lets a code pass a campaign', async () => {
    await open()
    await test.sql`update carriers set pace = 20`
    await until('the new pace holds', () =>
      [...test.submitter.links.values()].some((link) => link.pace === 20 && link.state === 'bound'),
    )
    await test.acceptor.acceptAll(
      Array.from({ length: 100 }, (_, i) => test.draft({ type: 'marketing', body: `m${i}` })),
    )
    const code = await test.submit({ type: 'otp', body: 'code' })
    await test.reaches(code.id, 'delivered')
    expect(taken().length).toBeLessThan(60)
  })
})

describe('a changed carrier', () => {
  it('drains before it rebinds, and never has two sessions', async () => {
    await open()
    test.simulator.misbehave({ isPaused: true })
    const { id } = await test.submit()
    await until('it is out', () => test.simulator.stats().accepted === 1)
    const [before] = test.submitter.links.values()
    const startedAt = Date.now()
    await test.sql`update carriers set settings = settings || '{"window": 7}', updated_at = now()`
    await until('the old link is let go', () => ![...test.submitter.links.values()].includes(before as never))
    await until('its lease is kept meanwhile', async () => {
      const [row] = await test.sql<{ leasedUntil: Date }>`select leased_until as "leasedUntil" from link_states`
      return Number(row?.leasedUntil) > startedAt + 11_000
    })
    expect(test.simulator.stats().binds).toBe(1)
    test.simulator.misbehave({ isPaused: false })
    await until('it is bound again', () => test.simulator.stats().binds === 2)
    await untilBound(test)
    expect([...test.submitter.links.values()].map((link) => link.settings.window)).toEqual([7])
    await test.reaches(id, 'delivered')
    const rows = await test.sql`select node_id from link_states`
    expect(rows).toEqual([{ node_id: test.node.id }])
  })

  it('that is disabled unbinds, and its messages wait', async () => {
    await open()
    await test.sql`update carriers set enabled = false, updated_at = now()`
    await until('it is unbound', () => test.simulator.stats().bound === 0)
    const { id } = await test.submit()
    await test.sql`update carriers set enabled = true, updated_at = now()`
    await until('the hold is over', async () => {
      await test.skipBackOff()
      return (await test.message(id)).status === 'delivered'
    })
  })

  it('whose password is sealed with another key does not affect other links', async () => {
    await open()
    await test.db.query(
      `with carrier as (
         insert into carriers (id, name, kind, settings, secrets, priority)
         select gen_random_uuid(), 'broken', kind, settings, '\\x0102', 1 from carriers returning id)
       insert into links (id, carrier_id) select '00000000-0000-7000-8000-000000000000', id from carrier`,
    )
    await until('the failure is told', () => test.errors.length > 0)
    await test.reaches((await test.submit()).id, 'delivered')
    const rows = await test.sql`select state from link_states
      where updated_at > now() - interval '3 seconds' and state = 'bound'`
    expect(rows).toHaveLength(1)
    test.errors.length = 0
    await test.sql`delete from carriers where name = 'broken'`
    await until('it is forgotten', async () => {
      test.errors.length = 0
      return (await test.count('link_states', 'true')) <= 1
    })
  })
})

it('reports the state of its links', async () => {
  await open()
  await test.reaches((await test.submit()).id, 'delivered')
  await until(
    'the state is reported',
    async () => (await test.count('link_states', `state = 'bound' and sessions = 1 and window_max = 100`)) === 1,
  )
})

async function open(options: Parameters<typeof openBoundTest>[1] = {}): Promise<void> {
  test = await openBoundTest(db, options)
}

/** Texts that the simulator took, in order. */
const taken = (): string[] => test.simulator.ledger.filter((entry) => entry.status === 'ROK').map((entry) => entry.text)
