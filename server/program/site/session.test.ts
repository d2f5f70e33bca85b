import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { createFirstAccount } from '../../accounts/first.ts'
import { createOwnerCode } from '../../accounts/login/owner-code.ts'
import { buildAccountsApp } from '../../accounts/testing.ts'
import { inTransaction } from '../../ground/db/db.ts'
import { createTestDatabase } from '../../ground/db/testing.ts'
import type { App } from '../../ground/http/http.ts'

const person = { email: 'grace@example.com', password: 'six mirrors on a hill' }
const mark = { 'x-heliogram-console': '1' }

const database = await createTestDatabase()
const { db, sql } = database
await inTransaction(db, (tx) => createFirstAccount(tx, { firstEmail: person.email }))
const app = await buildAccountsApp(db, { trustedProxies: ['127.0.0.1'] })
const { code } = (await createOwnerCode(db)) ?? {}
afterAll(async () => {
  await app?.close()
  await database?.close()
})
beforeEach(() => sql`delete from login_failures`)

const ask = (path: string, { payload, headers = {} }: Asked = {}, at: App = app) =>
  at.inject({
    method: 'POST',
    url: `/console/session/${path}`,
    headers: { ...mark, ...headers },
    ...(payload !== undefined && { payload: payload as object }),
  })

expect((await ask('join', { payload: { code, password: person.password } })).statusCode).toBe(200)

test('a login returns no token, and sets cookies that no script reads; each is sent only where it is needed', async () => {
  const { answer } = await logIn()
  expect(answer.statusCode).toBe(200)
  expect(Object.keys(answer.json<object>()).toSorted()).toEqual([
    'account',
    'expires_in',
    'idle_seconds',
    'scope',
    'user',
  ])
  expect(answer.headers['cache-control']).toBe('no-store')
  expect(answer.headers['set-cookie']).toEqual([
    expect.stringMatching(/^heliogram=hg_at_\w+; Path=\/; Max-Age=3600; HttpOnly; SameSite=Strict$/),
    expect.stringMatching(
      /^heliogram-refresh=hg_rt_\w+; Path=\/console\/session; Max-Age=43200; HttpOnly; SameSite=Strict$/,
    ),
    expect.stringMatching(
      /^heliogram-device=usr_\w+\.\d+\.[\w-]+; Path=\/console\/session; Max-Age=7776000; HttpOnly; SameSite=Strict$/,
    ),
  ])
})

test.each([
  ['https://sms.example.com', '__Host-heliogram', '__Secure-heliogram-refresh', true],
  ['https://sms.example.com:8443/below', '__Host-heliogram-8443', '__Secure-heliogram-refresh-8443', true],
  ['http://10.0.0.5:8080', 'heliogram-8080', 'heliogram-refresh-8080', false],
])('cookies of %s have names that make a browser enforce our rules', async (publicUrl, access, refresh, isSecure) => {
  const at = await buildAccountsApp(db, { publicUrl })
  const { answer } = await logIn(at)
  const cookies = [answer.headers['set-cookie'] ?? []].flat()
  expect(cookies.map((cookie) => cookie.split('=')[0])).toEqual([access, refresh, refresh.replace('refresh', 'device')])
  expect(cookies.map((cookie) => cookie.includes('; Secure'))).toEqual([isSecure, isSecure, isSecure])
  await at.close()
})

test('a cookie counts only with the mark, and never with an Authorization header', async () => {
  const { access, refresh } = await logIn()
  expect(await me({ cookie: access })).toBe(401)
  expect(await me({ ...mark, cookie: access })).toBe(200)
  expect(await me({ ...mark, cookie: `a=b; x; ${refresh};${access} ; c="d"` })).toBe(200)
  expect(await me({ ...mark, cookie: `heliogramX; ${access}` })).toBe(200)
  expect(await me({ ...mark, cookie: access, authorization: 'Bearer hg_at_nothing' })).toBe(401)
  expect(await me({ ...mark, cookie: access, authorization: '' })).toBe(401)
  const [name = '', value = ''] = access.split('=')
  for (const odd of [
    `${name}="${value}"`,
    `${name}=`,
    name,
    `${name} x=${value}`,
    `${name}X`,
    `${name}==${value}`,
    ';;=;',
  ])
    expect([odd, await me({ ...mark, cookie: odd })]).toEqual([odd, 401])
})

test('without the mark no login begins, continues or ends', async () => {
  const { access, refresh } = await logIn()
  const cookie = `${access}; ${refresh}`
  for (const path of ['login', 'join', 'refresh', 'logout']) {
    const answer = await app.inject({
      method: 'POST',
      url: `/console/session/${path}`,
      headers: { cookie },
      payload: person,
    })
    expect([path, answer.statusCode, answer.json<{ code: string }>().code]).toEqual([path, 400, 'invalid_header'])
    expect(answer.headers['set-cookie']).toBeUndefined()
  }
  expect(await me({ ...mark, cookie })).toBe(200)
})

