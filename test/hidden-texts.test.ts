/**
 * Without the scope messages:read_body no text is readable: of a message, of a reply, or of anything that repeats one. A word that is only in
 * such texts is searched for in the responses of all GET routes, which tenancy-rows.ts can call.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestUser } from '../server/accounts/testing.ts'
import { createTestDatabase, type TestDatabase } from '../server/ground/db/testing.ts'
import { scopes } from '../server/ground/http/http.ts'
import { newId, parseId } from '../server/ground/base/ids.ts'
import { storeReply } from '../server/inbound/reply.ts'
import { addKey } from './outsiders.ts'
import { callsOf, urlOf } from './tenancy-calls.ts'
import { rows } from './tenancy-rows.ts'
import { openWorld, type World } from './tenancy-world.ts'
import { createTenant, type Tenant, type Things } from './tenant.ts'
import { until } from './until.ts'

const word = 'zaunkoenig'
/** Only in texts; warnings name the character. */
const words = [word, 'ж', 'U+0436']
const people = '1555763000'

let database: TestDatabase
let world: World
let account: Tenant
let things: Things
let key: Record<string, string>
let viewer: Record<string, string>

beforeAll(async () => {
  database = await createTestDatabase()
  world = await openWorld(database)
  account = await createTenant(world, 'tenant', people)
  await post('/v1/webhooks', { url: 'http://127.0.0.1:9/all', events: ['*'] })
  await world.ledger.subscriptions.refresh()
  things = { ...account.things, ...(await writeTexts(account.things)) }
  viewer = (await createTestUser(world.db, account.accountId, { role: 'viewer' })).headers
  key = await addKey(world.db, account, { scopes: scopes.filter((scope) => scope !== 'messages:read_body') })
})
afterAll(async () => {
  await world.close()
  await database.close()
})

async function call(method: 'GET' | 'POST', url: string, payload?: object): Promise<{ id?: string; data?: Things[] }> {
  const answer = await world.app.inject({ method, url, headers: account.headers, ...(payload && { payload }) })
  if (answer.statusCode >= 300) throw new Error(`${method} ${url}: ${answer.body}`)
  return answer.body === '' ? {} : answer.json()
}
const post = (url: string, payload: object) => call('POST', url, payload)

/** A message with a clicked short link, replies, one with an opt-out, and a post whose response repeats the text. */
async function writeTexts({ contactNumber = '', senderNumber = '', campaign, webhook = '' }: Things): Promise<Things> {
  const { id: message = '' } = await post('/v1/messages/send', {
    to: contactNumber,
    campaign,
    message: `${word} ж https://example.com/${word}`,
    send_at: new Date(Date.now() + 86_400_000).toISOString(),
    shorten_urls: true,
  })
  const context = { ...world.ledger.context, wake: () => {} }
  const reply = async (text: string, destination = senderNumber, source = contactNumber): Promise<void> => {
    const { linkId } = world.ledger
    await storeReply(context, { linkId, source, destination, text, isPartial: false })
  }
  await reply(`${word}, please stop`)
  await reply(`${word} ж`)
  await reply(`${word} to nobody`, '15559990000')
  const suspected = (await call('GET', '/v1/opt-outs/suspected')).data ?? []
  await post(`/v1/opt-outs/suspected/${suspected[0]?.['message'] ?? ''}`, { action: 'opt_out' })
  await reply(`${word}, do stop`, senderNumber, `${people}7`)
  const links = (await call('GET', `/v1/messages/${message}/links`)).data ?? []
  await world.app.inject({ url: `/l/${links[0]?.['short_url']?.split('/').at(-1) ?? ''}` })
  const eventsOf = async (): Promise<Things[]> => (await call('GET', `/v1/events?message=${message}`)).data ?? []
  await until('the click is told', async () => (await eventsOf()).some(({ type }) => type === 'link.clicked'))
  const event = (await eventsOf()).at(-1)?.['id'] ?? ''
  await world.db.query(
    `insert into attempts (account_id, id, endpoint_id, event_id, try, outcome, status_code, response_head, response_headers, duration_ms)
     values ($1, $2, $3, $4, 1, 'ok', 200, $5, $6, 1)`,
    [
      account.accountId,
      newId(),
      parseId('whk', webhook),
      parseId('evt', event),
      word,
      JSON.stringify({ 'x-echo': word }),
    ],
  )
  const [{ id: answered = '' } = {}] =
    (await call('GET', `/v1/messages?direction=inbound&from=${contactNumber}`)).data ?? []
  return { message, reply: answered, event }
}

