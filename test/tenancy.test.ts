/**
 * Every registered route against callers without access: no token, a bad one, a wrong scope, another account. Each route has a row in
 * tenancy-rows.ts.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../server/ground/db/testing.ts'
import { scopes, type Scope } from '../server/ground/http/http.ts'
import { showId } from '../server/ground/base/ids.ts'
import { callsOf, urlOf, type Call } from './tenancy-calls.ts'
import { areas, ownVerbs, questions, rows, type Row } from './tenancy-rows.ts'
import { isExempt, unscopedTables } from './tenancy-statements.ts'
import { addKey, createOutsiders, type Outsider } from './outsiders.ts'
import { openWorld, type KnownRoute, type World } from './tenancy-world.ts'
import { createTenant, type Tenant } from './tenant.ts'

const mark = 'kanarie-a'
const numbers = '1555761000'

let database: TestDatabase
let world: World
let alice: Tenant
let bob: Tenant
let outsiders: Record<string, Outsider>
/** Ids only in Alice's rows, in both forms. */
let ids: Set<string>
let secrets: string[]
let before: string
let calls = 0

beforeAll(async () => {
  database = await createTestDatabase()
  world = await openWorld(database)
  alice = await createTenant(world, mark, numbers)
  bob = await createTenant(world, 'kanarie-b', '1555762000')
  outsiders = await createOutsiders(world, alice)
  const theirs = idsIn(await rowsOf(bob))
  before = await rowsOf(alice)
  const own = [...idsIn(before)].filter((id) => !theirs.has(id))
  ids = new Set(own.flatMap((id) => [id, showId('acc', id).slice(4)]))
  const { keySecret = '', webhookSecret = '', password = '', invitationCode = '' } = alice.things
  secrets = [alice.token, keySecret, webhookSecret, password, invitationCode]
})
afterAll(async () => {
  await world.close()
  await database.close()
})

interface Answer {
  status: number
  type: string
  text: string
  body: { code?: string; detail?: string; data?: unknown; [name: string]: unknown } | null
}

const rowOf = (route: KnownRoute): Row | undefined => rows[route.name.replace(/^HEAD /, 'GET ')]
const guarded = (): { route: KnownRoute; row: Row }[] =>
  world.routes.flatMap((route) => {
    const row = rowOf(route)
    return row && row.open === undefined && row.elsewhere === undefined ? [{ route, row }] : []
  })

/** Routes with a handler of their own; HEAD shares that of GET. */
const worked = (): { route: KnownRoute; row: Row }[] => guarded().filter(({ route }) => route.method !== 'HEAD')

/** Routes that refuse test keys, for any thing; or for their campaign. */
const isForLive = ({ method, name, testKeys }: KnownRoute): boolean =>
  method !== 'GET' && (testKeys === null || /^(PATCH|DELETE) \/v1\/campaigns\/:campaign\/contacts\//.test(name))

/** Bob's call with one thing of Alice's, for each thing; and with her whole path. */
function exchange(hers: Call, his: Call): { call: Call; isQuery: boolean }[] {
  const changed = his.at.flatMap((one, i) => (one === hers.at[i] ? [] : [i]))
  const paths = changed.map((i) => his.at.with(i, hers.at[i] ?? ''))
  if (changed.length > 1) paths.push(hers.at)
  const bodies = exchangeIn(hers.body, his.body)
  return [
    ...paths.map((at) => ({ call: { ...his, at }, isQuery: false })),
    ...bodies.map((body) => ({ call: { ...his, body }, isQuery: false })),
    ...(hers.query === his.query ? [] : [{ call: { ...his, query: hers.query }, isQuery: true }]),
  ]
}

function exchangeIn(from: unknown, to: unknown): unknown[] {
  if (typeof from !== 'object' || typeof to !== 'object' || from === null || to === null)
    return from === to ? [] : [from]
  const others = from as Record<string, unknown>
  return Object.entries(to).flatMap(([name, value]) =>
    exchangeIn(others[name], value).map((one) =>
      Array.isArray(to) ? to.with(Number(name), one) : { ...to, [name]: one },
    ),
  )
}

async function ask(route: KnownRoute, call: Call, headers: Record<string, string>): Promise<Answer> {
  const { type = 'application/json' } = rowOf(route) ?? {}
  // The installation's tables are visible to the operator.
  world.isRecording = !rowOf(route)?.isOperators
  const payload = typeof call.body === 'string' ? call.body : JSON.stringify(call.body)
  const answer = await world.app.inject({
    method: route.method as 'GET',
    url: urlOf(route, call),
    headers: {
      ...headers,
      // Some POST routes require one against accidental repetition.
      ...(route.method === 'POST' && { 'idempotency-key': `call-${calls++}` }),
      ...(payload !== undefined && { 'content-type': type }),
    },
    ...(payload !== undefined && { payload }),
  })
  const isJson = /[/+]json/.test(String(answer.headers['content-type'])) && answer.body !== ''
  return {
    status: answer.statusCode,
    type: String(answer.headers['content-type']),
    text: answer.body + JSON.stringify(answer.headers),
    body: isJson ? answer.json<Answer['body']>() : null,
  }
}

const idsIn = (text: string): Set<string> =>
  new Set(text.match(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<=\b[a-z]{3}_)[0-9a-hjkmnp-tv-z]{26}\b/g))

