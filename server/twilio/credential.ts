import { randomBytes } from 'node:crypto'
import { denied } from '../accounts/authenticate.ts'
import { basicOf } from '../accounts/login/basic.ts'
import { senderCountryColumn } from '../accounts/store.ts'
import { KnownCallers } from '../accounts/known-callers.ts'
import { hashToken } from '../accounts/token.ts'
import type { Db, Queryable, Tx } from '../ground/db/db.ts'
import { ApiError } from '../ground/base/errors.ts'
import type { Caller } from '../ground/http/http.ts'
import { newId } from '../ground/base/ids.ts'
import { parseSid, twilioTokenPurpose } from '../post/twilio-words.ts'
import type { Vault } from '../ground/sealing/vault.ts'

/** A credential without its token. */
export interface TwilioCredentialRow {
  id: string
  name: string
  mode: 'live' | 'test'
  createdAt: Date
  lastUsedAt: Date | null
}

const columns = `id, name, mode, created_at as "createdAt", last_used_at as "lastUsedAt"`

/** Per account: a pair to rotate, and some spare. */
export const twilioCredentialsMax = 10

/** Creates a credential; returns null at the limit. `token` has 32 hexadecimal digits, as at Twilio, and is shown once. */
export async function createTwilioCredential(
  tx: Tx,
  vault: Vault,
  accountId: string,
  { name, mode }: { name: string; mode: 'live' | 'test' },
): Promise<{ row: TwilioCredentialRow; token: string } | null> {
  const id = newId()
  const token = randomBytes(16).toString('hex')
  const sealed = vault.seal(token, twilioTokenPurpose(accountId, id))
  // Two at once may exceed the limit by one, which does no harm.
  const { rows } = await tx.query<TwilioCredentialRow>(
    `insert into twilio_credentials (account_id, id, name, mode, token_hash, token_sealed)
     select $1, $2, $3, $4, $5, $6
     where (select count(*) from twilio_credentials where account_id = $1 and revoked_at is null) < $7
     returning ${columns}`,
    [accountId, id, name, mode, hashToken(token), sealed, twilioCredentialsMax],
  )
  return rows[0] ? { row: rows[0], token } : null
}

/** The active credentials of an account, oldest first; by primary key. */
export async function listTwilioCredentials(db: Queryable, accountId: string): Promise<TwilioCredentialRow[]> {
  const { rows } = await db.query<TwilioCredentialRow>(
    `select ${columns}
     from twilio_credentials
     where account_id = $1
       and revoked_at is null
     order by id`,
    [accountId],
  )
  return rows
}

/** Revokes a credential and locks its row; null if there is none. */
export async function revokeTwilioCredential(
  tx: Tx,
  accountId: string,
  id: string,
): Promise<TwilioCredentialRow | null> {
  const { rows } = await tx.query<TwilioCredentialRow>(
    `update twilio_credentials
     set revoked_at = now()
     where account_id = $1
       and id = $2
       and revoked_at is null
     returning ${columns}`,
    [accountId, id],
  )
  return rows[0] ?? null
}

// The permissions of an auth token, which has no scopes.
const scopes: ReadonlySet<string> = new Set(['messages:read', 'messages:read_body', 'messages:write'])

/** Authenticates HTTP Basic callers by account sid and auth token. One per process; sees another node's revocations within five seconds. */
export interface TwilioAuthenticator {
  /** @throws ApiError (also by rejection) `missing_token`, `invalid_token` or `account_suspended`. */
  authenticate(authorization: string | undefined, ip: string, refuse: () => void): Caller | Promise<Caller>
  /** Empties the cache; call this after a revocation. */
  forget(): void
}

export function openTwilioAuthenticator(db: Db): TwilioAuthenticator {
  const callers = new KnownCallers<Caller>(async (header) => {
    const { clientId, clientSecret } = credentialsOf(header)
    return { known: await findCaller(db, clientId, clientSecret), expiresInMs: null }
  })
  return {
    authenticate(authorization = '', _ip, refuse) {
      // A request without credentials is refused without a query, and does not count as a try.
      credentialsOf(authorization)
      return callers.find(authorization, refuse)
    },
    forget: () => callers.forget(),
  }
}

function credentialsOf(authorization: string): { clientId: string; clientSecret: string } {
  const basic = basicOf(authorization)
  if (!basic) throw denied('missing_token', 'Send the account sid and the auth token with HTTP Basic.')
  return basic
}

/** By the unique hash; records the last use, to the minute. */
async function findCaller(db: Db, sid: string, token: string): Promise<Caller> {
  const { rows } = await db.query<{
    accountId: string
    id: string
    mode: 'live' | 'test'
    status: string
    apiPerSecond: number | null
    defaultCountry: string | null
    senderCountry: string | null
    isStale: boolean
  }>(
    `select c.account_id as "accountId", c.id, c.mode, a.status, a.api_per_second::float8 as "apiPerSecond",
       a.settings ->> 'default_country' as "defaultCountry", ${senderCountryColumn},
       c.last_used_at is null or c.last_used_at < now() - interval '1 minute' as "isStale"
     from twilio_credentials c
     join accounts a on a.id = c.account_id
     where c.token_hash = $1
       and c.revoked_at is null`,
    [hashToken(token)],
  )
  const found = rows[0]
  if (!found || parseSid('AC', sid) !== found.accountId) throw denied('invalid_token', 'There is no such credential.')
  if (found.status !== 'active') throw new ApiError('account_suspended')
  if (found.isStale)
    await db.query(`update twilio_credentials set last_used_at = now() where account_id = $1 and id = $2`, [
      found.accountId,
      found.id,
    ])
  const { accountId, id, mode, apiPerSecond, defaultCountry, senderCountry } = found
  return { accountId, kind: 'key', id, userId: null, mode, scopes, apiPerSecond, defaultCountry, senderCountry }
}
