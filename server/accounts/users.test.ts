import { beforeEach, expect, test } from 'vitest'
import { inTransaction } from '../ground/db/db.ts'
import { untilBlocked } from '../ground/db/testing.ts'
import { scopes } from '../ground/http/http.ts'
import { newId, showId } from '../ground/base/ids.ts'
import { openAuthenticator } from './authenticate.ts'
import { expireCredentials } from './expire.ts'
import { hashPassword } from './login/password.ts'
import { roles, type Role } from './roles.ts'
import { createTestAccount, createTestUser, type TestUser, accountsWorld, type Caller } from './testing.ts'

const password = 'six mirrors on a hill'

const { db, sql, ask, post } = await accountsWorld()
beforeEach(() => sql`delete from login_failures`)

test('an invited user gets a code that is shown once, chooses a password and is logged in', async () => {
  const { owner, accountId } = await people()
  const made = await invite(owner, 'sender', 'Ada@example.com')
  expect(made.statusCode).toBe(201)
  const { id, code, ...shown } = made.json()
  expect(shown).toMatchObject({ object: 'invitation', email: 'Ada@example.com', role: 'sender' })
  expect(Date.parse(shown.expires_at) - Date.parse(shown.created_at)).toBe(7 * 86_400_000)
  const list = await ask('GET', '/v1/users/invitations', owner)
  expect(list.json().data).toEqual([{ id, ...shown }])
  const short = await accept(code, 'too short')
  expect(short.json().errors).toMatchObject([{ pointer: '#/password', code: 'too_short' }])
  const pair = await accept(code)
  expect(pair.json()).toMatchObject({ user: { email: 'Ada@example.com', role: 'sender' } })
  const ada = { headers: { authorization: `Bearer ${pair.json().access_token}` } }
  expect((await ask('GET', '/v1/users/me', ada)).json()).toMatchObject({ email: 'Ada@example.com', totp: false })
  expect((await post('/v1/auth/login', { email: 'ada@example.com', password })).statusCode).toBe(200)
  // A code works once.
  expect((await accept(code)).json()).toMatchObject({ status: 401, code: 'invalid_invitation' })
  expect((await ask('GET', '/v1/users/invitations', owner)).json().data).toEqual([])
  const [row] = await sql<{ text: string }>`select (select json_agg(i) from invitations i
    where account_id = ${accountId})::text
    || (select json_agg(a) from audit_events a where account_id = ${accountId})::text as text`
  expect(row?.text).toContain('user.created')
  expect(row?.text).not.toContain(code)
})

test('an invitation ends with another for the same address, a withdrawal, a week, or its inviter', async () => {
  const { owner, admin, accountId } = await people()
  const email = `${newId()}@example.com`
  const codes: string[] = []
  codes.push((await invite(owner, 'viewer', email)).json().code)
  const second = (await invite(owner, 'viewer', email.toUpperCase())).json()
  codes.push(second.code)
  const url = `/v1/users/invitations/${second.id}`
  expect((await ask('DELETE', url, owner)).statusCode).toBe(204)
  expect((await ask('DELETE', url, owner)).statusCode).toBe(404)
  const old = (await invite(owner, 'viewer')).json()
  await sql`update invitations set expires_at = now() where account_id = ${accountId} and email = ${old.email}`
  codes.push(old.code, (await invite(admin, 'viewer')).json().code)
  expect((await ask('PATCH', at(admin), owner, { role: 'developer' })).statusCode).toBe(200)
  codes.push((await invite(owner, 'viewer')).json().code.replace(/.$/, '-'), 'x')
  for (const code of codes) expect((await accept(code)).json().code, code).toBe('invalid_invitation')
  await sql`update invitations set expires_at = now() - interval '31 days' where account_id = ${accountId}`
  await expireCredentials(db)
  expect((await sql`select from invitations where account_id = ${accountId}`).length).toBe(0)
})

test('a wrong code gets the same response for every request, and the invitation provides the address', async () => {
  const [here, there] = [await people(), await people()]
  const { code } = (await invite(here.owner, 'viewer', there.sender.email)).json()
  const used = (await invite(here.owner, 'viewer')).json().code
  expect((await accept(used)).statusCode).toBe(200)
  for (const one of [used, code.replace(/.$/, '-'), 'x'])
    for (const email of [there.sender.email, 'nobody@example.com'])
      expect((await post('/v1/auth/accept-invitation', { code: one, password, email })).json().code).toBe(
        'invalid_invitation',
      )
  expect((await post('/v1/auth/accept-invitation', { code, password, email: 'x@example.com' })).statusCode).toBe(422)
})