/** Alice's data in a response that was not in its request. */
function leakOf(answer: Answer, sent: string): string[] {
  const decode = (text: string): string =>
    text +
    [...text.matchAll(/[\w-]{40,}/g)].map(([one]) => ` ${Buffer.from(one, 'base64url').toString('latin1')}`).join('')
  const told = decode(answer.text)
  const known = decode(sent)
  return [
    ...[...idsIn(told)].filter((id) => ids.has(id)),
    ...(told.match(new RegExp(`${mark}[ \\w-]*|${numbers}\\d`, 'gi')) ?? []),
    ...secrets.filter((secret) => told.includes(secret)),
  ].filter((one) => !known.includes(one))
}

function faultOf(answer: Answer, sent: string, statuses: number[], code?: string): string | null {
  const { status, type, body } = answer
  const isHead = sent.startsWith('HEAD ')
  if (!statuses.includes(status))
    return `${status} ${body?.code ?? ''} ${JSON.stringify(body?.['errors'] ?? body?.detail ?? '')}`
  if (!type.startsWith('application/problem+json')) return `is ${type}`
  if (code !== undefined && !isHead && body?.code !== code) return `${String(body?.code)} instead of ${code}`
  const leak = leakOf(answer, sent)
  return leak.length > 0 ? `tells ${leak.join()}` : null
}

const textOf = (route: KnownRoute, call: Call): string =>
  `${route.method} ${urlOf(route, call)} ${JSON.stringify(call.body) ?? ''}`

/** Every row of every account table, without the last use of keys. */
async function rowsOf({ accountId }: Tenant): Promise<string> {
  const found: string[] = []
  for (const table of await tenantTables()) {
    const own = table === 'accounts' ? 'id' : 'account_id'
    const { rows: records } = await world.db.query<{ row: string }>(
      `select (to_jsonb(t) - 'last_used_at')::text as row from ${table} t where ${own} = $1 order by 1`,
      [accountId],
    )
    found.push(...records.map(({ row }) => `${table} ${row}`))
  }
  return found.join('\n')
}

async function tenantTables(): Promise<string[]> {
  const { rows: tables } = await world.db.query<{ name: string }>(
    `select c.relname::text as name
     from pg_class c
     join pg_attribute a on a.attrelid = c.oid and a.attname = 'account_id' and not a.attisdropped
     where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace
     order by 1`,
  )
  return ['accounts', ...tables.map(({ name }) => name)]
}

describe('the table', () => {
  it('has a row for every route, and no others', () => {
    const described = Object.entries(world.app.swagger().paths ?? {}).flatMap(([path, verbs]) =>
      Object.keys(verbs ?? {}).map((verb) => `${verb.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`),
    )
    const registered = world.routes.map(({ name }) => name.replace(/^HEAD /, 'GET '))
    const all = [...new Set([...registered, ...described])]
    expect(all.filter((name) => !(name in rows))).toEqual([])
    expect(Object.keys(rows).filter((name) => !all.includes(name))).toEqual([])
  })

  it('requires a caller unless it gives a reason for none', () => {
    const wrong = world.routes.filter((route) => (route.scope === null) !== (rowOf(route)?.open !== undefined))
    expect(wrong.map(({ name }) => name)).toEqual([])
  })

  it('requires a scope of its area: read for reads, write for writes, the operator’s for the installation', () => {
    const wrong = guarded().filter(({ route: { name, method, url, scope }, row }) => {
      const [area = '', verb = ''] = scope?.split(':') ?? []
      const wanted = ['GET', 'HEAD'].includes(method) ? 'read' : 'write'
      const isRight = name in questions ? questions[name] === scope : verb === (ownVerbs[name] ?? wanted)
      const isInstallations = ['carriers', 'routes'].includes(area)
      const isSenders = url.startsWith('/v1/senders')
      return (
        !isRight ||
        !areas[url.split('/')[2] ?? '']?.includes(area) ||
        (isInstallations && !isSenders) !== (row.isOperators ?? false)
      )
    })
    expect(wrong.map(({ route }) => `${route.name} ${String(route.scope)}`)).toEqual([])
  })
})

