/** The first start: creates an account, its owner and a key in an empty database. */
import type { Tx } from '../ground/db/db.ts'
import { scopes } from '../ground/http/http.ts'
import { newId } from '../ground/base/ids.ts'
import { createKey } from './keys.ts'
import { noPassword } from './login/password.ts'

/** Printed once and stored nowhere. */
export interface FirstAccount {
  accountId: string
  key: string
}

/** The owner is the operator and has no password (see login/owner-code.ts). Null if an account exists. A concurrent start waits for this one. */
export async function createFirstAccount(tx: Tx, config: { firstEmail: string }): Promise<FirstAccount | null> {
  const isEmpty = async (): Promise<boolean> => {
    const { rows } = await tx.query<{ isEmpty: boolean }>('select not exists (select from accounts) as "isEmpty"')
    return rows[0]?.isEmpty === true
  }
  if (!(await isEmpty())) return null
  // Lasts until the end of the transaction; reads continue.
  await tx.query('lock table accounts in exclusive mode')
  if (!(await isEmpty())) return null
  const accountId = newId()
  await tx.query('insert into accounts (id, name) values ($1, $2)', [accountId, 'Heliogram'])
  await tx.query(
    `
    insert into users (account_id, id, email, password_hash, role, is_operator)
    values ($1, $2, $3, $4, 'owner', true)`,
    [accountId, newId(), config.firstEmail, noPassword],
  )
  const { secret } = await createKey(tx, accountId, { name: 'First key', mode: 'live', scopes, expiresAt: null })
  return { accountId, key: secret }
}
