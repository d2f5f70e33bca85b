import { cutSegments, ESME, type ConcatenationMode } from '@heliogram/smpp'
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { createTestDatabase, emptyTables, forEachTest } from '../ground/db/testing.ts'
import { newId } from '../ground/base/ids.ts'
import { openLedgerTest, ourNumber } from '../messages/testing.ts'
import { until } from '../../test/until.ts'
import type { Link } from '../links/link.ts'
import type { ReceiveContext } from './context.ts'
import { Redeliveries } from './redelivery.ts'
import { deliverTo, linkOf, receivingOf, type Fields } from './testing.ts'
import type { DeliverySession } from '../links/carrier-link.ts'
import { joinLateParts } from './reply-join.ts'
import type { SmppSettings } from '../links/carrier-settings.ts'
import { aliveSession, openCarrierTest, untilBound } from '../carriers/testing.ts'

let context: ReceiveContext
let link: Link
let errors: unknown[] = []

const { db } = await createTestDatabase()
const test = forEachTest(db, openLedgerTest)
beforeEach(async () => {
  errors = []
  const log = { info: () => {}, warn: () => {}, error: (fields: object) => void errors.push(fields) }
  context = receivingOf(test, { log })
  link = linkOf(test)
})

const person = '15551230001'

const hex = (octets: string): Buffer => Buffer.from(octets, 'hex')

