import { readFileSync } from 'node:fs'
import { Secret, TOTP } from 'otpauth'
import { beforeEach, expect, test } from 'vitest'
import { newId } from '../../ground/base/ids.ts'
import { createTestAccount, createTestUser, accountsWorld } from '../testing.ts'
import { hashPassword } from './password.ts'

const password = 'six mirrors on a hill'

const { db, sql, app, post } = await accountsWorld()
const { accountId, headers: key } = await createTestAccount(db)
const passwordHash = await hashPassword(password)
beforeEach(() => sql`delete from login_failures`)

test('an act that gives access requires a login’s password again after an hour, however often it was refreshed', async () => {
  expect((await makeKey((await refreshedAfter(59)).headers)).statusCode).toBe(201)
  const { headers } = await refreshedAfter(61)
  const refused = await makeKey(headers)
  expect(refused.json()).toMatchObject({ status: 401, code: 'insufficient_user_authentication' })
  // RFC 9470 §3.
  expect(refused.headers['www-authenticate']).toMatch(
    /^Bearer .*error="insufficient_user_authentication".*max_age="3600"$/,
  )
  expect((await app.inject({ url: '/v1/api-keys', headers })).statusCode).toBe(200)
  const before = Date.now()
  const confirmed = await confirm(headers, { password })
  expect(confirmed.json()).toMatchObject({ object: 'confirmation' })
  expect(Math.abs(Date.parse(confirmed.json().confirmed_until) - before - 3_600_000)).toBeLessThan(60_000)
  expect((await makeKey(headers)).statusCode).toBe(201)
})

test('refreshing a confirmed login keeps it confirmed, but no other login of the same person', async () => {
  const { email, headers, refreshToken } = await refreshedAfter(61)
  const other = bearer(await post('/v1/auth/login', { email, password }))
  await sql`update tokens set confirmed_at = now() - interval '2 hours'
    where user_id = (select id from users where email = ${email})`
  expect((await confirm(headers, { password })).statusCode).toBe(200)
  expect((await makeKey(other)).statusCode).toBe(401)
  const next = bearer(await post('/v1/auth/refresh', { refresh_token: refreshToken }))
  expect((await makeKey(next)).statusCode).toBe(201)
})

test('an invalid body is reported before the password is requested', async () => {
  const { headers } = await refreshedAfter(61)
  const answer = await post('/v1/api-keys', { name: '', scopes: ['all'] }, headers)
  expect(answer.statusCode).toBe(422)
})

test('neither a key nor a login with one is asked for a password', async () => {
  expect((await makeKey(key)).statusCode).toBe(201)
  const secret = key.authorization.replace('Bearer ', '')
  const pair = await post('/v1/auth/login', { client_id: secret.split('_')[2], client_secret: secret })
  await sql`update tokens set confirmed_at = now() - interval '1 year'`
  expect((await makeKey(bearer(pair))).statusCode).toBe(201)
  expect((await confirm(bearer(pair), { password })).json().code).toBe('user_required')
})

test('a wrong password confirms nothing, and is throttled like a login', async () => {
  const { headers } = await refreshedAfter(61)
  const answers = []
  for (let n = 0; n < 7; n++) answers.push(await confirm(headers, { password: `wrong ${newId()}` }))
  expect(answers[0]?.json().errors).toMatchObject([{ pointer: '#/password' }])
  expect(answers.at(-1)?.json().code).toBe('login_throttled')
  expect((await makeKey(headers)).statusCode).toBe(401)
})

test('a user with a second factor must present it too', async () => {
  const { headers } = await refreshedAfter(61)
  const { secret } = (await post('/v1/users/me/totp', { password }, headers)).json()
  const codeAt = (steps: number): string =>
    new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + steps * 30_000 })
  await post('/v1/users/me/totp/confirm', { otp: codeAt(0) }, headers)
  expect((await confirm(headers, { password })).json().code).toBe('otp_required')
  expect((await confirm(headers, { password, otp: '000000' })).json().code).toBe('invalid_otp')
  expect((await makeKey(headers)).statusCode).toBe(401)
  expect((await confirm(headers, { password, otp: codeAt(1) })).statusCode).toBe(200)
  expect((await makeKey(headers)).statusCode).toBe(201)
})

test('a login that has ended cannot be confirmed', async () => {
  const { headers } = await refreshedAfter(61)
  await post('/v1/auth/logout', {}, headers)
  expect((await confirm(headers, { password })).json().code).toBe('invalid_token')
})

test('every act that gives access requires confirmation', () => {
  const document = JSON.parse(readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8')) as {
    paths: Record<string, Record<string, { operationId: string; description?: string }>>
  }
  const asking = Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .filter(({ description }) => description?.includes('A login must confirm its password'))
    .map(({ operationId }) => operationId)
  expect(asking.toSorted()).toMatchInlineSnapshot(`
    [
      "closeAccount",
      "createAccount",
      "createAccountApiKey",
      "createApiKey",
      "createInvitation",
      "createSmppCredential",
      "createTwilioCredential",
      "createWebhook",
      "deleteUser",
      "rotateApiKey",
      "rotateCallbackSecret",
      "rotateSmppPassword",
      "rotateWebhookSecret",
      "updateApiKey",
      "updateSmppCredential",
      "updateUser",
      "updateWebhook",
    ]
  `)
})

type Headers = { authorization: string }
const bearer = (answer: { json(): { access_token: string } }): Headers => ({
  authorization: `Bearer ${answer.json().access_token}`,
})
const makeKey = (headers: Headers) => post('/v1/api-keys', { name: 'Key', scopes: ['messages:read'] }, headers)
const confirm = (headers: Headers, body: object) => post('/v1/users/me/confirm', body, headers)

/** A user who logged in some minutes ago and has refreshed the login since. */
async function refreshedAfter(minutes: number): Promise<{ email: string; headers: Headers; refreshToken: string }> {
  const { email, userId } = await createTestUser(db, accountId, { role: 'owner', passwordHash })
  const pair = (await post('/v1/auth/login', { email, password })).json()
  await sql`update tokens set confirmed_at = now() - make_interval(mins => ${minutes}) where user_id = ${userId}`
  const next = await post('/v1/auth/refresh', { refresh_token: pair.refresh_token })
  return { email, headers: bearer(next), refreshToken: next.json().refresh_token }
}
