import { Secret, TOTP } from 'otpauth'
import { beforeEach, expect, test } from 'vitest'
import { hashPassword } from './password.ts'
import { createTestAccount, createTestUser, type TestUser, accountsWorld } from '../testing.ts'

const password = 'a long enough one'

const { db, sql, app, ask } = await accountsWorld()
const accountId = (await createTestAccount(db)).accountId
const passwordHash = await hashPassword(password)
beforeEach(() => sql`delete from login_failures`)

test('a second factor is prepared, confirmed, required at login, and turned off', async () => {
  const user = await newUser()
  const begun = await ask('POST', '/v1/users/me/totp', user, { password })
  expect(begun.json()).toMatchObject({ object: 'totp', secret: expect.stringMatching(/^[A-Z2-7]{32}$/) })
  const url = new URL(begun.json().otpauth_url)
  expect([url.protocol, url.searchParams.get('secret'), url.searchParams.get('issuer')]).toEqual([
    'otpauth:',
    begun.json().secret,
    'Heliogram',
  ])
  expect(decodeURIComponent(url.pathname)).toContain(user.email)
  // A prepared factor is not on.
  expect((await ask('GET', '/v1/users/me', user)).json()).toMatchObject({ totp: false, recovery_codes_left: 0 })
  expect((await logIn(user)).statusCode).toBe(200)
  const { secret, codes } = await enable(user)
  expect(new Set(codes).size).toBe(10)
  expect((await ask('GET', '/v1/users/me', user)).json()).toMatchObject({ totp: true, recovery_codes_left: 10 })
  expect((await logIn(user)).json()).toMatchObject({ status: 401, code: 'otp_required' })
  expect((await logIn(user, { recovery_code: codes[0] })).statusCode).toBe(200)
  expect((await ask('DELETE', '/v1/users/me/totp', user, { otp: codeAt(secret, 1) })).statusCode).toBe(204)
  expect((await logIn(user)).statusCode).toBe(200)
  expect((await ask('DELETE', '/v1/users/me/totp', user, { password })).json().code).toBe('totp_not_in_state')
})

test.each([
  ['the same code', [0, 0, 0]],
  ['codes that are right one after the other', [0, 1, -1]],
])('of several who confirm at once with %s, one gets recovery codes, and those work', async (_, steps) => {
  const user = await newUser()
  const { secret } = (await ask('POST', '/v1/users/me/totp', user, { password })).json()
  const answers = await Promise.all(
    steps.map((step) => ask('POST', '/v1/users/me/totp/confirm', user, { otp: codeAt(secret, step) })),
  )
  const [winner, ...others] = answers.toSorted((a, b) => a.statusCode - b.statusCode)
  expect(others.map((answer) => answer.json().code)).toEqual(['totp_not_in_state', 'totp_not_in_state'])
  expect((await ask('GET', '/v1/users/me', user)).json().recovery_codes_left).toBe(10)
  const [code] = winner?.json().recovery_codes ?? []
  expect((await logIn(user, { recovery_code: code })).statusCode).toBe(200)
})

test('the factor is requested only after the right password', async () => {
  const user = await newUser()
  const { secret } = await enable(user)
  const answers = [
    await logIn(user, { password: 'a wrong one' }),
    await logIn(user, { password: 'a wrong one', otp: codeAt(secret, 1) }),
    await app.inject({ method: 'POST', url: '/v1/auth/login', payload: { email: 'nobody@example.com', password } }),
  ]
  for (const answer of answers) expect(answer.json()).toMatchObject({ status: 401, code: 'invalid_credentials' })
})

test('a new secret starts with all codes and recovery codes unspent', async () => {
  const user = await newUser()
  const { secret, codes: old } = await enable(user)
  expect((await ask('DELETE', '/v1/users/me/totp', user, { otp: codeAt(secret, 1) })).statusCode).toBe(204)
  const { codes } = await enable(user)
  expect((await ask('GET', '/v1/users/me', user)).json()).toMatchObject({ totp: true, recovery_codes_left: 10 })
  expect((await logIn(user, { recovery_code: old[0] })).json().code).toBe('invalid_otp')
  expect((await logIn(user, { recovery_code: codes[0] })).statusCode).toBe(200)
})

// Retried, because a step may end meanwhile.
test('a code works one step early and late, and no step works twice', { retry: 3 }, async () => {
  const user = await newUser()
  const { secret } = await enable(user, -1)
  // The confirmation spent the step before.
  expect((await logIn(user, { otp: codeAt(secret, -1) })).json().code).toBe('invalid_otp')
  expect((await logIn(user, { otp: codeAt(secret, -2) })).json().code).toBe('invalid_otp')
  const now = codeAt(secret, 0)
  const both = await Promise.all([logIn(user, { otp: now }), logIn(user, { otp: now })])
  expect(both.map((answer) => answer.statusCode).toSorted((a, b) => a - b)).toEqual([200, 401])
  const early = codeAt(secret, 1)
  expect((await logIn(user, { otp: `${early.slice(0, 3)} ${early.slice(3)}` })).statusCode).toBe(200)
  // Steps before an accepted one are spent too.
  expect((await logIn(user, { otp: now })).json().code).toBe('invalid_otp')
  expect((await logIn(user, { otp: codeAt(secret, 3) })).json().code).toBe('invalid_otp')
})

