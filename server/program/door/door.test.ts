import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { openAuthenticator } from '../../accounts/authenticate.ts'
import { accountRoutes } from '../../accounts/http.ts'
import { buildTestApp, createTestAccount, testSettings, testVault } from '../../accounts/testing.ts'
import { tokenOf } from '../../accounts/token.ts'
import { openPool } from '../../ground/db/db.ts'
import { createTestDatabase } from '../../ground/db/testing.ts'
import type { App } from '../../ground/http/http.ts'
import { Acceptor } from '../../accept/accept.ts'
import { messageRoutes } from '../../messages/http.ts'
import { openLedgerTest } from '../../messages/testing.ts'
import { until } from '../../../test/until.ts'
import { networkOf } from '../../ground/base/network.ts'
import { openDoor, refuseUnknown, type Door } from './door.ts'
import { Overload, probeAccepts, probePool } from './overload.ts'

let door: Door
let app: App

const warnings: string[] = []
const log = { info: () => {}, warn: (_: object, text: string) => void warnings.push(text), error: () => {} }
const overload = new Overload(log)

const database = await createTestDatabase()
const account = await createTestAccount(database.db)
const ledger = await openLedgerTest(database.db, { accountId: account.accountId })

describe('the limit of a credential', () => {
  beforeEach(() => open())
  afterAll(() => app.close())

  it('is in every response; above it come 429, the time to retry, and the violated policy', async () => {
    const first = await get()
    expect(first.headers).toMatchObject({ 'ratelimit-policy': '"api";q=10;w=1', ratelimit: '"api";r=10;t=1' })
    const missing = await app.inject({ url: '/v1/messages/msg_0', headers: account.headers })
    expect([missing.statusCode, missing.headers['ratelimit-policy']]).toEqual([404, '"api";q=10;w=1'])
    const answers = await Promise.all(Array.from({ length: 40 }, () => get()))
    const refused = answers.filter(({ statusCode }) => statusCode === 429)
    expect(refused.length).toBeGreaterThan(0)
    expect(refused[0]?.json()).toMatchObject({ code: 'rate_limited', retryable: true, 'violated-policies': ['api'] })
    expect(refused[0]?.headers).toMatchObject({ 'retry-after': '1', ratelimit: '"api";r=0;t=1' })
    await until('it may ask again', async () => (await get()).statusCode === 200)
  })

  it('is reported and consumed for unknown paths and methods too', async () => {
    const { headers } = account
    const nowhere = await app.inject({ url: '/v1/nowhere', headers })
    expect([nowhere.statusCode, nowhere.headers['ratelimit']]).toEqual([404, '"api";r=10;t=1'])
    const put = await app.inject({ method: 'PUT', url: '/v1/messages', headers, payload: { to: '1' } })
    expect([put.statusCode, put.headers['ratelimit-policy']]).toEqual([405, '"api";q=10;w=1'])
    const guesses = await Promise.all(Array.from({ length: 40 }, () => app.inject({ url: '/v1/nowhere', headers })))
    expect(guesses.filter(({ statusCode }) => statusCode === 429).length).toBeGreaterThan(0)
    expect((await get()).statusCode).toBe(429)
    // Unknown callers get the same response as without a token.
    const stranger = await app.inject({ url: '/v1/nowhere', headers: { authorization: 'Bearer nonsense' } })
    expect([stranger.statusCode, stranger.headers['ratelimit-policy']]).toEqual([404, '"failures";q=10;w=1'])
    const nobody = await app.inject('/v1/nowhere')
    expect([nobody.statusCode, nobody.headers['ratelimit']]).toEqual([404, undefined])
  })

  it('is separate: it slows neither other credentials nor public routes', async () => {
    const other = await createTestAccount(database.db)
    await Promise.all(Array.from({ length: 40 }, () => get()))
    expect((await get(other.headers.authorization)).statusCode).toBe(200)
    const health = await Promise.all(Array.from({ length: 40 }, () => app.inject('/healthz')))
    expect(new Set(health.map(({ statusCode }) => statusCode))).toEqual(new Set([200]))
  })

  it('is its account’s, if that has one', async () => {
    const other = await createTestAccount(database.db)
    await database.sql`update accounts set api_per_second = 3 where id = ${other.accountId}`
    expect((await get(other.headers.authorization)).headers['ratelimit-policy']).toBe('"api";q=3;w=1')
  })
})

