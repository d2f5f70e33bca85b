import type { QueryConfig } from 'pg'
import { expect, it } from 'vitest'
import type { Db } from '../ground/db/db.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import { newId } from '../ground/base/ids.ts'
import { createSaver } from './save.ts'
import { insertTestAccount, testEnded } from '../webhooks/testing.ts'

const { db, sql } = await createTestDatabase()

it('reports all posts that could not be saved together, with their number', async () => {
  const told: { posts?: number }[] = []
  const log = { info: () => {}, warn: () => {}, error: (fields: object) => void told.push(fields) }
  const saver = createSaver({ db, endsDb: db }, newId(), log)
  await sql`alter table outbox rename to lost`
  const drop = (): void => saver.drop({ endpointId: newId(), dueAt: new Date(), eventId: newId() })
  for (let i = 0; i < 100; i++) drop()
  await expect.poll(() => told).not.toEqual([])
  for (let i = 0; i < 100; i++) drop()
  await saver.drain()
  expect(told.reduce((sum, { posts = 0 }) => sum + posts, 0)).toBe(200)
  expect(told).toHaveLength(2)
  await sql`alter table lost rename to outbox`
})

it('counts a repeated write after a lost response as saved, and reports nothing', async () => {
  const told: object[] = []
  const log = { info: () => {}, warn: () => {}, error: (fields: object) => void told.push(fields) }
  const accountId = await insertTestAccount(db)
  let statements = 0
  const query = async (statement: QueryConfig): Promise<unknown> => {
    const isFirst = statements++ === 0
    const result = await db.query(statement)
    if (isFirst) throw new Error('Connection terminated unexpectedly')
    return result
  }
  const counted = { query } as unknown as Db
  const saver = createSaver({ db: counted, endsDb: counted }, newId(), log)
  for (let i = 0; i < 3; i++)
    saver.end(testEnded({ endpointId: newId(), dueAt: new Date(), eventId: newId(), accountId }), false)
  await saver.drain()
  expect([statements, told]).toEqual([2, []])
  expect(await sql`select from attempts where account_id = ${accountId}`).toHaveLength(3)
})
