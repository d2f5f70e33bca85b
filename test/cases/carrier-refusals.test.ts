/** A carrier that knows of a STOP: its refusal is an opt-out, with the message as proof, and can be revoked. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { inTransaction } from '../../server/ground/db/db.ts'
import { createTestDatabase, emptyTables, type TestDatabase } from '../../server/ground/db/testing.ts'
import { optIn } from '../../server/opt-outs/opt-out.ts'
import { newId } from '../../server/ground/base/ids.ts'
import { isOptedOut } from '../../server/message/opted-out.ts'
import { openLedgerTest, type LedgerTest } from '../../server/messages/testing.ts'
import { twilio } from '../../server/http-carriers/twilio.ts'

const refusal = readFileSync(new URL('inputs/carrier-refusal.json', import.meta.url), 'utf8')
const person = '15551230009'
let database: TestDatabase
let test: LedgerTest

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.close())
beforeEach(async () => {
  await emptyTables(database.db, 'accounts, carriers, nodes, messages, outcomes, queue, events, opt_outs')
  test = await openLedgerTest(database.db)
})

const isOut = (): Promise<boolean> => isOptedOut(test.db, test.context.vault, test.accountId, person)

it('the reported response says that the recipient has opted out', () => {
  const answer = twilio.readAnswer({ status: 400, headers: {}, body: refusal }, {} as never, {} as never)
  expect(answer).toMatchObject({ kind: 'refused', code: '21610', reason: { code: 'recipient_opted_out' } })
})

describe('a refusal because of an opt-out', () => {
  it('opts the person out, with the message as proof, and can be undone', async () => {
    const handover = await test.lease({ theirNumber: person })
    await test.answer(handover, {
      state: 'refused',
      move: { to: 'rejected', retryAfterMs: null, errorCode: 'recipient_opted_out', errorRaw: '21610' },
    })
    expect(await isOut()).toBe(true)
    const { rows } = await test.db.query(
      `select source, message_id as "messageId", reason from opt_outs where account_id = $1`,
      [test.accountId],
    )
    expect(rows).toEqual([{ source: 'carrier', messageId: handover.id, reason: expect.stringContaining('21610') }])
    await inTransaction(test.db, (tx) =>
      optIn(tx, test.context, test.accountId, { source: 'api', actor: null }, { number: person }),
    )
    expect(await isOut()).toBe(false)
  })

  it('is counted for the message’s campaign and broadcast', async () => {
    const [campaignId, broadcastId] = [newId(), newId()]
    const handover = await test.lease({ theirNumber: person })
    await test.db.query(`update messages set campaign_id = $2, broadcast_id = $3 where id = $1`, [
      handover.id,
      campaignId,
      broadcastId,
    ])
    await test.answer(handover, {
      state: 'refused',
      move: { to: 'rejected', retryAfterMs: null, errorCode: 'recipient_opted_out', errorRaw: '21610' },
    })
    const { rows } = await test.db.query(
      `select campaign_id as "campaignId", broadcast_id as "broadcastId" from opt_outs where account_id = $1`,
      [test.accountId],
    )
    expect(rows).toEqual([{ campaignId, broadcastId }])
  })

  it('for another reason opts nobody out', async () => {
    const handover = await test.lease({ theirNumber: person })
    await test.answer(handover, {
      state: 'refused',
      move: { to: 'rejected', retryAfterMs: null, errorCode: 'recipient_blocked', errorRaw: '30004' },
    })
    expect(await isOut()).toBe(false)
  })
})
