import { beforeEach, expect, it } from 'vitest'
import { firstIdAt, newId } from '../base/ids.ts'
import { codeOf } from './failure.ts'
import { dropPartitions } from './partition-drop.ts'
import { dayOf, ensurePartitions } from './partitions.ts'
import { createTestDatabase } from './testing.ts'

const dayMs = 86_400_000
const now = Date.now()
const said: string[] = []
const note = (_: object, line: string): void => void said.push(line)
const log = { info: note, warn: note, error: note }

const { db, sql } = await createTestDatabase()
beforeEach(async () => {
  await ensurePartitions(db, log, now - 40 * dayMs)
  await ensurePartitions(db, log, now)
  said.length = 0
})

it('drops days that end before a time, and no others', async () => {
  const before = await days('outcomes')
  const insert = (ms: number): Promise<unknown> =>
    sql`insert into outcomes (account_id, status, message_id) values (${newId()}, 'failed', ${firstIdAt(ms)})`
  for (const ago of [40, 36, 34, 0]) await insert(now - ago * dayMs)
  // The day of the time itself has not ended.
  const dropped = await dropPartitions(db, log, 'outcomes', now - 36 * dayMs)
  expect(dropped).toBe(5)
  expect(await days('outcomes')).toBe(before - 5)
  const [row] = await sql<{ count: number }>`select count(*) from outcomes`
  expect(row?.count).toBe(3)
  expect(said).toEqual(Array.from({ length: 5 }, () => 'partition dropped'))
  expect(await days('events')).toBe(before)
  expect(await dropPartitions(db, log, 'outcomes', now - 36 * dayMs)).toBe(0)
})

it('keeps a day and later ones while a caller requires it', async () => {
  const isKept = async (endsAt: number): Promise<boolean> => endsAt > now - 38 * dayMs
  await dropPartitions(db, log, 'submissions', now - 36 * dayMs, { isKept })
  const left = await days('submissions')
  expect(await dropPartitions(db, log, 'submissions', now - 36 * dayMs)).toBe(2)
  expect(await days('submissions')).toBe(left - 2)
})

it('deletes old rows of no day, if days were not created in time', async () => {
  // Neither is of a day that there is.
  const [old, young] = [firstIdAt(now - 60 * dayMs), firstIdAt(now - 20 * dayMs)]
  for (const id of [old, young])
    await sql`insert into attempts (account_id, id, endpoint_id, event_id, try, outcome, duration_ms)
      values (${id}, ${id}, ${id}, ${id}, 1, 'ok', 1)`
  const left = async (): Promise<unknown[]> => {
    const rows = await sql<{ id: string }>`select id from attempts_default order by id`
    return rows.map(({ id }) => id)
  }
  await dropPartitions(db, log, 'attempts', now - 36 * dayMs, { isKept: () => Promise.resolve(true) })
  expect(await left()).toEqual([old, young])
  await dropPartitions(db, log, 'attempts', now - 36 * dayMs)
  expect(await left()).toEqual([young])
})

it('no longer names the partition of a day being dropped', async () => {
  const id = firstIdAt(now - 39 * dayMs)
  expect(dayOf([id])).not.toBe('')
  await dropPartitions(db, log, 'attempts', now - 38 * dayMs)
  expect(dayOf([id])).toBe('')
})

it('gives up on a partition that is in use, and blocks nobody', async () => {
  // A report that reads all days.
  const reader = await db.connect()
  await reader.query('begin')
  await reader.query('select count(*) from messages')
  const dropping = new AbortController()
  let writes = 0
  const refused: unknown[] = []
  const write = async (): Promise<void> => {
    const tx = await db.connect()
    // A drop that waited for the reader without a limit would keep it waiting for as long; one that gives up, for milliseconds.
    await tx.query(`set lock_timeout = '2s'`)
    while (!dropping.signal.aborted) {
      await tx
        .query(
          `insert into messages (account_id, id, status, their_number, encoding, characters, segments)
                values ($1, $2, 'queued', '1', 'GSM-7', 1, 1)`,
          [newId(), newId()],
        )
        .then(
          () => writes++,
          (error: unknown) => refused.push(codeOf(error)),
        )
    }
    await tx.query('reset lock_timeout')
    tx.release()
  }
  const writers = [write(), write(), write()]
  expect(await dropPartitions(db, log, 'messages', now - 39 * dayMs, { triesMax: 6 })).toBe(0)
  expect(said).toEqual(['partition not dropped'])
  await reader.query('commit')
  reader.release()
  expect(await dropPartitions(db, log, 'messages', now - 39 * dayMs)).toBe(2)
  dropping.abort()
  await Promise.all(writers)
  expect(refused).toEqual([])
  expect(writes).toBeGreaterThan(20)
})

const days = async (table: string): Promise<number> => {
  const [row] = await sql<{ count: number }>`select count(*) from pg_inherits where inhparent = ${table}::regclass`
  return row?.count ?? 0
}
