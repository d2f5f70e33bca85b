/** Cases of kind G: all fields of a receipt decide. Over SMPP, from the carrier's PDU to the message. */
import { countSegments } from '@heliogram/smpp'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ensurePartitions } from '../../server/ground/db/partitions.ts'
import { createTestDatabase, type TestDatabase } from '../../server/ground/db/testing.ts'
import { countContradictions, countReported, isOneReceipt } from '../../server/doctor/findings.ts'
import type { SmppSettings } from '../../server/links/carrier-settings.ts'
import { openBoundTest, type CarrierTest } from '../../server/carriers/testing.ts'
import type { MessageRow } from '../../server/message/message.ts'
import { listStoredReceipts, tellReceipts } from '../../server/ledger/stored-receipts.ts'
import { silent } from '../../server/messages/testing.ts'
import { until } from '../until.ts'
import { readCase, startPlayingCarrier, type CasePdu, type PlayingCarrier } from './playing-carrier.ts'

let database: TestDatabase
let carrier: PlayingCarrier
let test: CarrierTest

beforeAll(async () => {
  database = await createTestDatabase()
  await ensurePartitions(database.db, silent)
})
afterAll(() => database.close())
beforeEach(async () => {
  carrier = await startPlayingCarrier()
})
afterEach(async () => {
  await test.close()
  await carrier.close()
  expect(test.errors).toEqual([])
})

const long = 'x'.repeat(400)

/** Binds to the carrier, which plays these PDUs after each submit, and sends a text. */
async function send(plays: CasePdu[], body = 'Hello', settings: Partial<SmppSettings> = {}): Promise<MessageRow> {
  carrier.plays = plays
  test = await openBoundTest(database.db, { settings: { ...settings, port: carrier.port } })
  return sendAgain(body)
}

const sendAgain = (body: string): Promise<MessageRow> => test.submit({ ...countSegments(body), body })

async function timelineOf(row: MessageRow): Promise<string[]> {
  const kept = await listStoredReceipts(test.db, row.accountId, row.id)
  return tellReceipts(row, [], kept).map(({ detail }) => detail)
}

const receipt = (fields: string, tlvs: Record<string, string> = {}): CasePdu[] => [
  { op: 'deliver_sm', when: 'submit', source: '{to}', dest: '{from}', esm_class: 4, text: fields, tlvs },
]
const [id, state] = ['0x001e', '0x0427']
const networkError = '0x0423'

describe('a final receipt precedes one that is not final, in whichever order', () => {
  it.each([
    ['receipt-enroute-delivrd.jsonl', 'delivered', null],
    ['receipt-scheduled-undeliv.jsonl', 'undelivered', 'landline_or_unroutable'],
  ] as const)('%s: %s', async (file, status, errorCode) => {
    const { id: messageId } = await send(readCase(file))
    expect(await test.reaches(messageId, status)).toMatchObject({ errorCode })
  })

  it.each<[string, string, Record<string, string>, MessageRow['status'], string | null]>([
    [
      'a text without an end, a TLV with one',
      'id:{id} stat:ENROUTE err:000',
      { [id]: 'text:{id}', [state]: '02' },
      'delivered',
      null,
    ],
    [
      '"accepted", and a failure',
      'id:{id} stat:EXPIRED err:000',
      { [state]: '06' },
      'undelivered',
      'expired_at_carrier',
    ],
    ['"unknown", and delivered', 'id:{id} stat:Delivered', { [state]: '07' }, 'delivered', null],
    [
      'a reserved state, and rejected',
      'id:{id} stat:REJECTD err:013',
      { [state]: '4d' },
      'rejected',
      'recipient_blocked',
    ],
    ['a state in lower case', 'id:{id} stat:delivrd', { [state]: '01' }, 'delivered', null],
    ['a state as a number of two digits', 'id:{id} stat:05 err:001', {}, 'undelivered', 'unknown_subscriber'],
    ['a state in words', 'id:{id} stat:Not delivered err:6', { [state]: '01' }, 'undelivered', 'handset_unreachable'],
    [
      'no text',
      '',
      { [id]: 'text:{id}', [state]: '05', [networkError]: '030001' },
      'undelivered',
      'unknown_subscriber',
    ],
    ['no TLV', 'id:{id} sub:001 dlvrd:001 stat:DELIVRD err:000', {}, 'delivered', null],
  ])('%s', async (_, text, tlvs, status, errorCode) => {
    const { id: messageId } = await send(receipt(text, tlvs))
    expect(await test.reaches(messageId, status)).toMatchObject({ errorCode })
  })

  it('takes the network’s number from its TLV if the text has none, and the text’s if both have one', async () => {
    const failure = 'id:{id} stat:UNDELIV err:'
    const one = await send(receipt(`${failure}000`, { [networkError]: '03000d' }))
    expect(await test.reaches(one.id, 'undelivered')).toMatchObject({
      errorCode: 'recipient_blocked',
      receiptErr: '013',
    })
    carrier.plays = receipt(`${failure}027`, { [networkError]: '03000d' })
    const two = await sendAgain('Hello')
    expect(await test.reaches(two.id, 'undelivered')).toMatchObject({ errorCode: 'handset_unreachable' })
    // Networks other than GSM use the same numbers with other meanings.
    carrier.plays = receipt(`${failure}000`, { [networkError]: '02000d' })
    const three = await sendAgain('Hello')
    expect(await test.reaches(three.id, 'undelivered')).toMatchObject({ errorCode: 'carrier_unknown' })
  })
})

