import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../db/testing.ts'
import { newId } from '../ids.ts'
import { createSaver } from './save.ts'

let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.close())

it('tells together what could not be saved, with how many posts there were', async () => {
  const told: { posts?: number }[] = []
  const log = { info: () => {}, warn: () => {}, error: (fields: object) => void told.push(fields) }
  const saver = createSaver(database.db, newId(), log)
  await database.db.query('alter table outbox rename to lost')
  const drop = (): void => saver.drop({ endpointId: newId(), dueAt: new Date(), eventId: newId() })
  for (let i = 0; i < 100; i++) drop()
  await expect.poll(() => told).not.toEqual([])
  for (let i = 0; i < 100; i++) drop()
  await saver.drain()
  expect(told.reduce((sum, { posts = 0 }) => sum + posts, 0)).toBe(200)
  expect(told).toHaveLength(2)
})