test('a recovery code works once, in any spelling', async () => {
  const user = await newUser()
  const { codes } = await enable(user)
  const [one = '', two = ''] = codes
  expect((await logIn(user, { recovery_code: one.toUpperCase().replaceAll('-', ' ') })).statusCode).toBe(200)
  expect((await logIn(user, { recovery_code: one })).json().code).toBe('invalid_otp')
  expect((await ask('GET', '/v1/users/me', user)).json().recovery_codes_left).toBe(9)
  expect((await ask('DELETE', '/v1/users/me/totp', user, { recovery_code: two })).statusCode).toBe(204)
  expect((await logIn(user, { recovery_code: codes[2] })).statusCode).toBe(200)
})

test('wrong codes slow down the next ones from everywhere, but recovery codes still work', async () => {
  const user = await newUser()
  const { secret, codes } = await enable(user)
  const from = (n: number, more: object) =>
    app.inject({
      method: 'POST',
      url: '/v1/auth/login',
      payload: { email: user.email, password, ...more },
      remoteAddress: `203.0.113.${n}`,
    })
  for (let i = 0; i < 5; i++) expect((await from(i, { otp: '000000' })).json().code).toBe('invalid_otp')
  const answer = await from(10, { otp: codeAt(secret, 1) })
  expect([answer.statusCode, answer.json().code]).toEqual([429, 'login_throttled'])
  expect((await from(11, { recovery_code: codes[0] })).statusCode).toBe(200)
})

test('a right code clears the wrong ones before it', async () => {
  const user = await newUser()
  const { secret } = await enable(user)
  const guess = async (): Promise<string> => (await logIn(user, { otp: '000000' })).json().code
  for (let i = 0; i < 4; i++) expect(await guess()).toBe('invalid_otp')
  expect((await logIn(user, { otp: codeAt(secret, 1) })).statusCode).toBe(200)
  // On a slow machine, the wait would be over already.
  await sql`update login_failures set last_at = now() + interval '1 hour'`
  for (let i = 0; i < 4; i++) expect(await guess()).toBe('invalid_otp')
})

test('a login without its code is not a failure, and gives no extra guesses', async () => {
  const user = await newUser()
  await enable(user)
  for (let i = 0; i < 8; i++) expect((await logIn(user)).json().code).toBe('otp_required')
  for (let i = 0; i < 4; i++) await logIn(user, { password: 'wrong' })
  expect((await logIn(user)).json().code).toBe('otp_required')
  await logIn(user, { password: 'wrong' })
  expect((await logIn(user)).json().code).toBe('login_throttled')
})

test('a factor cannot be set up from a stale session, nor twice, nor by a key', async () => {
  const user = await newUser()
  expect((await ask('POST', '/v1/users/me/totp', user, { password: 'wrong' })).json().errors).toEqual([
    { pointer: '#/password', code: 'invalid_value', detail: 'is not your password' },
  ])
  expect((await ask('POST', '/v1/users/me/totp/confirm', user, { otp: '123456' })).json().code).toBe(
    'totp_not_in_state',
  )
  await enable(user)
  expect((await ask('POST', '/v1/users/me/totp', user, { password })).json().code).toBe('totp_not_in_state')
  for (const body of [{}, { otp: '12345' }, { otp: '123456', password }])
    expect((await ask('DELETE', '/v1/users/me/totp', user, body)).statusCode).toBe(422)
  const { headers } = await createTestAccount(db)
  expect((await app.inject({ url: '/v1/users/me', headers })).json().code).toBe('user_required')
})

test('the database holds neither secrets nor recovery codes in plain form', async () => {
  const user = await newUser()
  const { secret, codes } = await enable(user)
  const rows = await sql`select u::text, array(select r::text from recovery_codes r
    where r.user_id = u.id) as codes,
      array(select a::text from audit_events a where a.actor_id = u.id) as audit
    from users u where id = ${user.userId}`
  const text = JSON.stringify(rows)
  expect(text).toContain('user.totp_enabled')
  for (const one of [secret, Buffer.from(secret).toString('hex'), ...codes]) expect(text).not.toContain(one)
})

test('the OAuth endpoint takes the code too', async () => {
  const user = await newUser()
  const { secret } = await enable(user)
  const token = (more: object) =>
    app.inject({
      method: 'POST',
      url: '/v1/oauth/token',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({ grant_type: 'password', username: user.email, password, ...more }).toString(),
    })
  expect((await token({})).json()).toMatchObject({
    error: 'invalid_grant',
    error_description: expect.stringMatching(/otp_required/),
  })
  expect((await token({ otp: codeAt(secret, 1) })).statusCode).toBe(200)
})

const logIn = (user: TestUser, more: object = {}) =>
  app.inject({ method: 'POST', url: '/v1/auth/login', payload: { email: user.email, password, ...more } })
const codeAt = (secret: string, steps: number): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + steps * 30_000 })
const newUser = (): Promise<TestUser> => createTestUser(db, accountId, { role: 'viewer', passwordHash })

/** Confirms with the code of a step; the code of the next step stays unused, even if a step ends meanwhile. */
async function enable(user: TestUser, step = 0): Promise<{ secret: string; codes: string[] }> {
  const { secret } = (await ask('POST', '/v1/users/me/totp', user, { password })).json()
  const confirmed = await ask('POST', '/v1/users/me/totp/confirm', user, { otp: codeAt(secret, step) })
  expect(confirmed.statusCode).toBe(200)
  return { secret, codes: confirmed.json().recovery_codes }
}
