import { cutSegments, ESME, type ConcatenationMode } from '@heliogram/smpp'
import { beforeEach, expect, it } from 'vitest'
import { testVault } from '../accounts/testing.ts'
import { openPool } from '../ground/db/db.ts'
import { createTestDatabase, forEachTest } from '../ground/db/testing.ts'
import { openLedgerTest } from '../messages/testing.ts'
import { DataKeys } from '../ground/sealing/data-keys.ts'
import { Texts } from '../ground/sealing/texts.ts'
import { openVault, type Vault } from '../ground/sealing/vault.ts'
import type { ReceiveContext } from './context.ts'
import { joinLateParts } from './reply-join.ts'
import { deliverTo, linkOf, receivingOf, type Fields } from './testing.ts'

let context: ReceiveContext
let warnings: object[] = []

const database = await createTestDatabase()
const { db } = database
const test = forEachTest(db, openLedgerTest)
beforeEach(async () => {
  warnings = []
  const warn = (fields: object, message: string): void => void warnings.push({ ...fields, message })
  const log = { info: () => {}, warn, error: warn }
  context = receivingOf(test, { log })
})

it('a reply with parts still arriving waits for the rest, however old its first part is', async () => {
  const parts = partsOf('x'.repeat(400))
  await deliver(parts[0] ?? {})
  await age(300)
  await deliver(parts[1] ?? {})
  await joinLateParts(context)
  expect(await replies()).toEqual([])
  await age(59)
  await deliver(parts[2] ?? {})
  expect(await replies()).toEqual([{ body: 'x'.repeat(400), isPartial: false }])
})

it.each([
  ['misses a part', 400, 306, true],
  ['is whole but not joined yet', 200, 200, false],
])(
  'a text starts at another process under the reference of one that %s, and neither is torn',
  async (_, characters, kept, isPartial) => {
    const [a, b] = [partsOf('a'.repeat(characters)), partsOf('b'.repeat(characters))]
    // The second process loses its only connection between the two transactions of a part.
    const slow = openPool(database.connection, { name: 'slow', max: 1 })
    await deliver(a[0] ?? {})
    if (isPartial) await deliver(a[1] ?? {})
    if (isPartial) await age(61)
    const second = deliver((isPartial ? b[1] : a[1]) ?? {}, '15551230001', { ...context, db: slow })
    const connection = await slow.connect()
    await deliver(b[0] ?? {})
    connection.release()
    expect(await second).toBe(ESME.ROK)
    for (const part of b.slice(1)) await deliver(part)
    await slow.end()
    expect(await replies()).toEqual([
      { body: 'a'.repeat(kept), isPartial },
      { body: 'b'.repeat(characters), isPartial: false },
    ])
    expect(await test.count('reply_parts', 'true')).toBe(0)
  },
)

it('a part in a burst neither overtakes the last part of the previous text nor fills its gap', async () => {
  const [a, b] = [partsOf('a'.repeat(400)), partsOf('b'.repeat(400))]
  for (const part of a.slice(0, 2)) await deliver(part)
  await age(61)
  // With one connection, all take their first look before any takes its second.
  const narrow = openPool(database.connection, { name: 'narrow', max: 1 })
  const process = { ...context, db: narrow }
  const answers = await Promise.all(b.map((part) => deliver(part, '15551230001', process)))
  await narrow.end()
  expect(answers).toEqual([ESME.ROK, ESME.ROK, ESME.ROK])
  expect(await replies()).toEqual([
    { body: 'a'.repeat(306), isPartial: true },
    { body: 'b'.repeat(400), isPartial: false },
  ])
})

it('a reply with an unreadable part is stored without it, as partial', async () => {
  const parts = partsOf('a'.repeat(153) + 'b'.repeat(100))
  const stranger = openVault(Buffer.alloc(32, 9))
  const textsOf = (vault: Vault, isSealing: boolean): Texts =>
    new Texts({ db: test.db, keys: new DataKeys(vault), vault, isSealing })
  await deliver(parts[0] ?? {}, undefined, { ...context, texts: textsOf(stranger, true) })
  await deliver(parts[1] ?? {}, undefined, { ...context, texts: textsOf(testVault, false) })
  expect(await replies()).toEqual([{ body: 'b'.repeat(100), isPartial: true }])
  expect(warnings).toMatchObject([{ message: 'a text cannot be decrypted' }])
})

it('a reply that cannot be stored is logged as a warning, and does not block others', async () => {
  for (const n of [1, 2, 3]) await deliver(partsOf(`${n}`.repeat(200))[0] ?? {}, `1555123000${n}`)
  await age(61)
  await test.sql`alter table messages add constraint no_two check (body not like '2%')`
  await joinLateParts(context)
  expect((await replies()).map(({ body }) => body.slice(0, 1)).sort()).toEqual(['1', '3'])
  expect(warnings).toMatchObject([{ count: 1, message: 'late parts could not be joined' }])
  expect(JSON.stringify(warnings)).not.toContain('1555123')
  await test.sql`alter table messages drop constraint no_two`
  await joinLateParts(context)
  expect(await replies()).toHaveLength(3)
})

it.each([
  ['in GSM-7', 0, Buffer.alloc(60_000, 'x'), 'x'.repeat(65_536)],
  ['in UCS-2', 8, Buffer.alloc(60_000, Buffer.from('0416', 'hex')), 'Ж'.repeat(32_768)],
])(
  'a reply %s of more octets than one payload holds is cut there, and partial',
  async (_, data_coding, message_payload, text) => {
    for (const sar_segment_seqnum of [3, 2, 4, 1]) {
      const tlvs = { message_payload, sar_msg_ref_num: 7, sar_total_segments: 4, sar_segment_seqnum }
      expect(await deliver({ data_coding, short_message: Buffer.alloc(0), tlvs })).toBe(ESME.ROK)
    }
    expect(await replies()).toEqual([{ body: text, isPartial: true }])
    expect(await test.count('reply_parts', 'true')).toBe(0)
  },
)

const deliver = (fields: Fields, source_addr = '15551230001', process = context): Promise<number> =>
  deliverTo(process, linkOf(test), { source_addr, ...fields })

const partsOf = (text: string, mode: ConcatenationMode = 'udh8'): Fields[] =>
  cutSegments(text, { mode, reference: 7 }).map((pdu) => pdu as Fields)

async function replies(): Promise<{ body: string; isPartial: boolean }[]> {
  const rows = await test.sql<{ body: string; isPartial: boolean }>`select body, is_partial as "isPartial"
    from messages where direction = 'inbound' order by id`
  return rows
}

const age = (seconds: number, where = 'true'): Promise<unknown> =>
  test.db.query(`update reply_parts set received_at = received_at - make_interval(secs => $1) where ${where}`, [
    seconds,
  ])