describe('a reply', () => {
  it('is on disk before it is answered', async () => {
    expect(await deliver({ short_message: Buffer.from('Yes') })).toBe(ESME.ROK)
    expect(await replies()).toEqual([{ body: 'Yes', isPartial: false }])
  })

  it('keeps octets that contradict their declaration, of all its parts', async () => {
    const kept = async (): Promise<(string | null)[]> => {
      const rows = await test.sql<{ octets: Buffer | null }>`select octets from messages
        where direction = 'inbound' order by id`
      return rows.map(({ octets }) => octets?.toString('hex') ?? null)
    }
    const [price, noText] = [Buffer.from('12,50 €'), Buffer.from([1, 2, 3])]
    await deliver({ short_message: Buffer.from('Yes') })
    await deliver({ short_message: price })
    await deliver({ data_coding: 4, short_message: noText })
    const header = (part: number): Buffer => Buffer.from([5, 0, 3, 9, 2, part])
    await deliver({ esm_class: 0x40, short_message: Buffer.concat([header(1), price]) })
    await deliver({ esm_class: 0x40, short_message: Buffer.concat([header(2), price]) })
    const both = Buffer.concat([price, price])
    expect(await kept()).toEqual([null, price, noText, both].map((one) => one?.toString('hex') ?? null))
    expect(await texts()).toEqual(['Yes', '12,50 €', '[3 octets of binary data]', '12,50 €12,50 €'])
  })

  it('to our number with a plus sign is ours', async () => {
    await deliver({ destination_addr: `+${ourNumber}`, source_addr: `+${person}` })
    expect(await test.count('messages', `their_number = $1 and our_number = $2`, [person, ourNumber])).toBe(1)
  })

  it.each<[string, Fields, string]>([
    ['in UCS-2', { data_coding: 8, short_message: Buffer.from('Привет', 'utf16le').swap16() }, 'Привет'],
    ['in Latin-1', { data_coding: 3, short_message: Buffer.from('Grüße', 'latin1') }, 'Grüße'],
    ['with a NUL at its end', { data_coding: 3, short_message: Buffer.from('Hi\0') }, 'Hi'],
    ['with half a surrogate pair', { data_coding: 8, short_message: Buffer.from('d83d', 'hex') }, '\ufffd'],
    ['that is empty', { short_message: Buffer.alloc(0) }, ''],
    ['of binary data', { data_coding: 4, short_message: Buffer.from([1, 2, 3]) }, '[3 octets of binary data]'],
    ['as a payload', { short_message: Buffer.alloc(0), tlvs: { message_payload: Buffer.from('Long') } }, 'Long'],
    ['that looks like a receipt, but not quite', { short_message: Buffer.from('id:1 stat:great') }, 'id:1 stat:great'],
  ])('%s is stored as text', async (_, fields, text) => {
    expect(await deliver(fields)).toBe(ESME.ROK)
    expect(await texts()).toEqual([text])
  })

  it.each<[string, Partial<SmppSettings>, Fields, string]>([
    ['in what the carrier calls 0', { default_alphabet: 'latin1' }, { short_message: hex('4772fcdf65') }, 'Grüße'],
    ['packed', { default_alphabet: 'gsm7-packed' }, { short_message: hex('c8329bfd06') }, 'Hello'],
    [
      'by the carrier’s own number',
      { data_codings_in: { 245: 'ucs2' } },
      { data_coding: 245, short_message: hex('0416') },
      'Ж',
    ],
    [
      'otherwise than by the table',
      { data_codings_in: { 8: 'utf8' } },
      { data_coding: 8, short_message: Buffer.from('Ж') },
      'Ж',
    ],
    [
      'binary by the carrier’s word',
      { data_codings_in: { 0: 'binary' } },
      { short_message: hex('0102') },
      '[2 octets of binary data]',
    ],
    ['a text that the carrier calls binary', { data_codings_in: { 0: 'binary' } }, {}, 'Hi'],
    ['in Turkish by single shift', {}, { esm_class: 0x40, short_message: hex('032401011b67') }, 'ğ'],
    ['in Turkish by locking shift', {}, { esm_class: 0x40, short_message: hex('032501010c') }, 'ğ'],
    ['in Portuguese by both', {}, { esm_class: 0x40, short_message: hex('062401032501030b1b61') }, 'ÔÂ'],
  ])('%s is read', async (_, settings, fields, text) => {
    Object.assign(link.settings, settings)
    expect(await deliver(fields)).toBe(ESME.ROK)
    expect(await texts()).toEqual([text])
  })

  it('uses international forms of national numbers, if the carrier has a country', async () => {
    link.settings.country = 'US'
    await deliver({
      source_addr: '2025550123',
      source_addr_ton: 2,
      destination_addr: ourNumber.slice(1),
      dest_addr_ton: 2,
    })
    expect(await test.count('messages', `their_number = $1 and our_number = $2`, ['12025550123', ourNumber])).toBe(1)
  })

  it('to an unassigned number is kept and answered', async () => {
    expect(await deliver({ destination_addr: '15550009999' })).toBe(ESME.ROK)
    expect(await test.count('orphan_replies', `body = 'Hi'`)).toBe(1)
  })

  it('is answered whatever its octets are', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 140 }),
        fc.constantFrom(0, 1, 3, 4, 8, 0xf0),
        fc.constantFrom(0, 0x40, 0x04, 0x20, 0x08),
        async (octets, data_coding, esm_class) => {
          expect(await deliver({ short_message: Buffer.from(octets), data_coding, esm_class })).toBe(ESME.ROK)
        },
      ),
      { numRuns: 150 },
    )
    expect(errors).toEqual([])
  })

  it('is requested again if it could not be stored', async () => {
    const rows = await test.sql<{ id: string }>`select id from accounts`
    await test.sql`alter table messages add constraint full_disk check (body <> 'poison')`
    expect(await deliver({ short_message: Buffer.from('poison') })).toBe(ESME.RX_T_APPN)
    await test.sql`alter table messages drop constraint full_disk`
    expect(await deliver({ short_message: Buffer.from('poison') })).toBe(ESME.ROK)
    expect([await texts(), rows.length, errors.length]).toEqual([['poison'], 1, 1])
  })

  it('is requested again if it waited in the socket of a frozen process: another may have stored it', async () => {
    const frozen = { ...context, isFresh: () => false }
    expect(await deliver({})).toBe(ESME.ROK)
    expect(await deliverTo(frozen, link)).toBe(ESME.RX_T_APPN)
    for (const part of partsOf('A text of several parts. '.repeat(12), 'udh8'))
      expect(await deliverTo(frozen, link, part)).toBe(ESME.RX_T_APPN)
    expect([await texts(), await test.count('reply_parts', 'true'), errors]).toEqual([['Hi'], 0, []])
    const receipt = 'id:1 sub:001 dlvrd:001 submit date:2611230101 done date:2611230101 stat:DELIVRD err:000 text:'
    expect(await deliverTo(frozen, link, { esm_class: 4, short_message: Buffer.from(receipt) })).toBe(ESME.ROK)
  })
})

