/** Logins and refreshes in flight while their password or secret changes, or their login ends. */
import { beforeEach, expect, test } from 'vitest'
import type { LightMyRequestResponse } from 'fastify'
import { inTransaction, type Tx } from '../../ground/db/db.ts'
import { createTestDatabase, untilBlocked } from '../../ground/db/testing.ts'
import { createKey, rotateKey } from '../keys.ts'
import { logIn, type Credentials } from './login.ts'
import { hashPassword } from './password.ts'
import { closeSession, endSessionsOf, refreshSession } from './session.ts'
import { findAccessToken } from '../store.ts'
import { buildAccountsApp, createTestAccount, createTestUser, testVault } from '../testing.ts'
import { hashToken } from '../token.ts'
import { setPassword } from '../users.ts'

const password = 'six mirrors on a hill'

const { db, sql } = await createTestDatabase()
beforeEach(() => sql`delete from login_failures`)

test('a login in progress does not outlive a change of its password', async () => {
  const { accountId } = await createTestAccount(db)
  const user = await createTestUser(db, accountId, { role: 'viewer', passwordHash: await hashPassword(password) })
  const token = await during({ kind: 'password', email: user.email, password }, async (tx) => {
    await setPassword(tx, accountId, user.userId, await hashPassword('seven mirrors on a hill'))
    await endSessionsOf(tx, accountId, user.userId)
  })
  expect(token).toBe(null)
})

test('a login in progress does not outlive the secret of its key', async () => {
  const { accountId } = await createTestAccount(db)
  const input = { name: 'x', mode: 'live' as const, scopes: ['settings:read'], expiresAt: null }
  const { row, secret } = await inTransaction(db, (tx) => createKey(tx, accountId, input))
  const credentials = { kind: 'client' as const, clientId: row.publicId, clientSecret: secret }
  expect(await during(credentials, (tx) => rotateKey(tx, accountId, row, 0))).toBe(null)
})

/** Sends a request whose password is changed after its check. */
async function askMeanwhile(
  method: 'PATCH' | 'DELETE',
  url: string,
  payload: object,
): Promise<{ answer: LightMyRequestResponse; passwordHash: string; hasTotp: boolean }> {
  const app = await buildAccountsApp(db)
  const { accountId } = await createTestAccount(db)
  const { userId, email, headers } = await createTestUser(db, accountId, {
    role: 'owner',
    passwordHash: await hashPassword(password),
  })
  await sql`update users set totp_since = now() where id = ${userId}`
  const wrong = { kind: 'password' as const, email, password: 'no' }
  await expect(logIn(db, testVault, wrong, { ip: '127.0.0.1' })).rejects.toMatchObject({ code: 'invalid_credentials' })
  const [asked] = await inTransaction(db, async (tx) => {
    await tx.query('select 1 from login_failures for key share')
    const asked = app.inject({ method, url, headers, payload })
    await untilBlocked(db, 1)
    await inTransaction(db, (other) => setPassword(other, accountId, userId, 'another'))
    return [asked]
  })
  const answer = await asked
  const [row] = await sql<{
    passwordHash: string
    hasTotp: boolean
  }>`select password_hash as "passwordHash", totp_since is not null as "hasTotp"
    from users where id = ${userId}`
  await app.close()
  return { answer, passwordHash: row?.passwordHash ?? '', hasTotp: row?.hasTotp ?? false }
}

test('a password that changes while it is checked has no effect any more', async () => {
  const change = { password: 'eight mirrors on a hill', current_password: password }
  const changed = await askMeanwhile('PATCH', '/v1/users/me', change)
  expect(changed.answer.json().errors).toMatchObject([{ pointer: '#/current_password', code: 'invalid_value' }])
  expect(changed.passwordHash).toBe('another')
  const disabled = await askMeanwhile('DELETE', '/v1/users/me/totp', { password })
  expect(disabled.answer.json().errors).toMatchObject([{ pointer: '#/password', code: 'invalid_value' }])
  expect(disabled.hasTotp).toBe(true)
})

for (const [what, end] of [
  ['a change of the password', 'change'],
  ['a logout', 'logout'],
] as const)
  test(`a refresh in progress does not outlive ${what}`, async () => {
    const { accountId } = await createTestAccount(db)
    const user = await createTestUser(db, accountId, { role: 'viewer' })
    const [refreshing, ending] = await inTransaction(db, async (tx) => {
      // New tokens wait for this lock through their foreign key.
      await tx.query('select 1 from accounts where id = $1 for update', [accountId])
      const refreshing = refreshSession(db, testVault, user.refreshToken)
      await untilBlocked(db, 1)
      const change = async (other: Tx): Promise<void> => {
        await setPassword(other, accountId, user.userId, 'another')
        await endSessionsOf(other, accountId, user.userId)
      }
      const ending = end === 'change' ? inTransaction(db, change) : closeSession(db, user.refreshToken)
      await untilBlocked(db, 2)
      return [[refreshing], [ending]]
    })
    const { accessToken } = (await refreshing[0]) ?? { accessToken: '' }
    await ending[0]
    expect(await isIn(accessToken)).toBe(false)
  })

const isIn = async (accessToken: string): Promise<boolean> => {
  const found = await findAccessToken(db, hashToken(accessToken))
  return found !== null && !found.isRevoked
}

/**
 * Blocks a login at its last step before the session, the deletion of its failed attempts, and runs `change` meanwhile. A failure comes
 * first, so that there is a row to hold: another count does not change its key and continues, but the deletion waits.
 */
async function during(credentials: Credentials, change: (tx: Tx) => Promise<unknown>): Promise<string | null> {
  const wrong: Credentials =
    credentials.kind === 'password' ? { ...credentials, password: 'no' } : { ...credentials, clientSecret: 'no' }
  await expect(logIn(db, testVault, wrong, { ip: '192.0.2.1' })).rejects.toMatchObject({ code: 'invalid_credentials' })
  const [login] = await inTransaction(db, async (tx) => {
    await tx.query('select 1 from login_failures for key share')
    const login = logIn(db, testVault, credentials, { ip: '192.0.2.1' }).catch(() => null)
    await untilBlocked(db, 1)
    await inTransaction(db, change)
    return [login]
  })
  return (await login)?.accessToken ?? null
}
