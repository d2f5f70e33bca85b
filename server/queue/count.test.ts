import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createTestDatabase } from '../ground/db/testing.ts'
import { QueueCount } from './count.ts'
import { openLedgerTest } from '../messages/testing.ts'

const database = await createTestDatabase()

it('counts each lane’s segments, with its account’s pace', async () => {
  const test = await openLedgerTest(database.db)
  await test.send({ segments: 3 })
  await test.send({ type: 'otp' })
  const count = new QueueCount(database.db)
  await count.count()
  const laneOf = new Map([...count.lanes.values()].map((lane) => [lane.type, lane]))
  expect(laneOf.size).toBe(2)
  expect(laneOf.get('transactional')).toMatchObject({ accountId: test.accountId, segments: 3, pace: 1000 })
  expect(laneOf.get('otp')).toMatchObject({ segments: 1, pace: 1000 })
  await database.sql`update accounts set pace = 7`
  await count.count()
  expect([...count.lanes.values()].map(({ pace }) => pace)).toEqual([7, 7])
})

it('rests after a count as long as the queue costs, but not for one that was delayed', async () => {
  let [begun, heldMs] = [0, 0]
  const db = new Proxy(database.db, {
    get: (target, name) => {
      if (name !== 'query') return Reflect.get(target, name)
      return async (query: string) => {
        begun++
        await pause(heldMs)
        return target.query(query)
      }
    },
  })
  const count = new QueueCount(db)
  /** Looks after `ms`, with a count that takes `takesMs`. False: it rested. */
  const countAfter = async (ms: number, takesMs: number): Promise<boolean> => {
    const before = begun
    heldMs = takesMs
    await count.look(performance.now() + ms)
    return begun > before
  }
  expect(await countAfter(0, 0)).toBe(true)
  expect(await countAfter(60_000, 0)).toBe(true)
  expect(await countAfter(60_000, 500)).toBe(true)
  // Fifty times half a second would be 25 seconds.
  expect(await countAfter(5000, 500)).toBe(true)
  // Now both of the last counts were slow.
  expect(await countAfter(5000, 0)).toBe(false)
  expect(await countAfter(60_000, 0)).toBe(true)
})
