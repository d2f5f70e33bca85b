import {
  createReferences,
  cutSegments,
  encodeGsm7,
  ESME,
  formatAbsoluteTime,
  formatRelativeTime,
} from '@heliogram/smpp'
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { createTestDatabase, forEachTest } from '../ground/db/testing.ts'
import { newId } from '../ground/base/ids.ts'
import type { MessageRow } from '../message/message.ts'
import { textMax } from '../message/send-schema.ts'
import { insertTestSender } from '../messages/testing.ts'
import { until } from '../../test/until.ts'
import { parseClientId } from './client-id.ts'
import { sendLate } from './late.ts'
import { PendingReceipts } from './pending.ts'
import { openServerTest, untilDelivered, type TestClient } from './testing.ts'

let client: TestClient

const database = await createTestDatabase()
const test = forEachTest(database.db, openServerTest)
beforeEach(async () => {
  client = await test.bind(await test.credential({ pace: 100_000 }))
})

const hello = { short_message: Buffer.from('Hello') }

describe('a submit_sm', () => {
  it('is answered when it is a message like any other', async () => {
    expect(await accepted(hello)).toMatchObject({
      accountId: test.accountId,
      theirNumber: '15551230001',
      ourNumber: '15557654321',
      body: 'Hello',
      encoding: 'GSM-7',
      segments: 1,
      status: 'sending',
    })
  })

  it.each<[string, number, Buffer, string]>([
    ['GSM-7, a septet an octet', 0, encodeGsm7('Grüße {€} @'), 'Grüße {€} @'],
    ['ASCII', 1, Buffer.from('plain'), 'plain'],
    ['Latin-1', 3, Buffer.from('Señor Åse', 'latin1'), 'Señor Åse'],
    ['UCS-2', 8, Buffer.from('Привет 👋', 'utf16le').swap16(), 'Привет 👋'],
    ['a class that flashes', 0x10, encodeGsm7('Flash'), 'Flash'],
  ])('is read in %s', async (_name, data_coding, short_message, text) => {
    expect(await accepted({ data_coding, short_message })).toMatchObject({ body: text })
  })

  it('means Latin-1 by data_coding 0 if its credential says so', async () => {
    client.session.destroy()
    client = await test.bind(await test.credential({ defaultAlphabet: 'latin1' }))
    expect(await accepted({ short_message: Buffer.from('Señor @', 'latin1') })).toMatchObject({ body: 'Señor @' })
  })

  it('may have its text in message_payload', async () => {
    const row = await accepted({ tlvs: { message_payload: Buffer.from('x'.repeat(400)) } })
    expect(row).toMatchObject({ body: 'x'.repeat(400), segments: 3 })
  })

  it('accepts addresses as clients write them', async () => {
    expect(
      await accepted({ ...hello, source_addr_ton: 2, source_addr: '+15557654321', destination_addr: '+15551230002' }),
    ).toMatchObject({ ourNumber: '15557654321', theirNumber: '15551230002' })
    await insertTestSender(test.db, test.accountId, test.carrierId, 'Heliogram')
    expect(
      await accepted({ ...hello, source_addr_ton: 5, source_addr_npi: 0, source_addr: 'Heliogram' }),
    ).toMatchObject({ ourNumber: 'Heliogram' })
    expect(await accepted({ ...hello, source_addr_ton: 0, source_addr: '' })).toMatchObject({
      ourNumber: '15557654321',
    })
  })

  it('may have a schedule and a validity', async () => {
    const at = new Date(Date.now() + 3_600_000)
    const row = await accepted({
      ...hello,
      schedule_delivery_time: formatAbsoluteTime(at),
      validity_period: formatAbsoluteTime(new Date(at.getTime() + 60_000)),
    })
    expect(row).toMatchObject({ status: 'scheduled' })
    expect(Math.abs(Number(row.sendAt) - at.getTime())).toBeLessThan(100)
    expect(Number(row.expiresAt) - Number(row.sendAt)).toBe(60_000)
    const soon = await accepted({ ...hello, validity_period: formatRelativeTime(120_000) })
    expect((Number(soon.expiresAt) - Number(soon.createdAt)) / 1000).toBeCloseTo(120, 0)
    const ever = await accepted({ ...hello, validity_period: formatRelativeTime(30 * 86_400_000) })
    expect((Number(ever.expiresAt) - Number(ever.createdAt)) / 3_600_000).toBeCloseTo(72, 1)
  })

  it.each<[string, Parameters<TestClient['submit']>[0], keyof typeof ESME]>([
    ['a number that cannot be', { ...hello, destination_addr: '123' }, 'RINVDSTADR'],
    ['no number', { ...hello, destination_addr: '' }, 'RINVDSTADR'],
    ['a recipient with letters', { ...hello, dest_addr_ton: 5, destination_addr: 'Bob' }, 'RINVDSTTON'],
    ['a type of number that is none', { ...hello, source_addr_ton: 9 }, 'RINVSRCTON'],
    ["a sender that is not the account's", { ...hello, source_addr: '15550000000' }, 'RINVSRCADR'],
    ['a sender that cannot be', { ...hello, source_addr: '12' }, 'RINVSRCADR'],
    ['no text', {}, 'RINVMSGLEN'],
    ['a text of blanks', { short_message: Buffer.from('  \n') }, 'RINVMSGLEN'],
    [
      'a text of invisible characters',
      { data_coding: 8, short_message: Buffer.from([0x20, 0x0b, 0xfe, 0x0f]) },
      'RINVMSGLEN',
    ],
    ['too much text', { tlvs: { message_payload: Buffer.alloc(1601, 'x') } }, 'RINVMSGLEN'],
    ['octets that are no text', { data_coding: 4, short_message: Buffer.from([1, 2, 3]) }, 'RINVDCS'],
    ['a time that is none', { ...hello, schedule_delivery_time: 'tomorrow' }, 'RINVSCHED'],
    ['a time too far ahead', { ...hello, schedule_delivery_time: '020000000000000R' }, 'RINVSCHED'],
    ['a validity that is none', { ...hello, validity_period: 'a week' }, 'RINVEXPIRY'],
    ['a validity that is over', { ...hello, validity_period: '200101000000000+' }, 'RINVEXPIRY'],
  ])('with %s is refused', async (_name, fields, status) => {
    expect(await client.submit(fields)).toMatchObject({ status: ESME[status], messageId: '' })
    expect(await messages()).toBe(0)
  })

  it("from another account's sender is refused", async () => {
    const other = newId()
    await test.sql`insert into accounts (id, name) values (${other}, 'Other')`
    await insertTestSender(test.db, other, test.carrierId, '15550000001')
    expect(await client.submit({ ...hello, source_addr: '15550000001' })).toMatchObject({ status: ESME.RINVSRCADR })
  })

  it('to an opted-out person, or of a suspended account, is refused', async () => {
    await test.sql`insert into opt_outs (account_id, number, source)
      values (${test.accountId}, '15551230001', 'reply')`
    expect(await client.submit(hello)).toMatchObject({ status: ESME.RINVDSTADR })
    await test.sql`update accounts set status = 'suspended' where id = ${test.accountId}`
    expect(await client.submit({ ...hello, destination_addr: '15551230002' })).toMatchObject({
      status: ESME.RPROHIBITED,
    })
  })
})