describe('a reply that waited in the socket of a process frozen for seconds', () => {
  let absentMs = 0
  let lateMs = 0

  beforeEach(async () => {
    absentMs = 3000
    lateMs = 0
    context.redeliveries = new Redeliveries(
      test.nodeId,
      () => Date.now() + lateMs,
      () => absentMs,
    )
  })

  /** Another live process, which is in no doubt, stores the reply. */
  async function storeElsewhere(): Promise<void> {
    const id = newId()
    await test.sql`with n as (insert into nodes (id, name) values (${id}, 'other') returning id)
      insert into heartbeats (node_id, seen_at) select id, now() + interval '1 hour' from n`
    const other = { ...context, redeliveries: new Redeliveries(id) }
    const taker = aliveSession()
    await deliverTo(other, link, {}, taker)
    taker.enquire()
    await until('its carrier has the answer', () => taker.enquiries.answered > 0)
    await other.redeliveries.noteLost(test.db)
  }

  it('is stored once with the carrier’s other copies to the same process', async () => {
    expect(await deliver({})).toBe(ESME.ROK)
    absentMs = 0
    expect(await deliver({})).toBe(ESME.ROK)
    expect(await texts()).toEqual(['Hi'])
  })

  it('is requested again if another process has stored an equal one, which may be the carrier’s copy', async () => {
    await storeElsewhere()
    expect([await deliver({}), await texts(), errors]).toEqual([ESME.RX_T_APPN, ['Hi'], []])
    absentMs = 0
    expect([await deliver({}), await texts()]).toEqual([ESME.ROK, ['Hi', 'Hi']])
  })

  it('is also requested again if a slow database made its carrier stop waiting', async () => {
    absentMs = 0
    await storeElsewhere()
    context.db = Object.assign(Object.create(test.db) as typeof test.db, {
      connect: (callback?: () => void) => (callback ? test.db.connect(callback) : ((lateMs = 6000), test.db.connect())),
    })
    expect([await deliver({}), await texts(), errors]).toEqual([ESME.RX_T_APPN, ['Hi'], []])
  })
})

