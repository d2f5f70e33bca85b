import { beforeEach, expect, it } from 'vitest'
import { createTestDatabase } from '../ground/db/testing.ts'
import { queueDue } from '../queue/due.ts'
import { releaseHeld } from '../quiet-hours/hold.ts'
import { openCarrierTest, untilBound, type CarrierTest } from './testing.ts'

let test: CarrierTest

const { db } = await createTestDatabase()
beforeEach(async () => {
  test = await openCarrierTest(db)
  await untilBound(test)
})

it('a link gets nothing in quiet hours, neither directly nor from the queue, and everything when they are turned off', async () => {
  // Ghana keeps UTC.
  const message = { type: 'marketing', theirNumber: '233241230001' } as const
  await test.reaches((await test.submit(message)).id, 'delivered')
  await test.sql`update lanes set is_paused = true where type = 'marketing'`
  // A process without links queues the messages that it accepts.
  const queued = [await test.send(message), await test.send(message)]
  await setQuiet(true)
  const direct = await test.submit(message)
  expect(direct.holdReason).toBe('quiet_hours')
  await test.sql`update lanes set is_paused = false`
  await expect.poll(() => test.count('queue', 'true')).toBe(0)
  const code = await test.submit({ ...message, type: 'otp' })
  await test.reaches(code.id, 'delivered')
  for (const { id } of [...queued, direct])
    expect(await test.message(id)).toMatchObject({ status: 'queued', holdReason: 'quiet_hours', attempts: 0 })
  expect(await test.count('submissions', 'message_id = any ($1)', [[...queued, direct].map(({ id }) => id)])).toBe(0)

  await setQuiet(false)
  expect(await releaseHeld(test.db)).toBe(3)
  expect(await queueDue(test.db)).toBe(3)
  test.submitter.wake()
  for (const { id } of [...queued, direct]) expect(await test.reaches(id, 'delivered')).toMatchObject({ attempts: 1 })
  expect(test.errors).toEqual([])
})

async function setQuiet(enabled: boolean): Promise<void> {
  const inHours = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16)
  await test.sql`update accounts
    set quiet_hours = ${JSON.stringify({ enabled, start: inHours(-1), end: inHours(5) })}, quiet_hours_changed_at = now()
    where id = ${test.accountId}`
  await test.context.quietHours.refresh()
}