it('is permanently refused if no carrier takes it, or a guard stops it', async () => {
  const guard = async (guards: object): Promise<void> => {
    await test.sql`update accounts set settings = jsonb_build_object('guards', ${guards}::jsonb)
      where id = ${test.accountId}`
    await test.context.guards.refresh()
  }
  await guard({ dedupe_window: 60 })
  expect(await client.submit(hello)).toMatchObject({ status: ESME.ROK })
  expect(await client.submit(hello)).toMatchObject({ status: ESME.RSUBMITFAIL })
  await guard({ allowed_countries: ['DE'] })
  expect(await client.submit(hello)).toMatchObject({ status: ESME.RINVDSTADR })
  await guard({})
  await test.sql`delete from senders`
  await test.sql`delete from carriers`
  await test.routing.refresh()
  expect(await client.submit({ ...hello, source_addr: '' })).toMatchObject({ status: ESME.RSUBMITFAIL })
  expect(await messages()).toBe(1)
})

describe('parts of a long message', () => {
  const references = createReferences()

  const text = fc
    .array(fc.constantFrom('a', 'é', '€', '[', 'ß', 'Ж', '😀', ' '), { minLength: 200, maxLength: 500 })
    .map((characters) => characters.join(''))

  it('become one message, in any order and over any session', async () => {
    const second = await test.bind(await otherSession())
    const mode = fc.constantFrom('udh8' as const, 'udh16' as const, 'sar' as const)
    await fc.assert(
      fc.asyncProperty(text, mode, fc.infiniteStream(fc.nat(1000)), async (body, mode, order) => {
        const to = `1555123${String(references('x') % 10_000).padStart(4, '0')}`
        const before = await messages()
        const parts = cutSegments(body, { mode, reference: references(to) })
        const shuffled = parts.map((part) => ({ part, at: order.next().value })).sort((a, b) => a.at - b.at)
        const answers = await Promise.all(
          shuffled.map(({ part, at }) => (at % 2 ? second : client).submit({ ...part, destination_addr: to })),
        )
        expect(answers.map(({ status }) => status)).toEqual(parts.map(() => ESME.ROK))
        expect(new Set(answers.map(({ messageId }) => messageId.slice(0, 26))).size).toBe(1)
        expect(new Set(answers.map(({ messageId }) => messageId)).size).toBe(parts.length)
        expect(await messages()).toBe(before + 1)
        const [row] = await test.sql<{ body: string }>`select body from messages
          where account_id = ${test.accountId} order by id desc limit 1`
        expect(row?.body).toBe(body)
        expect(await test.count('smpp_gatherings', 'true')).toBe(0)
      }),
      { numRuns: 25 },
    )
    second.session.destroy()
  })

  /** Another session of the same client. */
  async function otherSession(): Promise<{ systemId: string }> {
    return { systemId: client.session.systemId }
  }

  const long = 'Long '.repeat(60).trim()

  it('arrive one after the other from a client that waits for each response', async () => {
    const parts = cutSegments(long, { mode: 'udh8', reference: 7 })
    for (const part of parts) {
      expect(await messages()).toBe(0)
      expect(await client.submit(part)).toMatchObject({ status: ESME.ROK })
    }
    expect(await messages()).toBe(1)
  })

  it('with a repeated one are still one message', async () => {
    const [first = {}, second = {}] = cutSegments(long, { mode: 'udh8', reference: 7 })
    const ids = [await client.submit(first), await client.submit(first)].map(({ messageId }) => messageId)
    expect(ids[0]).toBe(ids[1])
    await client.submit(second)
    expect(await messages()).toBe(1)
  })

  it('arrive without a pause from a client that gives all its messages one reference', async () => {
    const texts = Array.from({ length: 20 }, (_, n) => `${n} `.repeat(100).trim())
    const parts = texts.flatMap((body) => cutSegments(body, { mode: 'udh8', reference: 7 }))
    const answers = await Promise.all(parts.map((part) => client.submit(part)))
    expect(answers.map(({ status }) => status)).toEqual(parts.map(() => ESME.ROK))
    const rows = await test.sql<{ body: string }>`select body from messages order by id`
    expect(rows.map(({ body }) => body)).toEqual(texts)
    expect(await test.count('smpp_gatherings', 'true')).toBe(0)
  })

  it.each([
    ['Latin-1', 3, 'latin1', ['Grüße ', 'an alle']],
    ['UCS-2', 8, 'utf16le', ['Привет Ā', 'всем Ā']],
  ] as const)('in %s are stored without trailing NULs', async (_, data_coding, encoding, texts) => {
    for (const [n, text] of texts.entries()) {
      const octets = Buffer.from(text, encoding)
      const message_payload = Buffer.concat([data_coding === 8 ? octets.swap16() : octets, Buffer.alloc(60_000)])
      const tlvs = { message_payload, sar_msg_ref_num: 9, sar_total_segments: 2, sar_segment_seqnum: n + 1 }
      expect(await client.submit({ short_message: Buffer.alloc(0), data_coding, tlvs })).toMatchObject({
        status: ESME.ROK,
      })
      if (n > 0) continue
      const [row] = await test.sql<{ octets: number }>`select octet_length(parts::text) as octets
        from smpp_gatherings`
      expect(row?.octets).toBeLessThan(1000)
    }
    const rows = await test.sql<{ body: string }>`select body from messages where direction = 'outbound'`
    expect(rows).toEqual([{ body: texts.join('') }])
  })

  it('in UCS-2 may cut a character in two, even if the first half ends in a NUL', async () => {
    for (const text of ['Привет, hello Ā and ĀĀ', 'A Ā']) {
      const octets = Buffer.from(text, 'utf16le').swap16()
      for (let at = 1; at < octets.length; at++) {
        const halves = [octets.subarray(0, at), octets.subarray(at)]
        for (const [n, half] of halves.entries()) {
          const short_message = Buffer.concat([Buffer.from([6, 8, 4, 7, at, 2, n + 1]), half])
          expect(await client.submit({ short_message, esm_class: 0x40, data_coding: 8 })).toMatchObject({
            status: ESME.ROK,
          })
        }
      }
      const rows = await test.sql<{ body: string }>`delete from messages returning body`
      expect([text.length, new Set(rows.map(({ body }) => body))]).toEqual([text.length, new Set([text])])
    }
  })

  it('with more octets than any text are refused', async () => {
    const message_payload = Buffer.concat([Buffer.from('a'), Buffer.alloc(60_000), Buffer.from('b')])
    const tlvs = { message_payload, sar_msg_ref_num: 9, sar_total_segments: 2, sar_segment_seqnum: 1 }
    const part = { short_message: Buffer.alloc(0), data_coding: 3, tlvs }
    expect(await client.submit(part)).toMatchObject({ status: ESME.RINVMSGLEN })
    expect(await test.count('smpp_gatherings', 'true')).toBe(0)
  })

  it('that do not all arrive are not sent, and a receipt says so for each that did', async () => {
    const [first = {}] = cutSegments(long, { mode: 'udh16', reference: 7 })
    const { messageId } = await client.submit({ ...first, registered_delivery: 1 })
    await test.sql`update smpp_gatherings set received_at = received_at - interval '61 seconds'`
    await sendLate(context())
    await untilDelivered(client, 1)
    expect(client.delivered).toMatchObject([
      { esm_class: 4, source_addr: '15551230001', tlvs: { receipted_message_id: messageId, message_state: 5 } },
    ])
    expect(await messages()).toBe(0)
    expect(test.lines.map(({ message }) => message)).toContain('a long message of an SMPP client is incomplete')
  })

  it('of a refused whole are refused by the last response, and by receipts for the others', async () => {
    const [first = {}, second = {}] = cutSegments(long, { mode: 'sar', reference: 7 })
    const stranger = { source_addr: '15550000009', registered_delivery: 1 }
    const { messageId } = await client.submit({ ...first, ...stranger })
    expect(await client.submit({ ...second, ...stranger })).toMatchObject({ status: ESME.RINVSRCADR })
    await untilDelivered(client, 1)
    expect(client.delivered).toMatchObject([{ tlvs: { receipted_message_id: messageId, message_state: 8 } }])
    // Its row goes when the client has taken it.
    await until('nothing waits', async () => (await test.count('smpp_deliveries', 'true')) === 0)
  })

  it('that exceed any text are refused by the last response, and deleted', async () => {
    const parts = cutSegments('a'.repeat(textMax + 1), { mode: 'udh8', reference: 7 })
    const statuses: number[] = []
    for (const part of parts) statuses.push((await client.submit(part)).status)
    expect(statuses).toEqual([...parts.slice(1).map(() => ESME.ROK), ESME.RINVMSGLEN])
    expect([await messages(), await test.count('smpp_gatherings', 'true')]).toEqual([0, 0])
  })

  it('of a temporarily refused whole are kept for the repetition of the last one', async () => {
    const limit = async (segments: number): Promise<void> => {
      await test.sql`update accounts
        set settings = jsonb_build_object('guards', ${{ daily_segments: segments }}::jsonb)
        where id = ${test.accountId}`
      await test.context.guards.refresh()
    }
    const [first = {}, second = {}] = cutSegments(long, { mode: 'udh8', reference: 7 })
    await limit(1)
    expect(await client.submit({ ...first, registered_delivery: 1 })).toMatchObject({ status: ESME.ROK })
    expect(await client.submit(second)).toMatchObject({ status: ESME.RTHROTTLED })
    // A client that does not retry has not sent it.
    expect(await test.count('smpp_gatherings, jsonb_object_keys(parts)', 'true')).toBe(1)
    await limit(10)
    expect(await client.submit(second)).toMatchObject({ status: ESME.ROK })
    const rows = await test.sql<{ body: string }>`select body from messages`
    expect(rows).toEqual([{ body: long }])
    expect([await test.count('smpp_gatherings', 'true'), await test.count('smpp_deliveries', 'true')]).toEqual([0, 0])
  })

  it('of a whole that cannot be stored are not sent without the last one, which its client keeps', async () => {
    const [first = {}, second = {}] = cutSegments(long, { mode: 'udh8', reference: 7 })
    expect(await client.submit({ ...first, registered_delivery: 1 })).toMatchObject({ status: ESME.ROK })
    await test.sql`alter table messages add constraint none check (body is null) not valid`
    try {
      expect(await client.submit(second)).toMatchObject({ status: ESME.RSYSERR })
    } finally {
      await test.sql`alter table messages drop constraint none`
    }
    expect(await test.count('smpp_gatherings, jsonb_object_keys(parts)', 'true')).toBe(1)
    expect(await client.submit(second)).toMatchObject({ status: ESME.ROK })
    const rows = await test.sql<{ body: string }>`select body from messages`
    expect(rows).toEqual([{ body: long }])
    expect(await test.count('smpp_gatherings', 'true')).toBe(0)
  })

  it('that were complete when their node died are sent by the next, once', async () => {
    const [first = {}] = cutSegments(long, { mode: 'udh8', reference: 7 })
    await client.submit({ ...first, registered_delivery: 1 })
    const [row] = await test.sql`select * from smpp_gatherings`
    // One died between storing the last part and accepting the message, another between accept and deleting the parts.
    for (const death of ['before', 'after']) {
      if (death === 'after')
        await test.sql`insert into smpp_gatherings select *
          from jsonb_populate_record(null::smpp_gatherings, ${JSON.stringify(row)})`
      await test.sql`update smpp_gatherings
        set received_at = now() - interval '61 seconds', parts = parts || jsonb_build_object('2', parts -> '1')`
      await sendLate(context())
      expect(await messages()).toBe(1)
      expect(await test.count('smpp_gatherings', 'true')).toBe(0)
      expect(await test.count('smpp_submits', 'true')).toBe(1)
    }
  })

  it('that were complete when their node died are also sent if that node was about to send them', async () => {
    const [first = {}] = cutSegments(long, { mode: 'udh8', reference: 7 })
    await client.submit({ ...first, schedule_delivery_time: formatRelativeTime(60_000) })
    await test.sql`update smpp_gatherings
      set received_at = now() - interval '2 minutes',
        parts = jsonb_build_object('1', part, '2', part)
      from (select parts -> '1' || jsonb_build_object('sendAt', now() - interval '90 seconds') as part
      from smpp_gatherings) p`
    await sendLate(context())
    expect(await messages()).toBe(1)
  })

  function context(): Parameters<typeof sendLate>[0] {
    const { acceptor, db } = test
    const warn = (fields: object, message: string): void =>
      void test.lines.push({ level: 'warn', message, fields: { ...fields } })
    return { acceptor, db, pending: new PendingReceipts(db), log: { info: () => {}, warn, error: () => {} } }
  }
})

