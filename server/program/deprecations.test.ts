import { afterAll, expect, test } from 'vitest'
import { buildTestApp, createTestAccount } from '../accounts/testing.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import { deprecationRoutes } from './deprecations-http.ts'
import { DeprecatedCalls, headersOfDeprecation } from './deprecations.ts'
import { silent } from '../messages/testing.ts'

const deprecated = {
  since: '2026-11-20',
  sunset: '2028-06-01',
  successor: '/v2/things',
  docs: 'https://example.com/migrate',
}

const database = await createTestDatabase()
const { db } = database
const calls = new DeprecatedCalls({ db, log: silent })
const app = await buildTestApp(
  db,
  (one) => {
    const schema = { operationId: 'listThings', summary: 'Old' }
    one.get('/v1/things/:id', { schema, config: { scope: 'messages:read', deprecated } }, () => ({ ok: true }))
    one.get('/v1/new', { config: { scope: 'messages:read' } }, () => ({ ok: true }))
    deprecationRoutes(one, { db, deprecatedCalls: calls })
  },
  { deprecatedCalls: calls },
)
const account = await createTestAccount(db)
afterAll(() => calls.close())

test('every response of a deprecated route, including a refusal, gives its dates and a replacement', async () => {
  for (const answer of [await ask('/v1/things/1'), await app.inject('/v1/things/1')]) {
    expect(answer.headers['deprecation']).toBe('@1795132800')
    expect(answer.headers['sunset']).toBe('Thu, 01 Jun 2028 00:00:00 GMT')
    expect(answer.headers['link']).toBe(
      '<https://example.com/migrate>; rel="deprecation"; type="text/html", ' +
        '<https://example.com/migrate>; rel="sunset"; type="text/html", </v2/things>; rel="successor-version"',
    )
  }
  expect((await ask('/v1/new')).headers['deprecation']).toBeUndefined()
})

test('a route is not removed before it is deprecated', () => {
  expect(() => headersOfDeprecation({ ...deprecated, sunset: '2026-11-19' })).toThrow(/2026-11-19/)
  expect(() => headersOfDeprecation({ ...deprecated, since: 'soon' })).toThrow(/soon/)
  const { sunset: _, successor: __, ...least } = deprecated
  expect(Object.keys(headersOfDeprecation(least))).toEqual(['deprecation', 'link'])
})

test('only the account is shown which of its keys still call it', async () => {
  const mine = await createTestAccount(database.db)
  const other = await createTestAccount(database.db)
  for (let n = 0; n < 3; n++) await ask('/v1/things/1', mine)
  await ask('/v1/things/1', other)
  await calls.write()
  await ask('/v1/things/2', mine)
  await calls.write()
  const [shown] = await report(mine)
  expect(shown).toMatchObject({
    object: 'deprecation',
    operation: 'listThings',
    method: 'GET',
    path: '/v1/things/{id}',
    ...deprecated,
    callers: [{ credential: expect.stringMatching(/^key_/), calls: 4 }],
  })
  expect(shown.callers).toHaveLength(1)
  expect(Date.parse(shown.callers[0].last_called_at)).toBeGreaterThanOrEqual(
    Date.parse(shown.callers[0].first_called_at),
  )
  expect((await report(other))[0].callers).toMatchObject([{ calls: 1 }])
  expect((await report(await createTestAccount(database.db)))[0].callers).toEqual([])
})

test('calls cost one statement per write, and none is lost if that fails', async () => {
  const mine = await createTestAccount(database.db)
  let isAway = true
  const statements: string[] = []
  const db = new Proxy(database.db, {
    get(target, name) {
      if (name !== 'query') return Reflect.get(target, name, target) as unknown
      return (statement: { name: string }) => {
        statements.push(statement.name)
        if (isAway) return Promise.reject(Object.assign(new Error('away'), { code: '57P01' }))
        return target.query(statement as never)
      }
    },
  })
  const own = new DeprecatedCalls({ db, log: silent })
  const caller = { accountId: mine.accountId, kind: 'key', id: mine.keyId, userId: null, mode: 'live' } as const
  const note = (): void => own.note({ ...caller, scopes: new Set() }, 'listThings')
  for (let n = 0; n < 1000; n++) note()
  await own.write()
  note()
  isAway = false
  await own.close()
  await own.close()
  expect(statements).toEqual(['note-deprecated-calls', 'note-deprecated-calls'])
  expect((await report(mine))[0].callers).toMatchObject([{ calls: 1001 }])
})

test('the OpenAPI document marks it', () => {
  const { paths } = app.swagger() as unknown as { paths: Record<string, { get: { deprecated?: boolean } }> }
  expect(paths['/v1/things/{id}']?.get.deprecated).toBe(true)
  expect(paths['/v1/deprecations']?.get.deprecated).toBeUndefined()
})

const ask = (url: string, { headers } = account) => app.inject({ url, headers })
const report = async (from = account) => (await ask('/v1/deprecations', from)).json().data
