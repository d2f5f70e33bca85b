import { beforeEach, describe, expect, it } from 'vitest'
import { inTransaction } from '../ground/db/db.ts'
import { createTestDatabase, forEachTest } from '../ground/db/testing.ts'
import type { Handover } from '../message/handover.ts'
import { Ledger } from '../ledger/ledger.ts'
import { recordMoves } from '../message/moved.ts'
import { matchOrphans } from '../ledger/receipt.ts'
import { openLedgerTest, silent } from '../messages/testing.ts'
import { storeReceipt, type HttpReceiveContext } from '../http-carriers/inbound.ts'
import { mergeMappings, type Mapping } from './store.ts'
import { StatusMaps } from './mapping.ts'
import { followIdForms } from '../doctor/rekey.ts'

let reasons: StatusMaps

const { db, sql } = await createTestDatabase()
const test = forEachTest(db, openLedgerTest)
beforeEach(async () => {
  reasons = new StatusMaps(db)
  test.ledger = new Ledger({ ...test.context, reasons })
})

/** The operator defines 099 for this carrier; for others it has no meaning. */
const ownRow: Mapping = {
  kind: 'receipt',
  stat: '',
  code: '99',
  error: 'spend_limit_reached',
  handling: 'passing',
  note: null,
}

const told = ['spend_limit_reached', 'receipt', 'UNDELIV err:099', 'UNDELIV', '099']

describe('a carrier’s own table decides the reason of a receipt', () => {
  beforeEach(async () => {
    await inTransaction(db, (tx) => mergeMappings(tx, test.carrierId, [ownRow]))
    await reasons.refresh()
  })

  it('that follows its response', async () => {
    const handover = await sent('a')
    await fails('a')
    expect(await reasonOf(handover)).toEqual(told)
  })

  it('of a message that this process has forgotten', async () => {
    const handover = await sent('a')
    test.ledger = new Ledger({ ...test.context, recent: (await openLedgerTest(db)).context.recent, reasons })
    await fails('a')
    expect(await reasonOf(handover)).toEqual(told)
  })

  it('of a segment', async () => {
    const handover = await sent('a', 'b')
    await fails('b')
    await test.ledger.receipt({
      linkId: test.linkId,
      rawId: 'a',
      matchId: 'a',
      state: 'delivered',
      stat: 'DELIVRD',
      err: '000',
      networkError: null,
      doneDate: '',
    })
    expect(await reasonOf(handover)).toEqual(told)
    expect(await test.message(handover.id)).toMatchObject({ status: 'undelivered', segmentsDelivered: 1 })
  })

  it('that overtook its response, on either way through the ledger', async () => {
    await fails('a')
    expect(await reasonOf(await sent('a'))).toEqual(told)
    await test.subscribe('message.sent')
    await fails('b')
    expect(await reasonOf(await sent('b'))).toEqual(told)
  })

  it('that another process received at the same moment', async () => {
    const handover = await test.lease()
    await fails('a')
    await sql`insert into carrier_ids (link_id, carrier_message_id, account_id, message_id, segment, segments)
      values (${test.linkId}, 'a', ${test.accountId}, ${handover.id}, 1, 1)`
    await inTransaction(db, async (tx) => recordMoves(tx, await matchOrphans(tx, reasons), test.context))
    expect(await reasonOf(handover)).toEqual(told)
  })

  it('that matches after the form of ids was changed', async () => {
    const handover = await sent('ff')
    await fails('255')
    await sql`update carriers set settings = settings || '{"message_id_form": "dec-to-hex"}'`
    await followIdForms({ ...test.context, reasons })
    expect(await reasonOf(handover)).toEqual(told)
  })
})

