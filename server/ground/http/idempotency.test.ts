import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Type } from 'typebox'
import { buildTestApp, createTestAccount, testVault } from '../../accounts/testing.ts'
import { createTestDatabase } from '../db/testing.ts'
import { ApiError } from '../base/errors.ts'
import { fingerprintOf, idempotent } from './idempotency.ts'
import { newId } from '../base/ids.ts'

let runs = 0
const gate: { wait: Promise<void> | null } = { wait: null }

const { db, sql } = await createTestDatabase()
const config = { scope: 'messages:write' } as const
const body = Type.Object({}, { additionalProperties: true })
const app = await buildTestApp(db, (app) => {
  app.post('/v1/things', { config, schema: { body } }, (request, reply) =>
    idempotent({ db, vault: testVault }, request, reply, async (tx) => {
      runs++
      await gate.wait
      const input = request.body as { fail?: boolean }
      await tx.query('insert into login_failures (subject, failures, last_at) values ($1, 1, now())', [newId()])
      if (input.fail) throw new ApiError('key_taken')
      return { status: 201, body: { run: runs, secret: 'whsec_shown_once' }, location: `/v1/things/${runs}` }
    }),
  )
  app.delete('/v1/things/:id', { config: { scope: 'messages:write' } }, (request, reply) =>
    idempotent({ db, vault: testVault }, request, reply, async () => {
      runs++
      return { status: 204 }
    }),
  )
})
const account = await createTestAccount(db)

const post = (payload: object, key?: string, url = '/v1/things', headers = account.headers) =>
  app.inject({
    method: 'POST',
    url,
    payload,
    headers: { ...headers, ...(key !== undefined && { 'idempotency-key': key }) },
  })

test('a repeated request gets the first response, with a mark', async () => {
  const first = await post({ a: 1, b: 2 }, 'k1')
  const again = await post({ b: 2, a: 1 }, '"k1"')
  expect(first.statusCode).toBe(201)
  expect(first.headers['idempotency-replayed']).toBeUndefined()
  expect([again.statusCode, again.body, again.headers['location']]).toEqual([
    201,
    first.body,
    first.headers['location'],
  ])
  expect(again.headers['idempotency-replayed']).toBe('true')
  expect(again.headers['x-request-id']).not.toBe(first.headers['x-request-id'])
})

test('another body with the same key is refused; another account has keys of its own', async () => {
  await post({ a: 1 }, 'k2')
  expect((await post({ a: 2 }, 'k2')).json()).toMatchObject({ status: 422, code: 'idempotency_key_reused' })
  const other = await createTestAccount(db)
  expect((await post({ a: 2 }, 'k2', '/v1/things', other.headers)).statusCode).toBe(201)
})

test('the same key on another resource of the route is another request', async () => {
  const remove = (id: string) =>
    app.inject({ method: 'DELETE', url: `/v1/things/${id}`, headers: { ...account.headers, 'idempotency-key': 'k4' } })
  expect((await remove('1')).statusCode).toBe(204)
  const again = await remove('1')
  expect([again.statusCode, again.body, again.headers['idempotency-replayed']]).toEqual([204, '', 'true'])
  expect((await remove('2')).json().code).toBe('idempotency_key_reused')
})

test('of a hundred at once, one runs; the others get a retry error or its response', async () => {
  const before = runs
  const answers = await Promise.all(Array.from({ length: 100 }, () => post({ storm: true }, 'storm')))
  expect(runs).toBe(before + 1)
  const done = answers.filter((answer) => answer.statusCode === 201)
  expect(new Set(done.map((answer) => answer.body)).size).toBe(1)
  for (const answer of answers.filter((answer) => answer.statusCode !== 201)) {
    expect(answer.json()).toMatchObject({ status: 409, code: 'idempotency_in_progress', retryable: true })
    expect(answer.headers['retry-after']).toBe('1')
  }
})

test('a second request gets an error while the first is running', async () => {
  let open = (): void => {}
  gate.wait = new Promise((resolve) => (open = resolve))
  const before = runs
  const first = post({ slow: true }, 'slow')
  await expect.poll(() => runs).toBe(before + 1)
  gate.wait = null
  expect((await post({ slow: true }, 'slow')).json().code).toBe('idempotency_in_progress')
  open()
  expect((await first).statusCode).toBe(201)
  expect((await post({ slow: true }, 'slow')).headers['idempotency-replayed']).toBe('true')
})

