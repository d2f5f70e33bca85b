/** Logins: from a password, or from the client credentials that an API key is, to a pair of tokens. */
import { timingSafeEqual } from 'node:crypto'
import { inTransaction, type Db } from '../db/db.ts'
import { ApiError } from '../errors.ts'
import { hashToken, type Vault } from '../secrets.ts'
import { hashPassword, isOutdated, isPassword } from './password.ts'
import { openSession, type TokenPair } from './session.ts'
import { findKey, findOwner, findUser, replaceHash, type Owner } from './store.ts'
import { beginAttempt, forgive } from './throttle.ts'
import { prefixOfKey, readToken } from './token.ts'

/** What somebody logs in with. `clientId` is a key's prefix (`hg_live_…`) or the 12 characters after it. */
export type Credentials =
  | { kind: 'password'; email: string; password: string }
  | { kind: 'client'; clientId: string; clientSecret: string }

/**
 * Logs in. Whatever is wrong, the answer and the time it takes are the same.
 * @throws ApiError `invalid_credentials`, `login_throttled`, `account_suspended` or `unavailable`.
 */
export async function logIn(db: Db, vault: Vault, credentials: Credentials, ip: string): Promise<TokenPair> {
  const login = credentials.kind === 'password' ? credentials.email : credentials.clientId
  const attempt = await beginAttempt(db, vault, login, ip)
  const owner =
    credentials.kind === 'password'
      ? await checkPassword(db, credentials.email, credentials.password)
      : await checkClient(db, credentials.clientId, credentials.clientSecret)
  if (!owner) throw new ApiError('invalid_credentials')
  await forgive(db, attempt)
  return inTransaction(db, (tx) => openSession(tx, vault, owner))
}

async function checkPassword(db: Db, email: string, password: string): Promise<Owner | null> {
  const user = await findUser(db, email)
  const isRight = await isPassword(password, user?.passwordHash ?? null)
  if (!user || !isRight || !user.isActive) return null
  // Only who knows the password learns this.
  if (user.accountStatus !== 'active') throw new ApiError('account_suspended')
  if (isOutdated(user.passwordHash)) await replaceHash(db, user.owner, user.passwordHash, await hashPassword(password))
  return user.owner
}

/** A key is its own secret of 256 bits, so no slow hash is needed and no guess is near. */
async function checkClient(db: Db, clientId: string, clientSecret: string): Promise<Owner | null> {
  const read = readToken(clientSecret)
  if (read?.kind !== 'key') return null
  if (clientId !== read.publicId && clientId !== prefixOfKey(read.mode, read.publicId)) return null
  const hash = hashToken(clientSecret)
  const key = await findKey(db, read.publicId, hash)
  if (!key || !timingSafeEqual(key.hash, hash)) return null
  if (key.accountStatus !== 'active') throw new ApiError('account_suspended')
  // Revoked and expired keys have no owner.
  return findOwner(db, key.accountId, key.id)
}