describe('the check of statements', () => {
  const tables = new Set(['accounts', 'messages', 'contacts'])
  it.each([
    ['select id from messages where id = $1', ['messages']],
    ['select account_id as "accountId", id from messages where id = $1', ['messages']],
    ['select account_id, count(*) from messages group by account_id', ['messages']],
    ['select 1 from messages m join contacts c on c.id = m.contact_id where m.account_id = $1', ['contacts']],
    ['update messages_20261120 set status = $1 where id = $2 returning account_id', ['messages']],
    ['select 1 from messages m join contacts c using (account_id, id) where m.account_id = $1', []],
    ['insert into messages (account_id, id) values ($1, $2)', []],
    ['insert into messages (id) values ($1)', ['messages']],
    ['select name from accounts where id = $1', []],
    ['select name from accounts', ['accounts']],
  ])('finds in "%s": %j', (statement, found) => {
    expect(unscopedTables(statement, tables)).toEqual(found)
  })
})

describe('nothing is revealed and nothing is done', () => {
  it('by an idempotency key that another account used before', () => {
    // Both were created with the same keys.
    const same = Object.entries(alice.things).filter(([name, thing]) => bob.things[name] === thing)
    expect(same.map(([name]) => name)).toEqual(['carrier', 'link'])
  })

  it('for callers without a token that is valid', async () => {
    const faults: string[] = []
    for (const { route, row } of guarded())
      for (const call of callsOf(row, alice.things).slice(0, 1))
        for (const [who, { headers, status, code }] of Object.entries(outsiders)) {
          const fault = faultOf(await ask(route, call, headers), textOf(route, call), [status], code)
          if (fault) faults.push(`${route.name} for ${who}: ${fault}`)
        }
    expect(faults).toEqual([])
  })

  it('for the account’s own keys that have every scope but the one', async () => {
    const without = new Map<Scope, Record<string, string>>()
    for (const scope of scopes)
      without.set(scope, await addKey(world.db, alice, { scopes: scopes.filter((one) => one !== scope) }))
    const faults: string[] = []
    for (const { route, row } of guarded())
      for (const call of callsOf(row, alice.things)) {
        const answer = await ask(route, call, without.get(route.scope ?? 'audit:read') ?? {})
        const fault = faultOf(answer, textOf(route, call), [403], 'insufficient_scope')
        if (fault) faults.push(`${route.name} without ${String(route.scope)}: ${fault}`)
        else if (route.method !== 'HEAD' && !answer.body?.detail?.includes(String(route.scope)))
          faults.push(`${route.name}: ${String(answer.body?.detail)}`)
      }
    await world.db.query(`delete from api_keys where account_id = $1 and name = 'Test' and id <> $2`, [
      alice.accountId,
      alice.keyId,
    ])
    expect(faults).toEqual([])
  })

  it('for the operator’s resources without the operator’s scopes', async () => {
    const plain = scopes.filter((scope) => !/^(carriers|routes):/.test(scope))
    const headers = await addKey(world.db, bob, { scopes: plain })
    const faults: string[] = []
    for (const { route, row } of guarded().filter(({ row }) => row.isOperators))
      for (const call of callsOf(row, alice.things)) {
        const fault = faultOf(await ask(route, call, headers), textOf(route, call), [403], 'insufficient_scope')
        if (fault) faults.push(`${route.name}: ${fault}`)
      }
    expect(faults).toEqual([])
  })

  it.each(['live', 'test'] as const)(
    'for another account with a %s key: its ids are not found anywhere',
    async (mode) => {
      const headers = await addKey(world.db, bob, { mode })
      const faults: string[] = []
      let asked = 0
      for (const { route, row } of worked().filter(({ row }) => !row.isOperators)) {
        const his = callsOf(row, bob.things)
        for (const [i, hers] of callsOf(row, alice.things).entries())
          for (const { call, isQuery } of exchange(hers, his[i] ?? hers)) {
            asked++
            const answer = await ask(route, call, headers)
            // A filter by another account's thing finds nothing.
            const isEmpty = isQuery && answer.status === 200 && route.method !== 'PUT'
            const fault = isEmpty
              ? [
                  ...leakOf(answer, textOf(route, call)),
                  ...[answer.body?.data ?? []].flat().map((one) => JSON.stringify(one)),
                ].join()
              : isForLive(route) && mode === 'test' && answer.status === 403
                ? faultOf(answer, textOf(route, call), [403], 'insufficient_scope')
                : faultOf(answer, textOf(route, call), [404, 422])
            if (fault) faults.push(`${textOf(route, call)}: ${fault}`)
          }
      }
      expect(faults).toEqual([])
      expect(asked).toBeGreaterThan(100)
    },
  )

  it('for another account with a cursor', async () => {
    const faults: string[] = []
    let cursors = 0
    for (const { route, row } of worked().filter(({ route, row }) => route.method === 'GET' && !row.isOperators)) {
      const his = callsOf(row, bob.things)
      for (const [i, call] of callsOf(row, alice.things).entries()) {
        const { body } = await ask(route, call, alice.headers)
        const cursor = body?.['next_cursor'] ?? body?.['refresh_cursor']
        if (typeof cursor !== 'string') continue
        cursors++
        const query = [his[i]?.query, `cursor=${cursor}`].filter(Boolean).join('&')
        const tried = { ...call, at: his[i]?.at ?? [], query }
        const answer = await ask(route, tried, bob.headers)
        const leak = leakOf(answer, textOf(route, tried))
        if (![200, 422].includes(answer.status) || leak.length > 0)
          faults.push(`${textOf(route, tried)}: ${answer.status} ${leak.join()}`)
      }
    }
    expect(faults).toEqual([])
    expect(cursors).toBeGreaterThan(10)
  })

  it('when another account does everything that it may', async () => {
    const faults: string[] = []
    const recorded: { name: string; audit: string; requestId: string }[] = []
    // Later Bob's audit log names his acts as operator.
    const order = (name: string): number =>
      name === 'GET /v1/audit-events'
        ? -1
        : name.startsWith('DELETE')
          ? 2
          : /\/(cancel|archive|revoke)$/.test(name)
            ? 1
            : 0
    for (const { route, row } of worked().toSorted((a, b) => order(a.route.name) - order(b.route.name)))
      for (const call of callsOf(row, bob.things)) {
        const answer = await ask(route, call, bob.headers)
        // A thing with an alias was deleted under its first name.
        const isGone = route.method === 'DELETE' && answer.status === 404 && Array.isArray(row.at)
        // A conflict of state: the route and its thing were found.
        const isDone = answer.status < 300 || answer.status === 409 || isGone || (row.isRefused ?? false)
        const leak = row.isOperators ? [] : leakOf(answer, textOf(route, call))
        if (!isDone || leak.length > 0)
          faults.push(`${textOf(route, call)}: ${answer.status} ${leak.join()} ${isDone ? '' : answer.text}`)
        const [, requestId = ''] = /"x-request-id":"(\w+)"/.exec(answer.text) ?? []
        const isDry = textOf(route, call).includes('"dry_run":true')
        // A thing canceled or archived by id stays so by key: nothing changes.
        const isAgain = /\/(cancel|archive)$/.test(route.name) && recorded.some(({ name }) => name === route.name)
        const isRecorded = route.audit !== null && answer.status < 300 && !isDry && !isAgain
        if (isRecorded) recorded.push({ name: route.name, audit: route.audit ?? '', requestId })
      }
    expect(faults).toEqual([])
    const { rows } = await world.db.query<{ requestId: string; action: string }>(
      `select request_id as "requestId", action from audit_events where account_id = $1`,
      [bob.accountId],
    )
    const known = new Map(rows.map(({ requestId, action }) => [requestId, action]))
    expect(recorded.filter(({ audit, requestId }) => known.get(requestId) !== audit)).toEqual([])
    expect(new Set(recorded.map(({ audit }) => audit)).size).toBeGreaterThan(30)
    const log = await world.db.query<{ text: string }>(
      `select jsonb_build_array(before, after)::text as text from audit_events`,
    )
    expect(log.rows.filter(({ text }) => secrets.some((secret) => secret !== '' && text.includes(secret)))).toEqual([])
  })

  it('by a statement that does not name its account', async () => {
    const tables = new Set(await tenantTables())
    const wrong = [...world.statements]
      .filter((statement) => !isExempt(statement))
      .map((statement) => ({ statement, tables: unscopedTables(statement, tables) }))
      .filter((one) => one.tables.length > 0)
    expect(wrong).toEqual([])
    expect(world.statements.size).toBeGreaterThan(100)
  })

  it('to the account’s rows', async () => {
    expect((await rowsOf(alice)).split('\n')).toEqual(before.split('\n'))
  })
})