describe('limits', () => {
  it('throttle a client above its pace, message by message', async () => {
    const slow = await test.bind(await test.credential({ pace: 5 }))
    const answers = await Promise.all(Array.from({ length: 50 }, () => slow.submit(hello)))
    const taken = answers.filter(({ status }) => status === ESME.ROK).length
    expect(taken).toBeGreaterThanOrEqual(5)
    expect(taken).toBeLessThan(20)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([ESME.ROK, ESME.RTHROTTLED]))
    expect(await messages()).toBe(taken)
    slow.session.destroy()
  })

  it('throttle a client above its window', async () => {
    const narrow = await test.bind(await test.credential({ windowMax: 10, pace: 100_000 }))
    // The disk is slow: no response comes until all parts have.
    const lock = await test.db.connect()
    await lock.query('begin; lock table messages in access exclusive mode')
    const answers = Promise.all(Array.from({ length: 30 }, () => narrow.submit(hello)))
    await until('the server has read them', () => narrow.session.inFlight === 10)
    await lock.query('commit')
    lock.release()
    const statuses = (await answers).map(({ status }) => status)
    expect(statuses.filter((status) => status === ESME.ROK)).toHaveLength(10)
    expect(statuses.filter((status) => status === ESME.RTHROTTLED)).toHaveLength(20)
    narrow.session.destroy()
  })

  it('do not count answered submits among the unanswered ones of all clients', async () => {
    const wide = await test.bind(await test.credential({ windowMax: 1000 }))
    for (let asked = 0; asked < 10_500; asked += 500) {
      const answers = await Promise.all(
        Array.from({ length: 500 }, () => wide.request('query_sm', { message_id: 'none' })),
      )
      const statuses = answers.map((answer) => answer.kind === 'response' && answer.status)
      expect(new Set(statuses)).toEqual(new Set([ESME.RQUERYFAIL]))
    }
    wide.session.destroy()
  })
})

const messages = (): Promise<number> => test.count('messages', 'account_id = $1', [test.accountId])

/** The message of a submit_sm_resp. */
async function accepted(fields: Parameters<TestClient['submit']>[0]): Promise<MessageRow> {
  const { status, messageId } = await client.submit(fields)
  expect(status).toBe(ESME.ROK)
  expect(messageId).toMatch(/^[0-9A-Z]{26}$/)
  return test.message(parseClientId(messageId) ?? '')
}
