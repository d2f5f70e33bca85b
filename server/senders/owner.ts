/** Whose senders a caller may list, and to whom the operator gives one: numbers are the installation's, and each is of one account. */
import { findAccount } from '../accounts/subaccounts.ts'
import type { Queryable } from '../ground/db/db.ts'
import { ApiError } from '../ground/base/errors.ts'
import type { Caller } from '../ground/http/http.ts'
import { parseId } from '../ground/base/ids.ts'
import type { Faults } from '../ground/http/faults.ts'

/** Whether a caller sees the senders of accounts below theirs. */
export const seesBelow = ({ scopes }: Caller): boolean => scopes.has('carriers:read')

/** Whose senders are listed. @throws ApiError `insufficient_scope` or `not_found`. */
export async function findOwner(db: Queryable, caller: Caller, account: string | undefined): Promise<string> {
  const id = account === undefined ? caller.accountId : parseId('acc', account)
  if (id === caller.accountId) return id
  if (!seesBelow(caller))
    throw new ApiError('insufficient_scope', {
      detail: 'Senders of another account need the scope carriers:read.',
    })
  if (id === null) throw new ApiError('not_found', { detail: 'There is no such account.' })
  return (await findAccount(db, caller.accountId, id)).id
}

/** Whose a new sender is; the caller's where something is wrong with `account`, which is then among the faults. */
export async function readOwner(
  db: Queryable,
  faults: Faults,
  { accountId }: Caller,
  account: string | undefined,
): Promise<string> {
  if (account === undefined || !faults.isSound('#/account')) return accountId
  const id = parseId('acc', account)
  const found = id === null ? null : await findAccount(db, accountId, id).catch(nullIfMissing)
  if (found?.status === 'closed') faults.add('#/account', 'invalid_value', 'is closed; reopen it first')
  else if (found) return found.id
  else faults.add('#/account', 'invalid_value', 'is not your account, nor one below it')
  return accountId
}

function nullIfMissing(error: unknown): null {
  if (error instanceof ApiError && error.code === 'not_found') return null
  throw error
}
