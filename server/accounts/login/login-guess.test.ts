/** Guessing at logins: the answers reveal little, and the number of guesses is limited. */
import { beforeEach, expect, test } from 'vitest'
import { inTransaction } from '../../ground/db/db.ts'
import { createTestDatabase } from '../../ground/db/testing.ts'
import { newId } from '../../ground/base/ids.ts'
import { logIn, type Credentials } from './login.ts'
import { hashPassword, isPassword } from './password.ts'
import { createTestAccount, createTestUser, testVault } from '../testing.ts'
import { beginAttempt, beginCode, forget, forgive, rememberLogin } from './throttle.ts'

const { db, sql } = await createTestDatabase()
beforeEach(async () => {
  await sql`delete from login_failures`
  await sql`delete from known_logins`
})

test('all spellings that find a user are counted as one', async () => {
  const letters = Array.from({ length: 0x1_ffff - 0x80 }, (_, i) => String.fromCodePoint(i + 0x80)).filter((one) =>
    one.isWellFormed(),
  )
  const rows = await sql<{ spelling: string; found: string }>`select spelling, lower(spelling) as found
    from unnest(${letters}::text[]) as s (spelling) where lower(spelling) ~ '^[a-z]$'`
  for (const { spelling, found } of [...rows, { spelling: 'A', found: 'a' }]) {
    const network = newId()
    const of = async (name: string): Promise<string> =>
      (await beginAttempt(db, testVault, `${name}da@example.com`, { ip: network })).pair
    expect([spelling, await of(spelling)]).toEqual([spelling, await of(found)])
  }
})

const median = (times: number[]): number => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0

test('a login fails in the same time and words, whether the user exists or not', { retry: 2 }, async () => {
  const { accountId } = await createTestAccount(db)
  const passwordHash = await hashPassword('six mirrors on a hill')
  const [plain, disabled, second] = [
    await createTestUser(db, accountId, { role: 'viewer', passwordHash }),
    await createTestUser(db, accountId, { role: 'viewer', passwordHash }),
    await createTestUser(db, accountId, { role: 'viewer', passwordHash }),
  ]
  await sql`update users set status = 'disabled' where id = ${disabled.userId}`
  await sql`update users set totp_sealed = '', totp_since = now() where id = ${second.userId}`
  const password = 'seven mirrors on a hill'
  const kinds: Record<string, () => Credentials> = {
    nobody: () => ({ kind: 'password', email: `${newId()}@example.com`, password }),
    'a user': () => ({ kind: 'password', email: plain.email, password }),
    'a disabled user': () => ({ kind: 'password', email: disabled.email, password: 'six mirrors on a hill' }),
    'a user with a second factor': () => ({ kind: 'password', email: second.email, password, otp: '123456' }),
  }
  const times = new Map<string, number[]>()
  const faults = new Set<string>()
  // Interleaved, so that other load affects all kinds equally; the first round is a warm-up.
  for (let round = 0; round < 12; round++)
    for (const [name, credentials] of Object.entries(kinds)) {
      const startMs = performance.now()
      // An address for each login avoids throttling.
      await logIn(db, testVault, credentials(), { ip: `198.51.${round}.${times.size}` }).catch((error: unknown) =>
        faults.add(JSON.stringify(error)),
      )
      const ms = performance.now() - startMs
      times.set(name, round === 0 ? [] : [...(times.get(name) ?? []), ms])
    }
  expect(faults.size).toBe(1)
  const medians = [...times.values()].map(median)
  expect(Math.max(...medians) / Math.min(...medians)).toBeLessThan(1.5)
})

const tryFrom = (ip: string, login = 'ada@example.com') => beginAttempt(db, testVault, login, { ip })
const failures = async (kind: string): Promise<number> => {
  const [row] = await sql<{ n: number }>`select coalesce(max(failures), 0) as n from login_failures
    where subject like ${`${kind} %`}`
  return row?.n ?? 0
}

/** Adds an hour to the waits: those of a second would be over before a slow machine tries again. */
const lengthenWaits = () => sql`update login_failures set last_at = now() + interval '1 hour'`

test('an attempt that has to wait is not counted', async () => {
  for (let i = 0; i < 5; i++) await tryFrom('192.0.2.1')
  await lengthenWaits()
  for (let i = 0; i < 30; i++) await expect(tryFrom('192.0.2.1')).rejects.toMatchObject({ code: 'login_throttled' })
  expect([await failures('pair'), await failures('address')]).toEqual([5, 5])
  // Other users behind the same address are not affected.
  await tryFrom('192.0.2.1', 'grace@example.com')
})

test('an address that tries many names has to wait, but the names do not', async () => {
  for (let i = 0; i < 20; i++) await tryFrom('192.0.2.1', `user${i}@example.com`)
  await lengthenWaits()
  await expect(tryFrom('192.0.2.1', 'user99@example.com')).rejects.toMatchObject({ code: 'login_throttled' })
  expect(await failures('pair')).toBe(1)
  for (let i = 0; i < 20; i++) await tryFrom('203.0.113.7', `user${i}@example.com`)
})