test('of two who accept with one code at once one succeeds, and members are not invited again', async () => {
  const here = await people()
  expect((await invite(here.owner, 'viewer', here.sender.email.toUpperCase())).json().code).toBe('user_exists')
  const { code } = (await invite(here.owner, 'viewer')).json()
  const both = await Promise.all([accept(code), accept(code)])
  expect(both.map((answer) => answer.statusCode).toSorted((a, b) => a - b)).toEqual([200, 401])
})

test.each([
  ['owner', ['owner', 'admin', 'developer', 'sender', 'viewer']],
  ['admin', ['admin', 'developer', 'sender', 'viewer']],
  ['developer', []],
  ['sender', []],
  ['viewer', []],
  ['key', ['admin', 'developer', 'sender', 'viewer']],
] as const)('a caller with the role %s may create %j', async (role, allowed) => {
  const all = await people()
  const made: Role[] = []
  for (const wanted of roles) if ((await invite(all[role], wanted)).statusCode === 201) made.push(wanted)
  expect(made).toEqual(allowed)
})

test('a key creates no user with more rights than its own', async () => {
  const some = await createTestAccount(db, {
    scopes: [
      'users:write',
      ...scopes.filter((scope) => /^(messages|campaigns|contacts|events|settings|profile):/.test(scope)),
    ],
  })
  expect((await invite(some, 'sender')).statusCode).toBe(201)
  expect((await invite(some, 'developer')).json()).toMatchObject({ status: 403, code: 'role_not_allowed' })
})

test('users cannot promote themselves, admins cannot change owners, and the last owner stays', async () => {
  const { owner, admin, viewer, developer, key } = await people()
  const codeOf = async (caller: Caller, user: TestUser, change: object): Promise<string> => {
    const answer = await ask('PATCH', at(user), caller, change)
    return answer.statusCode === 200 ? 'done' : answer.json().code
  }
  expect(await codeOf(admin, admin, { role: 'owner' })).toBe('role_not_allowed')
  expect(await codeOf(admin, admin, { role: 'viewer' })).toBe('role_not_allowed')
  expect(await codeOf(admin, viewer, { role: 'owner' })).toBe('role_not_allowed')
  expect(await codeOf(admin, owner, { role: 'viewer' })).toBe('role_not_allowed')
  expect(await codeOf(key, owner, { status: 'disabled' })).toBe('role_not_allowed')
  expect((await ask('DELETE', at(owner), admin)).json().code).toBe('role_not_allowed')
  expect(await codeOf(developer, viewer, { role: 'sender' })).toBe('insufficient_scope')
  expect(await codeOf(owner, owner, { role: 'viewer' })).toBe('role_not_allowed')
  expect(await codeOf(admin, viewer, { role: 'sender' })).toBe('done')
  expect(await codeOf(owner, viewer, { role: 'owner' })).toBe('done')
  expect(await codeOf(owner, viewer, { status: 'disabled' })).toBe('done')
  // The other owner is disabled, so this one is the last.
  expect((await ask('DELETE', at(owner), owner)).json().code).toBe('role_not_allowed')
})

test('of two owners who remove each other at once, one remains', async () => {
  const { owner, accountId } = await people()
  const other = await createTestUser(db, accountId, { role: 'owner' })
  const answers = await Promise.all([ask('DELETE', at(other), owner), ask('DELETE', at(owner), other)])
  expect(answers.map((answer) => answer.statusCode).filter((status) => status === 204)).toHaveLength(1)
  const { rowCount } = await db.query(
    `select from users where account_id = $1 and role = 'owner' and status = 'active'`,
    [accountId],
  )
  expect(rowCount).toBe(1)
})

test('an owner who was just disabled but is still cached cannot change the last one', async () => {
  const { owner, accountId } = await people()
  const other = await createTestUser(db, accountId, { role: 'owner' })
  expect((await ask('GET', '/v1/users', other)).statusCode).toBe(200)
  await sql`update users set status = 'disabled' where id = ${other.userId}`
  const answer = await ask('PATCH', at(owner), other, { role: 'viewer' })
  expect(answer.json()).toMatchObject({ status: 401, code: 'invalid_token' })
  expect((await ask('GET', '/v1/users/me', owner)).json()).toMatchObject({ role: 'owner' })
})

test('an owner who is disabled while waiting cannot remove the last one', async () => {
  const { owner, accountId } = await people()
  const other = await createTestUser(db, accountId, { role: 'owner' })
  const [asked] = await inTransaction(db, async (tx) => {
    await tx.query(`update users set status = 'disabled' where id = $1`, [other.userId])
    const answer = ask('PATCH', at(owner), other, { role: 'viewer' }).then((one) => one.json())
    await untilBlocked(db, 1, '%from users%for update%')
    return [answer]
  })
  expect(await asked).toMatchObject({ status: 409, code: 'last_owner' })
})

