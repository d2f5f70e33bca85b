/**
 * Failed logins slow the next ones down: for a pair of login name and network from the sixth, for a network alone from the twenty-first.
 * Strangers use many networks, so attempts are also counted per name and per coarser network. A user is known on networks and devices of
 * the last 90 days, and does not wait for strangers there. A person who knows a password and guesses the second factor is not a stranger:
 * codes are so short that they are counted per user from everywhere. Recovery codes are not counted, so that a thief of the password locks
 * nobody out. Counts expire after a quiet day.
 *
 * All counts are by name, and an address may be a user of several accounts: a count must not reveal the others, and a user of that address
 * must not get more guesses at them. So a known user shields only themselves: if the password is not theirs, the attempt is counted for
 * the name before the comparison with the others', and their next login does not undo that.
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
// A thousand networks with five tries each would give 5000 guesses at a password; this limit allows 1500 a day.
const ofLogin: Rule = { free: 50, delayMaxSeconds: 60 }
const ofArea: Rule = { free: 60, delayMaxSeconds: 120 }
// 100 guesses a day, of which three in a million are right: once in nine years.
const ofCodes: Rule = { free: 5, delayMaxSeconds: 900 }

/** An attempt that was let through; it counts as failed until `forgive` undoes it. */
export interface Attempt {
  pair: string
  /** The other counts it is part of. */
  others: string[]
  /** The users of that name who are known here. */
  known: ReadonlySet<string>
  /** Counts it for the name from everywhere; false if that has to wait. */
  countAsStranger(): Promise<boolean>
}

export interface Origin {
  ip: string
  /** The user whose device has proved itself. */
  deviceOf?: string | null
}

/**
 * Counts an attempt before its password is checked, so that a thousand at once cannot all pass as the first. `login` is the address or
 * client id as typed; only keyed hashes are stored, because people type passwords there. `ids` are all users of that name. @throws
 * ApiError `login_throttled` with the time to wait; a throttled attempt is not counted.
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
  // A refusal rolls the other counts back. All attempts lock in this order.
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

/** Undoes a successful attempt: its pair restarts, the other counts lose one failure. */
export async function forgive(db: Db, { pair, others }: Attempt): Promise<void> {
  await clear(db, pair)
  for (const subject of others) await takeBack(db, subject)
}

/** Marks a user (or client) as known on a network; by primary key, with at most one write a day. */
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

/** Undoes an attempt without a result: it was not checked, or lacks a second factor. Earlier counts stay. */
export async function forget(db: Db, { pair, others }: Attempt): Promise<void> {
  for (const subject of [pair, ...others]) await takeBack(db, subject)
}

/** Runs the check; an attempt that could not be checked does not count. */
export async function judged<T>(db: Db, attempt: Attempt, judge: () => Promise<T>): Promise<T> {
  try {
    return await judge()
  } catch (error) {
    // Without a database the undo fails too, and the first error is reported anyway.
    if (error instanceof ApiError && error.code === 'unavailable') await forget(db, attempt).catch(() => {})
    throw error
  }
}

/** Counts a code of the second factor before its check; returns the undo. @throws ApiError `login_throttled`. */
export async function beginCode(db: Queryable, vault: Vault, userId: string): Promise<() => Promise<void>> {
  const subject = subjectOf(vault, 'codes', userId)
  await count(db, subject, ofCodes)
  return () => clear(db, subject)
}

/** Without accents and case: PostgreSQL folds `İ` to `i`, JavaScript to one with a dot, and each spelling would get its own tries. */
export const foldLogin = (login: string): string =>
  login
    .normalize('NFKD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase()

const subjectOf = (vault: Vault, kind: string, value: string): string =>
  `${kind} ${vault.mac(`login ${kind}`, value).toString('base64url')}`

/** By primary key. */
async function clear(db: Queryable, subject: string): Promise<void> {
  await db.query({ name: 'clear-login', text: 'delete from login_failures where subject = $1', values: [subject] })
}

/** Removes one failure, by primary key. Alone in its transaction: attempts lock several of these rows in their own order. */
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
 * Adds one failure, unless the subject has to wait. Locks its row (primary key), so that concurrent attempts are counted one by one. An
 * attempt that waited for the row began before its `last_at`, which must not delay a free attempt. The delay doubles with each failure
 * beyond the free ones.
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

/** Seconds to wait from the last failure, once the free ones are used up. */
const delayOf = `least(power(2, least(f.failures - $2::int, 20)), $3::int)`
