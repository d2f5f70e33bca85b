/** Cases of kind F from clients: the declared coding is used unless the octets disprove it, and no text is invented. */
import { ESME } from '@heliogram/smpp'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createTestDatabase, emptyTables, type TestDatabase } from '../../server/ground/db/testing.ts'
import { parseClientId } from '../../server/smpp-server/client-id.ts'
import { bindTestClient, openServerTest, type ServerTest, type TestClient } from '../../server/smpp-server/testing.ts'
import { fieldsOf, readCase } from './playing-carrier.ts'

let database: TestDatabase
let test: ServerTest
let client: TestClient

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.close())
beforeEach(async () => {
  await emptyTables(database.db, 'accounts, carriers, nodes, messages, queue, events')
  test = await openServerTest(database.db)
  client = await bindTestClient(test.port, await test.credential({ pace: 100_000 }))
})
afterEach(async () => {
  client.session.destroy()
  await test.close()
})

async function submit(fields: Parameters<TestClient['submit']>[0]): Promise<string | number> {
  const { status, messageId } = await client.submit(fields)
  if (status !== ESME.ROK) return status
  const id = parseClientId(messageId)
  return id === null ? status : ((await test.message(id)).body ?? '')
}

const octets = (data_coding: number, hex: string): Parameters<TestClient['submit']>[0] => ({
  data_coding,
  short_message: Buffer.from(hex, 'hex'),
})
const utf8 = (text: string): string => Buffer.from(text).toString('hex')
const ucs2 = (text: string): string => Buffer.from(text, 'utf16le').swap16().toString('hex')

it('submits-octets.jsonl: the first is read, the second refused', async () => {
  const [first = { op: '' }, second = { op: '' }] = readCase('submits-octets.jsonl')
  expect(await submit(fieldsOf(first))).toBe('Café 12 €')
  expect(await submit(fieldsOf(second))).toBe(ESME.RINVDCS)
  expect(await test.count('messages', 'true')).toBe(1)
})

describe('octets that contradict their declaration', () => {
  it.each<[string, number, string, string]>([
    ['Cyrillic in UTF-8 as the default alphabet', 0, utf8('Привет, 5 €'), 'Привет, 5 €'],
    ['an emoji in UTF-8 as the default alphabet', 0, utf8('Hi 👋'), 'Hi 👋'],
    ['UTF-8 as ASCII', 1, utf8('Señor Núñez'), 'Señor Núñez'],
    ['UTF-8 as Latin-1', 3, utf8('Grüße – 3 €'), 'Grüße – 3 €'],
    ['UCS-2 in the other order', 8, Buffer.from('Hello you', 'utf16le').toString('hex'), 'Hello you'],
    ['UCS-2 that ends with half a NUL', 8, `${ucs2('Hi')}00`, 'Hi'],
    ['a U+FFFD that the client wrote', 8, ucs2('a\ufffdb'), 'a\ufffdb'],
  ])('are read: %s', async (_, coding, hex, text) => {
    expect(await submit(octets(coding, hex))).toBe(text)
  })

  it.each<[string, number, string]>([
    ['half a surrogate pair', 8, 'd83d'],
    ['half a unit', 8, '0048006'.padEnd(10, '1')],
    ['ASCII as UCS-2', 8, Buffer.from('Hello there').toString('hex')],
    ['UTF-8 as UCS-2', 8, utf8('Grüße an alle!')],
    ['text as binary data', 4, Buffer.from('Hello there').toString('hex')],
    ['a broken Shift-JIS', 5, '82'],
  ])('are refused: %s', async (_, coding, hex) => {
    expect(await submit(octets(coding, hex))).toBe(ESME.RINVDCS)
  })

  it('never put a U+FFFD into a text that is sent', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ minLength: 1, maxLength: 12 }),
        fc.constantFrom(0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 0x18, 0xe0, 0xf4),
        async (bytes, data_coding) => {
          const sent = await submit({ data_coding, short_message: Buffer.from(bytes) })
          if (typeof sent === 'string' && sent.includes('\ufffd'))
            expect(Buffer.from(bytes).includes('fffd', 0, 'hex')).toBe(true)
        },
      ),
      { numRuns: 150 },
    )
  })

  it('refuse a long message as a whole, and a receipt says so for its first part', async () => {
    const part = (number: number, hex: string): Parameters<TestClient['submit']>[0] => ({
      ...octets(8, `0500030702${number.toString(16).padStart(2, '0')}${hex}`),
      esm_class: 0x40,
      registered_delivery: 1,
    })
    // A split surrogate pair is whole in the end.
    const whole = ucs2('👋')
    expect((await client.submit(part(1, `0048${whole.slice(0, 4)}`))).status).toBe(ESME.ROK)
    expect((await client.submit(part(2, `${whole.slice(4)}0049`))).status).toBe(ESME.ROK)
    const { rows } = await test.db.query(`select body from messages`)
    expect(rows).toEqual([{ body: 'H👋I' }])
    expect((await client.submit(part(1, '0048d83d'))).status).toBe(ESME.ROK)
    expect((await client.submit(part(2, '0049'))).status).toBe(ESME.RINVDCS)
    expect(await test.count('smpp_deliveries', `state = 'rejected' and err = '121'`)).toBe(1)
  })
})