test('logins that succeed, or lack a code, are not counted, however many come from one address', async () => {
  for (let i = 0; i < 25; i++) {
    await forgive(db, await tryFrom('192.0.2.1', `user${i}`))
    await forget(db, await tryFrom('192.0.2.1', `other${i}`))
  }
  expect([await failures('pair'), await failures('address')]).toEqual([0, 0])
})

test('failures are forgotten after a quiet day, and not before', async () => {
  const quietFor = (time: string) => sql`update login_failures set last_at = now() - ${time}::interval`
  for (let i = 0; i < 5; i++) await tryFrom('192.0.2.1')
  await quietFor('23 hours')
  await tryFrom('192.0.2.1')
  expect([await failures('pair'), await failures('address')]).toEqual([6, 6])
  await quietFor('25 hours')
  await tryFrom('192.0.2.1')
  expect([await failures('pair'), await failures('address')]).toEqual([1, 1])
})

test('an IPv6 network counts as one address, and an IPv4 address in IPv6 form as that address', async () => {
  for (let i = 0; i < 5; i++) await tryFrom(`2001:db8:1:2:${i}::1`)
  await lengthenWaits()
  await expect(tryFrom('2001:db8:1:2::ffff')).rejects.toMatchObject({ code: 'login_throttled' })
  await tryFrom('2001:db8:1:3::1')
  for (let i = 0; i < 5; i++) await tryFrom('192.0.2.9')
  await lengthenWaits()
  await expect(tryFrom('::ffff:192.0.2.9')).rejects.toMatchObject({ code: 'login_throttled' })
})

test('many attempts of one pair, right and wrong at once, are counted one by one', async () => {
  await tryFrom('192.0.2.1', 'b@example.com')
  await lengthenWaits()
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, async (_, i) => {
      const attempt = await tryFrom('192.0.2.1', i % 2 ? 'a@example.com' : 'b@example.com')
      if (i % 2) await forgive(db, attempt)
    }),
  )
  const wrong = results.filter((result, i) => i % 2 === 0 && result.status === 'fulfilled')
  expect(wrong.length).toBeLessThanOrEqual(4)
  for (const result of results)
    if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'login_throttled' })
})

test('a free attempt does not wait because a later one was counted first', async () => {
  const userId = newId()
  await inTransaction(db, async (tx) => {
    await tx.query('select now()')
    await beginCode(db, testVault, userId)
    await expect(beginCode(tx, testVault, userId)).resolves.toBeTypeOf('function')
  })
})

test('strangers from many networks wait for each other, by name and by neighboring networks', async () => {
  for (let i = 0; i < 50; i++) await tryFrom(`198.51.${i}.1`)
  await lengthenWaits()
  await expect(tryFrom('203.0.113.1')).rejects.toMatchObject({ code: 'login_throttled' })
  await tryFrom('203.0.113.1', 'grace@example.com')
  for (let i = 0; i < 60; i++) await tryFrom(`192.0.2.${i}`, `user${i}@example.com`)
  await lengthenWaits()
  await expect(tryFrom('192.0.2.200', 'user99@example.com')).rejects.toMatchObject({ code: 'login_throttled' })
  await tryFrom('192.0.3.1', 'user99@example.com')
})

test('a person who logged in from a network recently does not wait for strangers there or elsewhere', async () => {
  await forgive(db, await tryFrom('192.0.2.1'))
  await rememberLogin(db, testVault, 'ada@example.com', '192.0.2.1')
  for (let i = 0; i < 49; i++) await tryFrom(`198.51.${i}.1`)
  for (let i = 0; i < 20; i++) await tryFrom('192.0.2.1', `user${i}@example.com`)
  await lengthenWaits()
  expect(await tryFrom('192.0.2.1')).toMatchObject({ known: new Set(['ada@example.com']) })
  await sql`update known_logins set last_at = now() - interval '91 days'`
  await expect(tryFrom('192.0.2.1')).rejects.toMatchObject({ code: 'login_throttled' })
})

test('strangers who fill the password queue block neither known users nor SMPP, and unchecked passwords are not failures', async () => {
  const { accountId } = await createTestAccount(db)
  const password = 'six mirrors on a hill'
  const { email } = await createTestUser(db, accountId, { role: 'owner', passwordHash: await hashPassword(password) })
  const login = (ip: string): Promise<unknown> => logIn(db, testVault, { kind: 'password', email, password }, { ip })
  await login('192.0.2.1')
  const strangers = Array.from({ length: 34 }, () => isPassword('x', null, 'stranger').catch(() => {}))
  await expect(login('203.0.113.9')).rejects.toMatchObject({ code: 'unavailable' })
  expect([await failures('pair'), await failures('login')]).toEqual([0, 0])
  const order: string[] = []
  const note = (name: string) => () => void order.push(name)
  await Promise.all([
    login('192.0.2.1').then(note('known')),
    isPassword('x', null, 'smpp known').then(note('smpp')),
    Promise.all(strangers).then(note('strangers')),
  ])
  expect(order.at(-1)).toBe('strangers')
  await login('203.0.113.9')
})
