import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { testVault } from '../accounts/testing.ts'
import { emptyTables, createTestDatabase, type TestDatabase } from '../ground/db/testing.ts'
import { inTransaction } from '../ground/db/db.ts'
import { newId } from '../ground/base/ids.ts'
import { conversationIdOf } from '../message/conversation-id.ts'
import { spellingsOf } from '../ground/numbers/number.ts'
import { openLedgerTest, ourNumber, type LedgerTest } from '../messages/testing.ts'
import { hashNumber, listConsents } from '../message/consent.ts'
import { optIn, optOut, type Origin } from './opt-out.ts'
import { isOptedOut } from '../message/opted-out.ts'
import { findOptOut } from './store.ts'

let database: TestDatabase
let test: LedgerTest

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.close())
beforeEach(async () => {
  await emptyTables(
    database.db,
    'accounts, carriers, nodes, messages, outcomes, queue, delayed, events, outbox, opt_outs, consents, contacts, campaigns, conversations',
  )
  test = await openLedgerTest(database.db)
})

const current = [
  '525512345678',
  '5491123456789',
  '5511987654321',
  '84331234567',
  '2250707123456',
  '2290197000001',
  '23057123456',
  '237677123456',
  '24177123456',
  '593991234567',
]
const oldOf = (number: string): string => spellingsOf(number)[1] ?? ''
const byApi: Origin = { source: 'api', actor: 'key_1' }
const send = async (theirNumber: string): Promise<string> => {
  const accepted = await test.acceptor.accept(test.draft({ theirNumber }))
  return accepted.kind === 'refused' ? accepted.refusal : accepted.kind
}

describe('an opt-out whose number was forgotten in an old form', () => {
  const forgotten = (number: string) =>
    test.db.query(
      `insert into opt_outs (account_id, id, number, number_hmac, source) values ($1, $2, null, $3, 'reply')`,
      [test.accountId, newId(), hashNumber(testVault, test.accountId, number)],
    )

  it('refuses sends to the current number, is shown under it, and is taken back under it', async () => {
    for (const number of current) {
      await forgotten(oldOf(number))
      expect(await send(number), number).toBe('recipient_opted_out')
      expect(await isOptedOut(test.db, testVault, test.accountId, number), number).toBe(true)
      expect(await findOptOut(test.db, testVault, test.accountId, number), number).toMatchObject({ number: null })
      const again = await inTransaction(test.db, (tx) => optOut(tx, test.context, test.accountId, byApi, [{ number }]))
      expect(again.added.size, number).toBe(0)
      const { isChange } = await inTransaction(test.db, (tx) =>
        optIn(tx, test.context, test.accountId, byApi, { number }),
      )
      expect(isChange, number).toBe(true)
      expect(await send(number), number).toBe('accepted')
    }
    expect(await send('525599999999')).toBe('accepted')
  })

  it('has its entries in the ledger of consent', async () => {
    const [number = ''] = current
    await test.db.query(
      `insert into consents (account_id, id, number_hmac, status, source, evidence) values ($1, $2, $3, 'opted_out', 'reply', '{}')`,
      [test.accountId, newId(), hashNumber(testVault, test.accountId, oldOf(number))],
    )
    expect(await listConsents(test.db, testVault, test.accountId, number, 10, null)).toHaveLength(1)
  })
})

describe('rows from before a country renumbered', () => {
  const migrate = () =>
    test.db.query(readFileSync(join(import.meta.dirname, '../ground/db/migrations/0054_renumbered.sql'), 'utf8'))

  it('get the current number, of every country that the readers know', async () => {
    const others = ['15551230001', '447911123456', '5217777', '33639980011']
    for (const number of [...current.map(oldOf), ...others])
      await test.db.query(`insert into opt_outs (account_id, id, number, source) values ($1, $2, $3, 'reply')`, [
        test.accountId,
        newId(),
        number,
      ])
    await migrate()
    const { rows } = await test.db.query<{ number: string }>(`select number from opt_outs where account_id = $1`, [
      test.accountId,
    ])
    expect(rows.map(({ number }) => number).toSorted()).toEqual([...current, ...others].toSorted())
  })

  it('become one where a phone has both, and its messages are one conversation', async () => {
    const [number = ''] = current
    const old = oldOf(number)
    const campaignId = newId()
    await test.db.query(
      `insert into campaigns (account_id, id, name, status, type, contacts_count) values ($1, $2, 'C', 'active', 'marketing', 2)`,
      [test.accountId, campaignId],
    )
    const message = await test.send({ theirNumber: number })
    await test.db.query(`update messages set their_number = $2 where id = $1`, [message.id, old])
    for (const form of [number, old]) {
      await test.db.query(`insert into opt_outs (account_id, id, number, source) values ($1, $2, $3, 'reply')`, [
        test.accountId,
        newId(),
        form,
      ])
      await test.db.query(`insert into contacts (account_id, campaign_id, id, phone_number) values ($1, $2, $3, $4)`, [
        test.accountId,
        campaignId,
        newId(),
        form,
      ])
      await test.db.query(
        `insert into conversations (account_id, id, our_number, their_number, last_reply_id, unread) values ($1, $2, $3, $4, $5, 1)`,
        [test.accountId, conversationIdOf(test.accountId, ourNumber, form), ourNumber, form, newId()],
      )
    }
    await migrate()
    expect(await test.count('opt_outs', 'number = $1', [number])).toBe(1)
    expect(await test.count('contacts', 'phone_number = $1', [number])).toBe(1)
    expect(await test.count('campaigns', 'contacts_count = 1')).toBe(1)
    expect(await test.count('messages', 'their_number = $1', [number])).toBe(1)
    const { rows } = await test.db.query(`select id, their_number, unread from conversations`)
    expect(rows).toEqual([{ id: conversationIdOf(test.accountId, ourNumber, number), their_number: number, unread: 2 }])
  })
})
