/** Who calls: from an Authorization header to a caller. */
import { Batcher } from '../ground/base/batch.ts'
import type { Db } from '../ground/db/db.ts'
import { ApiError, type ErrorCode } from '../ground/base/errors.ts'
import type { Caller } from '../ground/http/http.ts'
import { KnownCallers } from './known-callers.ts'
import { allowNetworks, notFrom, type NetworkTest } from './networks.ts'
import { findAccessToken, findKeys, isSecretOf, type Credential, type GivenKey } from './store.ts'
import { hashToken, readToken } from './token.ts'

/** Says who calls. One a process. */
export interface Authenticator {
  /**
   * The caller behind an Authorization header, from a network address; not a promise when it is remembered. `isSure`: memory is not enough.
   * @throws ApiError (also by rejection) `missing_token`, `invalid_token`, `expired_token`, `account_suspended` or `ip_not_allowed`.
   */
  authenticate(authorization: string | undefined, ip: string, isSure?: boolean): Caller | Promise<Caller>
  /** Forgets everything: call it after anything was revoked here. Other processes follow within five seconds. */
  forget(): void
}

interface Known {
  caller: Caller
  isAllowedFrom: NetworkTest
}

/**
 * An authenticator over the account tables. Expiry is the database's clock's.
 * `refuse` is asked before a token that was not let in lately is looked up, and throws where it should not be.
 */
export function openAuthenticator(db: Db, refuse?: (ip: string) => void): Authenticator {
  // With many clients a large part of all requests needs a look-up, for each is forgotten after seconds: those that come meanwhile share the next.
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

/** The token of an Authorization header. @throws ApiError `missing_token` or `invalid_token`. */
export function bearerOf(authorization: string | undefined): string {
  if (authorization === undefined) throw denied('missing_token', 'The Authorization header is missing.')
  const match = /^bearer +([^ ]+)$/i.exec(authorization)
  if (!match?.[1]) throw denied('missing_token', 'The Authorization header does not have the form `Bearer <token>`.')
  return match[1]
}

/** A refusal with the challenge that RFC 6750 §3 asks for. */
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

/** Lets a caller in from an address. @throws ApiError `ip_not_allowed`. */
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
