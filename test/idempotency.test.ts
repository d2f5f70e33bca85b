/**
 * Every changing route, repeated with the same Idempotency-Key: while the first request runs, after it, and with another request. The routes are
 * the registered ones, their requests those of tenancy-rows.ts.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../server/ground/db/testing.ts'
import { scopes } from '../server/ground/http/http.ts'
import { newId, parseId, showId } from '../server/ground/base/ids.ts'
import { callsOf, urlOf, type Call } from './tenancy-calls.ts'
import { questions, rows } from './tenancy-rows.ts'
import { addKey } from './outsiders.ts'
import { openWorld, type KnownRoute, type World } from './tenancy-world.ts'
import { createTenant, type Tenant } from './tenant.ts'
import { waitFor } from './until.ts'

const twilio = 'speaks the words of another API, which has no such header'

/** Routes with a writing scope that ignore keys, with reasons. */
const exempt: Record<string, string> = {
  'POST /v1/erasures': 'the fingerprint would outlive the number; a repetition finds the erasure',
  'PATCH /v1/users/me': 'the body is a password',
  'POST /v1/users/me/confirm': 'the body is a password',
  'POST /v1/users/me/totp': 'the body is a password',
  'POST /v1/users/me/totp/confirm': 'the body is a code, which works once',
  'DELETE /v1/users/me/totp': 'the body is a code, which works once',
  'POST /2010-04-01/Accounts/:accountSid/Messages.json': twilio,
  'POST /2010-04-01/Accounts/:accountSid/Messages/:sid.json': twilio,
}

let database: TestDatabase
let world: World
let tenant: Tenant
/** The account's key without one scope, which no route here needs. */
let narrow: Record<string, string>
const made = new Map<string, string>()

beforeAll(async () => {
  database = await createTestDatabase()
  world = await openWorld(database)
  tenant = await createTenant(world, 'eule', '1555763000')
  narrow = await addKey(world.db, tenant, { scopes: scopes.filter((scope) => scope !== 'audit:read') })
})
afterAll(async () => {
  await world.close()
  await database.close()
})

const ofMade = (name: string) => async (): Promise<Partial<Call>> => ({ at: [made.get(name) ?? ''] })

/** Replacements for requests that the state of the row's thing would refuse. */
const better: Record<string, () => Promise<Partial<Call>>> = {
  'POST /v1/routes/reorder': async () => {
    const { data } = (await world.app.inject({ url: '/v1/routes', headers: tenant.headers })).json<{
      data: { id: string }[]
    }>()
    return { body: { routes: data.map(({ id }) => id).toReversed() } }
  },
  'POST /v1/messages/:id/resend': async () => {
    // Without a campaign, whose counts would be wrong.
    const id = made.get('POST /v1/conversations/:conversation/messages') ?? ''
    await world.db.query(
      `update messages set status = 'unconfirmed', error_code = 'outcome_unknown', expires_at = now() + interval '1 hour' where id = $1`,
      [parseId('msg', id)],
    )
    return { at: [id] }
  },
  'POST /v1/orphan-replies/:id/give': async () => ({
    at: [await makeOrphan()],
    body: { sender: tenant.things['sender'] ?? '' },
  }),
  'POST /v1/orphan-replies/:id/dismiss': async () => ({ at: [await makeOrphan()] }),
  'DELETE /v1/carriers/:id': ofMade('POST /v1/carriers'),
  'DELETE /v1/links/:id': ofMade('POST /v1/carriers/:id/links'),
}

async function makeOrphan(): Promise<string> {
  const id = newId()
  await world.db.query(
    `insert into orphan_replies (id, link_id, source, destination, body)
     select $1, id, '15551239998', '15550009998', 'Hello' from links where carrier_id = $2 limit 1`,
    [id, parseId('car', tenant.things['carrier'] ?? '')],
  )
  return showId('orp', id)
}

const others: Record<string, unknown> = {
  'POST /v1/accounts/:id/close': { webhooks: 'drain' },
  'PATCH /v1/users/:id': { role: 'viewer' },
  'PATCH /v1/settings': { on_unknown: 'resend' },
  'POST /v1/campaigns/:campaign/send': { message: 'Other words' },
  'POST /v1/opt-outs/suspected/:message': { action: 'opt_out' },
  'PUT /v1/opt-outs/keywords': { on_suspicion: 'opt_out' },
}

