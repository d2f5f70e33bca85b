/** Every changing route with a test key of the same account: it says why a test key may call it, or refuses. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../server/ground/db/testing.ts'
import { addKey } from './outsiders.ts'
import { callsOf, urlOf } from './tenancy-calls.ts'
import { rows } from './tenancy-rows.ts'
import { openWorld, type KnownRoute, type World } from './tenancy-world.ts'
import { createTenant, type Tenant } from './tenant.ts'

let database: TestDatabase
let world: World
let owner: Tenant
let tester: Record<string, string>

beforeAll(async () => {
  database = await createTestDatabase()
  world = await openWorld(database)
  owner = await createTenant(world, 'tested', '1555763000')
  tester = await addKey(world.db, owner, { mode: 'test' })
})
afterAll(async () => {
  await world.close()
  await database.close()
})

const changing = (): KnownRoute[] =>
  world.routes.filter(({ method, scope }) => scope !== null && !['GET', 'HEAD'].includes(method))

async function ask(
  method: string,
  url: string,
  body?: unknown,
  headers = tester,
  type = 'application/json',
): Promise<{ status: number; body: { code?: string; id?: string; status?: string } }> {
  const answer = await world.app.inject({
    method: method as 'POST',
    url,
    headers: {
      ...headers,
      'idempotency-key': `call-${calls++}`,
      ...(body !== undefined && { 'content-type': type }),
    },
    ...(body !== undefined && { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  return { status: answer.statusCode, body: answer.body === '' ? {} : answer.json() }
}
let calls = 0

/** Every row except side effects of any request. */
async function rowsOf(): Promise<string[]> {
  const { rows: tables } = await world.db.query<{ name: string }>(
    `select distinct c.table_name as name
     from information_schema.tables c
     where c.table_schema = 'public' and c.table_type = 'BASE TABLE' and c.table_name <> 'idempotency_keys'
     order by 1`,
  )
  const found: string[] = []
  for (const { name } of tables) {
    const { rows: all } = await world.db.query<{ text: string }>(
      `select (to_jsonb(t) - 'last_used_at')::text as text from "${name}" t`,
    )
    found.push(...all.map(({ text }) => `${name} ${text}`))
  }
  return found.toSorted()
}

it('a route without a reason to allow test keys refuses them, and changes nothing', async () => {
  const before = await rowsOf()
  const faults: string[] = []
  let asked = 0
  for (const route of changing().filter(({ testKeys }) => testKeys === null)) {
    const row = rows[route.name]
    for (const call of callsOf(row ?? {}, owner.things)) {
      asked++
      const { status, body } = await ask(route.method, urlOf(route, call), call.body, tester, row?.type)
      if (status !== 403 || body.code !== 'insufficient_scope') faults.push(`${route.name}: ${status} ${body.code}`)
    }
  }
  expect(faults).toEqual([])
  expect(asked).toBeGreaterThan(40)
  expect(await rowsOf()).toEqual(before)
})

it('a campaign is open to test keys if one created it, until something live is sent from it', async () => {
  const contact = { phone_number: '15557630990' }
  const live = `/v1/campaigns/${owner.things['campaign'] ?? ''}`
  const made = await ask('POST', '/v1/campaigns', { name: 'Tried', key: 'tried' })
  expect(made.status).toBe(201)
  for (const url of [live, `/v1/campaigns/${owner.things['campaignKey'] ?? ''}`])
    for (const [method, path, body] of [
      ['PATCH', '', { pace: 5 }],
      ['POST', '/contacts', contact],
      ['POST', '/contacts/import', { contacts: [contact] }],
      ['PATCH', `/contacts/${owner.things['contact'] ?? ''}`, { last_name: 'New' }],
      ['DELETE', `/contacts/${owner.things['contact'] ?? ''}`, undefined],
      ['POST', '/cancel', undefined],
      ['POST', '/archive', undefined],
    ] as const)
      expect([method, path, (await ask(method, `${url}${path}`, body)).body.code]).toEqual([
        method,
        path,
        'insufficient_scope',
      ])
  const cancel = await ask('POST', `/v1/imports/${owner.things['import'] ?? ''}/cancel`)
  expect(cancel.body.code).toBe('insufficient_scope')
  for (const url of [`/v1/campaigns/${made.body.id ?? ''}`, '/v1/campaigns/tried']) {
    expect((await ask('PATCH', url, { pace: 5 })).status).toBe(200)
    expect((await ask('POST', `${url}/contacts?on_conflict=update`, contact)).status).toBeLessThan(202)
  }
  expect((await ask('PATCH', '/v1/campaigns/nowhere', { pace: 5 })).status).toBe(404)
  const order = await ask('POST', '/v1/campaigns/tried/send', { message: 'Hello' }, owner.headers)
  expect(order.status).toBe(202)
  expect((await ask('PATCH', '/v1/campaigns/tried', { pace: 0.01 })).body.code).toBe('insufficient_scope')
})
