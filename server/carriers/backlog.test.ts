import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../db/testing.ts'
import { findLanes } from '../messages/claim.ts'
import { openLedgerTest, silent, until, type LedgerTest } from '../messages/testing.ts'
import { Node } from '../node.ts'
import { Backlog } from './backlog.ts'
import { LinkKeeper } from './keeper.ts'

let database: TestDatabase
let test: LedgerTest

beforeAll(async () => {
  database = await createTestDatabase()
  test = await openLedgerTest(database.db)
})
afterAll(() => database.close())

it('rests after a count as long as the queue costs, and not for one that was held up', async () => {
  await test.send()
  const lanes = await findLanes(test.db)
  expect(lanes).toHaveLength(1)
  let [begun, ended, heldMs] = [0, 0, 0]
  const db = new Proxy(test.db, {
    get: (target, name) => {
      if (name !== 'query') return Reflect.get(target, name)
      return async (query: string) => {
        begun++
        await pause(heldMs)
        return target.query(query).finally(() => ended++)
      }
    },
  })
  const node = new Node({ db, log: silent, isAlone: false, settle: async () => {}, onFenced: () => {} })
  const context = { ...test.context, log: silent, node, onDeliver: () => {} }
  const backlog = new Backlog(db, new LinkKeeper(context, { onAnswer: () => {}, onRoom: () => {} }))
  /** Asks for a count when so long has passed, which then takes so long. False: it rests. */
  const countAfter = async (ms: number, takesMs: number): Promise<boolean> => {
    const before = begun
    heldMs = takesMs
    backlog.count(lanes, performance.now() + ms)
    await until('the count is over', () => ended === begun)
    await turn()
    return begun > before
  }
  expect(await countAfter(0, 0)).toBe(true)
  expect(await countAfter(60_000, 0)).toBe(true)
  expect(await countAfter(60_000, 500)).toBe(true)
  // Twenty times half a second would be ten.
  expect(await countAfter(5000, 500)).toBe(true)
  // Now it takes so long each time.
  expect(await countAfter(5000, 0)).toBe(false)
  expect(await countAfter(60_000, 0)).toBe(true)
})
