import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../db/testing.ts'
import { until } from '../messages/testing.ts'
import { openBoundTest, untilBound, type CarrierTest } from './testing.ts'

let database: TestDatabase
let test: CarrierTest

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.close())
afterEach(() => test.close())

it('a link that binds, and one that is stopped, are told as life', async () => {
  test = await openBoundTest(database.db)
  expect(test.states).toEqual(['info binding', 'info bound'])
  await test.db.query('update links set enabled = false, updated_at = now()')
  await until('the link is gone', () => test.submitter.links.size === 0)
  await until('the carrier sees it', () => test.simulator.stats().bound === 0)
  expect(test.states.filter((line) => line.startsWith('warn'))).toEqual([])
})

it('a link that is lost is a warning, and bound again it is not', async () => {
  test = await openBoundTest(database.db)
  test.simulator.do('garbage')
  await until('it is told', () => test.states.includes('warn down'))
  await untilBound(test)
  expect(test.states.filter((line) => line.startsWith('warn'))).toEqual(['warn down'])
  expect(test.states.at(-1)).toBe('info bound')
})