/** Bodies with one changed leaf, for each leaf and each change that may still be valid. */
function variants(body: unknown): unknown[] {
  // A file is compared by its length: it cannot be read twice.
  if (typeof body === 'string')
    return body.includes('\n')
      ? [`${body}\n`]
      : [`${body}x`, body.replace(/\d(?=Z?$)/, (digit) => String((Number(digit) + 1) % 10))]
  if (typeof body === 'number') return [body + 1]
  if (typeof body === 'boolean') return [!body]
  if (Array.isArray(body) && body.length === 0) return [[{ country: 'US', amount: '1', currency: 'EUR' }], [mapping]]
  if (typeof body !== 'object' || body === null) return []
  return Object.entries(body).flatMap(([name, value]) =>
    variants(value).map((one) => (Array.isArray(body) ? body.with(Number(name), one) : { ...body, [name]: one })),
  )
}
const mapping = { kind: 'status', match: '1', outcome: 'delivered' }

const state = (name: string): number => {
  const order = [/\/resend$/, /\/pause$/, /\/resume$/, /\/cancel$/, /\/archive$/, /\/redact$/, /^DELETE/]
  return order.findIndex((form) => form.test(name))
}

/** In an order in which each finds the state that it needs. */
const changing = (): KnownRoute[] =>
  world.routes
    .filter(({ method, scope, name }) => !['GET', 'HEAD'].includes(method) && scope !== null && !(name in questions))
    .toSorted((a, b) => state(a.name) - state(b.name))

async function callOf({ name }: KnownRoute): Promise<Call> {
  const calls = callsOf(rows[name] ?? {}, tenant.things)
  const call = calls.find(({ body }) => (body as { dry_run?: boolean } | undefined)?.dry_run !== true)
  if (!call) throw new Error(`${name} has no request`)
  return { ...call, ...(await better[name]?.()) }
}

async function ask(route: KnownRoute, call: Call, key: string, headers: Record<string, string> = tenant.headers) {
  const payload = typeof call.body === 'string' ? call.body : JSON.stringify(call.body)
  const type = rows[route.name]?.type ?? 'application/json'
  const answer = await world.app.inject({
    method: route.method as 'POST',
    url: urlOf(route, call),
    headers: { ...headers, 'idempotency-key': key, ...(payload !== undefined && { 'content-type': type }) },
    ...(payload !== undefined && { payload }),
  })
  const { code, id } = answer.body === '' ? {} : answer.json<{ code?: string; id?: string }>()
  return {
    status: answer.statusCode,
    code,
    id,
    location: answer.headers['location'],
    // The send time is estimated again.
    body: answer.body.replaceAll(/"estimated_send_at":[^,]*,/g, ''),
    isReplay: answer.headers['idempotency-replayed'] === 'true',
    retryAfter: answer.headers['retry-after'],
  }
}

/** Sends it, and again while no key can be stored: returns both responses. */
async function askTwice(route: KnownRoute, call: Call, key: string) {
  const client = await world.db.connect()
  try {
    await client.query('begin')
    await client.query('lock table idempotency_keys in share mode')
    let isOver = false
    const first = ask(route, call, key).finally(() => (isOver = true))
    await waitFor('the first request has come to its key', async () => {
      const { rowCount } = await client.query(
        `select 1 from pg_locks
         where not granted
           and relation = 'idempotency_keys'::regclass
           and database = (select oid from pg_database where datname = current_database())`,
      )
      return isOver || rowCount !== 0 || null
    })
    const second = isOver ? null : await ask(route, call, key)
    await client.query('rollback')
    return { first: await first, second }
  } finally {
    client.release()
  }
}