describe('a key without contacts:read', () => {
  it.each([
    ['/v1/campaigns/{campaign}/send', { message: 'Hello {{ first_name }}', dry_run: true }],
    ['/v1/templates/{template}/preview', { campaign: '{campaign}', contact: '{contact}' }],
  ])('is not shown the contacts by %s', async (path, body) => {
    const withThings = (text: string): string =>
      text.replace(/\{(\w+)\}/g, (all, name: string) => alice.things[name] ?? all)
    const headers = await addKey(world.db, alice, { scopes: scopes.filter((scope) => scope !== 'contacts:read') })
    const payload = JSON.parse(withThings(JSON.stringify(body))) as object
    const answer = await world.app.inject({ method: 'POST', url: withThings(path), headers, payload })
    expect(answer.json()).toMatchObject({ status: 403, code: 'insufficient_scope' })
  })
})

describe('a public route', () => {
  it.each([
    ['GET', '/metrics', 401],
    ['GET', '/l/AAAAAAAAAAAA', 404],
    ['POST', '/carriers/{carrier}/AAAAAAAAAAAAAAAAAAAAAA/receipts', 404],
    ['GET', '/carriers/{carrier}/AAAAAAAAAAAAAAAAAAAAAA/replies', 404],
    ['POST', '/v1/auth/login', 422],
    ['POST', '/v1/auth/refresh', 422],
  ] as const)('%s %s answers %i', async (method, path, status) => {
    const url = path.replace('{carrier}', alice.things['carrier'] ?? '')
    const answer = await world.app.inject({ method, url, ...(method === 'POST' && { payload: {} }) })
    expect(answer.statusCode).toBe(status)
    const text = answer.body + JSON.stringify(answer.headers)
    expect(leakOf({ status, type: '', text, body: null }, url)).toEqual([])
  })

  it('shows its numbers to the operator alone', async () => {
    const plain = await addKey(world.db, bob, { scopes: scopes.filter((scope) => scope !== 'carriers:read') })
    expect((await world.app.inject({ url: '/metrics', headers: plain })).statusCode).toBe(403)
  })
})

