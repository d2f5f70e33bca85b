import { expect, it } from 'vitest'
import { newId } from '../base/ids.ts'
import { dayOf, ensurePartitions, firstDay, learnDays } from './partitions.ts'
import { createTestDatabase } from './testing.ts'

const { db } = await createTestDatabase()

const said: string[] = []
const note = (_: object, line: string): void => void said.push(line)
const log = { info: note, warn: note, error: note }

it('leaves days whose table is in use to the next call, and blocks nobody', async () => {
  // A dump of the database holds such a lock of every table until its end.
  const dump = await db.connect()
  await dump.query('begin')
  await dump.query('lock table events in access share mode')
  await ensurePartitions(db, log)
  expect(said).toEqual(['partition not created'])
  expect(dayOf([newId()])).toBe('')
  const { rowCount } = await db.query(`select from pg_locks where relation = 'events'::regclass and not granted`)
  expect(rowCount).toBe(0)
  await dump.query('commit')
  dump.release()
  await ensurePartitions(db, log)
  expect(said).toEqual(['partition not created'])
  expect(dayOf([newId()])).not.toBe('')
})

it('processes that start at once create them together, without a failure', async () => {
  const fresh = await createTestDatabase()
  const complaints: object[] = []
  const complain = (fields: object): void => void complaints.push(fields)
  const starts = Array.from({ length: 4 }, () =>
    ensurePartitions(fresh.db, { info: () => {}, warn: complain, error: complain }),
  )
  await Promise.all(starts)
  await fresh.close()
  expect(complaints).toEqual([])
})

it('the first day is that of messages, even if its events are no longer kept', async () => {
  const dayMs = 86_400_000
  const today = Math.floor(Date.now() / dayMs) * dayMs
  await ensurePartitions(db, log, today - 40 * dayMs)
  for (let day = 41; day >= 33; day--) {
    const suffix = new Date(today - day * dayMs).toISOString().slice(0, 10).replaceAll('-', '')
    await db.query(`drop table if exists events_${suffix}, attempts_${suffix}`)
  }
  await learnDays(db)
  expect(firstDay()).toBe(today - 41 * dayMs)
})
