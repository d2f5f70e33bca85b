import { expect, it } from 'vitest'
import { createTestDatabase } from '../ground/db/testing.ts'
import { callbackEndpointId } from '../events/events.ts'
import { showId } from '../ground/base/ids.ts'
import { insertTestAccount, insertTestWebhook, nobody, postEvents, startTestDispatcher } from '../webhooks/testing.ts'
import { until } from '../../test/until.ts'

/** An account with three events for each of two webhooks, neither of whose secrets can be opened. */
const { db, sql } = await createTestDatabase()
const accountId = await insertTestAccount(db)
const ids: string[] = []
for (let n = 0; n < 2; n++) ids.push((await insertTestWebhook(db, accountId, 'http://127.0.0.1:9/')).id)
await sql`update webhooks set secret = ${Buffer.alloc(80)} where account_id = ${accountId}`
await sql`update accounts set callback_secret = ${Buffer.alloc(80)} where id = ${accountId}`
await postEvents(db, nobody, accountId, 3)

it('names the webhooks that cannot be posted to', async () => {
  expect(await failing()).toEqual(new Set(ids.map((id) => showId('whk', id))))
})

it('names the account whose callback addresses cannot be posted to', async () => {
  const url = 'http://127.0.0.1:9/callback'
  await sql`delete from outbox where endpoint_id = ${ids[0]}`
  await sql`update outbox
    set endpoint_id = ${callbackEndpointId(accountId, url)}, url = ${url}, leased_by = null, leased_until = null`
  expect(await failing()).toEqual(new Set([showId('acc', accountId)]))
})

/** Ids in the log after a dispatcher has tried to post what is due. */
async function failing(): Promise<Set<string>> {
  const told: { endpoints?: string[] }[] = []
  const log = { info: () => {}, warn: () => {}, error: (fields: object) => void told.push(fields) }
  const dispatcher = startTestDispatcher(db, { log, pollMs: 20 })
  await until('it is told', () => told.length > 0)
  await dispatcher.close()
  return new Set(told.flatMap(({ endpoints = [] }) => endpoints))
}