describe('requests without a valid token', () => {
  beforeEach(() => open())
  afterAll(() => app.close())

  it('are counted by network, and not looked up above the limit; recently accepted callers there still are', async () => {
    expect((await get()).statusCode).toBe(200)
    const wrong = await get('Bearer nonsense', '192.0.2.1')
    expect(wrong.statusCode).toBe(401)
    expect(wrong.headers).toMatchObject({ 'ratelimit-policy': '"failures";q=10;w=1', ratelimit: '"failures";r=10;t=1' })
    // Ten look-ups are added every second: the clock is fixed.
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now())
    try {
      for (let i = 0; i < 150; i++) await get('Bearer nonsense', '192.0.2.1')
      expect((await get('Bearer nonsense', '192.0.2.1')).json()).toMatchObject({ 'violated-policies': ['failures'] })
      expect((await get('Bearer nonsense', '192.0.2.2')).statusCode).toBe(401)
      const stranger = await createTestAccount(database.db)
      expect((await get(stranger.headers.authorization, '192.0.2.1')).statusCode).toBe(429)
      expect((await get(stranger.headers.authorization, '192.0.2.2')).statusCode).toBe(200)
      expect((await get()).statusCode).toBe(200)
    } finally {
      clock.mockRestore()
    }
  })

  it.each([
    ['/v1/auth/refresh', { refresh_token: tokenOf('refresh', Buffer.alloc(32)) }],
    [
      '/v1/auth/accept-invitation',
      { code: tokenOf('invitation', Buffer.alloc(32)), password: 'six mirrors on a hill' },
    ],
    ['/v1/oauth/token', { grant_type: 'refresh_token', refresh_token: tokenOf('refresh', Buffer.alloc(32)) }],
    ['/v1/auth/logout', null],
    ['/v1/auth/login', { email: 'nobody@example.com', password: 'six mirrors on a hill' }],
  ])('include %s, which reports this', async (url, body) => {
    const isForm = url === '/v1/oauth/token'
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now())
    try {
      const ask = (ip: string) =>
        app.inject({
          method: 'POST',
          url,
          headers: { 'x-forwarded-for': ip, ...(isForm && { 'content-type': 'application/x-www-form-urlencoded' }) },
          ...(body && { payload: isForm ? new URLSearchParams(body as Record<string, string>).toString() : body }),
        })
      const first = await ask('192.0.2.1')
      expect([400, 401]).toContain(first.statusCode)
      expect(first.headers).toMatchObject({
        'ratelimit-policy': '"failures";q=10;w=1',
        ratelimit: '"failures";r=10;t=1',
      })
      for (let i = 0; i < 100; i++) await get('Bearer nonsense', '192.0.2.1')
      const refused = await ask('192.0.2.1')
      expect([refused.statusCode, refused.headers['ratelimit'], refused.headers['retry-after']]).toEqual([
        429,
        '"failures";r=0;t=1',
        '1',
      ])
      const { code, error } = refused.json<{ code?: string; error?: string }>()
      expect(code ?? error).toBe(isForm ? 'slow_down' : 'rate_limited')
      for (let i = 0; i < 100; i++) await ask('192.0.2.2')
      expect((await get('Bearer nonsense', '192.0.2.2')).statusCode).toBe(429)
    } finally {
      clock.mockRestore()
    }
  })

  it('include logouts of unknown tokens, which still get their response', async () => {
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now())
    try {
      const authorization = `Bearer ${tokenOf('access', Buffer.alloc(32))}`
      const ask = () => app.inject({ method: 'POST', url: '/v1/auth/logout', headers: { authorization } })
      for (let i = 0; i < 100; i++) expect((await ask()).statusCode).toBe(204)
      expect((await ask()).statusCode).toBe(429)
    } finally {
      clock.mockRestore()
    }
  })

  it('include those of a suspended account', async () => {
    const other = await createTestAccount(database.db)
    await database.sql`update accounts set status = 'suspended' where id = ${other.accountId}`
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now())
    try {
      const ask = () => get(other.headers.authorization, '192.0.2.1')
      expect((await ask()).json().code).toBe('account_suspended')
      for (let i = 0; i < 100; i++) await ask()
      expect((await ask()).json()).toMatchObject({ 'violated-policies': ['failures'] })
    } finally {
      clock.mockRestore()
    }
  })

  it('a network is an IPv4 address or the first 64 bits of an IPv6 one', () => {
    expect(
      ['192.0.2.1', '::ffff:192.0.2.1', '2001:db8::1', '2001:db8:0:0:5::9', '2001:db8:0:1::1'].map(networkOf),
    ).toEqual(['192.0.2.1', '192.0.2.1', '2001:db8:0:0', '2001:db8:0:0', '2001:db8:0:1'])
  })
})

