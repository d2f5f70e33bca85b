/** The one secret of an account that signs posts to callback addresses, made when it is first needed. */
import type { Db, Queryable } from '../db/db.ts'
import type { Vault } from '../secrets.ts'
import { newSecret } from './signature.ts'

const purposeOf = (accountId: string): string => `accounts.callback_secret|${accountId}`

/** Opens the account's callback secret; makes it where there is none. */
export async function openCallbackSecret(db: Db, vault: Vault, accountId: string): Promise<string> {
  // Keeps a secret that is there; locks the account's row only when it has none (primary key).
  const { rows } = await db.query<{ sealed: Buffer | null }>(
    `select callback_secret as sealed from accounts where id = $1`,
    [accountId],
  )
  if (rows[0]?.sealed) return vault.open(rows[0].sealed, purposeOf(accountId))
  const made = vault.seal(newSecret(), purposeOf(accountId))
  // Of two nodes that make one at the same time, the first to write wins and both use its secret.
  const kept = await db.query<{ sealed: Buffer }>(
    `update accounts set callback_secret = coalesce(callback_secret, $2) where id = $1 returning callback_secret as sealed`,
    [accountId, made],
  )
  return vault.open(kept.rows[0]?.sealed ?? made, purposeOf(accountId))
}

/** Replaces the account's callback secret and returns the new one, which is not shown again. */
export async function rotateCallbackSecret(tx: Queryable, vault: Vault, accountId: string): Promise<string> {
  const secret = newSecret()
  await tx.query(`update accounts set callback_secret = $2, updated_at = now() where id = $1`, [
    accountId,
    vault.seal(secret, purposeOf(accountId)),
  ])
  return secret
}
