import { Webhook as Verifier } from 'standardwebhooks'
import { afterAll, expect, test } from 'vitest'
import { createKey } from '../accounts/keys.ts'
import { buildTestApp, createTestAccount, testVault } from '../accounts/testing.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import { inTransaction } from '../ground/db/db.ts'
import { postEvents, startTestDispatcher } from './testing.ts'
import { guardDestinations } from '../post/destination.ts'
import { deliveryRoutes } from './deliveries-http.ts'
import { webhookRoutes } from './http.ts'
import { receivedStep, receiverRoutes } from './receiver-http.ts'
import { until } from '../../test/until.ts'

const { db, sql } = await createTestDatabase()
// Nothing is private that must be permitted, and no name is asked.
const destinations = guardDestinations({ allowedCidrs: [], ports: [443] }, () => Promise.reject(new Error('asked')))
const dispatcher = startTestDispatcher(db, { destinations })
const app = await buildTestApp(db, (app) => {
  const context = { db, vault: testVault, destinations, outbox: dispatcher }
  receiverRoutes(app, context)
  webhookRoutes(app, context)
  deliveryRoutes(app, context)
})
afterAll(() => app.close())
const account = await createTestAccount(db)

interface Post {
  webhook: string
  headers: Record<string, string>
  body: string | null
  verified: boolean
}

const call = async (
  method: 'GET' | 'POST',
  url: string,
  payload?: object,
  { headers }: { headers: object } = account,
) => (await app.inject({ method, url, headers: { ...headers }, ...(payload && { payload }) })).json()
const read = async (query = '', caller: { headers: object } = account): Promise<{ url: string; posts: Post[] }> =>
  call('GET', `/v1/webhooks/receiver${query}`, undefined, caller)

test('keeps what a webhook posts to it, with a signature that its secret verifies', async () => {
  const { url, posts } = await read()
  expect(posts).toEqual([])
  const { id, secret } = await call('POST', '/v1/webhooks', { url, headers: { 'x-room': 'secret value' } })
  await call('POST', `/v1/webhooks/${id}/test`)
  await until('the post', async () => (await read()).posts.length === 1)
  const [post] = (await read()).posts
  expect(post).toMatchObject({ webhook: id, verified: true, headers: { 'x-room': '********' } })
  expect(new Verifier(secret).verify(post?.body ?? '', post?.headers ?? {})).toMatchObject({ type: 'webhook.test' })
  await until('the attempt', async () => (await call('GET', `/v1/webhooks/${id}/deliveries`)).data.length === 1)
  expect((await call('GET', `/v1/webhooks/${id}/deliveries`)).data[0]).toMatchObject({ status_code: 200 })
  const rows = await sql`select content from received_posts`
  expect(String(rows[0]?.['content'])).not.toContain('webhook.test')
})

test('shows them to their account only, and bodies only with the scope for texts', async () => {
  expect((await read('', await createTestAccount(db))).posts).toEqual([])
  const few = await inTransaction(db, (tx) =>
    createKey(tx, account.accountId, { name: 'Few', mode: 'live', scopes: ['webhooks:read'], expiresAt: null }),
  )
  expect((await read('', { headers: { authorization: `Bearer ${few.secret}` } })).posts).toMatchObject([
    { body: null, verified: true },
  ])
})

test('accepts more than it keeps, and never keeps more than a hundred', async () => {
  await postEvents(db, dispatcher, account.accountId, 150)
  await until('the end of all posts', async () => {
    const rows = await sql`select from outbox where account_id = ${account.accountId} limit 1`
    return rows.length === 0
  })
  const { posts } = await read('?last=100')
  expect(posts.length).toBeGreaterThan(10)
  expect(posts.length).toBeLessThan(100)
  await sql`insert into received_posts (account_id, id, endpoint_id, is_callback, is_verified, content)
    select account_id, gen_random_uuid(), endpoint_id, false, true, content from received_posts, generate_series(1, 20)
    where account_id = ${account.accountId}`
  await until('room for another', async () => {
    await postEvents(db, dispatcher, account.accountId, 1)
    const rows = await sql`select count(*)::int as count from received_posts where account_id = ${account.accountId}`
    return Number(rows[0]?.['count']) === 100
  })
})

test('forgets all of them when a person of the account is erased', async () => {
  await inTransaction(db, (tx) => receivedStep.run(tx, { accountId: account.accountId } as never, ''))
  expect((await read()).posts).toEqual([])
})