test('only a caller with the same rights changes the operator', async () => {
  const { owner, admin, accountId } = await people()
  const operator = await createTestUser(db, accountId, { role: 'admin' })
  await sql`update users set is_operator = true where id = ${operator.userId}`
  for (const caller of [owner, admin])
    expect((await ask('DELETE', at(operator), caller)).json().code).toBe('role_not_allowed')
})

test('a disabled, changed or removed user loses access at once, and old tokens do not restore it', async () => {
  const { owner, sender, viewer, developer } = await people()
  const me = async (user: TestUser): Promise<number> => (await ask('GET', '/v1/users/me', user)).statusCode
  const refresh = (user: TestUser) => post('/v1/auth/refresh', { refresh_token: user.refreshToken })
  for (const user of [sender, viewer, developer]) expect(await me(user)).toBe(200)
  expect((await ask('PATCH', at(sender), owner, { status: 'disabled' })).json().status).toBe('disabled')
  expect((await ask('PATCH', at(viewer), owner, { role: 'sender' })).json().role).toBe('sender')
  expect((await ask('DELETE', at(developer), owner)).statusCode).toBe(204)
  for (const user of [sender, viewer, developer]) {
    expect(await me(user)).toBe(401)
    expect((await refresh(user)).json().code).toBe('invalid_token')
  }
  expect((await ask('PATCH', at(sender), owner, { status: 'active' })).statusCode).toBe(200)
  expect(await me(sender)).toBe(401)
  expect((await ask('GET', at(developer), owner)).statusCode).toBe(404)
})

test('a change of password requires the old one and ends the other logins', async () => {
  const { accountId } = await people()
  const passwordHash = await hashPassword(password)
  const user = await createTestUser(db, accountId, { role: 'viewer', passwordHash })
  const other = (await post('/v1/auth/login', { email: user.email, password })).json()
  const change = (current: string, next: string) =>
    ask('PATCH', '/v1/users/me', user, { password: next, current_password: current })
  const next = 'seven mirrors on a hill'
  expect((await change('wrong', next)).json().errors).toMatchObject([{ pointer: '#/current_password' }])
  expect((await change(password, 'passwordpassword')).json().errors).toMatchObject([
    { pointer: '#/password', code: 'invalid_value' },
  ])
  const changed = await change(password, next)
  expect(changed.json()).toMatchObject({ object: 'user', email: user.email })
  expect((await ask('GET', '/v1/users/me', user)).statusCode).toBe(200)
  const ended = { headers: { authorization: `Bearer ${other.access_token}` } }
  expect((await ask('GET', '/v1/users/me', ended)).json().code).toBe('invalid_token')
  expect((await post('/v1/auth/refresh', { refresh_token: other.refresh_token })).json().code).toBe('invalid_token')
  expect((await post('/v1/auth/refresh', { refresh_token: user.refreshToken })).statusCode).toBe(200)
  expect((await post('/v1/auth/login', { email: user.email, password: next })).statusCode).toBe(200)
  const [row] = await sql<{ text: string }>`select json_agg(a)::text as text from audit_events a
    where actor_id = ${user.userId}`
  expect(row?.text).toContain('user.password_changed')
  expect(row?.text).not.toContain('mirrors')
  // A stolen token must not allow many password guesses.
  for (let i = 0; i < 5; i++) await change('wrong', next)
  expect((await change('wrong', next)).json().code).toBe('login_throttled')
})

test('a token never exceeds its user’s current rights', async () => {
  const { admin } = await people()
  expect((await ask('GET', '/v1/users', admin)).statusCode).toBe(200)
  await sql`update users set role = 'viewer' where id = ${admin.userId}`
  const authenticator = openAuthenticator(db)
  const caller = await authenticator.authenticate(admin.headers.authorization, '192.0.2.1')
  expect([caller.scopes.has('users:read'), caller.scopes.has('messages:read'), caller.userId]).toEqual([
    false,
    true,
    admin.userId,
  ])
})

const at = ({ userId }: { userId: string }): string => `/v1/users/${showId('usr', userId)}`
const invite = (caller: Caller, role: Role, email = `${newId()}@example.com`) =>
  ask('POST', '/v1/users/invitations', caller, { email, role })
const accept = (code: string, chosen = password) => post('/v1/auth/accept-invitation', { code, password: chosen })

/** An account with a user of each role; the first owner, from createTestAccount, is disabled. */
async function people(): Promise<Record<Role, TestUser> & { accountId: string; key: Caller }> {
  const account = await createTestAccount(db)
  await sql`update users set status = 'disabled' where id = ${account.userId}`
  const entries = await Promise.all(
    roles.map(async (role) => [role, await createTestUser(db, account.accountId, { role })] as const),
  )
  return { ...(Object.fromEntries(entries) as Record<Role, TestUser>), accountId: account.accountId, key: account }
}
