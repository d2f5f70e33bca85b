/** Webhooks that change while they have posts. */
import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { inTransaction } from '../ground/db/db.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import { updateWebhook } from '../post/store.ts'
import {
  idsOf,
  insertTestAccount,
  insertTestWebhook,
  postEvents,
  startReceiver,
  startTestDispatcher,
} from './testing.ts'
import { until } from '../../test/until.ts'

const { db, sql } = await createTestDatabase()

test('410 of the previous address disables nothing, and its posts go to the new one', async () => {
  const { accountId, id, before, held, dispatcher } = await createHeld()
  await postEvents(db, dispatcher, accountId, 2)
  await until('the posts', () => held.length === 2)
  const after = await startReceiver()
  await moveTo(accountId, id, after.url)
  for (const response of held) response.writeHead(410).end()
  await until('the posts to the new address', () => after.received.length === 2)
  expect(idsOf(after).sort()).toEqual(idsOf(before).sort())
  const rows = await sql`select enabled, disabled_reason as reason from webhooks where id = ${id}`
  expect(rows).toEqual([{ enabled: true, reason: null }])
})

test('a new address has not failed yet, however long the previous one did', async () => {
  const { accountId, id, before, held, dispatcher } = await createHeld()
  await sql`update webhooks set failing_since = now() - interval '6 days' where id = ${id}`
  await postEvents(db, dispatcher, accountId, 1)
  await until('the post', () => held.length === 1)
  expect(await moveTo(accountId, id, before.url)).toMatchObject({ failingSince: expect.any(Date) as Date })
  const after = await startReceiver((response) => response.writeHead(503).end())
  expect(await moveTo(accountId, id, after.url)).toMatchObject({ failingSince: null })
  held[0]?.writeHead(500).end()
  await until('a failure of the new address', () => after.received.length === 1)
  await until('the end of its tries', async () => (await sql`select from outbox`).length === 0)
  expect((await sql`select from webhooks where id = ${id} and enabled`).length).toBe(1)
})

test('a failure disables nothing that another process has seen working since', async () => {
  const { accountId, id, held, dispatcher } = await createHeld()
  const failingSince = (time: string) => db.query(`update webhooks set failing_since = ${time} where id = $1`, [id])
  await failingSince(`now() - interval '6 days'`)
  await postEvents(db, dispatcher, accountId, 1)
  await until('the post', () => held.length === 1)
  await failingSince('null')
  held[0]?.writeHead(500).end()
  await until('the next try', () => held.length === 2)
  expect((await sql`select from webhooks where id = ${id} and enabled`).length).toBe(1)
  held[1]?.writeHead(204).end()
})

test('410 is ignored for a webhook that was disabled during the post, and keeps the reason', async () => {
  const { accountId, id, held, dispatcher } = await createHeld()
  const watcher = await startReceiver()
  const { id: watcherId } = await insertTestWebhook(db, accountId, watcher.url)
  await sql`update webhooks set events = '{webhook.disabled}' where id = ${watcherId}`
  await postEvents(db, dispatcher, accountId, 1)
  await until('the post', () => held.length === 1)
  await inTransaction(db, (tx) => updateWebhook(tx, accountId, id, { enabled: false }, {}))
  held[0]?.writeHead(410).end()
  const attempts = () => sql`select from attempts where endpoint_id = ${id}`
  await until('the attempt', async () => (await attempts()).length === 1)
  await dispatcher.close()
  const rows = await sql`select enabled, disabled_reason as reason from webhooks where id = ${id}`
  expect(rows).toEqual([{ enabled: false, reason: 'request' }])
  const { rowCount } = await db.query(`select from events where account_id = $1 and type = 'webhook.disabled'`, [
    accountId,
  ])
  expect(rowCount).toBe(0)
})

test('a change counts even if made in the same moment as the previous one', async () => {
  const [first, second] = [await startReceiver(), await startReceiver()]
  const accountId = await insertTestAccount(db)
  const { id } = await insertTestWebhook(db, accountId, first.url)
  const dispatcher = startTestDispatcher(db, { pollMs: 20 })
  await postEvents(db, dispatcher, accountId, 1)
  await until('the first post', () => first.received.length === 1)
  // Keeps `updated_at`, as if its transaction had begun with the previous one and waited for it.
  await sql`update webhooks set url = ${second.url} where id = ${id}`
  await until('a post to the new address', async () => {
    await postEvents(db, dispatcher, accountId, 1)
    return second.received.length > 0
  })
})

/** A webhook whose receiver holds back its responses. */
async function createHeld() {
  const held: ServerResponse[] = []
  const before = await startReceiver((response) => void held.push(response))
  const accountId = await insertTestAccount(db)
  const { id } = await insertTestWebhook(db, accountId, before.url)
  const dispatcher = startTestDispatcher(db, { pollMs: 20, retryDelaysMs: [20] })
  return { accountId, id, before, held, dispatcher }
}

const moveTo = (accountId: string, id: string, url: string) =>
  inTransaction(db, (tx) => updateWebhook(tx, accountId, id, { url }, {}))