describe('a test key', () => {
  const call = async (method: 'POST' | 'PATCH' | 'GET', url: string, payload?: object): Promise<Answer> => {
    const headers = await addKey(world.db, alice, { mode: 'test' })
    const answer = await world.app.inject({ method, url, headers, ...(payload && { payload }) })
    return { status: answer.statusCode, type: '', text: answer.body, body: answer.json<Answer['body']>() }
  }

  it('sends test messages, and says so', async () => {
    const { body } = await call('POST', '/v1/messages/send', { to: '15551239990', message: 'Hello' })
    expect(body?.['test']).toBe(true)
    expect((await call('GET', '/v1/settings')).body?.['mode']).toBe('test')
  })

  it('creates nothing that sends to people', async () => {
    expect((await call('POST', '/v1/api-keys', { name: 'Test' })).body?.['mode']).toBe('test')
    expect(await call('POST', '/v1/api-keys', { name: 'Test', mode: 'live' })).toMatchObject({ status: 422 })
    expect((await call('POST', '/v1/smpp-credentials', { name: 'Test' })).body?.['mode']).toBe('test')
    const live = `/v1/smpp-credentials/${alice.things['credential'] ?? ''}`
    expect(await call('POST', `${live}/rotate-password`)).toMatchObject({ status: 403 })
    expect(await call('PATCH', live, { enabled: true })).toMatchObject({ status: 403 })
  })

  it('changes no live message, and erases nobody', async () => {
    const made = await world.app.inject({
      method: 'POST',
      url: '/v1/messages',
      headers: await addKey(world.db, alice, {}),
      payload: { to: '15551239991', message: 'Live', send_at: new Date(Date.now() + 3_600_000).toISOString() },
    })
    const url = `/v1/messages/${made.json<{ id: string }>().id}`
    expect((await call('POST', `${url}/cancel`)).body?.code).toBe('insufficient_scope')
    expect((await call('GET', url)).body?.['status']).toBe('scheduled')
    expect(await call('POST', '/v1/erasures', { number: '15551239991' })).toMatchObject({ status: 403 })
  })
})
