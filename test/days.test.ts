import { afterAll, expect, it } from 'vitest'
import { dayOf, ensurePartitions, forgetDay } from '../server/ground/db/partitions.ts'
import { createTestDatabase } from '../server/ground/db/testing.ts'
import { newId } from '../server/ground/base/ids.ts'
import { Meter } from '../server/ground/metrics/meter.ts'
import { ownSweeps } from '../server/program/schedule.ts'

const { db, close } = await createTestDatabase()
afterAll(() => close())

it('a process that makes no days learns of those that others have made since it began', async () => {
  await ensurePartitions(db, { info() {}, warn() {}, error() {} })
  const id = newId()
  const day = dayOf([id])
  expect(day).not.toBe('')
  // As for one that has run for longer than days are made ahead.
  forgetDay(day)
  expect(dayOf([id])).toBe('')
  for (const { run } of ownSweeps(db, newId(), new Meter(() => null))) await run(() => false)
  expect(dayOf([id])).toBe(day)
})