test('logging out ends the login at the server, even if the current token has ended before', async () => {
  const { refresh } = await logIn()
  const out = await ask('logout', { headers: { cookie: refresh } })
  expect([out.statusCode, out.body]).toEqual([204, ''])
  expect(out.headers['set-cookie']).toEqual([
    expect.stringMatching(/^heliogram=; Path=\/; Max-Age=0;/),
    expect.stringMatching(/^heliogram-refresh=; Path=\/console\/session; Max-Age=0;/),
  ])
  const again = await ask('refresh', { headers: { cookie: refresh } })
  expect([again.statusCode, again.json<{ code: string }>().code]).toEqual([401, 'invalid_token'])
})

test('an ended login is forgotten, and one that could not be checked stays', async () => {
  const { access, refresh } = await logIn()
  const renewed = await ask('refresh', { headers: { cookie: `${access}; ${refresh}` } })
  expect([renewed.statusCode, [renewed.headers['set-cookie']].flat().length]).toEqual([200, 2])
  const over = await ask('refresh', { headers: { cookie: 'heliogram-refresh=hg_rt_nothing' } })
  expect([over.statusCode, [over.headers['set-cookie']].flat().length]).toEqual([401, 2])
  await sql`alter table tokens rename to tokens_away`
  try {
    const away = await ask('refresh', { headers: { cookie: refresh } })
    expect(away.statusCode).toBeGreaterThanOrEqual(500)
    expect(away.headers['set-cookie']).toBeUndefined()
  } finally {
    await sql`alter table tokens_away rename to tokens`
  }
  expect((await ask('refresh', { headers: { cookie: refresh } })).statusCode).toBe(200)
})

test('a refusal is the API’s own, with the request’s single id', async () => {
  const wrong = await ask('login', { payload: { ...person, password: 'not this one' } })
  const { code, request_id } = wrong.json<{ code: string; request_id: string }>()
  expect([wrong.statusCode, code]).toEqual([401, 'invalid_credentials'])
  expect(wrong.headers['x-request-id']).toBe(request_id)
  expect(wrong.headers['ratelimit-policy']).toBe('"failures";q=10;w=1')
  expect(wrong.headers['set-cookie']).toBeUndefined()
})

test.each([
  ['no JSON', { payload: '{', headers: { 'content-type': 'application/json' } }, 400],
  ['another type', { payload: 'a=b', headers: { 'content-type': 'application/x-www-form-urlencoded' } }, 415],
  ['a list', { payload: '[]', headers: { 'content-type': 'application/json' } }, 422],
  ['nothing', {}, 422],
  ['a field that there is not', { payload: { ...person, admin: true } }, 422],
  ['too much', { payload: { ...person, password: 'x'.repeat(70_000) } }, 413],
])('a body that is %s is refused', async (_, asked: Asked, status) => {
  expect((await ask('login', asked)).statusCode).toBe(status)
})

test('failures count for the caller’s address, also behind a proxy', async () => {
  const guess = (from: string) =>
    ask('login', { payload: { ...person, password: 'wrong' }, headers: { 'x-forwarded-for': from } })
  for (let n = 0; n < 5; n++) expect((await guess('192.0.2.1')).statusCode).toBe(401)
  const refused = await guess('192.0.2.1')
  expect([refused.statusCode, refused.json<{ code: string }>().code]).toEqual([429, 'login_throttled'])
  expect(refused.headers['retry-after']).toMatch(/^\d+$/)
  expect((await guess('192.0.2.2')).statusCode).toBe(401)
  expect((await logIn(app, { 'x-forwarded-for': '192.0.2.3' })).answer.statusCode).toBe(200)
})

test('a server that is stopping says so to a half-sent request, and does not report a fault', async () => {
  const going = await buildAccountsApp(db)
  await going.listen({ port: 0, host: '127.0.0.1' })
  const { port } = going.server.address() as AddressInfo
  const body = JSON.stringify(person)
  const headers = { ...mark, 'content-type': 'application/json', 'content-length': String(body.length) }
  const half = request({ port, host: '127.0.0.1', method: 'POST', path: '/console/session/login', headers })
  const answered = once(half, 'response') as Promise<[IncomingMessage]>
  const arrived = once(going.server, 'request')
  half.write(body.slice(0, 9))
  await arrived
  const closed = going.close()
  await expect.poll(() => going.server.listening).toBe(false)
  half.end(body.slice(9))
  const [answer] = await answered
  expect([answer.statusCode, JSON.parse(await text(answer))]).toMatchObject([503, { code: 'unavailable' }])
  expect([answer.headers['retry-after'], answer.headers['set-cookie']]).toEqual(['1', undefined])
  await closed
})

interface Asked {
  payload?: unknown
  headers?: Record<string, string>
}

const me = async (headers: Record<string, string>, at: App = app): Promise<number> =>
  (await at.inject({ url: '/v1/users/me', headers })).statusCode

/** A login's response and cookies, by whether each can renew it. */
async function logIn(at: App = app, headers: Record<string, string> = {}) {
  const answer = await ask('login', { payload: person, headers }, at)
  const [access = '', refresh = ''] = [answer.headers['set-cookie'] ?? []].flat().map((cookie) => cookie.split(';')[0])
  return { answer, access, refresh }
}
