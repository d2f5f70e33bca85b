/** Cases of kind H: long replies of one person under one reference, whose parts interleave. */
import { cutSegments, ESME, type MessageRequest } from '@heliogram/smpp'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { receive } from '../../server/inbound/receive.ts'
import type { ReceiveContext } from '../../server/inbound/context.ts'
import { Redeliveries } from '../../server/inbound/redelivery.ts'
import { joinLateParts } from '../../server/inbound/reply-join.ts'
import type { Link } from '../../server/links/link.ts'
import { smppDefaults } from '../../server/links/carrier-settings.ts'
import { aliveSession } from '../../server/carriers/testing.ts'
import { createTestDatabase, emptyTables, type TestDatabase } from '../../server/ground/db/testing.ts'
import { isOptedOut } from '../../server/message/opted-out.ts'
import { openLedgerTest, ourNumber, type LedgerTest } from '../../server/messages/testing.ts'

const person = '15551230001'
let database: TestDatabase
let test: LedgerTest
let context: ReceiveContext
let warnings: string[]

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.close())
beforeEach(async () => {
  await emptyTables(
    database.db,
    'accounts, carriers, nodes, messages, reply_parts, reply_hashes, orphan_replies, events, opt_outs',
  )
  test = await openLedgerTest(database.db)
  warnings = []
  const log = { info: () => {}, warn: (_: object, message: string) => void warnings.push(message), error: () => {} }
  context = { ...test.context, log, ledger: test.ledger, redeliveries: new Redeliveries(test.nodeId), wake: () => {} }
})

type Fields = Partial<Extract<MessageRequest, { command: 'deliver_sm' }>>

/** Delivers one PDU of a carrier; expects ROK. */
async function deliver(fields: Fields): Promise<void> {
  const link = {
    id: test.linkId,
    receiptsId: test.linkId,
    settings: { ...smppDefaults, host: '', port: 1, system_id: '' },
  }
  const head = { command: 'deliver_sm', command_status: 0, sequence_number: 1, esm_class: 0, data_coding: 0 }
  const pdu = { ...head, source_addr: person, destination_addr: ourNumber, ...fields } as MessageRequest
  const status = await new Promise((resolve) => receive(context, link as Link, pdu, resolve, aliveSession()))
  expect(status).toBe(ESME.ROK)
}

async function deliverAll(all: (Fields | undefined)[]): Promise<void> {
  for (const fields of all) await deliver(fields ?? {})
}

/** As phones make them, with a reference of eight bits. */
const part = (number: number, total: number, text: string, reference = 7): Fields => ({
  esm_class: 0x40,
  short_message: Buffer.concat([Buffer.from([5, 0, 3, reference, total, number]), Buffer.from(text)]),
})

/** `~` marks partial replies. */
async function replies(): Promise<string[]> {
  const { rows } = await test.db.query<{ body: string; isPartial: boolean }>(
    `select body, is_partial as "isPartial" from messages where direction = 'inbound' order by id`,
  )
  return rows.map(({ body, isPartial }) => (isPartial ? `~${body}` : body))
}

async function wait(seconds: number): Promise<void> {
  for (const table of ['reply_parts', 'reply_hashes'])
    await test.db.query(`update ${table} set received_at = received_at - make_interval(secs => $1)`, [seconds])
}

const isOut = (): Promise<boolean> => isOptedOut(test.db, test.context.vault, test.accountId, person)

describe('two replies with one reference and interleaved parts', () => {
  const [a1, a2, b1, b2] = [part(1, 2, 'I come '), part(2, 2, 'on Monday'), part(1, 2, 'Not me, '), part(2, 2, 'sorry')]

  it.each([
    ['first parts first', [a1, b1, a2, b2], ['~I come ', '~Not me, ', '~on Monday', '~sorry']],
    ['the second within the first', [a1, b1, b2, a2], ['~I come ', '~Not me, ', '~sorry', '~on Monday']],
    ['last parts first', [a2, b2, b1, a1], ['~on Monday', '~sorry', '~Not me, ', '~I come ']],
    ['and are delivered again', [a1, b1, b1, a1, a2, b2, a2], ['~I come ', '~Not me, ', '~on Monday', '~sorry']],
    ['and one of them is lost', [a1, b1, b2], ['~I come ', '~Not me, ', '~sorry']],
  ])('are never mixed: %s', async (_, all, expected) => {
    await deliverAll(all)
    expect(await replies()).toEqual(expected)
    await wait(61)
    await joinLateParts(context)
    expect(await replies()).toEqual(expected)
    expect(warnings).toEqual(['parts of two long replies have one reference'])
    expect(await test.count('reply_parts', 'true')).toBe(0)
  })

  it('are never mixed in threes, in Cyrillic, by TLVs', async () => {
    const cut = (text: string): Fields[] =>
      cutSegments(text, { mode: 'sar', reference: 300 }).map((pdu) => pdu as unknown as Fields)
    const [yes, no] = [cut('да'.repeat(80)), cut('нет'.repeat(50))]
    expect([yes.length, no.length]).toEqual([3, 3])
    await deliverAll([yes[0], yes[1], no[0], no[1], yes[2], no[2]])
    const all = await replies()
    expect(all).toHaveLength(6)
    expect(all.every((one) => /^~(?:[да]+|[нет]+)$/.test(one))).toBe(true)
  })

  it('end each other for a minute; then the reference can be used again', async () => {
    await deliverAll([a1, b1])
    await wait(61)
    await deliverAll([part(1, 2, 'On Friday '), part(2, 2, 'at six')])
    expect(await replies()).toEqual(['~I come ', '~Not me, ', 'On Friday at six'])
  })

  it('are both complete if one precedes the other, if their references differ, and if a part is repeated', async () => {
    await deliverAll([a1, a2, b1, b2])
    await deliverAll([part(1, 2, 'C1 '), part(1, 2, 'D1 ', 8), part(2, 2, 'D2', 8), part(2, 2, 'C2')])
    await deliverAll([part(1, 2, 'E1 ', 9), part(1, 2, 'E1 ', 9), part(2, 2, 'E2', 9)])
    expect(await replies()).toEqual(['I come on Monday', 'Not me, sorry', 'D1 D2', 'C1 C2', 'E1 E2'])
    expect(warnings).toEqual([])
  })

  it('are not mixed if the first has waited for its last part for a minute: it is stored partially, and the second completely', async () => {
    await deliver(a1)
    await wait(61)
    await deliverAll([b1, b2])
    expect(await replies()).toEqual(['~I come ', 'Not me, sorry'])
  })

  it('opt out by a part that says STOP, and never in by one that says START', async () => {
    await deliverAll([a1, part(1, 2, 'STOP'), a2])
    expect(await isOut()).toBe(true)
    await deliver(part(2, 2, 'START'))
    expect(await isOut()).toBe(true)
    expect(await replies()).toEqual(['~I come ', '~STOP', '~on Monday', '~START'])
  })

  it('opt out by an earlier STOP', async () => {
    await deliverAll([part(1, 2, 'STOP'), b1])
    expect(await isOut()).toBe(true)
  })
})