it('a database that hangs gets 503 at once after a second, nothing piles up, and it ends with the fault', async () => {
  const db = openPool(database.connection, { name: 'pipeline', max: 4 })
  const acceptor = new Acceptor({ ...ledger.context, db, ownLinks: ledger.ownLinks, routing: ledger.routing })
  await open(acceptor, 1_000_000)
  overload.start([probeAccepts(acceptor), probePool(db)])
  const send = () =>
    app.inject({
      method: 'POST',
      url: '/v1/messages/send',
      headers: account.headers,
      payload: { to: '15551230001', message: 'Hello' },
    })
  expect((await send()).statusCode).toBe(202)
  const blocker = await database.db.connect()
  await blocker.query('begin; lock table messages in access exclusive mode')
  const open503: Promise<unknown>[] = []
  let waiting = 0
  const startedAt = performance.now()
  let refusedMs = Infinity
  // A hundred requests every few milliseconds, without waiting for earlier ones.
  while (performance.now() - startedAt < 2500) {
    for (let i = 0; i < 20; i++) {
      waiting++
      const sentAt = performance.now()
      open503.push(
        send().then(({ statusCode, headers }) => {
          waiting--
          if (statusCode !== 503) return
          expect(headers['retry-after']).toBe('1')
          refusedMs = Math.min(refusedMs, sentAt - startedAt)
        }),
      )
    }
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  expect(refusedMs).toBeLessThan(2000)
  const stuck = waiting
  expect(acceptor.waiting).toBeLessThanOrEqual(5500)
  const refused = await send()
  expect([refused.statusCode, refused.json<{ code: string }>().code]).toEqual([503, 'unavailable'])
  expect(waiting).toBe(stuck)
  expect((await app.inject('/healthz')).statusCode).toBe(200)
  expect(warnings).toEqual(['overloaded: requests are refused'])
  await blocker.query('rollback')
  blocker.release()
  await Promise.all(open503)
  await until('requests are let in again', async () => (await send()).statusCode === 202)
  overload.close()
  await app.close()
  await db.end()
})

it('one late turn of the event loop is not an overload, several in a row are, if this process and not the machine is busy', () => {
  const looks = (part: number, ...times: number[]): boolean[] => {
    const one = new Overload(log)
    return times.map((ms) => {
      one.look(performance.now() + ms, ms * part)
      return one.refusal !== null
    })
  }
  const times = [100, 2000, 2100, 2900, 3700, 4500, 4600]
  expect(looks(0.9, ...times)).toEqual([false, false, false, false, false, true, false])
  expect(looks(0.2, ...times)).toEqual(times.map(() => false))
})

it('a slow commit is not an overload while few messages wait, and is one if many do, or it has stopped', () => {
  const told = (stalledMs: number, waiting: number): string | null => probeAccepts({ stalledMs, waiting })(0)
  expect([told(4000, 60), told(900, 4000)]).toEqual([null, null])
  expect([told(1500, 600), told(6000, 0)]).toEqual(['the database is slow', 'the database is slow'])
})

async function open(acceptor: Acceptor = ledger.acceptor, perSecond = 10): Promise<void> {
  await app?.close()
  door = openDoor({ perSecond, overload })
  const authenticator = openAuthenticator(database.db, (ip) => refuseUnknown(door, ip))
  const context = { ...ledger.routeContext, acceptor }
  const accounts = { db: database.db, vault: testVault, authenticator, settings: testSettings }
  const register = async (one: App): Promise<void> => {
    messageRoutes(one, context)
    await accountRoutes(one, accounts)
  }
  app = await buildTestApp(database.db, register, {
    authenticator,
    door,
    trustedProxies: ['127.0.0.1'],
    health: async () => ({ database: { isOk: true } }),
  })
}
const get = (authorization: string | undefined = account.headers.authorization, ip = '192.0.2.1') =>
  app.inject({ url: '/v1/messages', headers: { 'x-forwarded-for': ip, ...(authorization && { authorization }) } })
