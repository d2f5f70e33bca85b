import { afterAll, expect, test } from 'vitest'
import { openPool } from '../ground/db/db.ts'
import { pipelineSettings } from '../ground/db/pipeline.ts'
import { countReads, createTestDatabase } from '../ground/db/testing.ts'
import { newId } from '../ground/base/ids.ts'
import { claimPosts } from '../post/outbox.ts'
import { insertTestAccount, insertTestWebhook, nobody, postEvents } from './testing.ts'

const database = await createTestDatabase()
// One connection, which reports what it has read.
const db = openPool(database.connection, { name: 'claims', max: 1, settings: pipelineSettings })
afterAll(() => db.end())

test('a claim looks up its events, without reading others since the last statistics', async () => {
  const events = 4000
  const accountId = await insertTestAccount(database.db)
  const { id } = await insertTestWebhook(database.db, accountId, 'http://127.0.0.1:1/hook')
  await database.sql`alter table events_default set (autovacuum_enabled = false)`
  await postEvents(database.db, nobody, accountId, 500)
  await database.sql`analyze events_default`
  await database.sql`truncate outbox`
  await postEvents(database.db, nobody, accountId, events)
  // A few of them are due, like failed posts.
  await database.sql`update outbox set due_at = due_at + interval '1 hour' where hashtext(event_id::text) & 31 <> 0`
  const before = await countReads(db, 'events\\_%')
  const { rows } = await claimPosts(db, newId(), 60, [{ endpointId: id, limit: 500, from: null }])
  expect(rows.length).toBeGreaterThan(50)
  expect((await countReads(db, 'events\\_%')) - before).toBeLessThan(events / 2)
})
