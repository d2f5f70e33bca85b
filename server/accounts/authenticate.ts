/** Who calls: from an Authorization header to a caller, with a short memory so that a busy client costs no query a request. */
import { timingSafeEqual } from 'node:crypto'
import type { Db } from '../db/db.ts'
import { ApiError, type ErrorCode } from '../errors.ts'
import type { Caller } from '../http.ts'
import { hashToken } from '../secrets.ts'
import { findAccessToken, findKey, type Credential } from './store.ts'
import { readToken } from './token.ts'

/** Says who calls. One a process. */
export interface Authenticator {
  /**
   * The caller behind an Authorization header; not a promise when it is remembered.
   * @throws ApiError (also by rejection) `missing_token`, `invalid_token`, `expired_token` or `account_suspended`.
   */
  authenticate(authorization: string | undefined): Caller | Promise<Caller>
  /** Forgets everything: call it after anything was revoked here. Other processes follow within `memoryMs`. */
  forget(): void
}

/** How long a caller is remembered: the longest time for which a token revoked elsewhere still works here. */
const memoryMs = 5_000
// About 5 MB; the oldest goes first, and a forgotten caller costs one query.
const rememberedMax = 10_000

interface Remembered {
  caller: Caller
  untilMs: number
}

/** An authenticator over the account tables. Time comes from the database and a monotonic clock, so a wrong wall clock locks nobody out. */
export function openAuthenticator(db: Db): Authenticator {
  const remembered = new Map<string, Remembered>()
  // Requests that come while a token is looked up wait for that look-up.
  const lookups = new Map<string, Promise<Caller>>()
  let epoch = 0

  async function lookUp(token: string): Promise<Caller> {
    const startedMs = performance.now()
    const startedIn = epoch
    const credential = await findCredential(db, token)
    const caller = admit(credential)
    const leftMs = Math.min(memoryMs, credential?.expiresInMs ?? memoryMs)
    if (startedIn === epoch) {
      if (remembered.size >= rememberedMax) remembered.delete(remembered.keys().next().value ?? '')
      remembered.set(token, { caller, untilMs: startedMs + leftMs })
    }
    return caller
  }

  return {
    authenticate(authorization) {
      const token = bearerOf(authorization)
      const known = remembered.get(token)
      if (known !== undefined) {
        if (performance.now() < known.untilMs) return known.caller
        remembered.delete(token)
      }
      let lookup = lookups.get(token)
      if (!lookup) {
        lookup = lookUp(token).finally(() => lookups.delete(token))
        lookups.set(token, lookup)
      }
      return lookup
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
  const hash = hashToken(token)
  if (read.kind === 'access') return findAccessToken(db, hash)
  const key = await findKey(db, read.publicId, hash)
  return key && timingSafeEqual(key.hash, hash) ? key : null
}

function admit(credential: Credential | null): Caller {
  if (credential === null) throw denied('invalid_token', 'There is no such token.')
  if (credential.isRevoked) throw denied('invalid_token', 'The token was revoked.')
  if (credential.expiresInMs !== null && credential.expiresInMs <= 0)
    throw denied('expired_token', 'The token has expired.')
  if (credential.accountStatus !== 'active') throw new ApiError('account_suspended')
  const { accountId, kind, id, mode, scopes } = credential
  return { accountId, kind, id, mode, scopes: new Set(scopes) }
}