it('every route that changes something reads the key, or is exempt for a reason', () => {
  const described = world.app.swagger().paths ?? {}
  const takesKey = ({ url, method }: KnownRoute): boolean => {
    const item = described[url.replace(/:(\w+)/g, '{$1}')] as Record<
      string,
      { parameters?: { name?: string; $ref?: string }[] }
    >
    const named = item?.[method.toLowerCase()]?.parameters?.map(({ name, $ref }) => name ?? $ref)
    return named?.includes('#/components/parameters/IdempotencyKey') ?? false
  }
  const wrong = changing().filter((route) => takesKey(route) === route.name in exempt)
  expect(wrong.map(({ name }) => name)).toEqual([])
  const names = changing().map(({ name }) => name)
  expect(Object.keys(exempt).filter((name) => !names.includes(name))).toEqual([])
})

it('a repeated request runs once: 409 while the first one runs, then its response; another request is refused', async () => {
  const faults: string[] = []
  for (const route of changing().filter(({ name }) => !(name in exempt))) {
    const call = await callOf(route)
    const key = `key:${route.name.replaceAll(' ', ':')}`
    const blame = (what: string, told: unknown): void =>
      void faults.push(`${route.name} ${what}: ${JSON.stringify(told)}`)
    const { first, second } = await askTwice(route, call, key)
    made.set(route.name, first.id ?? '')
    if (first.status >= 300 || first.isReplay) {
      blame('is refused', first)
      continue
    }
    if (second?.code !== 'idempotency_in_progress' || second.retryAfter !== '1') blame('while the first runs', second)
    const again = await ask(route, call, key)
    if (
      !again.isReplay ||
      again.status !== first.status ||
      again.body !== first.body ||
      again.location !== first.location
    )
      blame(`after ${JSON.stringify(first)}`, again)
    const codes: string[] = []
    if (call.body === undefined) codes.push((await ask(route, call, key, narrow)).code ?? 'done')
    for (const body of [others[route.name], ...variants(call.body)])
      if (body !== undefined && JSON.stringify(body) !== JSON.stringify(call.body))
        codes.push((await ask(route, { ...call, body }, key)).code ?? `done with ${JSON.stringify(body)}`)
    const allowed = ['idempotency_key_reused', 'validation_failed', 'malformed_json']
    if (!codes.includes('idempotency_key_reused') || codes.some((code) => !allowed.includes(code)))
      blame('with another request', codes)
  }
  expect(faults).toEqual([])
})

it('a hundred identical sends at once are one message, and 99 replays or 409s', async () => {
  const route = changing().find(({ name }) => name === 'POST /v1/messages/send')
  if (!route) throw new Error('there is no such route')
  const call: Call = { at: [], query: '', body: { to: '15551239999', message: 'A hundred at once' } }
  const answers = await Promise.all(Array.from({ length: 100 }, () => ask(route, call, 'hundred')))
  const { rowCount } = await world.db.query(`select 1 from messages where body = 'A hundred at once'`)
  expect(rowCount).toBe(1)
  expect(answers.filter(({ status, isReplay }) => status === 202 && !isReplay)).toHaveLength(1)
  const rest = answers.filter(({ isReplay, code }) => !isReplay && code !== undefined)
  expect(rest.filter(({ code, retryAfter }) => code !== 'idempotency_in_progress' || retryAfter !== '1')).toEqual([])
  expect(new Set(answers.flatMap(({ id }) => id ?? [])).size).toBe(1)
})

it('a repeated response contains no text that has since been removed from the message', async () => {
  const find = (name: string): KnownRoute => {
    const route = world.routes.find((one) => one.name === name)
    if (!route) throw new Error(`there is no ${name}`)
    return route
  }
  const send: Call = { at: [], query: '', body: { to: '15551239999', message: 'Zu loeschen' } }
  const { id = '' } = await ask(find('POST /v1/messages/send'), send, 'redacted')
  const call: Call = { at: [id], query: '', body: undefined }
  const cancel = find('POST /v1/messages/:id/cancel')
  expect((await ask(cancel, call, 'redacted')).body).toContain('Zu loeschen')
  await ask(find('POST /v1/messages/:id/redact'), call, 'redacted')
  const again = await ask(cancel, call, 'redacted')
  expect(again).toMatchObject({ status: 200, isReplay: true })
  expect(again.body).not.toContain('Zu loeschen')
  expect((await ask(find('POST /v1/messages/send'), send, 'redacted')).body).not.toContain('Zu loeschen')
})
