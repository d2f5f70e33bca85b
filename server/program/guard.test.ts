import { once } from 'node:events'
import { request as openRequest, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { openAuthenticator } from '../accounts/authenticate.ts'
import { accountRoutes } from '../accounts/http.ts'
import { buildTestApp, createTestAccount, testSettings, testVault } from '../accounts/testing.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import type { App } from '../ground/http/http.ts'
import { until } from '../../test/until.ts'

const { db } = await createTestDatabase()
const authenticator = openAuthenticator(db)
const routes = { db, vault: testVault, authenticator, settings: testSettings }

/** Accounts whose response has not ended. */
const reading = new Set<string>()

const register = async (one: App): Promise<void> => {
  await accountRoutes(one, routes)
  one.get('/v1/endless', { config: { scope: 'contacts:read' } }, ({ caller }, reply) =>
    reply.send(Readable.from(endless(caller.accountId))),
  )
}
const app = await buildTestApp(db, register, { authenticator })
await app.listen({ port: 0, host: '127.0.0.1' })

async function* endless(accountId: string): AsyncGenerator<string> {
  reading.add(accountId)
  try {
    for (;;) yield await new Promise<string>((resolve) => setTimeout(() => resolve('a piece\n'), 20))
  } finally {
    reading.delete(accountId)
  }
}

// Each waits for seconds.
it.concurrent.each([
  ['was revoked', 'revoked_at = now()', 401, 'invalid_token'],
  ['has lost the scope', `scopes = '{keys:read}'`, 403, 'insufficient_scope'],
  ['is not of that network any more', `ip_allow = '{192.0.2.0/24}'`, 403, 'ip_not_allowed'],
])('a request does nothing if its key %s while its body arrived', async (_, change, status, code) => {
  expect(await makeKeySlowly(change)).toEqual({ status, code, made: 0 })
})

it.concurrent('a request continues if its key expired while its body arrived, but creates no key that outlives it', async () => {
  expect(await makeKeySlowly('expires_at = now()')).toEqual({ status: 422, code: 'validation_failed', made: 0 })
})

it.concurrent.each([
  ['was revoked', 'revoked_at = now()'],
  ['has lost a scope, by which more may have been in it,', `scopes = '{contacts:read}'`],
])('a streamed response breaks off when its key %s', async (_, change) => {
  const account = await createTestAccount(db)
  const { port } = app.server.address() as AddressInfo
  const answer = await fetch(`http://127.0.0.1:${port}/v1/endless`, { headers: account.headers })
  expect(answer.status).toBe(200)
  const broken = expect(answer.text()).rejects.toThrow()
  expect(reading).toContain(account.accountId)
  await db.query(`update api_keys set ${change} where id = $1`, [account.keyId])
  authenticator.forget()
  await broken
  await until('nothing more is read', () => !reading.has(account.accountId))
})

/** Creates a key by a request whose body ends a second after `change`, which happens once the caller is let in. */
async function makeKeySlowly(change: string): Promise<{ status: number | undefined; code: unknown; made: number }> {
  const { accountId, keyId, headers: own } = await createTestAccount(db)
  const { port } = app.server.address() as AddressInfo
  const headers = { ...own, 'content-type': 'application/json' }
  const request = openRequest({ port, method: 'POST', path: '/v1/api-keys', headers })
  const answered = once(request, 'response') as Promise<[IncomingMessage]>
  request.write('{"name":"Planted",')
  // Recorded with the look-up.
  await until('the caller is let in', async () => {
    const { rowCount } = await db.query('select from api_keys where id = $1 and last_used_at is not null', [keyId])
    return rowCount === 1
  })
  const from = performance.now()
  await db.query(`update api_keys set ${change} where account_id = $1 and id = $2`, [accountId, keyId])
  authenticator.forget()
  await until('the body takes a second', () => performance.now() - from > 1100)
  request.end('"expires_at":null}')
  const [answer] = await answered
  const { code } = JSON.parse(Buffer.concat(await answer.toArray()).toString()) as { code?: unknown }
  const { rowCount: made } = await db.query(`select from api_keys where account_id = $1 and name = 'Planted'`, [
    accountId,
  ])
  return { status: answer.statusCode, code, made: made ?? 0 }
}
