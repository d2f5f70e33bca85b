/** Logins: exchange a password, or an API key as client credentials, for a pair of tokens. */
import { inTransaction, type Db } from '../../ground/db/db.ts'
import { ApiError } from '../../ground/base/errors.ts'
import type { Vault } from '../../ground/sealing/vault.ts'
import { hashPassword, isOutdated, matchPassword, saltOf } from './password.ts'
import { requireNetwork } from '../networks.ts'
import { openSession, type TokenPair } from './session.ts'
import {
  findKey,
  findOwner,
  findUsers,
  holdSecret,
  isSecretOf,
  replaceHash,
  type LoginUser,
  type Owner,
} from '../store.ts'
import {
  beginAttempt,
  beginCode,
  forget,
  forgive,
  judged,
  rememberLogin,
  type Attempt,
  type Origin,
} from './throttle.ts'
import { hashToken, prefixOfKey, readToken } from '../token.ts'
import { acceptCode, acceptRecoveryCode, type TotpUser } from './totp.ts'

/** `clientId` is a key's prefix (`hg_live_…`) or the 12 characters after it. */
export type Credentials =
  | { kind: 'password'; email: string; password: string; otp?: string | undefined; recoveryCode?: string | undefined }
  | { kind: 'client'; clientId: string; clientSecret: string }

/**
 * All failures have the same answer and take the same time, unless the password was right. @throws ApiError `invalid_credentials`,
 * `otp_required`, `invalid_otp`, `login_throttled`, `account_suspended`, `ip_not_allowed` or `unavailable`.
 */
export async function logIn(db: Db, vault: Vault, credentials: Credentials, origin: Origin): Promise<TokenPair> {
  const isPerson = credentials.kind === 'password'
  const login = isPerson ? credentials.email : credentials.clientId
  const users = isPerson ? await findUsers(db, login) : []
  const ids = isPerson ? users.map(({ owner }) => owner.id) : [login]
  const attempt = await beginAttempt(db, vault, login, origin, ids)
  const known = await judged(db, attempt, () =>
    isPerson
      ? checkUser(db, vault, { ...credentials, users }, attempt)
      : checkClient(db, credentials.clientId, credentials.clientSecret, origin.ip),
  )
  if (!known) throw new ApiError('invalid_credentials')
  await forgive(db, attempt)
  await rememberLogin(db, vault, isPerson ? known.owner.id : login, origin.ip)
  return inTransaction(db, async (tx) => {
    // During the check the password or secret may have changed and all its logins ended.
    if (!(await holdSecret(tx, known.owner, known.hash))) throw new ApiError('invalid_credentials')
    return openSession(tx, vault, known.owner)
  })
}

interface Known {
  owner: Owner
  /** Of the password, or of the key's secret. */
  hash: string | Buffer
}

async function checkUser(
  db: Db,
  vault: Vault,
  credentials: Extract<Credentials, { kind: 'password' }> & { users: LoginUser[] },
  attempt: Attempt,
): Promise<Known | null> {
  const { email, password, otp, recoveryCode } = credentials
  const user = await findByPassword(credentials, attempt)
  if (!user) return null
  // Only a right password reveals this.
  if (user.accountStatus !== 'active') throw new ApiError('account_suspended')
  const salt = saltOf(vault, email)
  let hash = user.passwordHash
  if (isOutdated(hash, salt))
    await replaceHash(db, user.owner, user.passwordHash, (hash = await hashPassword(password, salt)))
  const known = { owner: user.owner, hash }
  if (!user.hasTotp) return known
  if (otp === undefined && recoveryCode === undefined) {
    await forget(db, attempt)
    throw new ApiError('otp_required')
  }
  if (!(await isSecondFactor(db, vault, user.owner, { otp, recoveryCode }))) throw new ApiError('invalid_otp')
  return known
}

/**
 * An address may be a user of several accounts, each with a password. If several have this password, the user of an open account whose
 * password was set last wins: a guesser with a user of their own finds that user.
 */
async function findByPassword(
  { password, users }: { password: string; users: LoginUser[] },
  attempt: Attempt,
): Promise<LoginUser | null> {
  const { known } = attempt
  const hashes = users.map(({ passwordHash }) => passwordHash)
  const isOf = await matchPassword(password, hashes, known.size > 0 ? 'known' : 'stranger')
  const findAmong = (some: LoginUser[]): LoginUser | null => {
    const right = some.filter(({ passwordHash, isActive }) => isActive && isOf(passwordHash))
    return right.find(({ accountStatus }) => accountStatus === 'active') ?? right[0] ?? null
  }
  if (known.size === 0) return findAmong(users)
  const found = findAmong(users.filter(({ owner }) => known.has(owner.id)))
  if (found) return found
  return (await attempt.countAsStranger()) ? findAmong(users.filter(({ owner }) => !known.has(owner.id))) : null
}

/** Checks one of the two, and spends it. @throws ApiError `login_throttled` after too many wrong codes. */
export async function isSecondFactor(
  db: Db,
  vault: Vault,
  user: TotpUser,
  { otp, recoveryCode }: { otp?: string | undefined; recoveryCode?: string | undefined },
): Promise<boolean> {
  if (otp === undefined) return acceptRecoveryCode(db, vault, user, recoveryCode ?? '')
  const forgiveCode = await beginCode(db, vault, user.id)
  const isRight = await acceptCode(db, vault, user, otp)
  if (isRight) await forgiveCode()
  return isRight
}

/** A key's secret has 256 bits, so it needs no slow hash and cannot be guessed. */
async function checkClient(db: Db, clientId: string, clientSecret: string, ip: string): Promise<Known | null> {
  const read = readToken(clientSecret)
  if (read?.kind !== 'key') return null
  if (clientId !== read.publicId && clientId !== prefixOfKey(read.mode, read.publicId)) return null
  const hash = hashToken(clientSecret)
  const key = await findKey(db, read.publicId, hash)
  if (!key || !isSecretOf(key, hash)) return null
  if (key.accountStatus !== 'active') throw new ApiError('account_suspended')
  requireNetwork(key.ipAllow, ip)
  // Revoked and expired keys have no owner.
  const owner = await findOwner(db, key.accountId, key.id)
  return owner && { owner, hash }
}