describe('a long reply', () => {
  const text = 'Ein langer Text mit 👋 und mehr. '.repeat(12)

  it.each(['udh8', 'udh16', 'sar'] as const)(
    'by %s is assembled from parts in any order, on two sessions',
    async (mode) => {
      const parts = partsOf(text, mode)
      await fc.assert(
        fc.asyncProperty(fc.shuffledSubarray([...parts.keys()], { minLength: parts.length }), async (order) => {
          await emptyTables(test.db, 'messages, reply_parts, reply_hashes')
          const sessions = [aliveSession(), aliveSession()]
          for (const [i, n] of order.entries()) {
            expect(await texts()).toEqual([])
            expect(await deliver(parts[n] ?? {}, sessions[i % 2])).toBe(ESME.ROK)
          }
          expect(await replies()).toEqual([{ body: text, isPartial: false }])
          expect(await test.count('reply_parts', 'true')).toBe(0)
        }),
        { numRuns: 8 },
      )
    },
  )

  it('is assembled across two links of a carrier', async () => {
    const parts = partsOf(text, 'udh16')
    const { receiptsId, settings } = link
    const second = { id: '01900000-0000-7000-8000-000000000009', receiptsId, settings } as Link
    for (const [n, part] of parts.entries()) {
      if (n % 2 === 1) await deliver(part)
      else await deliverTo(context, second, part)
    }
    expect(await replies()).toEqual([{ body: text, isPartial: false }])
  })

  it('in a national alphabet is assembled from parts that all name it', async () => {
    const header = (part: number): string => `0b00030702${part === 1 ? '01' : '02'}240101250101`
    await deliver({ esm_class: 0x40, short_message: hex(`${header(2)}0c1b67`) })
    await deliver({ esm_class: 0x40, short_message: hex(`${header(1)}410c`) })
    expect(await texts()).toEqual(['Ağğğ'])
  })

  it('whose last part is late is partial, and the late part is kept', async () => {
    const parts = partsOf('x'.repeat(300), 'udh8')
    await deliver(parts[0] ?? {})
    const age = `update reply_parts set received_at = now() - interval '61 seconds'`
    await test.db.query(age)
    await joinLateParts(context)
    await deliver(parts[0] ?? {})
    await deliver(parts[1] ?? {})
    await test.db.query(age)
    await joinLateParts(context)
    expect(await replies()).toEqual([
      { body: 'x'.repeat(153), isPartial: true },
      { body: 'x'.repeat(147), isPartial: true },
    ])
  })

  it('is assembled when all parts arrive at once', async () => {
    await Promise.all(partsOf(text, 'udh8').map((part) => deliver(part)))
    expect(await texts()).toEqual([text])
  })

  it('is stored once, however often its parts are repeated', async () => {
    const [first, ...rest] = partsOf(text, 'udh8')
    await deliver(first ?? {})
    await deliver(first ?? {})
    for (const part of rest) await deliver(part)
    for (const part of rest) await deliver(part)
    await deliver(first ?? {})
    expect(await texts()).toEqual([text])
    expect(await test.count('reply_parts', 'true')).toBe(0)
  })

  it('does not mix people or texts', async () => {
    const [a, b] = [partsOf('a'.repeat(200), 'udh8'), partsOf('b'.repeat(200), 'udh8')]
    const c = partsOf('c'.repeat(200), 'udh8', 8)
    for (const n of [0, 1]) {
      await deliver(a[n] ?? {})
      await deliver({ ...b[n], source_addr: '15551230002' })
      await deliver(c[n] ?? {})
    }
    expect((await texts()).sort()).toEqual(['a'.repeat(200), 'b'.repeat(200), 'c'.repeat(200)])
  })

  it('is delivered as partial if a part never arrives', async () => {
    const parts = partsOf('x'.repeat(400), 'udh8')
    await deliver(parts[0] ?? {})
    await deliver(parts[2] ?? {})
    await joinLateParts(context)
    expect(await replies()).toEqual([])
    await test.sql`update reply_parts set received_at = now() - interval '61 seconds'`
    await joinLateParts(context)
    expect(await replies()).toEqual([{ body: 'x'.repeat(153 + 94), isPartial: true }])
    await joinLateParts(context)
    expect(await replies()).toHaveLength(1)
  })

  it('with the reference of one that still lacks a part is not mixed with it, and neither loses anything', async () => {
    const [a, b] = [partsOf('a'.repeat(200), 'udh8'), partsOf('b'.repeat(200), 'udh8')]
    await deliver(a[0] ?? {})
    // A carrier that gives a redelivery another id.
    await deliver({ ...a[0], tlvs: { receipted_message_id: '2' } })
    expect(await texts()).toEqual([])
    // Within the minute it would be crossed with the other.
    await test.sql`update reply_parts set received_at = now() - interval '61 seconds'`
    for (const part of [b[0], b[0], b[1], b[1], a[0]]) expect(await deliver(part ?? {})).toBe(ESME.ROK)
    expect(await replies()).toEqual([
      { body: 'a'.repeat(153), isPartial: true },
      { body: 'b'.repeat(200), isPartial: false },
    ])
    expect([await test.count('reply_parts', 'true'), errors]).toEqual([0, []])
  })

  it('that was not assembled before its response was due is assembled with the next copy', async () => {
    const parts = partsOf('x'.repeat(200), 'udh8')
    await deliver(parts[0] ?? {})
    await test.sql`alter table messages add constraint full_disk check (direction = 'outbound')`
    expect(await deliver(parts[1] ?? {})).toBe(ESME.RX_T_APPN)
    await test.sql`alter table messages drop constraint full_disk`
    expect(await deliver(parts[1] ?? {})).toBe(ESME.ROK)
    expect(await texts()).toEqual(['x'.repeat(200)])
  })
})

