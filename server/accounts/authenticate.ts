import { Batcher } from '../ground/base/batch.ts'
import type { Db } from '../ground/db/db.ts'
import { ApiError, type ErrorCode } from '../ground/base/errors.ts'
import type { Caller } from '../ground/http/http.ts'
import { KnownCallers } from './known-callers.ts'
import { allowNetworks, notFrom, type NetworkTest } from './networks.ts'
import { findAccessToken, findKeys, isSecretOf, type Credential, type GivenKey } from './store.ts'
import { hashToken, readToken } from './token.ts'

/** One per process. */
export interface Authenticator {
  /**
   * Returns the caller behind an Authorization header and a network address, without a promise if it is cached. `isSure` skips the cache.
   * @throws ApiError (also by rejection) `missing_token`, `invalid_token`, `expired_token`, `account_suspended` or `ip_not_allowed`.
   */
  authenticate(authorization: string | undefined, ip: string, isSure?: boolean): Caller | Promise<Caller>
  /** Clears the cache: call it after every revocation here. Other processes follow within five seconds. */
  forget(): void
}

interface Known {
  caller: Caller
  isAllowedFrom: NetworkTest
}

/** Expiry uses the database's clock. `refuse` runs before the look-up of a token that was not accepted recently, and throws to prevent it. */
export function openAuthenticator(db: Db, refuse?: (ip: string) => void): Authenticator {
  // With many clients a large part of all requests needs a look-up, because the cache lasts seconds: those that arrive meanwhile share the next one.
  const keys = new Batcher((given: GivenKey[]) => findKeys(db, given), {
    sizeMax: 100,
    flushesMax: 2,
    isForAll: () => true,
  })
  const callers = new KnownCallers<Known>(async (token) => {
    const credential = await findCredential(db, keys, token)
    return { known: admit(credential), expiresInMs: credential?.expiresInMs ?? null }
  })
  return {
    authenticate(authorization, ip, isSure) {
      const known = callers.find(bearerOf(authorization), refuse && (() => refuse(ip)), isSure)
      return known instanceof Promise ? known.then((found) => enter(found, ip)) : enter(known, ip)
    },
    forget: () => callers.forget(),
  }
}

/** @throws ApiError `missing_token` or `invalid_token`. */
export function bearerOf(authorization: string | undefined): string {
  if (authorization === undefined) throw denied('missing_token', 'The Authorization header is missing.')
  const match = /^bearer +([^ ]+)$/i.exec(authorization)
  if (!match?.[1]) throw denied('missing_token', 'The Authorization header does not have the form `Bearer <token>`.')
  return match[1]
}

/** Adds the challenge that RFC 6750 §3 requires. */
export function denied(code: ErrorCode, detail: string): ApiError {
  const error = code === 'missing_token' ? '' : ', error="invalid_token"'
  return new ApiError(code, { detail, headers: { 'www-authenticate': `Bearer realm="heliogram"${error}` } })
}

async function findCredential(
  db: Db,
  keys: Batcher<GivenKey, Credential | null>,
  token: string,
): Promise<Credential | null> {
  const read = readToken(token)
  if (read === null)
    throw denied('invalid_token', 'The token is not a Heliogram token, or part of it is missing or mistyped.')
  if (read.kind === 'refresh') throw denied('invalid_token', 'A refresh token works only with /v1/auth/refresh.')
  if (read.kind === 'invitation')
    throw denied('invalid_token', 'An invitation code works only with /v1/auth/accept-invitation.')
  const hash = hashToken(token)
  if (read.kind === 'access') return findAccessToken(db, hash)
  const key = await keys.push({ publicId: read.publicId, hash })
  return key && isSecretOf(key, hash) ? key : null
}

/** @throws ApiError `ip_not_allowed`. */
function enter({ caller, isAllowedFrom }: Known, ip: string): Caller {
  if (!isAllowedFrom(ip)) throw notFrom(ip)
  return caller
}

function admit(credential: Credential | null): Known {
  if (credential === null) throw denied('invalid_token', 'There is no such token.')
  if (credential.isRevoked) throw denied('invalid_token', 'The token was revoked.')
  if (credential.expiresInMs !== null && credential.expiresInMs <= 0)
    throw denied('expired_token', 'The token has expired.')
  if (credential.accountStatus !== 'active')
    throw new ApiError('account_suspended', { detail: `The account is ${credential.accountStatus}.` })
  const { scopes, ipAllow, ...rest } = credential
  const { accountId, kind, id, userId, confirmedAt, mode, apiPerSecond, defaultCountry, senderCountry } = rest
  const caller = {
    accountId,
    kind,
    id,
    userId,
    confirmedAt,
    mode,
    scopes: new Set(scopes),
    apiPerSecond,
    defaultCountry,
    senderCountry,
  }
  return { caller, isAllowedFrom: allowNetworks(ipAllow) }
}
