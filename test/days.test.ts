import { afterAll, expect, it } from 'vitest'
import { dayOf, ensurePartitions, forgetDay } from '../server/ground/db/partitions.ts'
import { createTestDatabase } from '../server/ground/db/testing.ts'
import { newId } from '../server/ground/base/ids.ts'
import { Meter } from '../server/ground/metrics/meter.ts'
import { OpenFiles } from '../server/program/open-files.ts'
import { sweepsOf } from '../server/program/rooms.ts'

const { db, close } = await createTestDatabase()
afterAll(() => close())
const log = { info() {}, warn() {}, error() {} }

it('a process that creates no days learns of those created by others since its start', async () => {
  await ensurePartitions(db, log)
  const id = newId()
  const day = dayOf([id])
  expect(day).not.toBe('')
  // As for a service that has run for longer than days are made ahead.
  forgetDay(day)
  expect(dayOf([id])).toBe('')
  const openFiles = new OpenFiles(log)
  const sweeps = sweepsOf('every', { db, nodeId: newId(), meter: new Meter(() => null), disk: null, openFiles })
  for (const { run } of sweeps) await run(() => false)
  expect(dayOf([id])).toBe(day)
})