describe('receipts of a carrier with an HTTP API', () => {
  const receiving = (): HttpReceiveContext => ({ ...test.context, log: silent, ledger: test.ledger, wake: () => {} })
  const receipt = { reference: null, state: 'undeliverable', stat: 'undelivered', doneDate: '' } as const

  async function become(settings: object): Promise<void> {
    await sql`update carriers set kind = 'http', settings = ${settings}`
    await reasons.refresh()
  }

  it('have the carrier’s documented meaning, unless the operator overrides it', async () => {
    await become({ adapter: 'twilio' })
    const [one, two] = [await sent('a'), await sent('b')]
    await storeReceipt(receiving(), test.linkId, { ...receipt, id: 'a', err: '30450' }, false)
    expect(await reasonOf(one)).toEqual(['fraud_suspected', 'receipt', 'undelivered err:30450', 'undelivered', '30450'])
    await inTransaction(db, (tx) => mergeMappings(tx, test.carrierId, [{ ...ownRow, code: '30450' }]))
    await reasons.refresh()
    await storeReceipt(receiving(), test.linkId, { ...receipt, id: 'b', err: '30450' }, false)
    expect((await test.message(two.id)).errorCode).toBe('spend_limit_reached')
  })

  it('are kept also if they are not final', async () => {
    await become({ adapter: 'twilio' })
    const { id } = await sent('a')
    await storeReceipt(
      receiving(),
      test.linkId,
      { ...receipt, id: 'a', state: 'enroute', stat: 'sent', err: null },
      false,
    )
    expect((await test.message(id)).status).toBe('sent')
    expect(await test.count('receipts', `message_id = $1 and stat = 'sent'`, [id])).toBe(1)
  })

  it('mean what networks mean by them if the carrier says nothing, and nothing of a response’s codes', async () => {
    await become({ adapter: 'sinch' })
    const of = (err: string): string => reasons.ofReceipt(test.linkId, { ...receipt, err }).code
    expect([of('32'), of('402'), of('27'), of('999')]).toEqual([
      'handset_memory_full',
      'landline_or_unroutable',
      'handset_unreachable',
      'carrier_unknown',
    ])
    await become({ adapter: 'vonage' })
    // 9 is "no credit" in an answer.
    expect([of('9'), of('1')]).toEqual(['recipient_opted_out', 'carrier_unknown'])
    await become({ adapter: 'infobip' })
    expect([of('52'), of('s52')]).toEqual(['carrier_unknown', 'invalid_destination'])
  })

  it('follow the settings of a generic carrier within a second', async () => {
    await become({ adapter: 'generic', codes: { stop: 'recipient_opted_out' } })
    const of = (err: string): string => reasons.ofReceipt(test.linkId, { ...receipt, err }).code
    expect([of('stop'), of('gone')]).toEqual(['recipient_opted_out', 'carrier_unknown'])
    await become({ adapter: 'generic', codes: { gone: 'unknown_subscriber' } })
    expect([of('stop'), of('gone')]).toEqual(['carrier_unknown', 'unknown_subscriber'])
  })
})

async function sent(...ids: string[]): Promise<Handover> {
  const handover = await test.lease({ segments: ids.length })
  for (const [i, id] of ids.entries())
    await test.ledger.answer({
      nodeId: test.nodeId,
      accountId: test.accountId,
      messageId: handover.id,
      segment: i + 1,
      segments: ids.length,
      try: handover.try,
      linkId: test.linkId,
      state: 'accepted',
      carrierMessageId: id,
      commandStatus: 0,
      intentAt: new Date(),
      move: i < ids.length - 1 ? null : { to: 'sent', retryAfterMs: null, errorCode: null, errorRaw: null },
    })
  return handover
}

const fails = (id: string, rawId = id): Promise<void> =>
  test.ledger.receipt({
    linkId: test.linkId,
    rawId,
    matchId: id,
    state: 'undeliverable',
    stat: 'UNDELIV',
    err: '099',
    networkError: null,
    doneDate: '',
  })

const reasonOf = async ({ id }: Handover): Promise<unknown[]> => {
  const { errorCode, errorStage, errorRaw, receiptStat, receiptErr } = await test.message(id)
  return [errorCode, errorStage, errorRaw, receiptStat, receiptErr]
}
