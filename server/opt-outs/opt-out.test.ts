import { describe, expect, it } from 'vitest'
import { testVault } from '../accounts/testing.ts'
import { createTestDatabase, forEachTest } from '../ground/db/testing.ts'
import { inTransaction } from '../ground/db/db.ts'
import { codeOf } from '../ground/db/failure.ts'
import { newId } from '../ground/base/ids.ts'
import { forgetNumber, forgetNumbers, optIn, optOut, type Origin } from './opt-out.ts'
import { findOptOuts, isOptedOut } from '../message/opted-out.ts'
import { resendMessage } from '../ledger/resend.ts'
import { moveTo, openLedgerTest } from '../messages/testing.ts'

const { db } = await createTestDatabase()
const test = forEachTest(db, openLedgerTest)

const person = '15551230001'
const byApi: Origin = { source: 'api', actor: 'key_1' }

describe('an opt-out', () => {
  it('refuses sends, cancels queued messages, and is reported', async () => {
    await test.subscribe('contact.opted_out', 'message.canceled')
    const waiting = await test.send()
    expect([...(await add(person, '15551230002')).added].sort()).toEqual([person, '15551230002'])
    expect(await send()).toBe('recipient_opted_out')
    expect(await test.message(waiting.id)).toMatchObject({ status: 'canceled', errorCode: 'recipient_opted_out' })
    expect(await test.count('events', `type = 'contact.opted_out'`)).toBe(2)
  })

  it('is stored once, however often it is added, and once in the ledger', async () => {
    await add(person)
    expect((await add(person)).added.size).toBe(0)
    expect([await test.count('opt_outs', 'true'), await test.count('consents', 'true')]).toEqual([1, 1])
  })

  it('in two lists at once, in any order, is stored once', async () => {
    const numbers = Array.from({ length: 200 }, (_, at) => `1555123${1000 + at}`)
    const results = await Promise.all([add(...numbers), add(...numbers.toReversed()), add(...numbers)])
    expect(results.reduce((sum, { added }) => sum + added.size, 0)).toBe(200)
    expect(await test.count('opt_outs', 'true')).toBe(200)
  })

  it('belongs to its account', async () => {
    const other = await openLedgerTest(test.db)
    const waiting = await other.send()
    await add(person)
    expect((await other.message(waiting.id)).status).toBe('queued')
    expect((await other.acceptor.accept(other.draft())).kind).toBe('accepted')
    expect(await isOptedOut(test.db, testVault, other.accountId, person)).toBe(false)
    // Another account cannot take it back or forget it either.
    await inTransaction(test.db, async (tx) => {
      expect(await optIn(tx, other.context, other.accountId, byApi, { number: person })).toMatchObject({
        isChange: false,
      })
      expect(await forgetNumber(tx, testVault, other.accountId, person)).toBe(false)
    })
    expect(await test.count('opt_outs', 'number is not null and number_hmac is null')).toBe(1)
    expect(await isOptedOut(test.db, testVault, test.accountId, person)).toBe(true)
  })
})

