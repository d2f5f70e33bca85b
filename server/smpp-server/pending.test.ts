import { afterAll, beforeEach, expect, it } from 'vitest'
import { openPool } from '../ground/db/db.ts'
import { createTestDatabase, emptyTables } from '../ground/db/testing.ts'
import { newId } from '../ground/base/ids.ts'
import { openLedgerTest, ourNumber } from '../messages/testing.ts'
import { forgetPending, PendingReceipts, settleCanceled, settlePending } from './pending.ts'
import { createTestCredential } from './testing.ts'

const { db } = await createTestDatabase()
const test = await openLedgerTest(db)
const credential = await createTestCredential(test.db, test.accountId)
const pending = new PendingReceipts(test.db)
afterAll(() => pending.close())
beforeEach(() => emptyTables(test.db, 'messages, outcomes, smpp_submits, smpp_deliveries'))

it.each<[string, string | null, string | null, string, number[]]>([
  ['delivered', null, 'delivered', '000', [2, 4, 5, 6]],
  ['expired', 'expired_in_queue', 'expired', '110', [2, 3, 5]],
  ['canceled', null, 'deleted', '000', [2, 3, 5]],
  ['rejected', 'recipient_blocked', 'rejected', '013', [2, 3, 5]],
  ['undelivered', 'expired_at_carrier', 'expired', '111', [2, 3, 5]],
  ['undelivered', 'unknown_subscriber', 'undeliverable', '001', [2, 3, 5]],
  ['failed', 'provider_error', 'undeliverable', '036', [2, 3, 5]],
  ['unconfirmed', 'outcome_unknown', null, '', []],
  ['sent', null, null, '', []],
])(
  'receipts of a message that is %s (%s) say %s err:%s to the parts that requested them',
  async (status, error, state, err, parts) => {
    const { messageId, clientId } = await note([0, 1, 2, 3, 0x11, 0x13])
    await finish(messageId, status, error)
    await settlePending(test.db, [{ accountId: test.accountId, messageId }])
    expect(await made()).toEqual(
      parts.map((part) => ({
        subject_id: clientId,
        parts: 6,
        part,
        state,
        err,
        source: '15551230001',
        destination: ourNumber,
        done_at: new Date('2026-11-20T12:00:00Z'),
      })),
    )
    // The process that deletes the note creates the receipts.
    expect(await test.count('smpp_submits', 'true')).toBe(state === null ? 1 : 0)
  },
)

it.each([
  ['7', '007'],
  ['21b', '21b'],
  ['1234', '102'],
  ['-1', '102'],
  ['', '102'],
  ['000', '102'],
  ['0', '102'],
])('a carrier’s error %j is reported as %s', async (given, told) => {
  const { messageId } = await note([1])
  await finish(messageId, 'undelivered', 'content_filtered', given)
  await settlePending(test.db, [{ accountId: test.accountId, messageId }])
  expect(await made()).toMatchObject([{ err: told }])
})

it('nothing is recorded if no part requests it, and nothing is sent to others or twice', async () => {
  expect((await note([0, 0x10])).isNoted).toBe(false)
  const { messageId, isNoted } = await note([0, 1])
  expect(isNoted).toBe(true)
  expect(await test.count('smpp_submits', 'true')).toBe(1)
  await finish(messageId, 'delivered')
  await settlePending(test.db, [{ accountId: newId(), messageId }])
  expect(await made()).toEqual([])
  for (let n = 0; n < 2; n++) await settlePending(test.db, [{ accountId: test.accountId, messageId }])
  expect(await made()).toHaveLength(1)
})

it('the receipt of a message without a sender goes to no number', async () => {
  const { messageId } = await note([1])
  await finish(messageId, 'failed', 'invalid_sender')
  await test.sql`update messages set our_number = null`
  await settlePending(test.db, [{ accountId: test.accountId, messageId }])
  expect(await made()).toMatchObject([{ destination: '' }])
})

it('a record is retried until the process stops, unless it can never be written', async () => {
  const { accountId } = test
  const { id: messageId } = await test.send()
  const one = { accountId, messageId, credentialId: credential.id, clientId: newId(), registeredDelivery: [1] }
  // Not a smallint.
  await expect(pending.note({ ...one, registeredDelivery: [0x10001] })).rejects.toThrow('smallint')
  const gone = openPool({ host: '127.0.0.1', port: 1 }, { name: 'gone', max: 1 })
  const away = new PendingReceipts(gone)
  const noting = expect(away.note(one)).rejects.toThrow('ECONNREFUSED')
  await away.close()
  await noting
  await gone.end()
})

it('canceled messages are settled in pieces, and nothing else', async () => {
  for (const status of ['canceled', 'canceled', 'canceled', 'expired']) {
    const { messageId } = await note([1])
    await finish(messageId, status)
    await test.sql`insert into outcomes (account_id, status, message_id)
      values (${test.accountId}, ${status}, ${messageId})`
  }
  const left: number[] = []
  for (let to = await settleCanceled(test.db, null, 2); to; to = await settleCanceled(test.db, to, 2))
    left.push(await test.count('smpp_submits', 'true'))
  expect(left).toEqual([2, 1])
})

it('canceled messages are found behind many unfinished ones, a limited number at a time', async () => {
  const unknown = [await note([1]), await note([1]), await note([1])]
  const { messageId } = await note([1])
  await finish(messageId, 'canceled')
  await test.sql`insert into outcomes (account_id, status, message_id)
    values (${test.accountId}, 'canceled', ${messageId})`
  const { accountId } = test
  const first = await settleCanceled(test.db, null, 2)
  expect(first).toEqual({ accountId, messageId: unknown[1]?.messageId })
  expect(await test.count('smpp_submits', 'true')).toBe(4)
  expect(await settleCanceled(test.db, first, 2)).toEqual({ accountId, messageId })
  expect(await test.count('smpp_submits', 'true')).toBe(3)
  expect(await settleCanceled(test.db, { accountId, messageId }, 2)).toBeNull()
})

it('a record is deleted after 400 days', async () => {
  await note([1])
  for (const [days, left] of [
    [399, 1],
    [401, 0],
  ]) {
    await test.sql`update smpp_submits set submitted_at = now() - make_interval(days => ${days})`
    await forgetPending(test.db)
    expect(await test.count('smpp_submits', 'true')).toBe(left)
  }
})

/** A message whose parts requested receipts by these flags. */
async function note(registeredDelivery: number[]): Promise<{ messageId: string; clientId: string; isNoted: boolean }> {
  const { id: messageId } = await test.send()
  const clientId = newId()
  const { accountId } = test
  const isNoted = await pending.note({
    accountId,
    messageId,
    credentialId: credential.id,
    clientId,
    registeredDelivery,
  })
  return { messageId, clientId, isNoted }
}

const finish = (messageId: string, status: string, errorCode: string | null = null, err: string | null = null) =>
  test.sql`update messages
    set status = ${status}, error_code = ${errorCode}, receipt_err = ${err}, completed_at = '2026-11-20T12:00:00Z'
    where id = ${messageId}`

async function made(): Promise<Record<string, unknown>[]> {
  const rows = await test.sql`select subject_id, parts, part, state, err, source, destination, done_at
    from smpp_deliveries order by part`
  return rows
}