/** Routes whose responses have one of the words, and refused ones. */
async function look(headers: Record<string, string>): Promise<{ found: string[]; refused: string[] }> {
  const found = new Set<string>()
  const refused: string[] = []
  for (const { name, method, url } of world.routes) {
    const row = rows[name]
    if (method !== 'GET' || !row || row.open !== undefined || row.elsewhere !== undefined || row.isRefused) continue
    for (const one of callsOf(row, things)) {
      const answer = await world.app.inject({ url: urlOf({ url }, one), headers })
      if (answer.statusCode >= 400) refused.push(`${name}: ${answer.statusCode}`)
      if (words.some((one) => (answer.body + JSON.stringify(answer.headers)).includes(one))) found.add(name)
    }
  }
  return { found: [...found].sort(), refused }
}

it('shows texts to callers with the scope, by every route that has one', async () => {
  const { found, refused } = await look(account.headers)
  expect(refused).toEqual([])
  expect(found).toEqual([
    'GET /v1/consent',
    'GET /v1/consent/export',
    'GET /v1/conversations',
    'GET /v1/conversations/:conversation',
    'GET /v1/conversations/:conversation/messages',
    'GET /v1/events',
    'GET /v1/events/:id',
    'GET /v1/events/:id/deliveries',
    'GET /v1/events/stream',
    'GET /v1/messages',
    'GET /v1/messages/:id',
    'GET /v1/messages/:id/links',
    'GET /v1/messages/export',
    'GET /v1/opt-outs/suspected',
    'GET /v1/orphan-replies',
    'GET /v1/webhooks/:id/deliveries',
  ])
})

it('hides them from a key without the scope, by any route', async () => {
  expect(await look(key)).toEqual({ found: [], refused: [] })
})

it('hides them from a viewer, by any route', async () => {
  const { found, refused } = await look(viewer)
  expect(found).toEqual([])
  expect(refused.filter((one) => !one.endsWith(': 403'))).toEqual([])
})

it('shows a viewer which reply opted a person out', async () => {
  const answer = await world.app.inject({ url: '/v1/events?type=contact.opted_out', headers: viewer })
  const { data } = answer.json<{ data: { data: { message: unknown } }[] }>()
  expect(data.map((event) => event.data.message)).toContainEqual(expect.stringMatching(/^msg_/))
})

it('lets only callers who may read texts have them posted to the callback address of a campaign or broadcast', async () => {
  const url = `/v1/campaigns/${things['campaign'] ?? ''}`
  const change = (headers: Record<string, string>, payload: object) =>
    world.app.inject({ method: 'PATCH', url, headers, payload })
  const callback = { callback_url: 'https://example.com/here' }
  expect((await change(key, callback)).json()).toMatchObject({ status: 403, code: 'insufficient_scope' })
  const made = await world.app.inject({
    method: 'POST',
    url: '/v1/campaigns',
    headers: { ...key, 'idempotency-key': 'callback' },
    payload: { name: 'Callback', ...callback },
  })
  expect(made.statusCode).toBe(403)
  const order = (headers: Record<string, string>, dry_run = false) =>
    world.app.inject({
      method: 'POST',
      url: `${url}/send`,
      headers: { ...headers, 'idempotency-key': 'ordered' },
      payload: { message: 'Hello', dry_run, ...callback },
    })
  expect((await order(key)).json()).toMatchObject({ status: 403, code: 'insufficient_scope' })
  expect((await order(account.headers, true)).statusCode).toBe(200)
  expect((await change(account.headers, callback)).statusCode).toBe(200)
  expect((await change(key, callback)).statusCode).toBe(200)
  expect((await change(key, { callback_url: null })).statusCode).toBe(200)
})

it('finds no conversation by a word of a text that the caller may not read', async () => {
  const search = async (headers: Record<string, string>): Promise<number> =>
    (await world.app.inject({ url: `/v1/conversations?search=${word}`, headers })).json<{ data: object[] }>().data
      .length
  expect(await search(account.headers)).toBe(2)
  expect(await search(viewer)).toBe(0)
})