describe('two contradictory final receipts', () => {
  const contradicting = receipt('id:{id} stat:DELIVRD err:000', { [id]: 'text:{id}', [state]: '05' })

  it('are both in the timeline, and the doctor reports them', async () => {
    const { id: messageId } = await send(contradicting)
    await test.reaches(messageId, 'undelivered')
    await until('both are stored', async () => (await test.count('receipts', 'contradicts is not null')) === 1)
    expect(await timelineOf(await test.message(messageId))).toEqual([
      'The receipt says UNDELIV, err 000.',
      'The receipt says DELIVRD, err 000; it arrived after UNDELIV, which counts.',
    ])
    expect(await countContradictions(test.db, test.linkId, 24)).toEqual({
      count: 1,
      example: { rawId: 'c1', stat: 'DELIVRD', contradicts: 'UNDELIV', messageId },
    })
    expect(await test.eventsOf(messageId)).toEqual(['message.failed'])
  })

  it('do not contradict if both say the same, and of two failures the carrier’s own word counts', async () => {
    const { id: messageId } = await send(receipt('id:{id} stat:DELIVERED', { [state]: '02' }))
    expect(await test.reaches(messageId, 'delivered')).toMatchObject({ receiptStat: 'DELIVERED' })
    expect(await countContradictions(test.db, test.linkId, 24)).toMatchObject({ count: 0 })
    carrier.plays = receipt('id:{id} stat:BLACKLST err:000', { [state]: '05' })
    const other = await sendAgain('Hello')
    expect(await test.reaches(other.id, 'rejected')).toMatchObject({ errorCode: 'recipient_blocked' })
  })
})

describe('a long message with one reported part', () => {
  it('is delivered if the receipt says that it covers all parts', async () => {
    const { id: messageId } = await send(readCase('one-receipt-of-three.jsonl'), long)
    expect(await test.reaches(messageId, 'delivered')).toMatchObject({ segments: 3, segmentsDelivered: 3 })
  })

  it('failed as a whole if none of its parts was delivered', async () => {
    const none = readCase('one-receipt-of-three.jsonl').map((pdu) => ({
      ...pdu,
      text: 'id:{id} sub:003 dlvrd:000 stat:UNDELIV err:001',
    }))
    const { id: messageId } = await send(none, long)
    expect(await test.reaches(messageId, 'undelivered')).toMatchObject({
      segmentsDelivered: 0,
      errorCode: 'unknown_subscriber',
    })
  })

  it.each([
    ['one of three', 'id:{id} sub:003 dlvrd:001 stat:DELIVRD err:000'],
    ['two of another number of parts', 'id:{id} sub:002 dlvrd:002 stat:DELIVRD err:000'],
    ['fewer than were delivered', 'id:{id} sub:001 dlvrd:003 stat:DELIVRD err:000'],
  ])('waits for the other parts if the receipt gives %s', async (_, text) => {
    const [first] = readCase('one-receipt.jsonl')
    const { id: messageId } = await send([{ ...first, op: 'deliver_sm', text }], long)
    await until('it came', async () => (await test.count('receipts', 'message_id = $1', [messageId])) === 1)
    expect((await test.message(messageId)).status).toBe('sent')
  })

  it.each(['{first_id}', '{id}'])(
    'is decided by one receipt for %s, if the carrier’s setting says so',
    async (named) => {
      const plays = readCase('one-receipt.jsonl').map((pdu) => ({
        ...pdu,
        text: pdu.text?.replace('{first_id}', named),
      }))
      const { id: messageId } = await send(plays as CasePdu[], long, { one_receipt: true })
      expect(await test.reaches(messageId, 'delivered')).toMatchObject({ segmentsDelivered: 3 })
      expect(await test.eventsOf(messageId)).toEqual(['message.delivered'])
    },
  )

  it('waits for the others without the setting, which the doctor proposes if this happens to many', async () => {
    const rows = [await send(readCase('one-receipt.jsonl'), long)]
    for (let n = 0; n < 4; n++) rows.push(await sendAgain(long))
    await until('all came', async () => (await test.count('receipts', 'message_id is not null')) === 5)
    expect(await countReported(test.db, test.linkId, 24)).toMatchObject({ one: 0, more: 0 })
    await test.db.query(`update receipts set received_at = received_at - interval '1 minute'`)
    const long5 = await countReported(test.db, test.linkId, 24)
    expect(long5).toMatchObject({ one: 5, more: 0 })
    expect(isOneReceipt(long5)).toBe(true)
    for (const { id: messageId } of rows) expect((await test.message(messageId)).status).toBe('sent')
  })

  it('is no reason for the setting if the parts have their own', async () => {
    await send(receipt('id:{id} sub:001 dlvrd:001 stat:DELIVRD err:000'), long)
    for (let n = 0; n < 4; n++) await sendAgain(long)
    await until('all came', async () => (await test.count('messages', `status = 'delivered'`)) === 5)
    await test.db.query(`update receipts set received_at = received_at - interval '1 minute'`)
    const reported = await countReported(test.db, test.linkId, 24)
    expect([reported, isOneReceipt(reported)]).toEqual([{ one: 0, more: 5, exampleId: null }, false])
  })
})
