/**
 * Failed logins slow the next ones down: for the pair of account and network address from the sixth on, for the address alone from the
 * twenty-first. Never for the account alone: a stranger could then lock its owner out. Who knows a password and guesses the second factor
 * is no stranger: those codes are so short that they are counted for the user, wherever the guesses come from; recovery codes are not,
 * so that a thief of the password keeps nobody out. Counts are forgotten after a day of quiet.
 */
import { inTransaction, type Db, type Queryable } from '../../db/db.ts'
import { ApiError } from '../../errors.ts'
import { networkOf } from '../../network.ts'
import type { Vault } from '../../sealing/vault.ts'

interface Rule {
  free: number
  delayMaxSeconds: number
}
const ofPair: Rule = { free: 5, delayMaxSeconds: 900 }
const ofAddress: Rule = { free: 20, delayMaxSeconds: 60 }
// 100 guesses a day, of which three of a million are right: once in nine years.
const ofCodes: Rule = { free: 5, delayMaxSeconds: 900 }

/** An attempt that was let through; it counts as failed until `forgive` takes it back. */
export interface Attempt {
  pair: string
  address: string
}

/**
 * Counts an attempt before its password is checked, so that a thousand at once cannot all pass for the first.
 * `login` is the address or client id as typed; only keyed hashes are stored, because people type passwords there.
 * @throws ApiError `login_throttled` with the time to wait; a throttled attempt is not counted.
 */
export async function beginAttempt(db: Db, vault: Vault, login: string, ip: string): Promise<Attempt> {
  const network = networkOf(ip)
  const address = subjectOf(vault, 'address', network)
  const pair = subjectOf(vault, 'pair', `${foldLogin(login)} ${network}`)
  // What throws takes the other count back.
  await inTransaction(db, async (tx) => {
    await count(tx, pair, ofPair)
    await count(tx, address, ofAddress)
  })
  return { pair, address }
}

/** Takes an attempt back that succeeded: the pair starts anew, the address has one failure less. */
export async function forgive(db: Db, { pair, address }: Attempt): Promise<void> {
  await clear(db, pair)
  await takeBack(db, address)
}

/** Takes an attempt back that was neither right nor wrong: the second factor was not given. What was counted before it stays. */
export async function forget(db: Db, { pair, address }: Attempt): Promise<void> {
  await takeBack(db, pair)
  await takeBack(db, address)
}

/** Counts a code of a user's second factor before it is checked; returns what takes it back. @throws ApiError `login_throttled`. */
export async function beginCode(db: Queryable, vault: Vault, userId: string): Promise<() => Promise<void>> {
  const subject = subjectOf(vault, 'codes', userId)
  await count(db, subject, ofCodes)
  return () => clear(db, subject)
}

/** Without accents and case: to PostgreSQL `İ` is an `i`, to JavaScript one with a dot, and each spelling would have tries of its own. */
const foldLogin = (login: string): string =>
  login
    .normalize('NFKD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase()

const subjectOf = (vault: Vault, kind: string, value: string): string =>
  `${kind} ${vault.mac(`login ${kind}`, value).toString('base64url')}`

/** Forgets a subject, by primary key. */
async function clear(db: Queryable, subject: string): Promise<void> {
  await db.query({ name: 'clear-login', text: 'delete from login_failures where subject = $1', values: [subject] })
}

/** One failure of a subject less, by primary key. Alone in its transaction: attempts lock two of these rows in an order of their own. */
async function takeBack(db: Db, subject: string): Promise<void> {
  await db.query({
    name: 'take-login-back',
    text: `
      update login_failures
      set failures = greatest(failures - 1, 0)
      where subject = $1`,
    values: [subject],
  })
}

/**
 * One more failure of a subject, unless it has to wait; locks its row (primary key), so that attempts at the same time are counted one by
 * one: who waited for the row began before its `last_at`, which must not make a free attempt wait. The delay doubles with each failure beyond
 * the free ones.
 */
async function count(db: Queryable, subject: string, { free, delayMaxSeconds }: Rule): Promise<void> {
  const { rowCount } = await db.query({
    name: 'count-login',
    text: `
      insert into login_failures as f (subject, failures, last_at)
      values ($1, 1, now())
      on conflict (subject) do update
      set
        failures = case when f.last_at < now() - interval '1 day' then 1 else f.failures + 1 end,
        last_at = greatest(f.last_at, now())
      where f.failures < $2::int or f.last_at + make_interval(secs => ${delayOf}) <= now()`,
    values: [subject, free, delayMaxSeconds],
  })
  if (rowCount) return
  const { rows } = await db.query<{ seconds: number }>({
    name: 'login-delay',
    text: `
      select ceil(extract(epoch from f.last_at + make_interval(secs => ${delayOf}) - now()))::float8 as seconds
      from login_failures f
      where f.subject = $1`,
    values: [subject, free, delayMaxSeconds],
  })
  throw new ApiError('login_throttled', { retryAfterSeconds: Math.max(1, rows[0]?.seconds ?? 1) })
}

/** Seconds to wait from the last failure on, where the free ones are used up. */
const delayOf = `least(power(2, least(f.failures - $2::int, 20)), $3::int)`
