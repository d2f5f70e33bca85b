/**
 * Failed logins slow the next ones down: for the pair of account and network address from the sixth on, for the address alone from the
 * twenty-first. Never for the account alone: a stranger could then lock its owner out. Counts are forgotten after a day of quiet.
 */
import type { Db } from '../db/db.ts'
import { ApiError } from '../errors.ts'
import type { Vault } from '../secrets.ts'

interface Rule {
  free: number
  delayMaxSeconds: number
}
const ofPair: Rule = { free: 5, delayMaxSeconds: 900 }
const ofAddress: Rule = { free: 20, delayMaxSeconds: 60 }

/** An attempt that was let through; it counts as failed until it is `forgiven`. */
export interface Attempt {
  subjects: string[]
}

/**
 * Counts an attempt before its password is checked, so that a thousand at once cannot all pass for the first.
 * `login` is the address or client id as typed; only keyed hashes are stored, because people type passwords there.
 * @throws ApiError `login_throttled` with the time to wait; a throttled attempt is not counted.
 */
export async function beginAttempt(db: Db, vault: Vault, login: string, ip: string): Promise<Attempt> {
  const subject = (kind: string, value: string): string =>
    `${kind} ${vault.mac(`login ${kind}`, value).toString('base64url')}`
  const network = networkOf(ip)
  const address = subject('address', network)
  const pair = subject('pair', `${login.toLowerCase()} ${network}`)
  await count(db, address, ofAddress)
  await count(db, pair, ofPair)
  return { subjects: [address, pair] }
}

/** Takes an attempt back that succeeded: the pair starts anew, the address has one failure less. Locks the two rows. */
export async function forgive(db: Db, { subjects: [address, pair] }: Attempt): Promise<void> {
  await db.query({
    name: 'forgive-login',
    text: `
      with forgiven as (delete from login_failures where subject = $2)
      update login_failures
      set failures = greatest(failures - 1, 0)
      where subject = $1`,
    values: [address, pair],
  })
}

/**
 * One more failure of a subject, unless it has to wait; locks its row (primary key), so that attempts at the same time are counted one by
 * one. The delay doubles with each failure beyond the free ones.
 */
async function count(db: Db, subject: string, { free, delayMaxSeconds }: Rule): Promise<void> {
  const { rowCount } = await db.query({
    name: 'count-login',
    text: `
      insert into login_failures as f (subject, failures, last_at)
      values ($1, 1, now())
      on conflict (subject) do update
      set
        failures = case when f.last_at < now() - interval '1 day' then 1 else f.failures + 1 end,
        last_at = now()
      where f.last_at + make_interval(secs => ${delayOf}) <= now()`,
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

const delayOf = `(case when f.failures < $2::int then 0 else least(power(2, least(f.failures - $2::int, 20)), $3::int) end)`

/** The network that one party can be expected to hold: an IPv4 address, or the /64 of an IPv6 one. */
function networkOf(ip: string): string {
  if (!ip.includes(':') || ip.includes('.')) return ip.replace(/^::ffff:/i, '')
  const [head = '', tail] = ip.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail ? tail.split(':') : []
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length
  return [...left, ...Array.from({ length: zeros }, () => '0'), ...right].slice(0, 4).join(':')
}
