/** Who calls: from an Authorization header to a caller, with a short memory so that a busy client costs no query a request. */
import type { Db } from '../db/db.ts'
import { ApiError, type ErrorCode } from '../errors.ts'
import type { Caller } from '../http.ts'
import { hashToken } from '../secrets.ts'
import { allowNetworks, notFrom, type NetworkTest } from './networks.ts'
import { findAccessToken, findKey, isSecretOf, type Credential } from './store.ts'
import { readToken } from './token.ts'

/** Says who calls. One a process. */
export interface Authenticator {
  /**
   * The caller behind an Authorization header, from a network address; not a promise when it is remembered.
   * @throws ApiError (also by rejection) `missing_token`, `invalid_token`, `expired_token`, `account_suspended` or `ip_not_allowed`.
   */
  authenticate(authorization: string | undefined, ip: string): Caller | Promise<Caller>
  /** Forgets everything: call it after anything was revoked here. Other processes follow within `memoryMs`. */
  forget(): void
}

/** How long a caller is remembered: the longest time for which a token revoked elsewhere still works here. */
const memoryMs = 5_000
// About 5 MB; the oldest goes first, and a forgotten caller costs one query.
const rememberedMax = 10_000

interface Known {
  caller: Caller
  isAllowedFrom: NetworkTest
}

interface Remembered extends Known {
  untilMs: number
}

/**
 * An authenticator over the account tables. Time comes from the database and a monotonic clock, so a wrong wall clock locks nobody out.
 * `refuse` is asked before a token that was not let in lately is looked up, and throws where it should not be.
 */
export function openAuthenticator(db: Db, refuse?: (ip: string) => void): Authenticator {
  const remembered = new Map<string, Remembered>()
  // Requests that come while a token is looked up wait for that look-up.
  const lookups = new Map<string, Promise<Known>>()
  let epoch = 0

  async function lookUp(token: string): Promise<Known> {
    const startedMs = performance.now()
    const startedIn = epoch
    const credential = await findCredential(db, token)
    remembered.delete(token)
    const known = admit(credential)
    const leftMs = Math.min(memoryMs, credential?.expiresInMs ?? memoryMs)
    if (startedIn === epoch) {
      if (remembered.size >= rememberedMax) remembered.delete(remembered.keys().next().value ?? '')
      remembered.set(token, { ...known, untilMs: startedMs + leftMs })
    }
    return known
  }

  return {
    authenticate(authorization, ip) {
      const token = bearerOf(authorization)
      const known = remembered.get(token)
      if (known !== undefined && performance.now() < known.untilMs) return enter(known, ip)
      let lookup = lookups.get(token)
      if (!lookup) {
        // Who was let in lately is looked up again whatever others from there do.
        if (known === undefined) refuse?.(ip)
        lookup = lookUp(token).finally(() => lookups.delete(token))
        lookups.set(token, lookup)
      }
      return lookup.then((found) => enter(found, ip))
    },
    forget() {
      epoch++
      remembered.clear()
      lookups.clear()
    },
  }
}

/** The token of an Authorization header. @throws ApiError `missing_token` or `invalid_token`. */
export function bearerOf(authorization: string | undefined): string {
  if (authorization === undefined) throw denied('missing_token', 'The Authorization header is missing.')
  const match = /^bearer +([^ ]+)$/i.exec(authorization)
  if (!match?.[1]) throw denied('missing_token', 'The Authorization header is not of the form `Bearer <token>`.')
  return match[1]
}

/** A refusal with the challenge that RFC 6750 §3 asks for. */
export function denied(code: ErrorCode, detail: string): ApiError {
  const error = code === 'missing_token' ? '' : ', error="invalid_token"'
  return new ApiError(code, { detail, headers: { 'www-authenticate': `Bearer realm="heliogram"${error}` } })
}

async function findCredential(db: Db, token: string): Promise<Credential | null> {
  const read = readToken(token)
  if (read === null) throw denied('invalid_token', 'The token is not one of Heliogram, or it was cut or mistyped.')
  if (read.kind === 'refresh') throw denied('invalid_token', 'A refresh token is only for /v1/auth/refresh.')
  if (read.kind === 'invitation')
    throw denied('invalid_token', 'The code of an invitation is only for /v1/auth/accept-invitation.')
  const hash = hashToken(token)
  if (read.kind === 'access') return findAccessToken(db, hash)
  const key = await findKey(db, read.publicId, hash)
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
  if (credential.accountStatus !== 'active') throw new ApiError('account_suspended')
  const { accountId, kind, id, userId, mode, scopes, ipAllow, apiPerSecond } = credential
  const caller = { accountId, kind, id, userId, mode, scopes: new Set(scopes), apiPerSecond }
  return { caller, isAllowedFrom: allowNetworks(ipAllow) }
}
