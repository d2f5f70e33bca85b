/** An account's one secret that signs posts to callback addresses, created at first use. */
import type { Db, Queryable } from '../ground/db/db.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import { newSecret } from './signature.ts'
import { oldestToken, openToken, type SealedToken } from './twilio-envelope.ts'

const purposeOf = (accountId: string): string => `accounts.callback_secret|${accountId}`

/** Signing secrets of an account's callback addresses; `twilioToken` is for Twilio's form, null without such a credential. */
export interface CallbackSecrets {
  secret: string
  twilioToken: string | null
}

/** Opens them; creates the secret if missing. By primary keys. */
export async function openCallbackSecrets(db: Db, vault: Vault, accountId: string): Promise<CallbackSecrets> {
  const { rows } = await db.query<SealedToken & { sealed: Buffer | null }>(
    `select a.callback_secret as sealed, t.id as "tokenId", t.token
     from accounts a
     left join lateral (${oldestToken('a.id')}) t on true
     where a.id = $1`,
    [accountId],
  )
  const [row] = rows
  const secret = row?.sealed ? vault.open(row.sealed, purposeOf(accountId)) : await makeSecret(db, vault, accountId)
  return { secret, twilioToken: row ? openToken(vault, accountId, row) : null }
}

async function makeSecret(db: Db, vault: Vault, accountId: string): Promise<string> {
  const made = vault.seal(newSecret(), purposeOf(accountId))
  // Locks the account's row (primary key). If two nodes create one at once, the first write wins and both use it.
  const kept = await db.query<{ sealed: Buffer }>(
    `update accounts set callback_secret = coalesce(callback_secret, $2) where id = $1 returning callback_secret as sealed`,
    [accountId, made],
  )
  return vault.open(kept.rows[0]?.sealed ?? made, purposeOf(accountId))
}

/** Replaces the account's callback secret and returns the new one, which is shown only once. */
export async function rotateCallbackSecret(tx: Queryable, vault: Vault, accountId: string): Promise<string> {
  const secret = newSecret()
  await tx.query(`update accounts set callback_secret = $2, updated_at = now() where id = $1`, [
    accountId,
    vault.seal(secret, purposeOf(accountId)),
  ])
  return secret
}
