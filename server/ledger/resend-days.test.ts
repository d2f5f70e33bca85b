/** Unknown outcomes of today while an old day is locked: any access to it would block. */
import { expect, it } from 'vitest'
import { inTransaction } from '../ground/db/db.ts'
import { ensurePartitions } from '../ground/db/partitions.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import { newId } from '../ground/base/ids.ts'
import { resendMessage } from './resend.ts'
import { moveTo, openLedgerTest, silent } from '../messages/testing.ts'

const oldMs = Date.now() - 200 * 86_400_000
const actor = { kind: 'key', id: newId(), requestId: 'req_1' } as const

const { db, sql } = await createTestDatabase()
for (const at of [oldMs, Date.now()]) await ensurePartitions(db, silent, at)
const test = await openLedgerTest(db)

it('a message with an unknown outcome is recorded and sent again without reading other days', async () => {
  const handover = await test.lease({ onUnknown: 'resend' })
  const keeper = await db.connect()
  const suffix = new Date(oldMs).toISOString().slice(0, 10).replaceAll('-', '')
  await keeper.query('begin')
  await keeper.query(`lock table messages_${suffix}, submissions_${suffix} in access exclusive mode`)
  const sendAgain = async (): Promise<unknown> => {
    const move = moveTo('unconfirmed', { errorCode: 'outcome_unknown' })
    await test.answer(handover, { state: 'unknown', carrierMessageId: null, commandStatus: null, move })
    return inTransaction(db, (tx) => resendMessage(tx, test.accountId, handover.id, actor))
  }
  const release = async (): Promise<void> => {
    await keeper.query('rollback')
    keeper.release()
  }
  expect(await waitedIn(sendAgain(), release)).toEqual([])
  expect(await test.message(handover.id)).toMatchObject({ status: 'queued', possibleDuplicate: true })
  expect(await test.count('nameless_tries', 'message_id = $1', [handover.id])).toBe(1)
})

/** The statements that waited for a lock during some work; they no longer wait. */
async function waitedIn(work: Promise<unknown>, release: () => Promise<unknown>): Promise<string[]> {
  const over = new AbortController()
  const done = work.finally(() => over.abort())
  const waited: string[] = []
  while (!over.signal.aborted && waited.length === 0) {
    const rows = await sql<{ query: string }>`select query from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`
    waited.push(...rows.map(({ query }) => query))
  }
  await release()
  await done
  return waited
}
