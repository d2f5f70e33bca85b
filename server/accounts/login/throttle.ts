/**
 * Failed logins slow the next ones down: for the pair of login name and network from the sixth on, for the network alone from the twenty-first.
 * Strangers come from many networks: for a name, and for a coarser network, attempts are counted from everywhere. A user is known where they
 * logged in during the last 90 days, by network or by device: they do not wait for strangers. Somebody who knows a password and guesses the
 * second factor is no stranger: those codes are so short that they are counted for the user from everywhere; recovery codes are not, so that
 * a thief of the password keeps nobody out. Counts are forgotten after a day of quiet.
 *
 * All counts are by name, and an address may be a user of several accounts: a count must not show who else has it. Somebody with a user of
 * that address must not have more guesses at the others for it either. So a user who is known shields only themselves: where the password is
 * none of theirs, the attempt is counted for the name before it is compared with the others', and their next login does not take that back.
 */
import { inTransaction, type Db, type Queryable } from '../../ground/db/db.ts'
import { ApiError } from '../../ground/base/errors.ts'
import { areaOf, networkOf } from '../../ground/base/network.ts'
import type { Vault } from '../../ground/sealing/vault.ts'

interface Rule {
  free: number
  delayMaxSeconds: number
}
const ofPair: Rule = { free: 5, delayMaxSeconds: 900 }
const ofAddress: Rule = { free: 20, delayMaxSeconds: 60 }
// A thousand networks with five tries each would have 5000 at a password; like this they have 1500 a day.
const ofLogin: Rule = { free: 50, delayMaxSeconds: 60 }
const ofArea: Rule = { free: 60, delayMaxSeconds: 120 }
// 100 guesses a day, of which three of a million are right: once in nine years.
const ofCodes: Rule = { free: 5, delayMaxSeconds: 900 }

/** An attempt that was let through; it counts as failed until `forgive` takes it back. */
export interface Attempt {
  pair: string
  /** What else it was counted for. */
  others: string[]
  /** Which of the users with that name are known there. */
  known: ReadonlySet<string>
  /** Counts it for the name from everywhere; false where that has to wait. */
  countAsStranger(): Promise<boolean>
}

/** Where an attempt comes from. */
export interface Origin {
  ip: string
  /** The user whose device it is, where it has proved so. */
  deviceOf?: string | null
}

/**
 * Counts an attempt before its password is checked, so that a thousand at once cannot all pass for the first.
 * `login` is the address or client id as typed; only keyed hashes are stored, because people type passwords there. `ids`: who has that name.
 * @throws ApiError `login_throttled` with the time to wait; a throttled attempt is not counted.
 */
export async function beginAttempt(
  db: Db,
  vault: Vault,
  login: string,
  { ip, deviceOf = null }: Origin,
  ids: readonly string[] = [login],
): Promise<Attempt> {
  const [network, name] = [networkOf(ip), foldLogin(login)]
  const known = await knownOf(db, vault, ids, network)
  if (deviceOf !== null && ids.includes(deviceOf)) known.add(deviceOf)
  const pair = subjectOf(vault, 'pair', `${name} ${network}`)
  const ofName = subjectOf(vault, 'login', name)
  const rules: [string, Rule][] =
    known.size > 0
      ? []
      : [
          [subjectOf(vault, 'address', network), ofAddress],
          [subjectOf(vault, 'area', areaOf(ip)), ofArea],
          [ofName, ofLogin],
        ]
  // What throws takes the other counts back. All attempts lock in this order.
  await inTransaction(db, async (tx) => {
    await count(tx, pair, ofPair)
    for (const [subject, rule] of rules) await count(tx, subject, rule)
  })
  return {
    pair,
    others: rules.map(([subject]) => subject),
    known,
    countAsStranger: () => isCounted(db, ofName, ofLogin),
  }
}

/** Takes an attempt back that succeeded: its pair starts again, the rest has one failure less. */
export async function forgive(db: Db, { pair, others }: Attempt): Promise<void> {
  await clear(db, pair)
  for (const subject of others) await takeBack(db, subject)
}

/** Has a user (or client) be known in a network; by primary key, and a write once a day at most. */
export async function rememberLogin(db: Queryable, vault: Vault, id: string, ip: string): Promise<void> {
  await db.query({
    name: 'remember-login',
    text: `
      insert into known_logins as k (subject, last_at)
      values ($1, now())
      on conflict (subject) do update
      set last_at = now()
      where k.last_at < now() - interval '1 day'`,
    values: [knownSubject(vault, id, networkOf(ip))],
  })
}

const knownSubject = (vault: Vault, id: string, network: string): string =>
  subjectOf(vault, 'known', `${foldLogin(id)} ${network}`)

/** By primary key. */
async function knownOf(db: Queryable, vault: Vault, ids: readonly string[], network: string): Promise<Set<string>> {
  const subjects = new Map(ids.map((id) => [knownSubject(vault, id, network), id]))
  const { rows } = await db.query<{ subject: string }>({
    name: 'find-known-logins',
    text: `select subject from known_logins where subject = any ($1::text[]) and last_at > now() - interval '90 days'`,
    values: [[...subjects.keys()]],
  })
  return new Set(rows.flatMap(({ subject }) => subjects.get(subject) ?? []))
}

/** Takes an attempt back that was neither right nor wrong: it was not looked at, or lacks a second factor. What was counted before it stays. */
export async function forget(db: Db, { pair, others }: Attempt): Promise<void> {
  for (const subject of [pair, ...others]) await takeBack(db, subject)
}

/** Does what shows whether an attempt is right; one that nobody could look at counts for nothing. */
export async function judged<T>(db: Db, attempt: Attempt, judge: () => Promise<T>): Promise<T> {
  try {
    return await judge()
  } catch (error) {
    // A database that is away takes nothing back either; it has been told.
    if (error instanceof ApiError && error.code === 'unavailable') await forget(db, attempt).catch(() => {})
    throw error
  }
}

/** Counts a code of a user's second factor before it is checked; returns what takes it back. @throws ApiError `login_throttled`. */
export async function beginCode(db: Queryable, vault: Vault, userId: string): Promise<() => Promise<void>> {
  const subject = subjectOf(vault, 'codes', userId)
  await count(db, subject, ofCodes)
  return () => clear(db, subject)
}

/** Without accents and case: to PostgreSQL `İ` is an `i`, to JavaScript one with a dot, and each spelling would have tries of its own. */
export const foldLogin = (login: string): string =>
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

/** One failure of a subject less, by primary key. Alone in its transaction: attempts lock several of these rows in an order of their own. */
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
async function count(db: Queryable, subject: string, rule: Rule): Promise<void> {
  if (await isCounted(db, subject, rule)) return
  const { rows } = await db.query<{ seconds: number }>({
    name: 'login-delay',
    text: `
      select ceil(extract(epoch from f.last_at + make_interval(secs => ${delayOf}) - now()))::float8 as seconds
      from login_failures f
      where f.subject = $1`,
    values: [subject, rule.free, rule.delayMaxSeconds],
  })
  throw new ApiError('login_throttled', { retryAfterSeconds: Math.max(1, rows[0]?.seconds ?? 1) })
}

async function isCounted(db: Queryable, subject: string, { free, delayMaxSeconds }: Rule): Promise<boolean> {
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
  return rowCount === 1
}

/** Seconds to wait from the last failure on, where the free ones are used up. */
const delayOf = `least(power(2, least(f.failures - $2::int, 20)), $3::int)`