describe('a forgotten number', () => {
  it('is nowhere in the table and still refused', async () => {
    await add(person)
    await age()
    expect(await forget(person)).toBe(true)
    expect(await forgetNumbers(test.db)).toBe(1)
    const rows = await test.sql<{ text: string }>`select o::text as text from opt_outs o union all select c::text
      from consents c`
    expect(rows).toHaveLength(2)
    for (const { text } of rows) expect(text).not.toContain(person.slice(1))
    expect(await send()).toBe('recipient_opted_out')
    expect(await isOptedOut(test.db, testVault, test.accountId, person)).toBe(true)
  })

  it('does not delay others of a flush, of its account or another', async () => {
    const other = await openLedgerTest(test.db)
    await add(person)
    await age()
    await forget(person)
    await forgetNumbers(test.db)
    const key = { operation: 'messages.send', key: 'k', fingerprint: Buffer.alloc(32) }
    const results = await test.acceptor.acceptAll([
      test.draft({ theirNumber: '15551230009' }),
      test.draft(),
      other.draft(),
      test.draft({ theirNumber: '15551230008', idempotency: key }),
    ])
    expect(results.map((one) => (one.kind === 'refused' ? one.refusal : one.kind))).toEqual([
      'accepted',
      'recipient_opted_out',
      'accepted',
      'accepted',
    ])
    expect(await test.count('messages', 'true')).toBe(3)
    expect((await test.acceptor.accept(test.draft({ theirNumber: '15551230008', idempotency: key }))).kind).toBe(
      'known_key',
    )
    const atomic = await test.acceptor.acceptAtomically([test.draft({ theirNumber: '15551230007' }), test.draft()])
    expect([atomic.isWritten, await test.count('messages', 'true')]).toEqual([false, 3])
  })

  it('stays known while a message to it may still be claimed, so that the claim refuses it', async () => {
    const sending = await test.lease()
    const queued = await test.send()
    // As for an accept that was running when the person opted out.
    await test.sql`insert into opt_outs (account_id, number, source) values (${test.accountId}, ${person}, 'reply')`
    await age()
    await forget(person)
    expect(await forgetNumbers(test.db)).toBe(0)
    await test.claim()
    expect((await test.message(queued.id)).status).toBe('canceled')
    // A link has the other, and may give it back.
    expect(await forgetNumbers(test.db)).toBe(0)
    await test.answer(sending)
    expect(await forgetNumbers(test.db)).toBe(1)
  })

  it('stays known while a message to it may be sent again, so that it is not', async () => {
    const handover = await test.lease()
    await test.answer(handover, {
      state: 'unknown',
      carrierMessageId: null,
      move: moveTo('unconfirmed', { errorCode: 'outcome_unknown' }),
    })
    await add(person)
    await age()
    await forget(person)
    expect(await forgetNumbers(test.db)).toBe(0)
    const actor = { kind: 'key', id: newId(), requestId: 'req_1' } as const
    await inTransaction(test.db, (tx) => resendMessage(tx, test.accountId, handover.id, actor))
    expect(await test.claim()).toEqual([])
    expect(await test.message(handover.id)).toMatchObject({ status: 'unconfirmed', attempts: 1 })
    await test.sql`update messages set expires_at = now() where id = ${handover.id}`
    expect(await forgetNumbers(test.db)).toBe(1)
  })

  it('stays known for a while after the opt-out: an accept may have begun earlier', async () => {
    await add(person)
    await forget(person)
    expect(await forgetNumbers(test.db)).toBe(0)
    expect(await send()).toBe('recipient_opted_out')
  })

  it('is out once, when the person says STOP again, and in again with START', async () => {
    await add(person)
    await age()
    await forget(person)
    await forgetNumbers(test.db)
    await test.reply('STOP')
    expect([await test.count('opt_outs', 'true'), await test.count('messages', 'is_confirmation')]).toEqual([1, 0])
    await test.reply('START')
    expect([await test.count('opt_outs', 'true'), await send()]).toEqual([0, 'accepted'])
  })
})

it('an opt-in is recorded in the ledger', async () => {
  await add(person)
  const letIn = (): Promise<{ isChange: boolean }> =>
    inTransaction(test.db, (tx) =>
      optIn(tx, test.context, test.accountId, byApi, { number: person, reason: 'asked by phone' }),
    )
  expect([(await letIn()).isChange, (await letIn()).isChange, await send()]).toEqual([true, false, 'accepted'])
  expect(await test.count('consents', `status = 'opted_in' and evidence ->> 'reason' = 'asked by phone'`)).toBe(1)
})

it('many numbers are found at once, including forgotten ones', async () => {
  await add(person, '15551230002')
  await age()
  await forget(person)
  await forgetNumbers(test.db)
  const known = await findOptOuts(test.db, testVault, test.accountId, [person, '15551230002', '15551230003'])
  expect([...known.keys()].sort()).toEqual([person, '15551230002'])
})

it('ledger entries cannot be changed or deleted, even by the table’s owner', async () => {
  await add(person)
  const client = await test.db.connect()
  const attempt = async (statement: string): Promise<string> => {
    await client.query('savepoint before')
    const code = await client.query(statement).then(
      () => 'done',
      (error: unknown) => codeOf(error) ?? 'failed',
    )
    await client.query('rollback to before')
    return code
  }
  try {
    // The tests' own role is a superuser, whom PostgreSQL refuses nothing.
    await client.query('begin')
    await client.query('create role ledger_owner')
    await client.query('grant usage, create on schema public to ledger_owner')
    await client.query('alter table consents owner to ledger_owner')
    await client.query('set local role ledger_owner')
    expect(await attempt('select count(*) from consents')).toBe('done')
    for (const statement of [`update consents set status = 'unknown'`, 'delete from consents', 'truncate consents'])
      expect(await attempt(statement)).toBe('42501')
  } finally {
    await client.query('rollback')
    client.release()
  }
})

const add = (...numbers: string[]): Promise<{ added: Set<string> }> =>
  inTransaction(test.db, (tx) =>
    optOut(
      tx,
      test.context,
      test.accountId,
      byApi,
      numbers.map((number) => ({ number })),
    ),
  )
const forget = (number: string): Promise<boolean> =>
  inTransaction(test.db, (tx) => forgetNumber(tx, testVault, test.accountId, number))
/** As if the opt-outs were older. */
const age = (): Promise<unknown> => test.sql`update opt_outs set created_at = created_at - interval '10 minutes'`
const send = async (): Promise<string> => {
  const accepted = await test.acceptor.accept(test.draft())
  return accepted.kind === 'refused' ? accepted.refusal : accepted.kind
}
