/** An address with users in several accounts: whether that shows, and whether one user can affect the others. */
import { beforeEach, expect, test } from 'vitest'
import { newId } from '../../ground/base/ids.ts'
import { createTestAccount, testVault, accountsWorld } from '../testing.ts'
import { deviceHeader, nameDevice, readDevice } from './device.ts'

const password = 'six mirrors on a hill'
const other = 'seven lamps in a cave'

const { db, sql, app, post } = await accountsWorld({ trustedProxies: ['127.0.0.1'] })
beforeEach(async () => {
  await sql`delete from login_failures`
  await sql`delete from known_logins`
})

test('all responses to an invitation are the same, whether another account has the address or not', async () => {
  const taken = newAddress()
  await join(taken, other)
  const shapes: unknown[][] = []
  for (const email of [taken, newAddress()]) {
    const { invited, accepted } = await join(email, password, '203.0.113.5')
    const answers = [invited, accepted, await logIn(email, 'wrong', '203.0.113.5'), await logIn(email, password)]
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([201, 200, 401, 200])
    shapes.push(answers.map(shapeOf))
  }
  expect(shapes[0]).toEqual(shapes[1])
})

test('a login costs one hash, however many accounts have the address', async () => {
  const email = newAddress()
  for (const chosen of [password, other, password]) await join(email.toUpperCase(), chosen)
  await join(email, other)
  const { rows } = await db.query<{ made: string }>(
    `select distinct substring(password_hash from '^.*\\$') as made from users where lower(email) = $1`,
    [email],
  )
  expect(rows).toHaveLength(1)
})

test('each password leads to its account, and one of several accounts to the one that set it last', async () => {
  const email = newAddress()
  const first = await join(email, password)
  const second = await join(email, other)
  expect(await userOf(logIn(email, password))).toBe(first.user)
  expect(await userOf(logIn(email, other))).toBe(second.user)
  const third = await join(email, password)
  expect(await userOf(logIn(email, password))).toBe(third.user)
  const { headers } = { headers: { authorization: `Bearer ${third.accepted.json().access_token}` } }
  const change = { password: 'eight boats at the quay', current_password: password }
  expect((await app.inject({ method: 'PATCH', url: '/v1/users/me', payload: change, headers })).statusCode).toBe(200)
  expect(await userOf(logIn(email, password))).toBe(first.user)
  await sql`update users set status = 'disabled' where account_id = ${first.account}`
  expect(await userOf(logIn(email, password))).toBe('invalid_credentials')
})

test('a user of an address gets no extra guesses at its other users, and sees no difference', async () => {
  const seen: string[][] = []
  for (const hasOther of [true, false]) {
    await sql`delete from login_failures`
    const email = newAddress()
    if (hasOther) await join(email, other, '198.51.100.1')
    const own = await join(email, password, '203.0.113.5')
    const told: string[] = []
    for (let i = 0; i < 4; i++) told.push(await userOf(logIn(email, `guess ${i}`, '203.0.113.5')))
    // The user is known here, so the count of the pair restarts. The count of the name continues.
    expect(await userOf(logIn(email, password, '203.0.113.5'))).toBe(own.user)
    const rows = await sql<{ kind: string; failures: number }>`select split_part(subject, ' ', 1) as kind, failures
      from login_failures`
    told.push(JSON.stringify(rows))
    expect(rows).toEqual([{ kind: 'login', failures: 4 }])
    // With the guesses used up, the right password is refused from this address and delayed elsewhere.
    await useUp()
    expect(await userOf(logIn(email, other, '203.0.113.5'))).toBe('invalid_credentials')
    expect(await userOf(logIn(email, other, '203.0.113.99'))).toBe('login_throttled')
    seen.push(told)
    // The other user is not delayed on a known network.
    if (hasOther) expect((await logIn(email, other, '198.51.100.1')).statusCode).toBe(200)
  }
  expect(seen[0]).toEqual(seen[1])
})

test('a device with an earlier login does not wait for strangers on a new network, and shields no other device', async () => {
  const email = newAddress()
  const { user, accepted } = await join(email, password)
  const word = String(accepted.headers[deviceHeader])
  await logIn(email, 'x', '198.51.100.1')
  await useUp()
  expect(await userOf(logIn(email, password, '203.0.113.1'))).toBe('login_throttled')
  const forged = word.replace(/^usr_\w+/, accepted.json().account.id.replace('acc', 'usr'))
  for (const wrong of [forged, `${word}x`, '', nameDevice(testVault, newId())])
    expect(await userOf(logIn(email, password, '203.0.113.1', { [deviceHeader]: wrong }))).toBe('login_throttled')
  const again = await logIn(email, password, '203.0.113.1', { [deviceHeader]: word })
  expect(again.json().user.id).toBe(user)
  expect(readDevice(testVault, String(again.headers[deviceHeader]))).not.toBeNull()
})

const newAddress = (): string => `${newId()}@example.com`

/** Invites an address to a new account and accepts; returns both responses. */
async function join(email: string, chosen: string, ip = '192.0.2.1') {
  const account = await createTestAccount(db)
  const invited = await post('/v1/users/invitations', { email, role: 'viewer' }, account.headers)
  const accepted = await post(
    '/v1/auth/accept-invitation',
    { code: invited.json().code, password: chosen },
    { 'x-forwarded-for': ip },
  )
  return { account: account.accountId, invited, accepted, user: accepted.json().user.id as string }
}

const logIn = (email: string, chosen: string, ip = '192.0.2.1', headers: Record<string, string> = {}) =>
  post('/v1/auth/login', { email, password: chosen }, { 'x-forwarded-for': ip, ...headers })
const userOf = async (answer: ReturnType<typeof logIn>): Promise<string> => {
  const body = (await answer).json()
  return body.user?.id ?? body.code
}

/** Delays a name as if strangers had made fifty attempts. */
const useUp = () =>
  sql`update login_failures set failures = 50, last_at = now() + interval '1 hour' where subject like 'login %'`

/** A response without the values that differ each time. */
const shapeOf = ({ statusCode, body, headers }: { statusCode: number; body: string; headers: object }) => ({
  statusCode,
  headers: Object.keys(headers).toSorted(),
  body: body.replace(/"(?:\w+_[0-9a-z]{26}|hg_\w+|[^"@]+@example\.com|\d{4}-[^"]+Z)"/g, '""'),
})
