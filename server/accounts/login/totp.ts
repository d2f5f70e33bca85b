/**
 * The second factor: codes of an authenticator app (RFC 6238) and one-time recovery codes. A code is accepted one step early or late, and
 * no step is accepted twice.
 *
 *   off --begin--> prepared --confirm with a code--> on, with ten recovery codes --disable--> off
 */
import { Secret, TOTP } from 'otpauth'
import type { Queryable, Tx } from '../../ground/db/db.ts'
import type { Vault } from '../../ground/sealing/vault.ts'
import { newPassword } from './password.ts'

export interface TotpUser {
  accountId: string
  id: string
}

const stepSeconds = 30
const secretBytes = 20
const recoveryCodes = 10

const purposeOf = (userId: string): string => `users.totp_sealed ${userId}`

const build = (secret: Secret, label = ''): TOTP =>
  new TOTP({ issuer: 'Heliogram', label, secret, algorithm: 'SHA1', digits: 6, period: stepSeconds })

/** Replaces any earlier secret, with no step spent; null if the factor is on. Locks the user's row. */
export async function beginTotp(
  tx: Tx,
  vault: Vault,
  user: TotpUser & { email: string },
): Promise<{ secret: string; url: string } | null> {
  const secret = new Secret({ size: secretBytes })
  const { rowCount } = await tx.query(
    `update users
     set totp_sealed = $3, totp_step = null, updated_at = now()
     where account_id = $1 and id = $2 and totp_since is null`,
    [user.accountId, user.id, vault.seal(secret.base32, purposeOf(user.id))],
  )
  return rowCount === 1 ? { secret: secret.base32, url: build(secret, user.email).toString() } : null
}

/**
 * Turns the factor on with a code of the prepared secret, and creates recovery codes, which are not stored. `on`: another request has
 * turned it on, and has the codes. Locks the user's row before reading it, so that of two requests only one gets codes.
 */
export async function confirmTotp(
  tx: Tx,
  vault: Vault,
  user: TotpUser,
  code: string,
): Promise<string[] | 'on' | 'wrong'> {
  const { rows } = await tx.query<{ isOn: boolean }>(
    `select totp_since is not null as "isOn" from users where account_id = $1 and id = $2 for update`,
    [user.accountId, user.id],
  )
  if (rows[0]?.isOn) return 'on'
  if (!(await acceptCode(tx, vault, user, code))) return 'wrong'
  await tx.query(`update users set totp_since = now(), updated_at = now() where account_id = $1 and id = $2`, [
    user.accountId,
    user.id,
  ])
  const codes = Array.from({ length: recoveryCodes }, newPassword)
  await tx.query(`insert into recovery_codes (account_id, user_id, hash) select $1, $2, unnest($3::bytea[])`, [
    user.accountId,
    user.id,
    codes.map((one) => hashRecoveryCode(vault, user.id, one)),
  ])
  return codes
}

export async function disableTotp(tx: Tx, { accountId, id }: TotpUser): Promise<void> {
  await tx.query('delete from recovery_codes where account_id = $1 and user_id = $2', [accountId, id])
  await tx.query(
    `update users
     set totp_sealed = null, totp_since = null, updated_at = now()
     where account_id = $1 and id = $2`,
    [accountId, id],
  )
}

/** Checks a code by the database's clock and spends it: of two requests one wins. Locks the user's row (primary key) if the code is right. */
export async function acceptCode(db: Queryable, vault: Vault, user: TotpUser, code: string): Promise<boolean> {
  const { rows } = await db.query<{ sealed: Buffer | null; nowMs: number }>(
    `select totp_sealed as sealed, (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs"
     from users
     where account_id = $1 and id = $2`,
    [user.accountId, user.id],
  )
  const [row] = rows
  if (!row?.sealed) return false
  const secret = Secret.fromBase32(vault.open(row.sealed, purposeOf(user.id)))
  const delta = build(secret).validate({ token: code.replace(' ', ''), timestamp: row.nowMs, window: 1 })
  if (delta === null) return false
  const { rowCount } = await db.query(
    `update users
     set totp_step = $3
     where account_id = $1 and id = $2 and (totp_step is null or totp_step < $3)`,
    [user.accountId, user.id, Math.floor(row.nowMs / 1000 / stepSeconds) + delta],
  )
  return rowCount === 1
}

/** Spends the code if it is right (primary key). */
export async function acceptRecoveryCode(db: Queryable, vault: Vault, user: TotpUser, code: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `delete from recovery_codes
     where account_id = $1 and user_id = $2 and hash = $3`,
    [user.accountId, user.id, hashRecoveryCode(vault, user.id, code)],
  )
  return rowCount === 1
}

/** Keyed, so that the database alone does not allow guessing. */
const hashRecoveryCode = (vault: Vault, userId: string, code: string): Buffer =>
  vault.mac(`recovery code ${userId}`, code.toLowerCase().replace(/[^a-z0-9]/g, ''))
