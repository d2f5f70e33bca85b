/** The first owner sets address and password with a code printed on the server; there is no default password. */
import { randomBytes } from 'node:crypto'
import { inTransaction, type Db } from '../../ground/db/db.ts'
import { newId } from '../../ground/base/ids.ts'
import { noPassword } from './password.ts'
import { hashToken, tokenOf } from '../token.ts'

/** Printed once and stored as a hash. */
export interface OwnerCode {
  code: string
  /** The owner's address until the code is used, and afterwards if no other is given. */
  email: string
}

const lifetimeHours = 24

/** Replaces the previous code; null once there is a password. Locks the user (at most one: the first of all), so that only one code is open. */
export async function createOwnerCode(db: Db): Promise<OwnerCode | null> {
  return inTransaction(db, async (tx) => {
    const { rows } = await tx.query<{ accountId: string; id: string; email: string }>(
      `
      select account_id as "accountId", id, email
      from users
      where is_operator
        and password_hash = $1
        and status = 'active'
      order by id
      limit 1
      for update`,
      [noPassword],
    )
    const owner = rows[0]
    if (!owner) return null
    const code = tokenOf('invitation', randomBytes(32))
    await tx.query(
      `
      update invitations
      set revoked_at = now()
      where account_id = $1
        and user_id = $2
        and accepted_at is null
        and revoked_at is null`,
      [owner.accountId, owner.id],
    )
    await tx.query(
      `
      insert into invitations (account_id, id, email, role, code_hash, expires_at, user_id)
      values ($1, $2, $3, 'owner', $4, now() + make_interval(hours => $5), $6)`,
      [owner.accountId, newId(), owner.email, hashToken(code), lifetimeHours, owner.id],
    )
    return { code, email: owner.email }
  })
}
