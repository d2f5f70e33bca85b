import { expect, it } from 'vitest'
import { createTestAccount } from '../accounts/testing.ts'
import { insertBroadcast } from '../broadcasts/store.ts'
import { carrierRoutes, type CarriersContext } from '../carriers/http.ts'
import { inTransaction } from '../ground/db/db.ts'
import { newId, showId } from '../ground/base/ids.ts'
import { liveRoutes } from '../live/http.ts'
import { ledgerWorld, moveTo } from '../messages/testing.ts'
import { foldCounters } from '../usage/fold.ts'
import { summaryRoutes } from './http.ts'

const routes = [liveRoutes, carrierRoutes, summaryRoutes] as const
const { db, account, test, other, sql, app } = await ledgerWorld<CarriersContext>([...routes], {} as CarriersContext)
const [campaignId, webhookId] = [newId(), newId()]
await sql`insert into campaigns (account_id, id, name) values (${account.accountId}, ${campaignId}, 'Sale')`

const read = async ({ headers }: { headers: object } = account) =>
  (await app.inject({ url: '/v1/summary', headers: { ...headers } })).json()

it('shows messages, broadcasts, links and what needs attention', async () => {
  const handed = await test.lease({ theirNumber: '15551230001' })
  await test.answer(handed, { carrierMessageId: newId(), move: moveTo('sent') })
  const silent = await test.lease({ theirNumber: '15551230002' })
  await test.answer(silent, { state: 'unknown', move: moveTo('unconfirmed', { errorCode: 'outcome_unknown' }) })
  await test.send({ theirNumber: '15551230003' })
  await test.reply('please no more', { source: '15551230001' })
  await foldCounters(db)
  const body = { texts: { body: 'Hello', bodies: {} } } as never
  const broadcastId = newId()
  await inTransaction(db, (tx) =>
    insertBroadcast(tx, account.accountId, {
      id: broadcastId,
      campaignId,
      body,
      isTest: false,
      audienceTags: null,
      sendAt: null,
      sendAtLocal: null,
      timezone: 'UTC',
      orderedBy: 'usr_1',
      needsApproval: true,
    }),
  )
  await sql`insert into alerts (account_id, id, type, subject, opened_at)
    values (${account.accountId}, ${newId()}, 'webhook.failing', ${webhookId}, now())`
  await sql`insert into opt_out_suspicions (account_id, message_id, number) values (${account.accountId}, ${newId()}, '15551230001')`
  await sql`update accounts set settings = '{"guards": {"daily_segments": 3}}' where id = ${account.accountId}`
  expect(await read()).toMatchObject({
    object: 'summary',
    today: { messages: 3, delivered: 0, failed: 0, replies: 1 },
    in_progress: { queued: 1, sent: 1, unconfirmed: 1 },
    unread_conversations: 1,
    queue: { messages: 1 },
    carriers: [{ id: showId('car', test.carrierId), links: [{ id: showId('lnk', test.linkId) }] }],
    broadcasts: [{ id: showId('brc', broadcastId), campaign: { name: 'Sale' }, status: 'awaiting_approval' }],
    attention: [
      { type: 'webhook.failing', subject: showId('whk', webhookId) },
      { type: 'guard.near_limit', name: 'daily_segments', detail: '3 of 3' },
      { type: 'broadcast.awaiting_approval', subject: showId('brc', broadcastId) },
      { type: 'message.unconfirmed', count: 1 },
      { type: 'opt_out.suspected', count: 1 },
    ],
  })
})

it('shows nothing of other accounts, and no part that the key may not read', async () => {
  expect(await read(other)).toMatchObject({
    today: { messages: 0 },
    in_progress: { queued: 0 },
    unread_conversations: 0,
    broadcasts: [],
    attention: [],
  })
  const few = await createTestAccount(db, { scopes: ['messages:read'] })
  expect(await read(few)).toMatchObject({ broadcasts: null, carriers: null, queue: null, attention: [] })
})

it('reads once a second for all callers of an account', async () => {
  const { as_of: first } = await read()
  const all = await Promise.all(Array.from({ length: 5 }, () => read()))
  expect(new Set(all.map(({ as_of }) => as_of)).size).toBe(1)
  expect(Date.parse(all[0].as_of) - Date.parse(first)).toBeGreaterThanOrEqual(0)
})
