/** Replies to unassigned numbers: another spelling of ours is ours; others are kept, shown, and given to the account that registers the number. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { inTransaction } from '../../server/ground/db/db.ts'
import { createTestDatabase, emptyTables, type TestDatabase } from '../../server/ground/db/testing.ts'
import { findOwner } from '../../server/message/owner.ts'
import { giveOrphans, listOrphans } from '../../server/inbound/orphans.ts'
import { isOptedOut } from '../../server/message/opted-out.ts'
import { storeReply } from '../../server/inbound/reply.ts'
import { insertTestSender, openLedgerTest, type LedgerTest } from '../../server/messages/testing.ts'
import { now } from '../../server/ground/db/clock.ts'

const ours = '15557654322'
const [suffixed, national] = readFileSync(new URL('inputs/reply-to-longer-number.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as { source: string; dest: string; text: string })
let database: TestDatabase
let test: LedgerTest

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.close())
beforeEach(async () => {
  await emptyTables(database.db, 'accounts, carriers, nodes, messages, events, opt_outs, orphan_replies')
  test = await openLedgerTest(database.db)
})

const context = (): Parameters<typeof storeReply>[0] => ({ ...test.context, wake: () => {} })
const says = (source: string, destination: string, text: string): ReturnType<typeof storeReply> =>
  storeReply(context(), { linkId: test.linkId, source, destination, text, isPartial: false })
const isOut = (number: string): Promise<boolean> => isOptedOut(test.db, test.context.vault, test.accountId, number)
const orphans = (): ReturnType<typeof listOrphans> =>
  listOrphans(test.db, undefined, { carrierId: null, number: null }, 50, null)

describe('another spelling of our number', () => {
  beforeEach(() => insertTestSender(test.db, test.accountId, test.carrierId, ours))

  it('with a suffix that makes it invalid is ours, and its STOP counts', async () => {
    expect(await says(suffixed?.source ?? '', suffixed?.dest ?? '', suffixed?.text ?? '')).toBe('stored')
    expect(await isOut(suffixed?.source ?? '')).toBe(true)
  })

  it('in national form is ours, without a setting of the carrier', async () => {
    expect(await says(national?.source ?? '', national?.dest ?? '', national?.text ?? '')).toBe('stored')
    const { rows } = await test.db.query(`select our_number as number from messages where direction = 'inbound'`)
    expect(rows).toEqual([{ number: ours }])
  })

  it.each([
    ['Mexico, stored with the 1', '5215512345678', '525512345678'],
    ['Mexico, delivered with the 1', '525512345678', '5215512345678'],
    ['Benin, stored without 01', '22997000001', '2290197000001'],
    ['Brazil, stored without the 9', '551187654321', '5511987654321'],
  ])('from before or after its country renumbered is ours: %s', async (_, stored, delivered) => {
    await insertTestSender(test.db, test.accountId, test.carrierId, stored)
    expect(await says('15550001111', delivered, 'STOP')).toBe('stored')
    const { rows } = await test.db.query(`select our_number as number from messages where direction = 'inbound'`)
    expect(rows).toEqual([{ number: stored }])
    expect(await isOut('15550001111')).toBe(true)
  })

  it('with a trunk prefix is ours', async () => {
    await insertTestSender(test.db, test.accountId, test.carrierId, '447700900111')
    const reply = { linkId: test.linkId, source: '447700900222', destination: '07700900111' }
    const owner = await inTransaction(test.db, (tx) => findOwner(tx, reply))
    expect(owner?.number).toBe('447700900111')
  })
})

describe('an unassigned number', () => {
  it('that is a number of its own is not mistaken for ours', async () => {
    await insertTestSender(test.db, test.accountId, test.carrierId, '1555765432')
    expect(await says('15551233202', ours, 'STOP')).toBe('orphan')
  })

  it('is shown, and assigned with its STOP to the account that registers it, without an old opt-in', async () => {
    await says('15551233202', '15557650000', 'STOP')
    await says('15551233203', '15557650000', 'START')
    expect(await orphans()).toMatchObject([{ body: 'START' }, { body: 'STOP', destination: '15557650000' }])
    expect(await giveOrphans(context(), 10, now())).toBe(0)
    await insertTestSender(test.db, test.accountId, test.carrierId, '15557650000')
    expect(await giveOrphans(context(), 10, now())).toBe(2)
    expect(await orphans()).toEqual([])
    expect(await isOut('15551233202')).toBe(true)
    expect(await test.count('messages', `direction = 'inbound'`)).toBe(2)
  })
})