describe('a receipt', () => {
  const receiptText = (stat: string, id = 'abc'): Buffer =>
    Buffer.from(
      `id:${id} sub:001 dlvrd:001 submit date:2611201200 done date:2611201201 stat:${stat} err:000 text:Hello`,
    )

  async function sent(): Promise<string> {
    const handover = await test.lease()
    await test.answer(handover, { carrierMessageId: 'abc' })
    return handover.id
  }

  it('by its bit, its TLVs or its text is not a reply', async () => {
    for (const fields of [
      { esm_class: 4, short_message: receiptText('DELIVRD') },
      { esm_class: 0, short_message: receiptText('DELIVRD') },
      { esm_class: 0, short_message: Buffer.alloc(0), tlvs: { receipted_message_id: 'abc', message_state: 2 } },
    ] as Fields[]) {
      await emptyTables(test.db, 'receipts, messages, carrier_ids')
      const id = await sent()
      expect(await deliver(fields)).toBe(ESME.ROK)
      expect((await test.message(id)).status).toBe('delivered')
      expect(await texts()).toEqual([])
    }
  })

  it('that is intermediate is never final, whatever it says', async () => {
    const id = await sent()
    await deliver({ esm_class: 0x20, short_message: receiptText('UNDELIV') })
    expect((await test.message(id)).status).toBe('sent')
    await deliver({ esm_class: 0x04, short_message: receiptText('UNDELIV') })
    expect((await test.message(id)).status).toBe('undelivered')
  })

  it('in the other radix finds its message by the link’s setting', async () => {
    link.settings.message_id_form = 'hex-to-dec'
    const handover = await test.lease()
    await test.answer(handover, { carrierMessageId: '700443244' })
    await deliver({ esm_class: 4, short_message: receiptText('DELIVRD', '29BFEA6C') })
    expect((await test.message(handover.id)).status).toBe('delivered')
  })

  it('with a reference outside 16 bits is not refused, nor are parts with one', async () => {
    const id = await sent()
    const tlvs = { user_message_reference: 0xffff_fffe }
    expect(await deliver({ esm_class: 4, short_message: receiptText('ENROUTE'), tlvs })).toBe(ESME.ROK)
    expect(await deliver({ esm_class: 4, short_message: receiptText('DELIVRD', 'unknown'), tlvs })).toBe(ESME.ROK)
    expect((await test.message(id)).status).toBe('sent')
    for (const [n, text] of ['One ', 'text'].entries()) {
      const sar = { sar_msg_ref_num: 0x9000_0001, sar_total_segments: 2, sar_segment_seqnum: n + 1 }
      expect(await deliver({ short_message: Buffer.from(text), tlvs: sar })).toBe(ESME.ROK)
    }
    expect([await texts(), errors]).toEqual([['One text'], []])
  })

  it('without an id is kept and answered', async () => {
    expect(await deliver({ esm_class: 4, short_message: Buffer.from('stat:DELIVRD') })).toBe(ESME.ROK)
    expect(await test.count('receipts', 'message_id is null')).toBe(1)
  })
})

it('a request that a carrier should not send is refused', async () => {
  expect(await deliver({ command: 'submit_sm' } as unknown as Fields)).toBe(ESME.RINVCMDID)
})

it('replies and receipts of a simulated carrier are stored, long ones with the last part first', async () => {
  await emptyTables(db, 'carriers, senders')
  const carrier = await openCarrierTest(db, { accountId: test.accountId })
  await untilBound(carrier)
  carrier.simulator.misbehave({ partOrder: 'last_first' })
  const { id } = await carrier.submit({ theirNumber: '15551230007', body: 'x'.repeat(300), segments: 2 })
  await carrier.reaches(id, 'delivered')
  await until('the echo is there', async () => (await texts()).includes('x'.repeat(300)))
  carrier.simulator.reply('15551230007', ourNumber, 'STOP')
  await until('the opt-out is there', async () => (await test.count('opt_outs', `number = '15551230007'`)) === 1)
  await until('the confirmation has arrived', () =>
    carrier.simulator.phones.messages('15551230007').some((message) => message.text?.includes('unsubscribed') ?? false),
  )
  expect(carrier.errors).toEqual([])
  await carrier.close()
})

/** Receives a PDU on a session; resolves with the answer to the carrier. */
const deliver = (fields: Fields, on?: DeliverySession): Promise<number> => deliverTo(context, link, fields, on)

function partsOf(text: string, mode: ConcatenationMode, reference = 7): Fields[] {
  return cutSegments(text, { mode, reference }).map((pdu) => pdu as Fields)
}

async function replies(): Promise<{ body: string; isPartial: boolean }[]> {
  const rows = await test.sql<{ body: string; isPartial: boolean }>`select body, is_partial as "isPartial"
    from messages where direction = 'inbound' order by id`
  return rows
}

const texts = async (): Promise<string[]> => (await replies()).map((reply) => reply.body)