test('two that wait for each other are both done, one of them in a second try', async () => {
  await sql`insert into login_failures (subject, failures, last_at) values ('a', 0, now()), ('b', 0, now())`
  let tries = 0
  let isMet = (): void => {}
  const met = new Promise<void>((resolve) => (isMet = resolve))
  const touch = 'update login_failures set failures = failures + 1 where subject = $1'
  const twice = await buildTestApp(db, (one) => {
    one.post('/v1/touch/:first/:second', { config: { scope: 'messages:write' } }, (request, reply) =>
      idempotent({ db, vault: testVault }, request, reply, async (tx) => {
        const { first, second } = request.params as { first: string; second: string }
        await tx.query(touch, [first])
        if (++tries === 2) isMet()
        await met
        await tx.query(touch, [second])
        return { status: 204 }
      }),
    )
  })
  const ask = (path: string, key?: string) =>
    twice.inject({
      method: 'POST',
      url: `/v1/touch/${path}`,
      headers: { ...account.headers, ...(key !== undefined && { 'idempotency-key': key }) },
    })
  const answers = await Promise.all([ask('a/b'), ask('b/a', 'deadlock')])
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([204, 204])
  expect(tries).toBeGreaterThan(2)
  const rows = await sql`select failures from login_failures where subject in ('a', 'b')`
  expect(rows).toEqual([{ failures: 2 }, { failures: 2 }])
  await twice.close()
})

test('of two that take one name at the same moment, one gets an error that it is taken', async () => {
  let looked = 0
  let isMet = (): void => {}
  const met = new Promise<void>((resolve) => (isMet = resolve))
  const naming = await buildTestApp(db, (one) => {
    one.post('/v1/names', { config: { scope: 'messages:write' } }, (request, reply) =>
      idempotent({ db, vault: testVault }, request, reply, async (tx) => {
        const { rowCount } = await tx.query(`select 1 from login_failures where subject = 'name'`)
        if (++looked === 2) isMet()
        await met
        if (rowCount) throw new ApiError('key_taken')
        await tx.query(`insert into login_failures (subject, failures, last_at) values ('name', 0, now())`)
        return { status: 204 }
      }),
    )
  })
  const ask = () => naming.inject({ method: 'POST', url: '/v1/names', headers: account.headers })
  const answers = await Promise.all([ask(), ask()])
  expect(answers.map(({ statusCode }) => statusCode).toSorted((a, b) => a - b)).toEqual([204, 409])
  await naming.close()
})

test('a refused request leaves nothing, and can be corrected under its key', async () => {
  const count = async (): Promise<number> =>
    (await sql<{ n: number }>`select count(*) as n from login_failures`)[0]?.n ?? -1
  const before = await count()
  expect((await post({ fail: true }, 'k5')).json().code).toBe('key_taken')
  expect(await count()).toBe(before)
  expect((await post({ fail: false }, 'k5')).statusCode).toBe(201)
})

test.each([[''], [' '], ['a b'], ['"a b"'], ['é'], ['"'.padEnd(300, 'x')], ['x'.repeat(256)]])(
  'the key %j is refused',
  async (key) => {
    expect((await post({}, key)).json()).toMatchObject({ status: 400, code: 'invalid_header' })
  },
)

test('a key may have 255 characters', async () => {
  expect((await post({}, 'x'.repeat(255))).statusCode).toBe(201)
})

test('a stored secret cannot be read from the database', async () => {
  await post({}, 'sealed')
  const [row] = await sql<{ response: string }>`select response from idempotency_keys where key = 'sealed'`
  expect(row?.response.length).toBeGreaterThan(40)
  expect(Buffer.from(row?.response ?? '', 'base64').toString('latin1')).not.toContain('whsec')
})

test('a fingerprint ignores the order of members, and nothing else', () => {
  const shuffle = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(shuffle)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([name, item]) => [name, shuffle(item)]),
    )
  }
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      expect(fingerprintOf(a)).toEqual(fingerprintOf(shuffle(a)))
      if (fingerprintOf(a).equals(fingerprintOf(b)))
        expect(JSON.parse(JSON.stringify(a))).toEqual(JSON.parse(JSON.stringify(b)))
    }),
  )
})
