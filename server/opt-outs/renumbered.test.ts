import { describe, expect, it } from 'vitest'
import { testVault } from '../accounts/testing.ts'
import { forEachTest, createTestDatabase } from '../ground/db/testing.ts'
import { inTransaction } from '../ground/db/db.ts'
import { newId } from '../ground/base/ids.ts'
import { spellingsOf } from '../ground/numbers/number.ts'
import { openLedgerTest } from '../messages/testing.ts'
import { hashNumber, listConsents } from '../message/consent.ts'
import { optIn, optOut, type Origin } from './opt-out.ts'
import { isOptedOut } from '../message/opted-out.ts'
import { findOptOut } from './store.ts'

const { db } = await createTestDatabase()
const test = forEachTest(db, openLedgerTest)

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
const byApi: Origin = { source: 'api', actor: 'key_1' }

describe('an opt-out whose number was forgotten in an old form', () => {
  const forgotten = (number: string) =>
    test.sql`insert into opt_outs (account_id, id, number, number_hmac, source)
      values (${test.accountId}, ${newId()}, null, ${hashNumber(testVault, test.accountId, number)}, 'reply')`

  it('refuses sends to the current number, is shown under it, and is removed under it', async () => {
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
    await test.sql`insert into consents (account_id, id, number_hmac, status, source, evidence)
      values (${test.accountId}, ${newId()}, ${hashNumber(testVault, test.accountId, oldOf(number))}, 'opted_out', 'reply', '{}')`
    expect(await listConsents(test.db, testVault, test.accountId, number, 10, null)).toHaveLength(1)
  })
})

const oldOf = (number: string): string => spellingsOf(number)[1] ?? ''

const send = async (theirNumber: string): Promise<string> => {
  const accepted = await test.acceptor.accept(test.draft({ theirNumber }))
  return accepted.kind === 'refused' ? accepted.refusal : accepted.kind
}
